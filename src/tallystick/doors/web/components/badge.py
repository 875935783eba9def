"""A coloured label for verdicts, states and outcomes; the word alone carries the meaning."""

from nicegui import ui

GOOD = frozenset({"ok", "allow", "allowed", "done", "proceed", "accepted", "approved", "verified", "sent", "moderator"})
WARN = frozenset(
    {
        "held",
        "ask",
        "review",
        "defer",
        "waiting",
        "pending",
        "running",
        "contested",
        "abstained",
        "changed",
        "medium",
        "incomplete",
        "queued",
        "expired",
    }
)
BAD = frozenset(
    {
        "deny",
        "denied",
        "rejected",
        "failed",
        "error",
        "block",
        "blocked",
        "muted",
        "high",
        "cancelled",
        "broken_off",
        "dead",
    }
)


def badge(word: str) -> ui.label:
    """Show a state."""
    key = word.strip().lower().replace(" ", "_")
    tone = "good" if key in GOOD else "warn" if key in WARN else "bad" if key in BAD else "quiet"
    return ui.label(word).classes(f"tally-badge tally-{tone}")
