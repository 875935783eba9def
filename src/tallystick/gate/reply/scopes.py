"""Find the files that an absence claim covers: paths, globs and ranges, or names such as `all scenes`.

    Story/Scenes/*.md    Story/Scenes/SCN-01…SCN-04    scenes 1-4    all scenes    all files

A name without a slash, dot or star is the name of a folder (`scenes`) or the beginning of file names (`scene_1.md`), in
the singular or the plural and in any case.
"""

import re

from tallystick.gate.reply.sources import Sources

MAX_FILES = 10_000
_BETWEEN = re.compile(r"(?<=\w) ?(?:…|\.{2,3}|–|—|→|->) ?(?=\w)|(?:(?<=\d)|(?<=\.md))(?: - | to | through )(?=\w)")  # noqa: RUF001
_RANGE = re.compile(r"(.{0,300}?)(\d{1,6})(\D{0,20})\n(?:.{0,300}?)(\d{1,6})(\D{0,20})")
_NUMBERED = re.compile(r"([A-Za-z][A-Za-z ]{1,40}?)s? (\d{1,6})(?:[\n-](\d{1,6}))?")
_EVERYTHING = frozenset({"files", "file", "documents", "docs", "everything", "project", "workspace", "folders"})
_LEADING = frozenset(
    {
        "all",
        "and",
        "files",
        "file",
        "in",
        "the",
        "of",
        "from",
        "folder",
        "every",
        "each",
        "any",
        "our",
        "these",
        "both",
    }
)
"""Words that may precede a scope and are not part of it."""
_TRAILING = frozenset({"files", "file", "folder", "notes", "docs"})
_NUMBER = re.compile(r"\d{1,6}")


def files_in(scope: str, sources: Sources) -> list[str] | str:
    """Return every file of a scope, or the part of it that matches no file.

    Raises:
        PathRefused: A path in the scope lies outside the workspace.
    """
    paths: dict[str, None] = {}
    for part in _parts(scope):
        found = _files_of(part, sources)
        if not found:
            return part.replace("\n", "…")[:100]
        paths |= dict.fromkeys(found)
    return list(paths)


def _files_of(part: str, sources: Sources) -> list[str]:
    if "\n" in part and (found := _of_range(part, sources)):
        return found
    if not re.search(r"[/*.]", part):
        return _of_words(part, sources)
    return [] if "\n" in part else sources.expand(part)


def _parts(scope: str) -> list[str]:
    """Split a scope into names; a range is returned as two names separated by a line break."""
    ranges = _BETWEEN.sub("\n", scope.replace("`", ""))
    parts: list[str] = []
    for piece in ranges.split(","):
        # A name may contain spaces, but `a.md and b.md` are two names.
        for name in piece.split(" and "):
            words = [word for word in name.strip(" ().:").split(" ") if word]
            while len(words) > 1 and words[0].lower() in _LEADING:
                words.pop(0)
            parts.append(" ".join(words).strip(" ().:"))
    return [part for part in parts if part and part.lower() not in {"all", "the"}]


def _of_words(part: str, sources: Sources) -> list[str]:
    words = part.lower().split()
    if "\n" not in part and (not words or words[-1] in _EVERYTHING) and len(words) <= 1:
        return sources.expand("**/*")
    numbered = _NUMBERED.fullmatch(part)
    if numbered is not None:
        first, last = int(numbered[2]), int(numbered[3] or numbered[2])
        return _numbered(_named(numbered[1].split()[-1], sources), first, last)
    named = [word for word in words if word not in _TRAILING and not word.isdigit()]
    return _named(named[-1], sources) if named else []


def _named(word: str, sources: Sources) -> list[str]:
    """Return the files in folders with this name; if there are none, the files whose name starts with it."""
    single = word.lower().rstrip("s") or word.lower()
    files = sources.expand("**/*")
    inside = [path for path in files if any(_is(name, single) for name in path.split("/")[:-1])]
    return inside or [path for path in files if path.rpartition("/")[2].lower().startswith(single)]


def _is(name: str, single: str) -> bool:
    return name.lower() in {single, f"{single}s", f"{single}es"}


def _numbered(files: list[str], first: int, last: int) -> list[str]:
    """Return the files numbered `first` to `last`; [] if any number has no file."""
    if not first <= last <= first + MAX_FILES:
        return []
    numbers: dict[int, list[str]] = {}
    for path in files:
        found = _NUMBER.search(path.rpartition("/")[2])
        if found is not None:
            numbers.setdefault(int(found.group()), []).append(path)
    wanted = [numbers.get(number, []) for number in range(first, last + 1)]
    return [path for paths in wanted for path in paths] if all(wanted) else []


def _of_range(part: str, sources: Sources) -> list[str]:
    """Expand a range such as `Story/Scenes/SCN-01…SCN-04`; return [] if the files of any number are missing."""
    found = _RANGE.fullmatch(part)
    if found is None:
        return []
    prefix, first, after_first, last, _ = found.groups()
    if not int(first) <= int(last) <= int(first) + MAX_FILES:
        return []
    paths: list[str] = []
    for number in range(int(first), int(last) + 1):
        name = f"{prefix}{number:0{len(first)}}"
        exact = sources.expand(f"{name}{after_first}") if after_first else []
        # `SCN-01` matches `SCN-01.md` and `SCN-01-arrival.md`, but not `SCN-010.md`.
        near = exact or [path for path in sources.expand(f"{name}*") if not path[len(name)].isdigit()]
        if not near:
            return []
        paths += near
    return paths
