"""Who is calling through MCP, and which session his receipts belong to."""

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tallystick.gate.record.receipt import Receipt
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.gate.session import LOCAL_OWNER, Caller, Session
from tallystick.records import record

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

CALLER = "tallystick.caller"
"""Set in an HTTP scope by our own door, once it knows who is calling."""
SESSION_HEADER = "mcp-session-id"
WITHOUT_SESSION = "mcp"
"""The session of HTTP calls that belong to none: the newest protocol has none."""
CHANNEL = "mcp"
OWNER = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel=CHANNEL)


@record
class Visit:
    """One request's place."""

    session: Session

    @property
    def caller(self) -> Caller:
        """Who asks."""
        return self.session.caller

    @property
    def audits(self) -> bool:
        """Whether he may see everybody's receipts."""
        return self.caller.has_any(AUDIT_ROLES)

    def may_see(self, receipt: Receipt) -> bool:
        """Everybody may see the receipts of his own calls."""
        header = receipt.header
        own = header.get("session_id") == self.session.session_id
        return self.audits or (own and header.get("caller", {}).get("subject") == self.caller.subject)


def visit_of(ctx: "ServerRequestContext[Any, Any]", *, session_id: str) -> Visit:
    """Where a request belongs.

    Args:
        ctx: The request.
        session_id: The session of a connection that is one session from end to end (stdio).
    """
    if ctx.request is None:
        return Visit(session=Session(session_id=session_id, caller=OWNER))
    given = ctx.request.headers.get(SESSION_HEADER)
    # The header is what lets a client use its session, so receipts carry a digest of it only.
    name = WITHOUT_SESSION if given is None else f"mcp-{sha256(given.encode()).hexdigest()[:24]}"
    return Visit(session=Session(session_id=name, caller=ctx.request.scope[CALLER]))
