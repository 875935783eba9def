"""What passages mean, as vectors: finds what a question means where its words stand nowhere.

The vectors are WordLlama's static ones, which lie in its package; nothing is downloaded. Where it is not installed,
a search goes by words alone.
"""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tallystick.records import record
from tallystick.storage.journal import disk

WEIGHT = 0.35
"""What meaning counts beside words, in the best score by words: measured, see benchmarks/desk."""
CERTAIN = 0.6
"""The likeness of a passage that says just what was asked."""
BATCH = 256


class Meaning:
    """The vectors of all passages."""

    def __init__(self, kept: Path | None = None) -> None:
        """Begin without any.

        Args:
            kept: The file in which vectors are kept for the next start; None: nowhere.
        """
        self._kept = kept
        self._rows: dict[bytes, Any] | None = None
        self._matrix: Any = None

    def take(self, texts: Sequence[tuple[str, str]]) -> None:
        """Know these passages and no others: heading and text of each, in their order."""
        import numpy as np  # noqa: PLC0415 - only where vectors are used

        known = self._load() if self._rows is None else self._rows
        keys = [sha256(f"{heading}\0{text}".encode()).digest() for heading, text in texts]
        fresh = [at for at, key in enumerate(keys) if key not in known]
        for begin in range(0, len(fresh), BATCH):
            part = fresh[begin : begin + BATCH]
            headings, bodies = (_embed([texts[at][side] for at in part]) for side in (0, 1))
            known.update(zip([keys[at] for at in part], (headings + bodies) / 2, strict=True))
        self._rows = {key: known[key] for key in keys}
        self._matrix = np.stack([self._rows[key] for key in keys]) if keys else None
        if fresh:
            self._save()

    def likeness(self, query: str, limit: int) -> "Likeness":
        """How alike the passages are to a question."""
        import numpy as np  # noqa: PLC0415 - as above

        if self._matrix is None:
            return Likeness(values=[], best=())
        values = self._matrix @ _embed([query])[0]
        best = np.argpartition(-values, limit)[:limit] if len(values) > limit else np.arange(len(values))
        return Likeness(values=values, best=tuple(best.tolist()))

    def _load(self) -> dict[bytes, Any]:
        import numpy as np  # noqa: PLC0415 - as above

        try:
            data = None if self._kept is None else disk.read_whole(self._kept)
        except OSError:
            data = None
        width = 32 + 4 * _width()
        # A file of another model, or a damaged one, is as good as none.
        if not data or len(data) % width:
            return {}
        rows = np.frombuffer(data, dtype=np.uint8).reshape(-1, width)
        return {row[:32].tobytes(): row[32:].copy().view(np.float32) for row in rows}

    def _save(self) -> None:
        if self._kept is None or self._rows is None:
            return
        try:
            disk.make_folder(self._kept.parent)
            data = b"".join(key + row.tobytes() for key, row in self._rows.items())
            disk.write_whole(self._kept, data, durable=False)
        except OSError:
            return


@record
class Likeness:
    """How alike passages are to a question."""

    values: Any
    """By number, -1 to 1."""
    best: tuple[int, ...]
    """The most alike, in no order."""


def is_there() -> bool:
    """Whether the vectors are installed."""
    return find_spec("wordllama") is not None and find_spec("numpy") is not None


@cache
def _model() -> Callable[[list[str]], Any]:
    import wordllama  # type: ignore[import-untyped] # noqa: PLC0415 - a second, and only where it is used

    model = wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    return lambda texts: model.embed(texts, norm=True)


@cache
def _width() -> int:
    return int(_model()(["a"]).shape[1])


def _embed(texts: list[str]) -> Any:
    import numpy as np  # noqa: PLC0415 - as above

    # A text without a word has no direction.
    return np.nan_to_num(_model()([text or " " for text in texts])).astype(np.float32)
