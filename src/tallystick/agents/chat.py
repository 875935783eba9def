"""A message to an agent, and the validation of its text."""

import re

from tallystick.agents.answers import Unanswered
from tallystick.gate.session import LOCAL_OWNER, Caller
from tallystick.gate.tool import Card
from tallystick.records import record
from tallystick.turns.model import Message
from tallystick.turns.request import NO_POLICY, TurnToolPolicy

MAX_MESSAGE_BYTES = 256 * 1024
"""About a hundred pages. Longer texts belong in a file, which an agent reads in parts."""
_BINARY = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Non-text characters: control characters except tab, line ends and form feed; lone surrogates; noncharacters."""
_RETRY_HINT = "Put the text into a file of the workspace and name the file."


@record
class Reported:
    """The result that a client reports for a call handed back to it."""

    receipt_id: str | None
    """The receipt of the call; None: the client names a call that was never handed back."""
    content: str
    fresh: bool
    """Whether the result is new with this message and must be recorded."""


@record
class Chat:
    """One message to an agent."""

    message: str
    caller: Caller = LOCAL_OWNER
    agent_id: str | None = None
    """None: the Chief of Staff."""
    offline: bool = False
    """Use the offline model, whatever endpoint the agent has."""
    session_id: str | None = None
    """None: a new session."""
    conference_id: str | None = None
    policy: TurnToolPolicy = NO_POLICY
    skip_tools: bool = False
    history: tuple[Message, ...] | None = None
    """Earlier messages; None: those of the session's transcript."""
    client_tools: tuple[Card, ...] = ()
    """Tools that the client runs itself."""
    reported: tuple[Reported, ...] = ()
    max_tokens: int | None = None


def fault_of(message: str) -> Unanswered | None:
    """Return why a message is invalid; None if it is valid."""
    if not message.strip():
        return Unanswered(code="message_empty", advice="The message is empty. Say what you want.", field="message")
    if len(message) > MAX_MESSAGE_BYTES or len(message.encode(errors="surrogatepass")) > MAX_MESSAGE_BYTES:
        advice = f"The message is longer than {MAX_MESSAGE_BYTES // 1024} KiB. {_RETRY_HINT}"
        return Unanswered(code="message_too_large", advice=advice, status=413, field="message")
    if _BINARY.search(message):
        advice = f"The message holds binary data or control characters. {_RETRY_HINT}"
        return Unanswered(code="message_not_text", advice=advice, field="message")
    return None
