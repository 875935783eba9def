"""Texts and metadata of the relay's refusals, which replace the server's result."""

from pathlib import Path

from tallystick.doors.mcp.held_calls import INVALID_STATE
from tallystick.doors.mcp.jsonrpc import Message
from tallystick.doors.mcp.relay.options import Wrapping
from tallystick.doors.presentation.meta import APPROVAL, CATEGORY, CODE, EXPIRES, REASON, RECEIPT, STATUS
from tallystick.doors.presentation.refusals import approve_command
from tallystick.gate.codes import BAD_ARGS, DENIED, UNKNOWN_TOOL, Fault
from tallystick.gate.execute.outcome import Outcome

CHANGED = "definition_changed"
NEW = "definition_new"
UNUSABLE = "definition_unusable"
NOT_OFFERED = "the server offers no such tool"
DOUBTFUL = "an argument is named in a way that a server may take for another"
FAULTS: dict[str, Fault] = {
    CHANGED: DENIED,
    NEW: DENIED,
    UNUSABLE: UNKNOWN_TOOL,
    NOT_OFFERED: UNKNOWN_TOOL,
    DOUBTFUL: BAD_ARGS,
    INVALID_STATE: BAD_ARGS,
}
ANOTHER_NAME = "start it with `tally mcp wrap --name NAME`, and it has a workspace of its own."


def refusal_text(wrong: str, name: str, why: str, wrapping: Wrapping) -> str:
    """Explain a refusal to the model and to people who read the conversation."""
    if wrong == UNUSABLE:
        return f"The definition of '{name}' cannot be used: {why}"
    if wrong == NOT_OFFERED:
        return f"refused (UNKNOWN_TOOL): {wrong}: '{name}'"
    if wrong == DOUBTFUL:
        return f"refused (BAD_ARGS): {wrong}. Use the names of the tool's schema, each once."
    if wrong == INVALID_STATE:
        return f"refused (BAD_ARGS): {wrong}. Make the call again without it."
    if wrong == NEW:
        text = f"'{name}' was not there when the server was first met. A person has to see it first:"
    else:
        text = f"The definition of '{name}' is not the one that was accepted. A person has to see the difference:"
    text += f"\n  tally mcp review --workspace {wrapping.typed_workspace}"
    return (
        text
        if wrapping.gateway
        else text + f"\nIf this is another server that is only called '{wrapping.name}', too: {ANOTHER_NAME}"
    )


def held_text(approval_id: str, expires_at: str, workspace: Path) -> str:
    """Explain how to approve a call that is waiting for approval."""
    return (
        "this call waits for a person. To let it through, run in a terminal:\n"
        f"  {approve_command(approval_id, workspace)}\n"
        f"Then make exactly the same call again (until {expires_at})."
    )


def meta_of(outcome: Outcome) -> Message:
    """Return the refusal as metadata for programs: codes and ids."""
    said: Message = {STATUS: outcome.status, RECEIPT: outcome.receipt_id}
    if outcome.rejection is not None:
        said |= {CODE: str(outcome.rejection.code), REASON: outcome.rejection.reason}
    if outcome.failure is not None:
        said |= {CATEGORY: str(outcome.failure.fault.category), REASON: outcome.failure.message}
    if outcome.held is not None:
        said |= {APPROVAL: outcome.held.approval_id, EXPIRES: outcome.held.expires_at}
    return said
