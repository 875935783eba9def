"""`Canon.md`: which card settles what. A function of the extractions alone: same inputs, same bytes."""

from collections.abc import Iterator, Sequence

from tallystick.rooms.studio.book.blocks import unmarked
from tallystick.rooms.studio.canon.nouns import Indexed

_HEAD = (
    "# Canon",
    "",
    "Compiled from the cards of the compendium; edit those, not this file.",
    "",
)


def render(indexed: Sequence[Indexed]) -> str:
    """The whole file."""
    ordered = sorted(indexed, key=lambda one: one.card.path)
    lines = [*_HEAD, *_routing(ordered), "", *_topics(ordered), "", *_catalogue(ordered)]
    return "\n".join(lines).rstrip("\n") + "\n"


def _routing(indexed: Sequence[Indexed]) -> Iterator[str]:
    yield from ("## Routing table", "", "| Subject | Also called | Type | Hardness | Read |", "|---|---|---|---|---|")
    by_name = sorted(indexed, key=lambda one: (one.card.name.casefold(), one.card.path))
    for one in by_name:
        cells = (one.card.name, ", ".join(one.card.aliases), one.extract.type, one.extract.hardness, one.card.path)
        yield f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _topics(indexed: Sequence[Indexed]) -> Iterator[str]:
    yield from ("## Topics", "")
    held: dict[str, list[str]] = {}
    for one in indexed:
        for topic in one.extract.topics:
            names = held.setdefault(topic.casefold(), [])
            if one.card.name not in names:
                names.append(one.card.name)
    for topic in sorted(held):
        yield f"- {_line(topic)}: {', '.join(map(_line, held[topic]))}"


def _catalogue(indexed: Sequence[Indexed]) -> Iterator[str]:
    yield "## File catalogue"
    for one in indexed:
        extract = one.extract
        yield from ("", f"### {one.card.path}", "")
        yield f"- Name: {_line(one.card.name)}"
        yield f"- Type: {extract.type}"
        yield f"- Scope: {', '.join(map(_line, extract.scope))}"
        yield f"- Hardness: {extract.hardness}"
        yield f"- Defines: {', '.join(map(_line, extract.defines))}"
        if extract.constraints:
            yield "- Constraints:"
            yield from (f"  - {_line(text)}" for text in extract.constraints)
        yield f"- Summary: {_line(extract.summary)}"


def _cell(text: str) -> str:
    return _line(text).replace("|", "\\|")


def _line(text: str) -> str:
    return unmarked(text)
