"""Errors of configuration and use.

    TallyError
    ├── ConfigError      tallystick.toml, environment, key files: what to change
    │   └── PartMissing      an optional part is not installed: the command that installs it
    │       └── RoomOff          a room is off in this workspace: the command that switches it on
    ├── RegistrationError  a tool or schema that cannot be registered
    ├── LedgerError      the journal cannot store or return a record
    │   ├── LedgerDamaged    damage before the tail, or a rolled-back journal
    │   └── LedgerUnwritable full disk, read-only, replaced, failed fsync
    ├── PathRefused      a path that leaves the workspace or is not a plain file
    └── ToolError        raised by a tool on purpose; becomes a clean outcome

A refused call is never an exception: it is an `Outcome`. These errors are for everything outside a call.
"""


class TallyError(Exception):
    """Base of all intentional errors; `code` is stable, the message says what to do."""

    code = "error"

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        if code is not None:
            self.code = code


class ConfigError(TallyError):
    """The configuration is invalid."""

    code = "config_invalid"


class PartMissing(ConfigError):  # noqa: N818 - the name states the condition
    """An optional part is not installed; the message has the command that installs it."""

    code = "part_missing"


class RoomOff(PartMissing):
    """A room is switched off in this workspace; the message has the command that switches it on."""

    code = "room_off"


class RegistrationError(TallyError):
    """A tool or its schema cannot be registered."""

    code = "registration_refused"


class LedgerError(TallyError):
    """The journal cannot perform the requested operation."""

    code = "ledger_error"


class LedgerDamaged(LedgerError):  # noqa: N818 - the name states the condition
    """The journal is damaged before its tail, or is older than its head."""

    code = "ledger_damaged"


class LedgerUnwritable(LedgerError):  # noqa: N818
    """The journal cannot be written now."""

    code = "ledger_unwritable"


class PathRefused(TallyError):  # noqa: N818
    """A path leaves the workspace, is protected, or is not a plain file."""

    code = "path_refused"


class ToolError(TallyError):
    """Raised by a tool to report a failure.

    `status` 404 and 409 pass through, 400 means that the tool's input is invalid, 429 that its budget is spent;
    `unavailable` means that an optional part is missing.
    """

    code = "tool_failed"

    def __init__(
        self, message: str, *, status: int | None = None, unavailable: bool = False, hint: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.unavailable = unavailable
        self.hint = hint


def malformed_toml(source: str, error: ValueError, text: str = "") -> ConfigError:
    """Build the error for invalid TOML, with the line to fix."""
    # Imported here because only this error path needs them, and the relay's start-up time depends on its imports.
    import json  # noqa: PLC0415
    import re  # noqa: PLC0415
    from ast import literal_eval  # noqa: PLC0415

    found = re.fullmatch(r"Cannot declare (\(.+\)) twice \(at line (\d+), column \d+\)", str(error))
    if found is None:
        return ConfigError(f"{source} is not valid TOML: {error}. Fix that line.", code="config_malformed")
    names = literal_eval(found[1])
    if names[0] == "rooms" and re.search(r"^\s*rooms\s*=", text, re.MULTILINE):
        message = (
            f"{source} is not valid TOML: `rooms = […]` cannot stand beside a table of a room (line {found[2]}). "
            "Write [rooms] and below it enabled = […] instead of `rooms = […]`."
        )
        return ConfigError(message, code="config_malformed")
    table = ".".join(name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name) for name in names)
    message = (
        f"{source} is not valid TOML: line {found[2]} begins the table [{table}] a second time. "
        "Change the table that is there, and take this one out."
    )
    return ConfigError(message, code="config_malformed")
