"""What every page receives: the open workspace and the visitor."""

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
"""Contains a token of the configured issuer if auth is enabled."""


@record
class Visitor:
    """The visitor of a page; authenticated again for every page and before every change."""

    caller: Caller
    is_person: bool
    """Whether the request carried the start-up token, which allows answering held calls."""

    def may(self, roles: frozenset[str]) -> bool:
        """Return whether the visitor has one of these roles; the owner has all."""
        return self.caller.has_any(roles)


@record
class NavigationItem:
    """An entry in the navigation, sorted by `order`; the built-in pages leave gaps for others."""

    path: str
    name: str
    icon: str
    roles: frozenset[str]
    """The roles that see it."""
    order: int = 50


class SettingsView(Protocol):
    """One part of the settings page."""

    async def show(self) -> None:
        """Draw the part."""
        ...


@record
class SettingsPart:
    """A part of the settings page, added by a room or built in."""

    label: str
    make: "Callable[[PageContext, Visitor], SettingsView]"


@dataclass(kw_only=True)
class PageContext:
    """The workspace behind the pages."""

    gate: Gate
    identity: Identity
    startup: StartupToken
    places: list[NavigationItem] = field(default_factory=list[NavigationItem])
    """The navigation; a page adds itself when it is registered."""

    settings_parts: dict[str, SettingsPart] = field(default_factory=dict[str, SettingsPart])
    """The parts of the settings page that rooms add, by the last segment of their path."""

    @cached_property
    def conversation(self) -> Conversation:
        """The agents; shared by all pages, so that turns on one endpoint use one queue."""
        return conversation_of(self.gate)

    def visitor(self, request: Request) -> Visitor | None:
        """Authenticate the visitor of a request; None if access is denied."""
        bearer = request.cookies.get(BEARER_COOKIE)
        authorization = request.headers.get("authorization") or (None if bearer is None else f"Bearer {bearer}")
        caller = self.identity.authenticate(authorization, loopback=is_local(request.scope), channel=CHANNEL)
        if isinstance(caller, Rejection):
            return None
        return Visitor(caller=caller, is_person=self.startup.is_person(request.scope["headers"]))

    @property
    def project(self) -> str:
        """The display name of the project."""
        return self.gate.workspace.name or "workspace"

    def room(self, name: str) -> Any:
        """Return an installed room; None if it is not installed."""
        return self.gate.room(name)
