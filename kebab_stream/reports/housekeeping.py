"""What the commands tell that look after settings, index and program."""

from dataclasses import dataclass, field
from typing import Literal

from kebab_stream.errors import ErrorCode
from kebab_stream.model import Mode, TrustLevel, Wire

CheckStatus = Literal["ok", "warn", "fail", "skipped"]
Origin = Literal["default", "file", "environment", "flag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Wire):
    """What was looked at, and what was found."""

    name: str
    status: CheckStatus
    """`warn` is worth knowing and no failure; `skipped` was not looked at, and the message says why."""
    message: str
    hint: str | None = None
    details: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorReport(Wire):
    """What a look at everything found."""

    schema_version: Literal["doctor.v1"] = "doctor.v1"
    healthy: bool
    """Whether no check failed."""
    checks: tuple[Check, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Count(Wire):
    """How much of the index something is."""

    documents: int
    chunks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistics(Wire):
    """What the index holds. Breakdowns name the values that occur; documents without a value are in none."""

    documents: int
    chunks: int
    windows: int
    """Vectors."""
    sources: int
    """Folders that are known, also those without a document."""
    tags: int
    """Different tags."""
    by_media: dict[str, Count]
    by_lang: dict[str, Count]
    by_code_lang: dict[str, Count]
    by_repo: dict[str, Count]
    by_source: dict[str, Count]
    by_source_type: dict[str, Count]
    by_trust_level: dict[str, Count]
    corpus_revision: str
    indexed_at: str | None
    """When a document last changed; null without documents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program(Wire):
    """What answers."""

    name: str
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions(Wire):
    """Versions of what is stored; another one makes the next ingest do its part again."""

    index_version: str
    store_version: int
    analyser_version: str
    chunker_version: str
    parser_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedModel(Wire):
    """The model whose vectors the index holds."""

    model: str
    fingerprint: str
    dim: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel(Wire):
    """The embedding model in the settings, and the one in the index; null without vectors."""

    provider: str
    model: str
    indexed: IndexedModel | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageModel(Wire):
    """The language model in the settings."""

    provider: str
    model: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsInUse(Wire):
    """The models in use."""

    embedding: EmbeddingModel
    llm: LanguageModel


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaReport(Wire):
    """What this program can do, what it accepts, and what its index holds."""

    schema_version: Literal["schema.v1"] = "schema.v1"
    program: Program
    versions: Versions
    wire: tuple[str, ...]
    """Names of all objects that are read or written as JSON; `kebab schema NAME` prints the schema of one."""
    commands: dict[str, str]
    """Name to what it does."""
    capabilities: dict[str, bool]
    extras: dict[str, bool]
    """Optional parts of the package, and whether they are installed."""
    modes: tuple[Mode, ...]
    filters: dict[str, str]
    """Key of a search to what it does; as an option, with `--` and dashes."""
    media: tuple[str, ...]
    trust_levels: tuple[TrustLevel, ...]
    """From least to most trusted."""
    limits: dict[str, int]
    """The most that is accepted, or returned."""
    defaults: dict[str, int | float | str]
    """What the settings give to a search that does not say."""
    error_codes: tuple[ErrorCode, ...]
    exit_statuses: dict[str, str]
    models: ModelsInUse
    statistics: Statistics | None
    """Null where nothing was ingested yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetReport(Wire):
    """What a reset removed."""

    schema_version: Literal["reset_report.v1"] = "reset_report.v1"
    data_dir: str
    documents: int | None
    """Documents that were in the index; null where it could not be read."""
    removed: tuple[str, ...]
    """Names in the data folder."""
    kept: int
    """Other files and folders in the data folder, which were left alone."""
    folder_removed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Wire):
    """The value of a setting; null where it is unset."""

    value: object
    origin: Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigReport(Wire):
    """The settings in effect."""

    schema_version: Literal["config_report.v1"] = "config_report.v1"
    path: str | None
    """The config file that was read, if there is one."""
    values: dict[str, Setting]
    """By dotted name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rename(Wire):
    """A setting that has another name by now; dotted names."""

    old: str
    new: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationReport(Wire):
    """What became of a config file."""

    schema_version: Literal["config_migration.v1"] = "config_migration.v1"
    path: str
    written: bool
    """Whether the file was changed; false with --dry-run, and where there is nothing to change."""
    backup: str | None
    """Where the file as it was is kept."""
    renames: tuple[Rename, ...]
    unknown: tuple[str, ...]
    """Settings and tables that this version does not know. They stay in the file, and it is refused because of them."""
    diff: str


@dataclass(frozen=True, slots=True, kw_only=True)
class InitResult(Wire):
    """Where a config file was written."""

    schema_version: Literal["init_result.v1"] = "init_result.v1"
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CompletionScript(Wire):
    """What makes a shell complete command lines."""

    schema_version: Literal["completion_script.v1"] = "completion_script.v1"
    shell: Literal["bash", "zsh", "fish"]
    script: str
