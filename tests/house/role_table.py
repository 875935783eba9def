"""The table of roles and routes in `docs/operations.md`, as the code declares them."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from tallystick.gate.role_names import EVERY_ROLE, ROLES
from tallystick.gate.tool import Card


def role_lines() -> list[str]:
    """One row for each role."""
    return ["| role | for |", "|---|---|", *(f"| `{role}` | {what} |" for role, what in ROLES.items())]


def route_lines(paths: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """One row for each set of roles that is not every role, with the routes of the API document that name it."""
    by_roles: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for path, methods in paths.items():
        for method, about in methods.items():
            roles = frozenset(about.get("x-roles", EVERY_ROLE))
            if roles != EVERY_ROLE:
                by_roles[roles].append(f"`{method.upper()} {path}`")
    rows = (f"| {_names(roles)} | {', '.join(sorted(found))} |" for roles, found in _ordered(by_roles))
    return ["| roles | routes |", "|---|---|", *rows]


def tool_lines(cards: list[Card]) -> list[str]:
    """One row for each set of roles that is not every role, with the tools that name it."""
    by_roles: defaultdict[frozenset[str], list[str]] = defaultdict(list)
    for card in cards:
        if card.roles != EVERY_ROLE:
            by_roles[card.roles].append(f"`{card.name}`")
    rows = (f"| {_names(roles)} | {', '.join(sorted(found))} |" for roles, found in _ordered(by_roles))
    return ["| roles | tools |", "|---|---|", *rows]


def _names(roles: frozenset[str]) -> str:
    return ", ".join(f"`{role}`" for role in sorted(roles))


def _ordered(by_roles: Mapping[frozenset[str], list[str]]) -> list[tuple[frozenset[str], list[str]]]:
    return sorted(by_roles.items(), key=lambda item: sorted(item[0]))
