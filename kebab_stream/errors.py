"""The error tree: one class per wire code.

    KebabError
    ├── ConfigInvalidError      config_invalid       ├── RetrievalError        retrieval_error
    ├── ConfigNotFoundError     config_not_found     ├── StorageError          io_error
    ├── NotIndexedError         not_indexed          ├── DocNotFoundError      doc_not_found
    ├── IndexCorruptError       index_corrupt        ├── ChunkNotFoundError    chunk_not_found
    ├── IndexLockedError        index_locked         ├── SpanNotSupportedError span_not_supported
    ├── InvalidInputError       invalid_input        ├── ReadonlyModeError     readonly_mode
    ├── StaleCursorError        stale_cursor         ├── ModelUnreachableError model_unreachable
    ├── EmbeddingsDisabledError embeddings_disabled  ├── ModelNotPulledError   model_not_pulled
    ├── ModelUnavailableError   model_unavailable    └── ModelTimeoutError     timeout
    └── EmbeddingFailedError    embedding_failed

An error that is none of these reaches the caller as `generic`: a bug to be looked at.
The message says what is wrong with the value the caller gave; the hint says what to do next.
`args` always holds the constructor's arguments: errors cross process boundaries, and pickle rebuilds them from it.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

ErrorCode = Literal[
    "config_invalid",
    "config_not_found",
    "not_indexed",
    "index_corrupt",
    "index_locked",
    "invalid_input",
    "stale_cursor",
    "embeddings_disabled",
    "model_unavailable",
    "embedding_failed",
    "retrieval_error",
    "io_error",
    "doc_not_found",
    "chunk_not_found",
    "span_not_supported",
    "readonly_mode",
    "model_unreachable",
    "model_not_pulled",
    "timeout",
    "generic",
]


class KebabError(Exception):
    """Base of every error we raise on purpose.

    Args:
        message: what is wrong, naming the value.
        hint: what the caller can do next.
        details: machine-readable facts, JSON values only.
    """

    code: ClassVar[ErrorCode] = "generic"
    exit_status: ClassVar[int] = 2

    def __init__(self, message: str, hint: str | None = None, details: Mapping[str, object] | None = None) -> None:
        super().__init__(message, hint, details)
        self.message = message
        self.hint = hint
        self.details: dict[str, object] = dict(details or {})

    def __str__(self) -> str:
        return self.message


class ConfigInvalidError(KebabError):
    """A configuration value, or the batch as a whole, cannot be used."""

    code = "config_invalid"


class ConfigNotFoundError(KebabError):
    """The file named by --config does not exist."""

    code = "config_not_found"


class NotIndexedError(KebabError):
    """The data folder holds no committed index."""

    code = "not_indexed"

    def __init__(self, data_dir: str) -> None:
        super().__init__(f"no index in {data_dir}", "run `kebab ingest PATH` first", {"data_dir": data_dir})
        self.args = (data_dir,)


class IndexCorruptError(KebabError):
    """Stored index data is damaged, missing or of an unknown format."""

    code = "index_corrupt"

    def __init__(self, path: str, problem: str, hint: str = "run `kebab ingest --rebuild-index`") -> None:
        super().__init__(f"index file {path}: {problem}", hint, {"path": path})
        self.args = (path, problem, hint)


class IndexLockedError(KebabError):
    """Another process is writing to this data folder."""

    code = "index_locked"

    def __init__(self, data_dir: str, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(
            f"{holder} is writing to {data_dir}",
            "wait for it to finish, then run the command again",
            {"pid": pid},
        )
        self.args = (data_dir, pid)


class InvalidInputError(KebabError):
    """An argument, a query item or a filter is not usable."""

    code = "invalid_input"


class StaleCursorError(KebabError):
    """A cursor that cannot continue: malformed, of another revision, or of another query.

    `details.reason` is `malformed`, `revision` or `query`.
    """

    code = "stale_cursor"

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message, "search again without the cursor", {"reason": reason})
        self.args = (reason, message)


class EmbeddingsDisabledError(KebabError):
    """Vector search was asked for, but there are no vectors to search."""

    code = "embeddings_disabled"


class ModelUnavailableError(KebabError):
    """An embedding or reranking model cannot be loaded or reached, or the index was built with another one."""

    code = "model_unavailable"


class EmbeddingFailedError(KebabError):
    """The embedding model failed on this text."""

    code = "embedding_failed"


class RetrievalError(KebabError):
    """The index could not answer."""

    code = "retrieval_error"


class StorageError(KebabError):
    """Reading or writing a file or a stream failed."""

    code = "io_error"


class DocNotFoundError(KebabError):
    """No document has this id."""

    code = "doc_not_found"


class ChunkNotFoundError(KebabError):
    """No chunk has this id."""

    code = "chunk_not_found"


class SpanNotSupportedError(KebabError):
    """The document has no lines to take a span of."""

    code = "span_not_supported"


class ReadonlyModeError(KebabError):
    """A writing command was refused because of --readonly."""

    code, exit_status = "readonly_mode", 1


class ModelUnreachableError(KebabError):
    """The language model's endpoint does not answer; that of an embedding model is `model_unavailable`."""

    code = "model_unreachable"


class ModelNotPulledError(KebabError):
    """The language model's endpoint answers but does not have the model."""

    code = "model_not_pulled"


class ModelTimeoutError(KebabError):
    """A language or embedding model on a server took longer than allowed."""

    code = "timeout"
