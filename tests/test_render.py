"""Errors as callers see them, whatever the values in them are made of."""

import orjson

from kebab_stream.errors import IndexCorruptError, InvalidInputError, KebabError, NotIndexedError, StorageError
from kebab_stream.render import error_record, to_json


def written(error: KebabError) -> dict[str, object]:
    record: dict[str, object] = orjson.loads(to_json(error_record(error)))
    return record


def test_a_name_that_is_not_utf8_is_written_with_escapes_wherever_it_stands() -> None:
    for error in (
        NotIndexedError("/\udcff"),
        IndexCorruptError("/\udcff", "missing", "move /\udcff away"),
        StorageError("cannot read /\udcff", None, {"path": "/\udcff"}),
    ):
        record = written(error)

        assert "\\udcff" in str(record["message"])
        assert record["details"] in ({"data_dir": "/\\udcff"}, {"path": "/\\udcff"})
    assert written(IndexCorruptError("/", "missing", "move /\udcff away"))["hint"] == "move /\\udcff away"


def test_details_keep_their_shape() -> None:
    details = {"key": "k", "value": 1, "problems": [{"message": "\udcff", "accepted": None}], "pid": None, "ok": True}

    assert written(InvalidInputError("m", None, details)) == {
        "schema_version": "error.v1",
        "code": "invalid_input",
        "message": "m",
        "details": {**details, "problems": [{"message": "\\udcff", "accepted": None}]},
        "hint": None,
    }
