"""Which file a request is about: by its path, its file's name, a slug, a number or a title, if there is such a file.

What there is comes in as `KnownFile`; nothing is looked up here, and no path is given that is not among them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from tallystick.agents.tasks.packet import Target
from tallystick.records import record

NOT_RESOLVED = "not_resolved"
_STRETCH = re.compile(r"(?<![\w/])\w[\w.-]*+(?:/[\w.-]++)*+")
"""What may be a path; it is one as far as its last ending."""
_ENDING = re.compile(r"(?<!/)\.[A-Za-z][A-Za-z0-9]{0,7}(?!\w)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001 - the apostrophe of a printed book
_LEADS = frozenset({"scene", "scenes", "chapter", "chapters", "file", "part", "called", "titled", "named"})
"""Words behind which a name of one ordinary word (`Even`) is meant as one; anywhere else it is just a word."""
_MOST_FILES, _MOST_LETTERS = 20, 1000
_MOST_PATHS = 100
"""Paths of one request that are looked up."""


@record
class KnownFile:
    """A file of the workspace, and what people call it."""

    path: str
    slugs: tuple[str, ...] = ()
    """Its name without the folder and the ending, with or without what stands before it; its number."""
    titles: tuple[str, ...] = ()


@record
class Found:
    """What a request is about."""

    target: Target
    files: tuple[str, ...]
    """All files that it names and that are there."""


def find_target(message: str, known: Sequence[KnownFile]) -> Found:
    """The file a request is about, and every file it names."""
    said = dict.fromkeys(message[start:end] for start, end in _paths(message) if end - start <= _MOST_LETTERS)
    named = list(said)[:_MOST_PATHS]
    by_path = [found for path in named if (found := _by_path(path, known)) is not None]
    called = list(_by_name(message, known))
    files = dict.fromkeys(target.canonical_path or "" for target in [*by_path, *called])
    first = next(iter([*by_path, *([] if named else called)]), None)
    reference = named[0] if named else ""
    nothing = Target(scene_ref=reference, resolution_method=NOT_RESOLVED)
    # A path that is not there is what was asked for; another file that is only called something like it is not.
    return Found(target=first or nothing, files=tuple(files)[:_MOST_FILES])


def settled(target: Target, known: Sequence[KnownFile]) -> Target:
    """What somebody else wrote as a target: for a path that is not there what it is called by, or nothing."""
    if target.canonical_path is None or any(each.path == target.canonical_path for each in known):
        return target
    found = find_target(target.scene_ref, known).target
    if found.canonical_path is not None:
        return found
    return Target(scene_ref=target.scene_ref, resolution_method=NOT_RESOLVED)


def _paths(message: str) -> Iterator[tuple[int, int]]:
    """Where paths stand in a request, in time that grows with its length alone."""
    for stretch in _STRETCH.finditer(message):
        ends = [ending.end() for ending in _ENDING.finditer(message, *stretch.span())]
        if ends:
            yield stretch.start(), ends[-1]


def _without_paths(message: str) -> str:
    pieces, at = [], 0
    for start, end in _paths(message):
        pieces += [message[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, message[at:]])


def _by_path(path: str, known: Iterable[KnownFile]) -> Target | None:
    paths = [each.path for each in known]
    if path in paths:
        return Target(scene_ref=path, resolution_method="named_in_request", canonical_path=path)
    near = [each for each in paths if f"/{each}".casefold().endswith(f"/{path}".casefold())]
    # Of two files of one name neither is meant more than the other.
    return Target(scene_ref=path, resolution_method="file_name", canonical_path=near[0]) if len(near) == 1 else None


def _by_name(message: str, known: Iterable[KnownFile]) -> Iterator[Target]:
    """The files that are called by a slug or a title, in the order they are mentioned; the longer name wins."""
    words = [(found.group(), found.start()) for found in _WORD.finditer(_without_paths(message))]
    spoken = [word.casefold() for word, _ in words]
    names: dict[tuple[str, ...], dict[str, str]] = {}
    for each in known:
        for method, given in (("slug", each.slugs), ("title", each.titles)):
            for name in given:
                names.setdefault(_words(name), {})[each.path] = method
    longest = max(map(len, names), default=0)
    at = 0
    while at < len(spoken):
        most = min(longest, len(spoken) - at)
        length = next((size for size in range(most, 0, -1) if _means(spoken, at, size, names)), 0)
        if length:
            ((path, method),) = names[tuple(spoken[at : at + length])].items()
            last = words[at + length - 1]
            reference = message[words[at][1] : last[1] + len(last[0])]
            yield Target(scene_ref=reference[:_MOST_LETTERS], resolution_method=method, canonical_path=path)
        at += length or 1


def _means(spoken: Sequence[str], at: int, size: int, names: dict[tuple[str, ...], dict[str, str]]) -> bool:
    if len(names.get(tuple(spoken[at : at + size]), {})) != 1:
        return False
    return size > 1 or (at > 0 and spoken[at - 1] in _LEADS)


def _words(name: str) -> tuple[str, ...]:
    return tuple(word.casefold() for word in _WORD.findall(name))
