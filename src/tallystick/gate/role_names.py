"""The roles that a token may carry, and the role sets used by routes, pages and tools.

Access is denied by default: a route, page or tool is open only to the roles that it names. The local owner has every
role. Insight, desk and memory are plugins (rooms): they analyse tickets, answer tickets and store facts.
"""

from collections.abc import Mapping

OWNER_ROLE = "owner"
"""Role of the local owner; it implies every other role, and a token can never carry it."""
PERSON_ROLE = "person"
"""Role for a token of one human being; the memory store ranks its statements as a person's."""

ROLES: Mapping[str, str] = {
    "viewer": "Reads files, issues, runs, memory, themes and figures; calls read tools.",
    "analyst": "Runs analyses and clusterings in Insight, and reads what a viewer can read there.",
    "support": "Works on support tickets: creates and claims them, drafts and reviews replies.",
    "auditor": "Reads receipts, approvals, notifications and reviews, and verifies the ledger.",
    "person": "For a human being: uses chat, conferences, issues, runs, patches and memory.",
    "agent": "For a program: same rights as `person`, but memory ranks its statements as an agent's.",
    "admin": "May use every route and tool of the other roles, and tools that declare no roles.",
}
"""Role → its description."""

ADMIN_ONLY = frozenset({"admin"})
EVERY_ROLE = frozenset(ROLES)
WORK_ROLES = frozenset({"person", "agent", "admin"})
"""Roles that may start work and propose changes."""
ANALYST_ROLES = frozenset({"analyst", "admin"})
HISTORY_ROLES = frozenset({"viewer", "admin"})
ANALYSIS_READERS = ANALYST_ROLES | HISTORY_ROLES
DESK_ROLES = frozenset({"support", "admin"})
"""A separate set, because tickets contain customers' messages and data."""
DESK_READERS = frozenset({"support", "auditor", "admin"})
AUDIT_ROLES = frozenset({"auditor", "admin"})
"""A separate set, because receipts contain other callers' requests and results."""
UNDECLARED_ROLES = ADMIN_ONLY
"""Roles that may call a tool for which neither its card nor policy names roles."""


def holds_role(held: frozenset[str], named: frozenset[str]) -> bool:
    """Whether `held` includes one of the `named` roles; if none is named, only the owner passes."""
    return OWNER_ROLE in held or not named.isdisjoint(held)
