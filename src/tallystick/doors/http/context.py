"""The request context of every route: the caller, and whether the request comes from a person."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock
from typing import Any, TypeVar

from starlette.requests import Request

from tallystick.agents.conversation import Conversation
from tallystick.app.agents import conversation_of
from tallystick.app.gate import Gate
from tallystick.doors.http.asgi import Scope
from tallystick.doors.http.problems import RequestRefused
from tallystick.doors.identity import Identity, StartupToken, is_local
from tallystick.doors.identity.admission import PUBLIC_PATHS, may_propose
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import NO_ROLE, Category
from tallystick.gate.session import Caller
from tallystick.records import record
from tallystick.turns.turn import Turn

MAX_TURNS = 10_000
"""Maximum number of open turns for HTTP clients; beyond it the oldest is closed."""
ANONYMOUS = Caller(channel="http")
Handler = TypeVar("Handler", bound=Callable[..., Any])


@record
class Access:
    """The access declaration of a handler."""

    roles: frozenset[str]
    refuses_itself: bool = False
    """The handler checks access itself, because its refusals are an outcome or have another wire format."""
    proposers: bool = False
    """Also open to callers with a role that only a tool or the policy names: for some of the gate's own routes."""


DENIED_TO_ALL = Access(roles=frozenset())
"""The access of a handler without a declaration."""


def open_to(
    roles: frozenset[str], *, refuses_itself: bool = False, proposers: bool = False
) -> Callable[[Handler], Handler]:
    """Declare the roles that may use a route; `HttpContext.admit` checks them before the handler runs."""

    def declare(handler: Handler) -> Handler:
        handler.__dict__[_DECLARED] = Access(roles=roles, refuses_itself=refuses_itself, proposers=proposers)
        return handler

    return declare


def access_of(endpoint: object) -> Access:
    """Return the access declaration of a handler."""
    found: Access = getattr(endpoint, _DECLARED, DENIED_TO_ALL)
    return found


_DECLARED = "tallystick_access"


@dataclass(kw_only=True)
class HttpContext:
    """The gate, the authentication and the open turns of the HTTP door."""

    gate: Gate
    identity: Identity
    startup: StartupToken
    turns: OrderedDict[str, Turn] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)
    worker_fault: str | None = None
    """Why the durable worker of this server does not run; None: it runs, or is not meant to."""

    @cached_property
    def conversation(self) -> Conversation:
        """The conversation service, shared by all routes so that turns on one endpoint share its queue."""
        return conversation_of(self.gate)

    def caller(self, scope: Scope) -> Caller | Rejection:
        """Authenticate the caller of a request."""
        authorization: str | None = None
        for name, value in scope["headers"] if self.identity.enabled else ():
            if name == b"authorization":
                # Join duplicate headers into an invalid token, so that it is never ambiguous which one counts.
                given = value.decode("latin-1")
                authorization = given if authorization is None else f"{authorization},{given}"
        return self.identity.authenticate(authorization, loopback=is_local(scope))

    def may_propose(self, caller: Caller) -> bool:
        """Return whether the caller may propose calls at all; the tools' roles decide which ones."""
        return may_propose(caller, self.gate)

    async def admit(self, request: Request) -> None:
        """Check before every handler that the caller may use its route; without a declaration nobody may.

        Raises:
            RequestRefused: 401 without a valid token, 403 without the role.
        """
        if request.scope["path"] not in PUBLIC_PATHS and not access_of(request.scope["endpoint"]).refuses_itself:
            self.require(request)

    def require(self, request: Request) -> Caller:
        """Return the caller if it has one of the roles that the route declares.

        Raises:
            RequestRefused: 401 without a valid token, 403 without the role.
        """
        caller = self.caller(request.scope)
        if isinstance(caller, Rejection):
            raise RequestRefused(401, Category.RBAC_DENIED, caller.reason, hint="Send 'Authorization: Bearer <token>'.")
        access = access_of(request.scope["endpoint"])
        if not caller.has_any(access.roles) and not (access.proposers and self.may_propose(caller)):
            hint = f"One of these roles is needed: {', '.join(sorted(access.roles))}."
            raise RequestRefused(NO_ROLE.http, Category.RBAC_DENIED, "role missing", hint=hint)
        return caller

    def require_person(self, request: Request, command: str | None = None) -> Caller:
        """Return the caller if the request comes from a person, that is, carries the start-up token.

        Args:
            request: The request.
            command: The equivalent CLI command for the hint, if there is one.

        Raises:
            RequestRefused: 403 without the start-up token, even for the local owner: an agent calls as the owner too.
        """
        caller = self.require(request)
        if not self.startup.is_person(request.scope["headers"]):
            at_terminal = "" if command is None else f", or use `{command}` at a terminal"
            hint = f"Send the start-up token, which `tally serve` printed, as X-Tally-Token{at_terminal}."
            raise RequestRefused(403, Category.RBAC_DENIED, "this needs a person: no start-up token", hint=hint)
        return caller

    def keep(self, turn: Turn) -> None:
        """Keep a turn open for its client."""
        with self.lock:
            # All turns have the same lifetime, so the oldest expires first.
            while self.turns and (len(self.turns) >= MAX_TURNS or next(iter(self.turns.values())).expired):
                self.turns.popitem(last=False)[1].close()
            self.turns[turn.turn_id] = turn

    def turn(self, turn_id: str, caller: Caller) -> Turn | None:
        """Return a turn of this caller; None if it does not exist or belongs to another caller."""
        with self.lock:
            turn = self.turns.get(turn_id)
        return turn if turn is not None and turn.session.caller.subject == caller.subject else None
