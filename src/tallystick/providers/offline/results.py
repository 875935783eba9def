"""What the results in a prompt hold: excerpts of files, places where something stands, and plain fields.

A result is read as data. Nothing in it decides which tool is called next; only typed fields (a path, an id, a line)
may become an argument, and only of a tool that reads.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from jiter import from_json

from tallystick.providers.offline.kinds import ID_KEYS, PATH_KEYS, spaced
from tallystick.providers.offline.prompt import Seen
from tallystick.records import record
from tallystick.text.words import identifier_words

MAX_ITEMS = 200
"""Values of one result that are looked at."""
MAX_ID = 120
_TEXT_KEYS = ("text", "content", "contents", "body", "excerpt")
_PATH_FIELDS = ("path", "file_path", "file", "filename")


@record
class Excerpt:
    """Lines of a file, as a result gives them."""

    path: str
    first_line: int
    text: str
    receipt_id: str
    sha256: str
    next_line: int | None = None
    """Where the file goes on behind it."""


@record
class ResultPlace:
    """Where a search found something."""

    path: str
    line: int | None
    receipt_id: str
    terms: frozenset[str] = frozenset()


@record
class Absence:
    """What a search reports to stand nowhere."""

    terms: tuple[str, ...]
    scope: str
    searched: int


@record
class OfflineResult:
    """One result, parsed as far as it goes."""

    seen: Seen
    value: Any
    """None: not JSON."""
    excerpt: Excerpt | None = None
    places: tuple[ResultPlace, ...] = ()

    @property
    def failed(self) -> bool:
        """The call was let through and came to nothing."""
        return self.seen.error is not None


def read_results(seen: tuple[Seen, ...]) -> tuple[OfflineResult, ...]:
    """Read every result of a prompt."""
    return tuple(_read(one) for one in seen)


def fields_of(results: tuple[OfflineResult, ...]) -> dict[str, tuple[str, ...]]:
    """Ids by their key, and every path under `path`; free text is never among them."""
    found: dict[str, dict[str, None]] = {}
    for result in results:
        if result.failed:
            continue
        for key, value in scalars(result.value):
            words = identifier_words(spaced(key))
            if not isinstance(value, str | int) or isinstance(value, bool) or not words:
                continue
            text = str(value)
            if len(text) > MAX_ID or len(text.split()) != 1:
                continue
            if words[-1] in PATH_KEYS:
                found.setdefault("path", {})[text] = None
            elif words[-1] in ID_KEYS:
                found.setdefault(key, {})[text] = None
    return {key: tuple(values) for key, values in found.items()}


def files_of(result: OfflineResult) -> tuple[str, ...]:
    """The files that a call was about: those that its arguments and its result name."""
    named = [*scalars(result.seen.args), *scalars(result.value)]
    paths = [value for key, value in named if isinstance(value, str) and value and _names_files(key)]
    return tuple(dict.fromkeys(paths))


def holds_records(result: OfflineResult) -> bool:
    """Whether a search brought things that are no files: tickets, facts, orders."""
    return (
        not result.failed and not result.places and result.excerpt is None and any(True for _ in _items(result.value))
    )


def _names_files(key: str) -> bool:
    return bool(PATH_KEYS.intersection(word.removesuffix("s") for word in identifier_words(spaced(key))[-1:]))


def absence_in(result: OfflineResult) -> Absence | None:
    """What a search looked for in vain; None where it says nothing, or could not look everywhere."""
    value = result.value if isinstance(result.value, dict) else {}
    scope, terms, searched = value.get("scope"), value.get("absent_terms"), value.get("files_searched")
    if result.failed or not isinstance(scope, str) or not isinstance(terms, list) or type(searched) is not int:
        return None
    plain = tuple(term for term in terms if isinstance(term, str))
    return None if value.get("files_skipped") or not plain else Absence(terms=plain, scope=scope, searched=searched)


def scalars(value: Any) -> Iterator[tuple[str, Any]]:
    """Every plain value with the key it stands under, in order, as far down as it is worth looking."""
    waiting: list[tuple[str, Any]] = [("", value)]
    for _ in range(MAX_ITEMS):
        if not waiting:
            return
        key, now = waiting.pop(0)
        if isinstance(now, dict):
            waiting[:0] = [(str(name), inner) for name, inner in now.items()]
        elif isinstance(now, list):
            waiting[:0] = [(key, inner) for inner in now[:MAX_ITEMS]]
        elif now is not None:
            yield key, now


def _read(seen: Seen) -> OfflineResult:
    value = _parsed(seen)
    if seen.error is not None or not isinstance(value, dict):
        return OfflineResult(
            seen=seen, value=value, places=() if seen.error else tuple(_places(value, seen.receipt_id))
        )
    return OfflineResult(
        seen=seen, value=value, excerpt=_excerpt(value, seen), places=tuple(_places(value, seen.receipt_id))
    )


def _parsed(seen: Seen) -> Any:
    """The result as JSON; what was cut is read as far as it goes."""
    if not seen.text.lstrip().startswith(("{", "[")):
        return seen.text if seen.text.strip() else None
    try:
        return from_json(seen.text.encode(), partial_mode="trailing-strings" if seen.truncated else False)
    except ValueError:
        return seen.text


def _excerpt(value: Mapping[str, Any], seen: Seen) -> Excerpt | None:
    """Lines of a file that the tool vouches for with the file's hash; without one, it is only a field."""
    path = next((value[key] for key in _PATH_FIELDS if isinstance(value.get(key), str)), None)
    text = next((value[key] for key in _TEXT_KEYS if isinstance(value.get(key), str)), None)
    digest, first = value.get("sha256"), value.get("start_line", 1)
    if path is None or text is None or not isinstance(digest, str) or type(first) is not int:
        return None
    following = value.get("next_start_line")
    next_line = following if type(following) is int else None
    if seen.truncated:
        # The last line may have been cut in the middle of a word.
        text = text.rpartition("\n")[0]
        next_line = first + text.count("\n") + 1
    return Excerpt(
        path=path, first_line=first, text=text, receipt_id=seen.receipt_id, sha256=digest, next_line=next_line
    )


def _places(value: Any, receipt_id: str) -> Iterator[ResultPlace]:
    """The places in a list of hits, in the order the search gave them."""
    for item in _items(value):
        path = next((item[key] for key in _PATH_FIELDS if isinstance(item.get(key), str)), None)
        if path is None:
            continue
        hits = [hit for hit in _list(item.get("hits")) if isinstance(hit, dict) and type(hit.get("line")) is int]
        for hit in hits:
            terms = frozenset(term for term in _list(hit.get("terms")) if isinstance(term, str))
            yield ResultPlace(path=path, line=hit["line"], receipt_id=receipt_id, terms=terms)
        if not hits:
            line = item.get("line", item.get("start_line"))
            yield ResultPlace(path=path, line=line if type(line) is int else None, receipt_id=receipt_id)


def _items(value: Any) -> Iterator[Mapping[str, Any]]:
    lists = [value] if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else []
    for found in lists:
        if isinstance(found, list):
            yield from (item for item in found[:MAX_ITEMS] if isinstance(item, dict))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
