"""Sample data: documents of an invented company and three tickets.

One document is superseded and one withdrawn; two that both hold contradict each other; one is for staff only. The three
tickets end PROCEED, DEFER and BLOCK because of them.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import orjson

from tallystick.records import record
from tallystick.rooms.desk.model import Verdict

COMPANY = "Quillbrook"


@record
class SampleTicket:
    """A ticket, and how it ends."""

    ticket_id: str
    ends: Verdict
    rule: str
    """Why, in words for people."""
    event: Mapping[str, Any]
    because: tuple[tuple[str, str], ...]
    """Documents, and what they say, that decide it."""


def sample_documents() -> Iterator[tuple[str, bytes]]:
    """Every document by its path in the knowledge base, in order."""
    return iter(sorted(_under(_sample() / "kb", "")))


def copy_sample(target: Path) -> list[str]:
    """Put the documents into a folder; those that are there already stay as they are. Gives what was written."""
    written: list[str] = []
    for path, data in sample_documents():
        place = target / path
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            with place.open("xb") as file:
                file.write(data)
        except FileExistsError:
            continue
        written.append(path)
    return written


@cache
def sample_tickets() -> tuple[SampleTicket, ...]:
    """The three, in the order PROCEED, DEFER, BLOCK."""
    return tuple(
        SampleTicket(
            ticket_id=each["id"],
            ends=each["ends"],
            rule=each["rule"],
            event=each["event"],
            because=tuple((said["doc"], said["quote"]) for said in each["because"]),
        )
        for each in orjson.loads((_sample() / "tickets.json").read_bytes())
    )


def _sample() -> Traversable:
    return files("tallystick.rooms.desk") / "sample"


def _under(folder: Traversable, path: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _under(entry, f"{path}{entry.name}/")
        else:
            yield f"{path}{entry.name}", entry.read_bytes()
