"""The caller of an MCP request and the session of its receipts."""

from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tallystick.gate.record.receipt import Receipt
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.gate.session import LOCAL_OWNER, MCP_CHANNEL, Caller, Session
from tallystick.records import record

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

CALLER = "tallystick.caller"
"""Key in the ASGI scope, set by the HTTP door once it has authenticated the caller."""
SESSION_HEADER = "mcp-session-id"
WITHOUT_SESSION = "mcp"
"""The session of HTTP calls without one: the newest protocol revision has no sessions."""
OWNER = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel=MCP_CHANNEL)


@record
class Visit:
    """The session of one request."""

    session: Session

    @property
    def caller(self) -> Caller:
        """The caller of the request."""
        return self.session.caller

    @property
    def audits(self) -> bool:
        """Whether the caller may see all receipts."""
        return self.caller.has_any(AUDIT_ROLES)

    def may_see(self, receipt: Receipt) -> bool:
        """Return whether the caller may see a receipt: callers see the receipts of their own calls, auditors all."""
        header = receipt.header
        own = header.get("session_id") == self.session.session_id
        return self.audits or (own and header.get("caller", {}).get("subject") == self.caller.subject)


def visit_of(ctx: "ServerRequestContext[Any, Any]", *, session_id: str) -> Visit:
    """Return the session of a request.

    Args:
        ctx: The request.
        session_id: The session id of a connection that is a single session (stdio).
    """
    if ctx.request is None:
        return Visit(session=Session(session_id=session_id, caller=OWNER))
    given = ctx.request.headers.get(SESSION_HEADER)
    # The header authorises the use of the session, so receipts only contain a digest of it.
    name = WITHOUT_SESSION if given is None else f"mcp-{sha256(given.encode()).hexdigest()[:24]}"
    return Visit(session=Session(session_id=name, caller=ctx.request.scope[CALLER]))
