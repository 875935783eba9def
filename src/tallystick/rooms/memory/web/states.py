"""The states of a proposition, as memory's pages show them: a word in its colour."""

from nicegui import ui

COLOURS = {
    "accepted": "#1d8a4e", "provisional": "#4a7fc1", "tentative": "#75828c", "contested": "#b98100",
    "deprecated": "#9a6b3f", "rejected": "#c4463c",
}  # fmt: skip
"""Legible as areas on light and dark paper; words beside them say the same."""
MEANS = {
    "accepted": "may be relied on", "provisional": "supported, not enough to rely on",
    "tentative": "hardly supported", "contested": "sources disagree", "deprecated": "was so once, too old now",
    "rejected": "not so",
}  # fmt: skip


def state_badge(status: str) -> ui.label:
    """A state."""
    shown = ui.label(status).classes(f"tally-badge tally-state tally-state-{status if status in COLOURS else 'none'}")
    shown.props["title"] = MEANS.get(status, "")
    return shown
