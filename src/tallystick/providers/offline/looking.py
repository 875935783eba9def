"""Where to read next: around the places a search found, on in a file that goes on, or the file that was named."""

from collections.abc import Iterator
from typing import Any

from tallystick.providers.offline.citing import fits_role
from tallystick.providers.offline.filling import Filled
from tallystick.providers.offline.kinds import line_keys, takes_path
from tallystick.providers.offline.passages import search_words
from tallystick.providers.offline.prompt import ToolLine
from tallystick.providers.offline.results import ResultPlace
from tallystick.providers.offline.situation import PlannedCall, Situation
from tallystick.providers.offline.wish import Wish
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

BEFORE, AFTER = 8, 26
"""Lines read around a place: a page, of which two fit into what a turn may show."""


def reading_places(now: Situation) -> Iterator[PlannedCall]:
    """Read where a search found something: files that were named come first."""
    reader = now.reader
    if reader is None:
        return
    places = [place for result in now.results for place in result.places]
    first_of_file: dict[str, int] = {}
    for at, place in enumerate(places):
        first_of_file.setdefault(place.path, at)
    order = sorted(
        range(len(places)),
        key=lambda at: (
            not _is_named(places[at].path, now.wish),
            first_of_file[places[at].path] != at,
            at,
        ),
    )
    for at in order:
        # What the role may not cite it need not read.
        if not _was_read(places[at], now) and fits_role(places[at].path, now.wanted):
            yield PlannedCall(tool=reader.name, filled=Filled(args=_around(reader, places[at])))


def named_file(now: Situation) -> Iterator[PlannedCall]:
    """The file that was named, where a search found it under another folder."""
    reader = now.reader
    names = {path.rpartition("/")[2].lower() for path in now.wish.paths}
    for place in (place for result in now.results for place in result.places):
        if reader is not None and place.path.rpartition("/")[2].lower() in names and not _was_read(place, now):
            args = {takes_path(reader) or "": place.path}
            keys, lines = line_keys(reader), now.wish.lines
            within = {keys[0]: lines[0], keys[1]: lines[1]} if keys and lines else {}
            yield PlannedCall(tool=reader.name, filled=Filled(args={**args, **within}))


def second_opinion(now: Situation, absent: list[str]) -> Iterator[PlannedCall]:
    """A place in another file that holds all the words too: files contradict each other."""
    reader = now.reader
    wanted = {word.lower() for word in search_words(now.wish)} - set(absent)
    read = {result.excerpt.path for result in now.results if result.excerpt is not None}
    if reader is None or len(wanted) < 2:  # noqa: PLR2004 - one word alone stands everywhere
        return
    for place in (place for result in now.results for place in result.places):
        if _holds(place, wanted, now.wish) and place.path not in read and fits_role(place.path, now.wanted):
            yield PlannedCall(tool=reader.name, filled=Filled(args=_around(reader, place)))


def _holds(place: ResultPlace, wanted: set[str], wish: Wish) -> bool:
    """Whether all words stand there; of a name with several one is enough: a story says `Ruth`, a card all of it."""
    asked, held = {stem(word) for word in wanted}, {stem(word) for word in place.terms}
    names = [{stem(word) for word in identifier_words(name)} & asked for name in wish.names]
    told = {word for name in names if len(name) > 1 and name & held for word in name}
    return asked <= held or (bool(asked - told) and asked <= held | told)


def reading_on(now: Situation) -> Iterator[PlannedCall]:
    """The next lines of a file that the request names."""
    reader = now.reader
    keys = None if reader is None else line_keys(reader)
    if reader is None or keys is None or now.wish.lines is not None:
        return
    last = now.results[-1].excerpt
    if last is not None and last.next_line is not None and _is_named(last.path, now.wish) and now.search is None:
        args = {takes_path(reader) or "": last.path, keys[0]: last.next_line}
        yield PlannedCall(tool=reader.name, filled=Filled(args=args))


def _around(reader: ToolLine, place: ResultPlace) -> dict[str, Any]:
    args: dict[str, Any] = {takes_path(reader) or "": place.path}
    keys = line_keys(reader)
    if keys is not None and place.line is not None:
        args |= {keys[0]: max(1, place.line - BEFORE), keys[1]: place.line + AFTER}
    return args


def _was_read(place: ResultPlace, now: Situation) -> bool:
    for result in now.results:
        excerpt = result.excerpt
        if excerpt is None or excerpt.path != place.path:
            continue
        last = excerpt.first_line + excerpt.text.count("\n")
        if place.line is None or excerpt.first_line <= place.line <= last:
            return True
    return False


def _is_named(path: str, wish: Wish) -> bool:
    return any(path == named or path.endswith(f"/{named}") for named in wish.paths)
