"""All settings of a workspace.

Later sources override earlier ones: defaults, `tallystick.toml` in the workspace, legacy environment variables
(`APP_ENABLE_RBAC`, …), `TALLY_*` variables (`TALLY_LEDGER__DURABILITY`, two underscores between section and key). An
unknown key or invalid value is an error that names it. Only this module reads the environment.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from tallystick.errors import ConfigError, malformed_toml
from tallystick.import_limits import ImportLimits
from tallystick.section_values import EnvironmentText, read_section

CONFIG_NAME = "tallystick.toml"
CONTROL_ROOM = ".control-room"
DATABASE_NAME = "tallystick.db"
"""The file of the default database, in the control room."""
OLD_NAMES: dict[str, tuple[str, ...]] = {
    "ENABLE_TICKET_SCHEMA_VALIDATION": ("rooms", "desk", "schema_validation"),
    "APP_JWT_SECRET": ("auth", "jwt_secret"),
    "ENABLE_TOOL_DERIVATION": ("rooms", "desk", "tool_derivation"),
    "TALLY_DATABASE_URL": ("storage", "database_url"),
    "APP_RERANK_BACKEND": ("rooms", "insight", "rerank_backend"),
    "APP_ENABLE_METRICS": ("telemetry", "metrics"),
    "ANALYZER_BACKEND": ("rooms", "insight", "analyzer_backend"),
    "APP_ENABLE_TRACING": ("telemetry", "tracing"),
    "APP_EMBED_BACKEND": ("rooms", "insight", "embed_backend"),
    "MAX_TOOL_BYTES_PER_STEP": ("limits", "bytes_per_step"),
    "MAX_TOOL_BYTES_PER_TURN": ("limits", "bytes_per_turn"),
    "TALLY_STATE_DIR": ("storage", "state_dir"),
    "TOOL_TOKEN_BUDGET": ("limits", "tokens"),
    "APP_ENABLE_RBAC": ("auth", "enabled"),
    "MAX_TOOL_STEPS": ("limits", "steps"),
    "TOOL_MAX_STEPS": ("limits", "steps"),
    "TALLY_ROOMS": ("rooms", "enabled"),
}
"""Legacy and short names of environment variables → settings path; all aliases are defined here."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GateSettings(_Section):
    """Admission of model text, turns and tools."""

    cot: Literal["strip", "reject"] = "strip"
    """How to handle a thinking block before the envelope."""
    turn_ttl_s: int = Field(default=3600, gt=0)
    """Seconds after which a turn and its nonce expire."""
    tools: tuple[str, ...] = ()
    """Python files (relative to the workspace) or modules whose tools are registered when the workspace is opened."""


class LimitSettings(_Section):
    """The limits of one agent turn; a turn may set lower ones."""

    steps: int = Field(default=6, ge=0)
    bytes_per_step: int = Field(default=8_000, gt=0)
    bytes_per_turn: int = Field(default=16_000, gt=0)
    tokens: int | None = Field(default=None, gt=0)
    cost_microusd: int | None = Field(default=None, ge=0)
    wall_s: int | None = Field(default=None, gt=0)
    named: dict[str, int] = Field(default_factory=dict)
    """Named budgets, e.g. `search = 5`."""


class ArgumentRule(_Section):
    """An additional JSON Schema for the arguments, for some roles or for all."""

    roles: frozenset[str] = frozenset()
    """Applies to callers with one of these roles; if empty, to everyone."""
    # An alias, because pydantic's `BaseModel` already has a method `schema`.
    overlay: dict[str, Any] = Field(alias="schema")
    otherwise: Literal["deny", "ask"] = "deny"
    """The decision for a call that does not satisfy the schema."""
    name: str = "argument_rule"


class ToolPolicy(_Section):
    """The policy for one tool."""

    decision: Literal["allow", "ask", "deny"] | None = None
    """None: the default for the tool's effect."""
    roles: frozenset[str] | None = None
    """Narrows the tool's own roles, never widens them; if the tool declares none, these apply."""
    rate: int | None = Field(default=None, gt=0)
    """Calls per minute and caller."""
    shadow: bool | None = None
    provenance: Literal["ask", "off", "deny"] | None = None
    rules: tuple[ArgumentRule, ...] = ()


class PolicySettings(_Section):
    """The default policy of all tools: a decision for each effect, rate, shadow mode and provenance."""

    read: Literal["allow", "ask", "deny"] = "allow"
    write: Literal["allow", "ask", "deny"] = "allow"
    external: Literal["allow", "ask", "deny"] = "ask"
    model_write: Literal["allow", "ask", "deny"] | None = None
    """Write tools of the user and of upstream servers when a model calls them. None: as `write` if that is set,
    otherwise `ask`. A room's tools follow `write`: their own rules decide."""
    rate: int | None = Field(default=None, gt=0)
    """Default calls per minute and caller; each tool is counted separately."""
    shadow: bool = False
    """Decide and record, but run the call anyway."""
    provenance: Literal["ask", "off", "deny"] = "ask"
    """The decision for a write with an argument from other people's text that the user did not mention."""

    @property
    def write_by_model(self) -> Literal["allow", "ask", "deny"]:
        """The decision for a write that a model proposes, with the default filled in."""
        if self.model_write is not None:
            return self.model_write
        return self.write if "write" in self.model_fields_set else "ask"


class ApprovalSettings(_Section):
    """Calls that wait for approval."""

    ttl_s: int = Field(default=86_400, gt=0)
    elicitation: bool = False
    """Whether an answer through MCP elicitation counts as a person's approval."""


class LedgerSettings(_Section):
    """The journal."""

    durability: Literal["fsync", "os"] = "fsync"
    segment_bytes: int = Field(default=256 * 1024 * 1024, ge=4096)
    """A new journal segment starts after this size; hash chain and Merkle tree continue across segments."""
    checkpoint_every: int = Field(default=256, gt=0)
    checkpoint_s: int = Field(default=10, gt=0)
    mirror: str | None = None
    """The file that mirrors the head outside the workspace; default: in the user's state folder. `off` disables it."""
    witnesses: tuple[str, ...] = ()
    """Receivers of every checkpoint: an https URL (http on loopback), or a file by its absolute path."""
    inline_bytes: int = Field(default=65_536, ge=0)
    """Larger payloads are stored beside the log as blobs."""


class RedactSettings(_Section):
    """Argument names whose values are never stored in plain text."""

    keys: frozenset[str] = frozenset(
        {
            "password",
            "passwd",
            "secret",
            "api_key",
            "apikey",
            "token",
            "access_token",
            "refresh_token",
            "authorization",
            "private_key",
            "client_secret",
        }
    )


class AuthSettings(_Section):
    """Authentication over HTTP."""

    enabled: bool = False
    jwt_secret: SecretStr | None = None
    """For HS256; at least 32 bytes."""
    jwt_public_key_file: str | None = None
    """PEM for RS256 or ES256; the algorithm follows from the key."""
    audience: str | None = None
    issuer: str | None = None
    leeway_s: int = Field(default=30, ge=0)
    development: bool = False
    """Allows short secrets; never use it in production."""


class ServerSettings(_Section):
    """The HTTP door."""

    host: str = "127.0.0.1"
    port: int = Field(default=8787, ge=0, le=65535)
    allowed_hosts: tuple[str, ...] = ()
    """Accepted `Host` names besides loopback."""
    max_body_bytes: int = Field(default=1024 * 1024, gt=0)
    body_timeout_s: int = Field(default=15, gt=0)
    max_upload_bytes: int = Field(default=256 * 1024 * 1024, gt=0)
    """For routes that accept a file upload; import larger files by path."""
    upload_timeout_s: int = Field(default=600, gt=0)


class TelemetrySettings(_Section):
    """Metrics and tracing."""

    metrics: bool = True
    tracing: bool = False
    otlp_endpoint: str | None = None


class StorageSettings(_Section):
    """Storage locations."""

    database_url: str | None = None
    """SQLAlchemy URL; default: SQLite in the workspace's control room."""
    journal: Literal["files", "postgres"] = "files"
    """Where receipts are: files, or the database that `database_url` names, for several nodes."""
    state_dir: str | None = None
    """The user's state folder; default: `$XDG_STATE_HOME/tallystick`."""
    user_dir: str = "~/.tallystick"
    """The folder of the user's files for all projects, e.g. `prompts.json`."""


class EvidenceSettings(_Section):
    """The reply check."""

    sources: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Agent or role → path patterns; at least one evidence item must match. Overrides the defaults."""
    judge: str = Field(default="", max_length=200)
    """A local model that also judges each claim: `qwen2.5-coder-1.5b`, or a `.gguf` file; empty: rules alone."""


class TurnSettings(_Section):
    """Agent turns."""

    reply_retries: int = Field(default=1, ge=0, le=5)
    """How often an agent may write a rejected reply again, with the findings before it."""


Dollars = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class ModelSettings(_Section):
    """Language models."""

    answer_bytes: int = Field(default=1024 * 1024, gt=0)
    """Larger responses are discarded."""
    folder: str | None = None
    """The folder of local model files; default: `$XDG_DATA_HOME/tallystick/models`."""
    prices: dict[str, tuple[Dollars, Dollars]] = Field(default_factory=dict)
    """Model or `provider/model` → US dollars per million input and output tokens. Overrides the shipped table."""


class RoomSettings(BaseModel):
    """The rooms of a workspace: which are on, and the section of each, which the room itself validates.

    `rooms = ["studio"]` is short for `[rooms] enabled = ["studio"]`, the form beside sections such as `[rooms.desk]`.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, dict[str, Any]] = Field(init=False)

    enabled: tuple[str, ...] | None = None
    """The rooms that are on. Not set: those that the workspace holds data or settings of."""

    @model_validator(mode="before")
    @classmethod
    def _from_short_form(cls, given: Any) -> Any:
        table = {"enabled": given} if isinstance(given, list | tuple) else given
        names = table.get("enabled") if isinstance(table, Mapping) else None
        if isinstance(names, str):  # from the environment
            return {**table, "enabled": [name.strip() for name in names.split(",") if name.strip()]}
        return table

    def section(self, name: str) -> dict[str, Any]:
        """Return the settings of one room as written; empty if there are none."""
        return self.__pydantic_extra__.get(name, {})

    def sections(self) -> tuple[str, ...]:
        """Return the names of the rooms that have a section; they need not be installed."""
        return tuple(sorted(self.__pydantic_extra__))


class Settings(_Section):
    """The whole configuration of one workspace."""

    gate: GateSettings = GateSettings()
    limits: LimitSettings = LimitSettings()
    policy: PolicySettings = PolicySettings()
    tools: dict[str, ToolPolicy] = Field(default_factory=dict)
    approvals: ApprovalSettings = ApprovalSettings()
    ledger: LedgerSettings = LedgerSettings()
    redact: RedactSettings = RedactSettings()
    auth: AuthSettings = AuthSettings()
    server: ServerSettings = ServerSettings()
    imports: ImportLimits = ImportLimits()
    telemetry: TelemetrySettings = TelemetrySettings()
    storage: StorageSettings = StorageSettings()
    evidence: EvidenceSettings = EvidenceSettings()
    turns: TurnSettings = TurnSettings()
    models: ModelSettings = ModelSettings()
    rooms: RoomSettings = RoomSettings()

    def state_dir(self) -> Path:
        """Return the folder of the mirrored heads and the start-up token."""
        if self.storage.state_dir:
            return Path(self.storage.state_dir).expanduser()
        base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
        return Path(base).expanduser() / "tallystick"

    def models_dir(self) -> Path:
        """Return the folder of local model files."""
        if self.models.folder:
            return Path(self.models.folder).expanduser()
        base = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
        return Path(base).expanduser() / "tallystick" / "models"


def load_settings(workspace: Path, environ: Mapping[str, str] | None = None, config: Path | None = None) -> Settings:
    """Read the configuration of a workspace.

    Args:
        workspace: The folder of `tallystick.toml` (the file is optional).
        environ: The environment; the process's own if not given.
        config: A TOML file to read instead; it must exist.

    Raises:
        ConfigError: Unreadable or malformed TOML, an unknown key or an invalid value; the message names file and key.
    """
    path = config or workspace / CONFIG_NAME
    # A missing explicit file is an error: continuing would drop the policy it defines.
    raw = read_toml(path) if config is not None or path.exists() else {}
    return parse_settings(_with_environment(raw, os.environ if environ is None else environ), source=path.name)


def read_toml(path: Path) -> dict[str, Any]:
    """Read one TOML file; a `ConfigError` names the line of a syntax error."""
    text = ""
    try:
        text = path.read_text(encoding="utf-8")
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise malformed_toml(path.name, error, text) from None
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read: {error.strerror}.", code="config_unreadable") from None


def parse_settings(raw: Mapping[str, Any], *, source: str = CONFIG_NAME) -> Settings:
    """Validate plain data as settings; a `ConfigError` names the first invalid key."""
    return read_section(Settings, raw, source=source)


def _with_environment(raw: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    merged: dict[str, Any] = {key: dict(value) if isinstance(value, Mapping) else value for key, value in raw.items()}
    if isinstance(merged.get("rooms"), list):
        # The environment may set keys beside the list.
        merged["rooms"] = {"enabled": merged["rooms"]}
    for name, path in OLD_NAMES.items():
        if name in environ:
            _put(merged, path, EnvironmentText(environ[name], name))
    for name, value in environ.items():
        if name.startswith("TALLY_") and "__" in name:
            path = tuple(part.lower() for part in name.removeprefix("TALLY_").split("__"))
            _put(merged, path, EnvironmentText(value, name))
    return merged


def _put(into: dict[str, Any], path: tuple[str, ...], value: EnvironmentText) -> None:
    for part in path[:-1]:
        below = into.setdefault(part, {})
        if not isinstance(below, dict):
            message = f"{value.variable} sets '{'.'.join(path)}', but '{part}' is a value and no section. Change one."
            raise ConfigError(message, code="config_bad_value")
        into = below
    into[path[-1]] = value


def debugging(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether `TALLY_DEBUG` enables stack traces for internal errors."""
    return (os.environ if environ is None else environ).get("TALLY_DEBUG", "") not in {"", "0"}


def text_editor(environ: Mapping[str, str] | None = None) -> str:
    """Return the user's editor command: `VISUAL`, `EDITOR` or `vi`."""
    given = os.environ if environ is None else environ
    return given.get("VISUAL") or given.get("EDITOR") or "vi"


def key_variable(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """Return an endpoint's API key from the variable `name`, or from `APP_` + `name`; None if neither is set."""
    given = os.environ if environ is None else environ
    return given.get(name) or given.get(f"APP_{name}")


def environment_with(more: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a process to start: this process's own, with more variables."""
    return {**os.environ, **more}
