"""What the exit codes mean. Scripts may rely on them; `docs/cli.md` lists them."""

from enum import IntEnum

from tallystick.errors import ConfigError, LedgerError, RegistrationError, TallyError, ToolError


class Exit(IntEnum):
    """How a command ended."""

    OK = 0
    REFUSED = 1
    """A check failed, a call was refused, or what was asked for is not there."""
    USAGE = 2
    HELD = 3
    """The call waits for a person."""
    CONFIG = 4
    """`tallystick.toml`, a key file, a tool or an optional part cannot be used as it is."""
    LEDGER = 5
    """The ledger cannot write: nothing ran."""
    TOOL_FAILED = 6
    """The call was accepted, and the tool failed."""
    BUG = 70
    """Not meant to happen (`EX_SOFTWARE` of sysexits.h)."""
    INTERRUPTED = 130
    """Ctrl-C, as shells count it."""


_BY_KIND: tuple[tuple[type[TallyError], Exit], ...] = (
    (LedgerError, Exit.LEDGER),
    (ConfigError, Exit.CONFIG),
    (RegistrationError, Exit.CONFIG),
    (ToolError, Exit.TOOL_FAILED),
)


class Refused(TallyError):  # noqa: N818 - reads as what it is
    """Something that was asked for is not there, or may not be done; ends with `Exit.REFUSED`."""

    code = "refused"


class CallHeld(Refused):
    """A call that waits for a person; ends with `Exit.HELD`."""

    code = "held"


class UsageMistake(TallyError):  # noqa: N818
    """Arguments that do not go together, found after Typer has read them; ends with `Exit.USAGE`."""

    code = "usage"


def exit_of(error: TallyError) -> Exit:
    """The exit code of an error that ended a command."""
    if isinstance(error, UsageMistake | CallHeld):
        return Exit.USAGE if isinstance(error, UsageMistake) else Exit.HELD
    return next((code for kind, code in _BY_KIND if isinstance(error, kind)), Exit.REFUSED)
