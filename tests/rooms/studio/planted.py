"""The mistakes of the sample project, and the lines beside them that only look like mistakes."""

from functools import cache
from importlib.resources import files

import orjson

from tallystick.records import record

ANSWERS = "PLANTED.json"


@record
class Line:
    """Words that stand in the sample."""

    path: str
    line: int
    """From 1."""
    quote: str


@record
class Planted:
    """Two lines that contradict each other; or that only seem to."""

    id: str
    kind: str
    decoy: bool
    """It only looks like a contradiction: speech, a lie, a dream, a memory, a simile, a change that is told."""
    why: str
    a: Line
    """What holds: a card, or the earlier scene."""
    b: Line


@cache
def planted() -> tuple[Planted, ...]:
    """What was planted, and the decoys beside it."""
    found = orjson.loads((files("tallystick.rooms.studio") / "sample" / ANSWERS).read_bytes())
    return tuple(Planted(**{**each, "a": Line(**each["a"]), "b": Line(**each["b"])}) for each in found)
