"""Find the file that a request is about, by its path, file name, slug, number or title.

The existing files come in as `KnownFile`s; this module reads no files and returns only paths of these.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from tallystick.agents.tasks.packet import Target
from tallystick.records import record
from tallystick.text.words import word_spans, words

NOT_RESOLVED = "not_resolved"
_STRETCH = re.compile(r"(?<![\w/])\w[\w.-]*+(?:/[\w.-]++)*+")
"""A candidate for a path, which then ends at its last file extension."""
_ENDING = re.compile(r"(?<!/)\.[A-Za-z][A-Za-z0-9]{0,7}(?!\w)")
_LEADS = frozenset({"scene", "scenes", "chapter", "chapters", "file", "part", "called", "titled", "named"})
"""Words after which a single ordinary word (`Even`) is a file's name; elsewhere it is just a word."""
_MOST_FILES, _MOST_LETTERS = 20, 1000
_MOST_PATHS = 100
"""Maximum number of paths in one request that are looked up."""


@record
class KnownFile:
    """A file of the workspace, and the names people use for it."""

    path: str
    slugs: tuple[str, ...] = ()
    """Its name without folder and extension, with and without its prefix; its number."""
    titles: tuple[str, ...] = ()


@record
class Found:
    """The files that a request mentions."""

    target: Target
    files: tuple[str, ...]
    """All existing files that the request mentions."""


def find_target(message: str, known: Sequence[KnownFile]) -> Found:
    """Find the file that a request is about, and every file it mentions."""
    said = dict.fromkeys(message[start:end] for start, end in _paths(message) if end - start <= _MOST_LETTERS)
    named = list(said)[:_MOST_PATHS]
    by_path = [found for path in named if (found := _by_path(path, known)) is not None]
    called = list(_by_name(message, known))
    files = dict.fromkeys(target.canonical_path or "" for target in [*by_path, *called])
    first = next(iter([*by_path, *([] if named else called)]), None)
    reference = named[0] if named else ""
    nothing = Target(scene_ref=reference, resolution_method=NOT_RESOLVED)
    # If the request has a path that does not exist, do not substitute another file with a similar name.
    return Found(target=first or nothing, files=tuple(files)[:_MOST_FILES])


def settled(target: Target, known: Sequence[KnownFile]) -> Target:
    """Replace a target whose path does not exist: by the file its `scene_ref` names, else by an unresolved target."""
    if target.canonical_path is None or any(each.path == target.canonical_path for each in known):
        return target
    found = find_target(target.scene_ref, known).target
    if found.canonical_path is not None:
        return found
    return Target(scene_ref=target.scene_ref, resolution_method=NOT_RESOLVED)


def _paths(message: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of paths in a request, in time linear in its length."""
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
    # If two files have the same name, the reference is ambiguous.
    return Target(scene_ref=path, resolution_method="file_name", canonical_path=near[0]) if len(near) == 1 else None


def _by_name(message: str, known: Iterable[KnownFile]) -> Iterator[Target]:
    """Yield the files mentioned by slug or title, in order of mention; the longest matching name wins."""
    found = list(word_spans(_without_paths(message)))
    spoken = [word.folded for word in found]
    names: dict[tuple[str, ...], dict[str, str]] = {}
    for each in known:
        for method, given in (("slug", each.slugs), ("title", each.titles)):
            for name in given:
                names.setdefault(tuple(words(name)), {})[each.path] = method
    longest = max(map(len, names), default=0)
    at = 0
    while at < len(spoken):
        most = min(longest, len(spoken) - at)
        length = next((size for size in range(most, 0, -1) if _means(spoken, at, size, names)), 0)
        if length:
            ((path, method),) = names[tuple(spoken[at : at + length])].items()
            reference = message[found[at].start : found[at + length - 1].end]
            yield Target(scene_ref=reference[:_MOST_LETTERS], resolution_method=method, canonical_path=path)
        at += length or 1


def _means(spoken: Sequence[str], at: int, size: int, names: dict[tuple[str, ...], dict[str, str]]) -> bool:
    if len(names.get(tuple(spoken[at : at + size]), {})) != 1:
        return False
    return size > 1 or (at > 0 and spoken[at - 1] in _LEADS)
