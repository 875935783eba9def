"""The roles a token may carry, and the sets of them that routes, pages and tools name.

Access is denied by default: a route, page or tool is open to the roles it names and to nobody else. The local owner has
every role.
"""

from collections.abc import Mapping

OWNER_ROLE = "owner"
"""The local owner has every role; a token can never carry this one."""
PERSON_ROLE = "person"
"""The token of one human being: memory takes its word as a person's."""

ROLES: Mapping[str, str] = {
    "viewer": "Reads what the rooms hold: files, issues, runs, memory, themes and figures; calls read tools.",
    "analyst": "Runs analyses and clusterings besides what a viewer reads of Insight.",
    "support": "Works on tickets of the desk: intake, leases, drafts, reviews.",
    "auditor": "Reads receipts, approvals, notifications and reviews, and verifies the ledger.",
    "person": "Works in the rooms as a human being: chat, conferences, issues, runs, patches, memory.",
    "agent": "Does the same work as a program; memory believes it no more than any agent.",
    "admin": "May use every route and tool that names roles.",
}
"""Role → what it is for."""

ADMIN_ONLY = frozenset({"admin"})
EVERY_ROLE = frozenset(ROLES)
WORK_ROLES = frozenset({"person", "agent", "admin"})
"""Start work and propose changes."""
ANALYST_ROLES = frozenset({"analyst", "admin"})
HISTORY_ROLES = frozenset({"viewer", "admin"})
ANALYSIS_READERS = ANALYST_ROLES | HISTORY_ROLES
DESK_ROLES = frozenset({"support", "admin"})
"""Tickets hold customers' words and data."""
DESK_READERS = frozenset({"support", "auditor", "admin"})
AUDIT_ROLES = frozenset({"auditor", "admin"})
"""Receipts hold what others asked and got, so reading them is a role of its own."""
UNDECLARED_ROLES = ADMIN_ONLY
"""Who may call a tool that names no roles, where policy names none for it either."""


def holds_role(held: frozenset[str], named: frozenset[str]) -> bool:
    """Whether one of the named roles is held; where none is named, only the owner passes."""
    return OWNER_ROLE in held or not named.isdisjoint(held)
