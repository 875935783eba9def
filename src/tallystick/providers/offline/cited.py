"""Findings in a result: something that a tool says, with the lines it rests on.

Any tool's: an item of a list with a message of its own, and inside it one or more places that have a path, a line and
the words that stand there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from tallystick.providers.offline.citing import Quote, quote_from
from tallystick.providers.offline.passages import OfflinePassage
from tallystick.providers.offline.results import Excerpt, OfflineResult
from tallystick.records import record

_MESSAGES = ("message", "summary", "description", "problem")
_PATHS = ("path", "file_path", "file")
_WORDS = ("quote", "text", "excerpt")
_SET_ASIDE = ("waived", "ignored", "suppressed", "resolved")
_LOOKED_FOR = ("findings", "problems")
MAX_PLACES = 4


@record
class Cited:
    """One finding."""

    message: str
    places: tuple[Excerpt, ...]
    """The lines it rests on, each as a piece of its file."""

    @property
    def key(self) -> tuple[str, tuple[tuple[str, int], ...]]:
        """What is said of which lines: two tools may have found the same."""
        return self.message, tuple((place.path, place.first_line) for place in self.places)


def cited_in(result: OfflineResult) -> list[Cited]:
    """The findings of a result, in its order; what a person has set aside is not one."""
    if result.failed or result.excerpt is not None or not isinstance(result.value, dict):
        return []
    lists = [inner for inner in result.value.values() if isinstance(inner, list)]
    found = [_cited(item, result) for items in lists for item in items if isinstance(item, dict)]
    return [each for each in found if each is not None]


def reports_none(result: OfflineResult) -> str | None:
    """What a tool looked for and says that there is none of: `findings`, `problems`."""
    if result.failed or not isinstance(result.value, dict):
        return None
    return next((kind for kind in _LOOKED_FOR if result.value.get(kind) == []), None)


def quotes_of(cited: Cited, wanted: frozenset[str]) -> tuple[tuple[Quote, ...], tuple[str, ...]]:
    """A finding's places as evidence: quotes, and as bare lines those whose words are too few to be quoted."""
    quotes: list[Quote] = []
    lines: list[str] = []
    for place in cited.places:
        passage = OfflinePassage(excerpt=place, text=place.text, line=place.first_line, score=1.0, covered=frozenset())
        quote = quote_from(passage, wanted)
        if quote is None:
            lines.append(f"{place.path}:L{place.first_line}")
        else:
            quotes.append(quote)
    return tuple(quotes), tuple(lines)


def _cited(item: Mapping[str, Any], result: OfflineResult) -> Cited | None:
    message = next((item[key] for key in _MESSAGES if isinstance(item.get(key), str)), None)
    places = tuple(_places(item, result))[:MAX_PLACES]
    if message is None or not places or any(item.get(key) is True for key in _SET_ASIDE):
        return None
    return Cited(message=" ".join(message.split()), places=places)


def _places(item: Mapping[str, Any], result: OfflineResult) -> Iterator[Excerpt]:
    inside = [inner for value in item.values() for inner in (value if isinstance(value, list) else [value])]
    for part in [item, *inside]:
        if not isinstance(part, dict):
            continue
        # A place inside a finding about one file need not name the file again.
        path = next((own[key] for own in (part, item) for key in _PATHS if isinstance(own.get(key), str)), None)
        words = next((part[key] for key in _WORDS if isinstance(part.get(key), str) and part[key].strip()), None)
        line = part.get("line", part.get("start_line"))
        if path is not None and words is not None and type(line) is int and line > 0:
            yield Excerpt(path=path, first_line=line, text=words, receipt_id=result.seen.receipt_id, sha256="")
