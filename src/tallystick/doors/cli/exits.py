"""The exit codes. Scripts may rely on them; `docs/cli.md` lists them."""

from enum import IntEnum

from tallystick.errors import ConfigError, LedgerError, RegistrationError, TallyError, ToolError


class Exit(IntEnum):
    """The result of a command."""

    OK = 0
    REFUSED = 1
    """A check failed, a call was refused, or the requested item does not exist."""
    USAGE = 2
    HELD = 3
    """The call is waiting for approval."""
    CONFIG = 4
    """`tallystick.toml`, a key file, a tool or an optional part cannot be used."""
    LEDGER = 5
    """The ledger cannot write: nothing ran."""
    TOOL_FAILED = 6
    """The call was accepted, but the tool failed."""
    BUG = 70
    """An internal error (`EX_SOFTWARE` of sysexits.h)."""
    INTERRUPTED = 130
    """Ctrl-C, by the shell convention."""


_BY_KIND: tuple[tuple[type[TallyError], Exit], ...] = (
    (LedgerError, Exit.LEDGER),
    (ConfigError, Exit.CONFIG),
    (RegistrationError, Exit.CONFIG),
    (ToolError, Exit.TOOL_FAILED),
)


class Refused(TallyError):  # noqa: N818 - an outcome, not an error
    """The requested item does not exist or the action is not allowed; ends with `Exit.REFUSED`."""

    code = "refused"


class CallHeld(Refused):
    """A call is waiting for approval; ends with `Exit.HELD`."""

    code = "held"


class UsageMistake(TallyError):  # noqa: N818
    """The arguments do not go together, found after Typer has parsed them; ends with `Exit.USAGE`."""

    code = "usage"


def exit_of(error: TallyError) -> Exit:
    """Return the exit code of an error that ended a command."""
    if isinstance(error, UsageMistake | CallHeld):
        return Exit.USAGE if isinstance(error, UsageMistake) else Exit.HELD
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), Exit.REFUSED)
