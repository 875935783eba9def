"""The two files of the canon index: `canon-index.md`, served as `Canon.md`, and `canon-meta.json` beside it.

The index is a pure function of the extracts: same inputs, same bytes. The time, the inputs and the problems of a
compilation are in the metadata file.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.errors import ConfigError
from tallystick.rooms.studio.book.blocks import unmarked
from tallystick.rooms.studio.canon.model import Extract, Indexed
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal import disk
from tallystick.storage.json_file import JsonFile

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


FOLDER = "canon"
INDEX = "canon-index.md"
META = "canon-meta.json"


class CanonFiles:
    """The files of one workspace's canon."""

    def __init__(self, workspace: Path) -> None:
        self._index = workspace / CONTROL_ROOM / FOLDER / INDEX
        self._meta = JsonFile(workspace / CONTROL_ROOM / FOLDER / META, code="canon_meta_damaged")

    def meta(self) -> dict[str, Any]:
        """Metadata of the last compilation; empty without one.

        Raises:
            ConfigError: `canon_meta_damaged`.
        """
        return self._meta.read() or {}

    def index_sha256(self) -> str | None:
        """The digest of the index file; None if there is none.

        Raises:
            ConfigError: `canon_unreadable`.
        """
        try:
            data = disk.read_whole(self._index)
        except OSError as error:
            message = f"{INDEX} cannot be read: {error.strerror or error}. Make it a plain, readable file."
            raise ConfigError(message, code="canon_unreadable") from None
        return None if data is None else sha256(data).hexdigest()

    def keep(self, card_sha256: str, agent: str, extract: Extract) -> None:
        """Keep a model's extraction of a card, as long as the card is the same."""
        with self._meta.locked():
            meta = self.meta()
            held = dict(meta.get("extracts", {}))
            held[card_sha256] = {"agent": agent, "extract": extract.as_dict()}
            self._meta.write(_without_version(meta) | {"extracts": held})

    def write(self, text: str, indexed: Sequence[Indexed], told: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the last compilation and return the new metadata.

        Args:
            text: The index.
            indexed: What it was made from.
            told: `compiled_at`, `by`, `agent`, `complaints`.
        """
        data = text.encode()
        with self._meta.locked():
            before = self.meta()
            wanted = {one.card.source.sha256 for one in indexed}
            extracts = {key: kept for key, kept in before.get("extracts", {}).items() if key in wanted}
            self._replace(data)
            meta = {
                **told,
                "index_sha256": sha256(data).hexdigest(),
                "cards": [
                    {
                        "path": one.card.path,
                        "sha256": one.card.source.sha256,
                        "name": one.card.name,
                        "by": one.by,
                        "problem": one.problem,
                        "extract": one.extract.as_dict(),
                    }
                    for one in sorted(indexed, key=lambda one: one.card.path)
                ],
                "extracts": extracts,
            }
            self._meta.write(meta)
        return meta

    def _replace(self, data: bytes) -> None:
        try:
            # Rewriting the same bytes would only trigger file watchers.
            if disk.read_whole(self._index) != data:
                disk.write_whole(self._index, data)
        except OSError as error:
            message = f"{INDEX} cannot be written: {error.strerror or error}. What was there is still there."
            raise ConfigError(message, code="control_room_unwritable") from None


def _without_version(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name != "version"}
