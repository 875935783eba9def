"""An agent that reads its own notes learns nothing: what a tool reads back weighs no more than the note.

A tool's reading is linked to a note with the same words that was written before. Not to one that was only recorded
before: else an agent could copy what a tool has just read, be recorded first, and make it worthless. A note is as old
as its record, whoever wrote it and whatever it says of the time. So it depends on times alone whether something is a
note read back, and never on which of the two was recorded first.
"""

from typing import Any

from tallystick.rooms.memory.naming import text_key
from tallystick.rooms.memory.nouns import Observation
from tallystick.rooms.memory.state import State


def keep_note(state: State, made: Observation) -> None:
    """Remember what a model has written, or what was derived; of several with the same words the first."""
    if not made.derived_from and made.weighed_as != "model_inference":
        return
    key = text_key(made.text)
    if _note(state, key) is None:
        state.notes.put(key, made.id)


def note_before(state: State, text: str, source_id: str, seen: int) -> str | None:
    """The note that a tool has read back, if what it read at this time had been written by then."""
    found = _note(state, text_key(text))
    return None if found is None or found.source_id == source_id or found.at > seen else found.id


def _note(state: State, key: str) -> Observation | None:
    name = state.notes.get(key)
    return None if name is None else state.observations.get(name)


def is_reading(args: dict[str, Any]) -> bool:
    """Whether it is something that a tool may have read back: no person's words, and of no known origin."""
    return not args.get("derived_from") and args["source"]["class"] != "human"
