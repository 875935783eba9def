"""Everything that can be set, in one place.

What comes later wins: defaults, `tallystick.toml` in the workspace, the names older documents use for environment
variables (`APP_ENABLE_RBAC`, …), `TALLY_*` (`TALLY_LEDGER__DURABILITY`, two underscores between section and key). A
wrong key or value is an error that names it. This module alone reads the environment.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError

from tallystick.errors import ConfigError, malformed_toml
from tallystick.import_limits import ImportLimits

CONFIG_NAME = "tallystick.toml"
CONTROL_ROOM = ".control-room"
OLD_NAMES: dict[str, tuple[str, ...]] = {
    "ENABLE_TICKET_SCHEMA_VALIDATION": ("rooms", "desk", "schema_validation"), "APP_JWT_SECRET": ("auth", "jwt_secret"),
    "ENABLE_TOOL_DERIVATION": ("rooms", "desk", "tool_derivation"), "TALLY_DATABASE_URL": ("storage", "database_url"),
    "APP_RERANK_BACKEND": ("rooms", "insight", "rerank_backend"), "APP_ENABLE_METRICS": ("telemetry", "metrics"),
    "ANALYZER_BACKEND": ("rooms", "insight", "analyzer_backend"), "APP_ENABLE_TRACING": ("telemetry", "tracing"),
    "APP_EMBED_BACKEND": ("rooms", "insight", "embed_backend"), "MAX_TOOL_BYTES_PER_STEP": ("limits", "bytes_per_step"),
    "MAX_TOOL_BYTES_PER_TURN": ("limits", "bytes_per_turn"), "TALLY_STATE_DIR": ("storage", "state_dir"),
    "TOOL_TOKEN_BUDGET": ("limits", "tokens"), "APP_ENABLE_RBAC": ("auth", "enabled"),
    "MAX_TOOL_STEPS": ("limits", "steps"), "TOOL_MAX_STEPS": ("limits", "steps"),
}  # fmt: skip
"""Names from the documents the product comes from, and short forms; aliases live here alone."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class GateSettings(_Section):
    """How model text is admitted."""

    cot: Literal["strip", "reject"] = "strip"
    """What to do with a thinking block before the envelope."""
    turn_ttl_s: int = Field(default=3600, gt=0)
    """A turn, and its nonce with it, ends after this long."""
    tools: tuple[str, ...] = ()
    """Python files (relative to the workspace) or modules whose tools are registered when the workspace is opened."""


class LimitSettings(_Section):
    """What one agent turn may spend, unless the turn says less."""

    steps: int = Field(default=6, ge=0)
    bytes_per_step: int = Field(default=8_000, gt=0)
    bytes_per_turn: int = Field(default=16_000, gt=0)
    tokens: int | None = Field(default=None, gt=0)
    cost_microusd: int | None = Field(default=None, ge=0)
    wall_s: int | None = Field(default=None, gt=0)
    named: dict[str, int] = Field(default_factory=dict)
    """Named budgets, e.g. `search = 5`."""


class ArgumentRule(_Section):
    """A JSON Schema the arguments must also satisfy, for some roles or for all."""

    roles: frozenset[str] = frozenset()
    """Applies to callers with one of these; empty: to everyone."""
    # `schema` is a method of pydantic's own, hence the alias.
    overlay: dict[str, Any] = Field(alias="schema")
    otherwise: Literal["deny", "ask"] = "deny"
    """What happens to a call that does not satisfy it."""
    name: str = "argument_rule"


class ToolPolicy(_Section):
    """What policy says about one tool."""

    decision: Literal["allow", "ask", "deny"] | None = None
    """None: by the tool's effect."""
    roles: frozenset[str] | None = None
    """Narrows the tool's own roles, never widens them; for a tool that names none they are its roles."""
    rate: int | None = Field(default=None, gt=0)
    """Calls per minute and caller."""
    shadow: bool | None = None
    provenance: Literal["ask", "off", "deny"] | None = None
    rules: tuple[ArgumentRule, ...] = ()


class PolicySettings(_Section):
    """The default for each effect, and what differs for single tools."""

    read: Literal["allow", "ask", "deny"] = "allow"
    write: Literal["allow", "ask", "deny"] = "allow"
    external: Literal["allow", "ask", "deny"] = "ask"
    rate: int | None = Field(default=None, gt=0)
    """Calls per minute and caller, all tools together count apart."""
    shadow: bool = False
    """Decide and record, but let the call through."""
    provenance: Literal["ask", "off", "deny"] = "ask"
    """A write with an argument that came out of somebody's text, and from nothing the user said."""


class ApprovalSettings(_Section):
    """Calls that wait for a person."""

    ttl_s: int = Field(default=86_400, gt=0)
    elicitation: bool = False
    """Whether an answer given through MCP elicitation counts as a person's."""


class LedgerSettings(_Section):
    """The journal."""

    durability: Literal["fsync", "os"] = "fsync"
    segment_bytes: int = Field(default=256 * 1024 * 1024, ge=4096)
    """A new journal file is begun after this size; chain and tree go on."""
    checkpoint_every: int = Field(default=256, gt=0)
    checkpoint_s: int = Field(default=10, gt=0)
    mirror: str | None = None
    """A file for the outside copy of the head; default: in the user's state folder. `off` switches it off."""
    witnesses: tuple[str, ...] = ()
    """Who is sent every checkpoint: an https URL (http on loopback), or a file by its absolute path."""
    inline_bytes: int = Field(default=65_536, ge=0)
    """Payloads above this lie beside the log as blobs."""


class RedactSettings(_Section):
    """Argument names whose values are never stored as text."""

    keys: frozenset[str] = frozenset(
        {"password", "passwd", "secret", "api_key", "apikey", "token", "access_token", "refresh_token",
         "authorization", "private_key", "client_secret"}
    )  # fmt: skip


class AuthSettings(_Section):
    """Who may call over HTTP."""

    enabled: bool = False
    jwt_secret: SecretStr | None = None
    """For HS256; at least 32 bytes."""
    jwt_public_key_file: str | None = None
    """PEM for RS256 or ES256; the algorithm follows from the key."""
    audience: str | None = None
    issuer: str | None = None
    leeway_s: int = Field(default=30, ge=0)
    development: bool = False
    """Allows short secrets; never for real use."""


class ServerSettings(_Section):
    """The HTTP door."""

    host: str = "127.0.0.1"
    port: int = Field(default=8787, ge=0, le=65535)
    allowed_hosts: tuple[str, ...] = ()
    """Host names besides loopback that requests may name."""
    max_body_bytes: int = Field(default=1024 * 1024, gt=0)
    body_timeout_s: int = Field(default=15, gt=0)
    max_upload_bytes: int = Field(default=256 * 1024 * 1024, gt=0)
    """For routes that take a file; larger ones are better named by their path."""
    upload_timeout_s: int = Field(default=600, gt=0)


class TelemetrySettings(_Section):
    """What is counted and traced."""

    metrics: bool = True
    tracing: bool = False
    otlp_endpoint: str | None = None


class StorageSettings(_Section):
    """Where things lie."""

    database_url: str | None = None
    """SQLAlchemy URL; default: SQLite in the workspace's control room."""
    state_dir: str | None = None
    """The user's state folder; default: `$XDG_STATE_HOME/tallystick`."""
    user_dir: str = "~/.tallystick"
    """What the user has for all projects, e.g. `prompts.json`."""


class EvidenceSettings(_Section):
    """The reply check."""

    sources: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Agent or role → path patterns of which at least one item must come; overrides the defaults."""


class ModelSettings(_Section):
    """Answers of models."""

    answer_bytes: int = Field(default=1024 * 1024, gt=0)
    """Larger answers are thrown away."""


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
    models: ModelSettings = ModelSettings()
    rooms: dict[str, dict[str, Any]] = Field(default_factory=dict)
    """A room's own settings, checked by the room."""

    def state_dir(self) -> Path:
        """Where heads are mirrored and the start-up token lies."""
        if self.storage.state_dir:
            return Path(self.storage.state_dir).expanduser()
        base = os.environ.get("XDG_STATE_HOME") or "~/.local/state"
        return Path(base).expanduser() / "tallystick"


def load_settings(workspace: Path, environ: Mapping[str, str] | None = None, config: Path | None = None) -> Settings:
    """Read the configuration of a workspace.

    Args:
        workspace: The folder that holds `tallystick.toml` (it need not be there).
        environ: The environment; the process's own if not given.
        config: Another TOML file to read instead.

    Raises:
        ConfigError: Malformed TOML, an unknown key or a wrong value; the message names file and key.
    """
    path = config or workspace / CONFIG_NAME
    # A file that was asked for must be there: to go on without it would be to go on without its policy.
    raw = read_toml(path) if config is not None or path.exists() else {}
    return parse_settings(_with_environment(raw, os.environ if environ is None else environ), source=path.name)


def read_toml(path: Path) -> dict[str, Any]:
    """Read one TOML file, with an error that says where it breaks."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise malformed_toml(path.name, error) from None
    except OSError as error:
        raise ConfigError(f"{path.name} cannot be read: {error.strerror}.", code="config_unreadable") from None


def parse_settings(raw: Mapping[str, Any], *, source: str = CONFIG_NAME) -> Settings:
    """Check plain data against the settings; the error names the first wrong key."""
    try:
        return Settings.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            message = f"{source}: unknown key '{key}'. Remove it, or check its spelling."
            raise ConfigError(message, code="config_unknown_key") from None
        raise ConfigError(f"{source}: '{key}': {first['msg']}.", code="config_bad_value") from None


def _with_environment(raw: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    merged: dict[str, Any] = {key: dict(value) if isinstance(value, Mapping) else value for key, value in raw.items()}
    for name, path in OLD_NAMES.items():
        if name in environ:
            _put(merged, path, environ[name])
    for name, value in environ.items():
        if name.startswith("TALLY_") and "__" in name:
            _put(merged, tuple(part.lower() for part in name.removeprefix("TALLY_").split("__")), value)
    return merged


def _put(into: dict[str, Any], path: tuple[str, ...], value: str) -> None:
    for part in path[:-1]:
        below = into.setdefault(part, {})
        if not isinstance(below, dict):
            message = f"the environment sets '{'.'.join(path)}', but '{part}' is a value and no section. Change one."
            raise ConfigError(message, code="config_bad_value")
        into = below
    into[path[-1]] = value


def debugging(environ: Mapping[str, str] | None = None) -> bool:
    """Whether `TALLY_DEBUG` asks for stack traces of what must not happen."""
    return (os.environ if environ is None else environ).get("TALLY_DEBUG", "") not in {"", "0"}


def text_editor(environ: Mapping[str, str] | None = None) -> str:
    """The command with which the user edits text."""
    given = os.environ if environ is None else environ
    return given.get("VISUAL") or given.get("EDITOR") or "vi"


def key_variable(name: str, environ: Mapping[str, str] | None = None) -> str | None:
    """What stands in the variable that an endpoint names for its key, or in `APP_` + that name; None if not set."""
    given = os.environ if environ is None else environ
    return given.get(name) or given.get(f"APP_{name}")
