"""Merge the lists of all servers: tools and prompts get their server's name in front, resources keep their address."""

import asyncio
from collections.abc import Iterable

from tallystick.doors.mcp.gateway.backend import Backend, BackendError
from tallystick.doors.mcp.jsonrpc import LIST, Message
from tallystick.doors.mcp.relay.names import SEPARATOR
from tallystick.records import record


@record
class ListKind:
    """One kind of list in the protocol."""

    key: str
    """The member of the result that holds the list."""
    capability: str
    ident: str
    """The member of an item that names it."""
    prefixed: bool = True


KINDS: dict[str, ListKind] = {
    LIST: ListKind(key="tools", capability="tools", ident="name"),
    "prompts/list": ListKind(key="prompts", capability="prompts", ident="name"),
    "resources/list": ListKind(key="resources", capability="resources", ident="uri", prefixed=False),
    "resources/templates/list": ListKind(
        key="resourceTemplates", capability="resources", ident="uriTemplate", prefixed=False
    ),
}
"""Method → the list that it returns."""


class Lists:
    """The merged lists, and which server each resource belongs to."""

    def __init__(self) -> None:
        self._owners: dict[str, dict[str, str]] = {"resources/list": {}, "resources/templates/list": {}}
        """Method → address or template → name of its server."""

    async def merged(self, method: str, backends: Iterable[Backend]) -> tuple[list[Message], list[tuple[str, str]]]:
        """Return the items of all servers, and the servers that did not answer with the reason."""
        kind = KINDS[method]
        asked = [backend for backend in backends if kind.capability in backend.capabilities]
        found = await asyncio.gather(*(one.items(method, kind.key) for one in asked), return_exceptions=True)
        items: list[Message] = []
        failed: list[tuple[str, str]] = []
        owners: dict[str, str] = {}
        for backend, part in zip(asked, found, strict=True):
            if isinstance(part, BackendError):
                failed.append((backend.name, str(part)))
            elif isinstance(part, BaseException):
                raise part
            else:
                items += self._taken(kind, backend.name, part, owners)
        if not kind.prefixed:
            self._owners[method] = owners
        return items, failed

    def owner(self, address: str) -> str | None:
        """Return the server that listed a resource, or a template that it begins like; None if it is not known."""
        listed = self._owners["resources/list"].get(address)
        templates = self._owners["resources/templates/list"]
        if listed is not None or address in templates:
            return listed or templates[address]
        fitting = [template for template in templates if address.startswith(_beginning(template))]
        # The longest literal beginning is the nearest; matching whole templates would let a server choose the effort.
        return templates[max(fitting, key=lambda template: len(_beginning(template)))] if fitting else None

    def _taken(self, kind: ListKind, server: str, items: list[Message], owners: dict[str, str]) -> list[Message]:
        taken: list[Message] = []
        for item in items:
            name = item.get(kind.ident)
            if not isinstance(name, str):
                continue
            if kind.prefixed:
                taken.append({**item, kind.ident: f"{server}{SEPARATOR}{name}"})
            elif owners.setdefault(name, server) == server:
                # An address that another server listed first stays with that server.
                taken.append(item)
        return taken


def _beginning(template: str) -> str:
    return template.partition("{")[0]
