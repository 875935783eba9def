"""What every page is given: the open workspace, and who is looking."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

from starlette.requests import Request

from tallystick.agents.conversation import Conversation
from tallystick.app.agents import conversation_of
from tallystick.app.gate import Gate
from tallystick.doors.identity import Identity, StartupToken, is_local
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.session import Caller
from tallystick.records import record

CHANNEL = "page"
BEARER_COOKIE = "tally_bearer"
"""Holds a token of the configured issuer, when auth is on."""


@record
class Visitor:
    """Who looks at a page. Asked anew with every page, and again before anything is changed."""

    caller: Caller
    is_person: bool
    """Whether the start-up token came with the request: then held calls may be answered."""

    def may(self, roles: frozenset[str]) -> bool:
        """Whether one of these roles is there; the owner has them all."""
        return self.caller.has_any(roles)


@record
class Place:
    """An entry of the navigation; entries are sorted by `order`, which the page's own leave gaps in."""

    path: str
    name: str
    icon: str
    roles: frozenset[str]
    """Who sees it."""
    order: int = 50


class SettingsView(Protocol):
    """One part of the settings page."""

    async def show(self) -> None:
        """Draw it."""
        ...


@record
class SettingsPart:
    """A part of the settings page, as a room or the page itself adds it."""

    label: str
    make: "Callable[[PageContext, Visitor], SettingsView]"


@dataclass(kw_only=True)
class PageContext:
    """The workspace behind the pages."""

    gate: Gate
    identity: Identity
    startup: StartupToken
    places: list[Place] = field(default_factory=list[Place])
    """The navigation, in its order; a page adds itself when it is registered."""

    settings_parts: dict[str, SettingsPart] = field(default_factory=dict[str, SettingsPart])
    """The parts of the settings page that rooms add, by the last segment of their path."""

    @cached_property
    def conversation(self) -> Conversation:
        """The agents; the same for every page, so that turns on one endpoint queue together."""
        return conversation_of(self.gate)

    def visitor(self, request: Request) -> Visitor | None:
        """Who is looking; None: nobody who may."""
        bearer = request.cookies.get(BEARER_COOKIE)
        authorization = request.headers.get("authorization") or (None if bearer is None else f"Bearer {bearer}")
        caller = self.identity.authenticate(authorization, loopback=is_local(request.scope), channel=CHANNEL)
        if isinstance(caller, Rejection):
            return None
        return Visitor(caller=caller, is_person=self.startup.is_person(request.scope["headers"]))

    @property
    def project(self) -> str:
        """The name of the project, as people call it."""
        return self.gate.workspace.name or "workspace"

    def room(self, name: str) -> Any:
        """An installed room; None if it is not there."""
        return self.gate.room(name)
