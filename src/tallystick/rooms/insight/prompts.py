"""Versions of the analyst's prompt: the built-in one and saved ones."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError
from tallystick.rooms.insight.model import Prompt

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

FIRST = "v1"
LONGEST = 20_000
"""Characters of a template: more would leave a model no room for tickets."""
_SLOT = re.compile(r"\{(\w{1,40})\}")
SLOTS = ("question", "dataset", "figures", "tickets")
BUILT_IN = """\
{dataset}

Answer this question about the support tickets, in a few sentences:
{question}

What is known already, each sentence with its references:
{figures}

Tickets, drawn so that they stand for all:
{tickets}

Look up what is missing with the tools, then answer. Every sentence ends with its references in square brackets: a
figure as it stands above, or a ticket with words that stand in it. Numbers come from figures, never from counting the
tickets above. If the data do not say it, say so.
"""


def first_prompt() -> Prompt:
    """The instructions that come with the room."""
    return Prompt(version=FIRST, template=BUILT_IN, metadata={"built_in": True}, revision=0, saved_at=0)


def versions(store: "Store") -> list[str]:
    """All versions there are."""
    return sorted({FIRST, *store.prompt_versions()})


def load(store: "Store", version: str) -> Prompt:
    """One version, its newest revision.

    Raises:
        ToolError: There is no such version.
    """
    found = store.prompt(version) or (first_prompt() if version == FIRST else None)
    if found is None:
        known = ", ".join(versions(store)[:20])
        raise ToolError("There is no prompt of this version.", status=404, hint=f"There are: {known}.")
    return found


def save(store: "Store", version: str, template: str, metadata: Mapping[str, Any], *, now: int) -> int:
    """Keep a version; an earlier revision of it stays. Gives the revision.

    Raises:
        ToolError: The template cannot be filled in.
    """
    if len(template) > LONGEST:
        raise ToolError("The template is too long.", status=400, hint=f"Keep it under {LONGEST:,} characters.")
    unknown = sorted(set(_SLOT.findall(template)) - set(SLOTS))
    if unknown:
        hint = f"There are: {', '.join('{' + slot + '}' for slot in SLOTS)}."
        raise ToolError(f"The template has a place that nobody fills: {unknown[0]}.", status=400, hint=hint)
    return store.save_prompt(version, template, metadata, now)


def filled(template: str, slots: Mapping[str, str]) -> str:
    """The instructions with everything in its place; what a ticket says is never read as a place.

    A template without a place for the question has it behind it.
    """
    template = template if "{question}" in template else f"{template}\n\n{{question}}\n"
    return _SLOT.sub(lambda found: slots.get(found[1], found[0]), template)
