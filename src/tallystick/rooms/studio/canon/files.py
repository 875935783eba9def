"""The two files of the canon index: `canon-index.md`, which is served as `Canon.md`, and `canon-meta.json` beside it.

The index is a function of its cards; when it was made, from what, and what went wrong stands in the other file.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.errors import ConfigError
from tallystick.rooms.studio.canon.nouns import Extract, Indexed
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.journal import disk
from tallystick.storage.json_file import JsonFile

FOLDER = "canon"
INDEX = "canon-index.md"
META = "canon-meta.json"


class CanonFiles:
    """The files of one workspace's canon."""

    def __init__(self, workspace: Path) -> None:
        self._index = workspace / CONTROL_ROOM / FOLDER / INDEX
        self._meta = JsonFile(workspace / CONTROL_ROOM / FOLDER / META, code="canon_meta_damaged")

    def meta(self) -> dict[str, Any]:
        """What is known of the last compilation; empty without one.

        Raises:
            ConfigError: `canon_meta_damaged`.
        """
        return self._meta.read() or {}

    def index_sha256(self) -> str | None:
        """Of the index as it lies there; None: there is none.

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
        """Put a compilation in the place of the last one; gives what is now known of it.

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
            # The same bytes again would only wake whoever watches the file.
            if disk.read_whole(self._index) != data:
                disk.write_whole(self._index, data)
        except OSError as error:
            message = f"{INDEX} cannot be written: {error.strerror or error}. What was there is still there."
            raise ConfigError(message, code="control_room_unwritable") from None


def _without_version(meta: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in meta.items() if name != "version"}
