"""What a check found, as the report has it."""

from kebab_stream.errors import KebabError
from kebab_stream.render import error_record
from kebab_stream.reports.housekeeping import Check, CheckStatus


def found(name: str, status: CheckStatus, message: str, hint: str | None = None, /, **details: object) -> Check:
    return Check(name=name, status=status, message=message, hint=hint, details=details)


def failed(name: str, error: KebabError) -> Check:
    record = error_record(error)
    return found(name, "fail", record.message, record.hint, **{**record.details, "code": record.code})


def skipped(name: str, reason: str) -> Check:
    return found(name, "skipped", reason)
