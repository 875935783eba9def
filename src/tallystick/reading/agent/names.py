"""The files that a request names: by path, title, number or the name on a card."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from tallystick.records import record
from tallystick.text.number_words import NUMBER_WORDS
from tallystick.text.words import STOP_WORDS, fold_word

_FIELD = re.compile(r"^(title|name|number|aliases):[ \t]*(.+)$", re.MULTILINE)
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_HEAD = 2_000
_PATH = re.compile(r"(?<![\w./-])[\w./-]*\w\.[A-Za-z]{2,4}\b")
_ORDINALS = {
    "first": 1,
    "second": 2,
    "third": 3,
    "fourth": 4,
    "fifth": 5,
    "sixth": 6,
    "seventh": 7,
    "eighth": 8,
    "ninth": 9,
}
_NUMBER = r"(?:\d{1,3}|" + "|".join(NUMBER_WORDS) + ")"
_SCENES = r"(?:scenes?|chapters?|parts?|chap\.?|ch\.?|sc\.?|scn)"
_AND = r"(?:, ?| and |, and | to | & | or | vs\.? |-)"
_NUMBERED = re.compile(rf"\b{_SCENES}[ -]?({_NUMBER}(?:{_AND}(?:{_SCENES} )?{_NUMBER})*)\b", re.IGNORECASE)
_BARE = re.compile(
    rf"(?:\b(?:in|of|between|do|does|is|are|for|check|compare|read|open|against) |^)"
    rf"(\d{{1,2}}(?:{_AND}\d{{1,2}})*)(?=[?.,;:!)]|$| (?:and|against|for|with|please|contradict|agree|match|drag)\b)",
    re.IGNORECASE,
)
"""Numbers without a following noun, which mean scenes."""
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)}|last) (?:scene|chapter|part)\b", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
_AFTER = re.compile(r"\W{0,3}(?:\w+ ){0,1}?(card|scene|chapter)\b", re.IGNORECASE)
_LEAST_NAME = 3
_TITLES = frozenset({"the", "mrs", "miss", "captain", "doctor", "old", "young", "lady", "sir"})
_PREFIX = re.compile(r"^[A-Z]{2,5}-(?:\d{1,3}-)?")


@record
class NamedFile:
    """A file of the workspace and what it may be called."""

    path: str
    kind: str
    """`scene`, `person` (a card of a character), `card`, `outline` or `file`."""
    names: tuple[str, ...]
    number: int | None = None
    common_words: frozenset[str] = frozenset()
    """Words that the text also writes in lower case; in lower case, a request does not use them as names."""


@record
class Mention:
    """A place in a request that names a file."""

    start: int
    end: int
    file: NamedFile
    exact: bool
    """By its whole title or path; otherwise by a part of it."""


def named_file(path: str, text: str) -> NamedFile:
    """Read what a file may be called from its path and its head."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    head = text[:_HEAD]
    fields = {key: value.strip() for key, value in reversed(_FIELD.findall(head))}
    heading = _HEADING.search(head)
    plain = _PREFIX.sub("", stem).replace("-", " ").replace("_", " ")
    aliases = [each.strip(" \"'[]") for each in fields.get("aliases", "").split(",")]
    listed = [fields.get("title", ""), fields.get("name", ""), heading.group(1) if heading else "", plain, *aliases]
    kind = _kind(path, stem)
    if kind == "outline":
        # Its heading is often the title of the book.
        listed = [plain]
    number = re.match(r"(?:[A-Z]{2,5}-)?(\d{1,3})-", stem)
    given = fields.get("number", "")
    return NamedFile(
        path=path,
        kind=kind,
        names=tuple(dict.fromkeys(each for each in (_plain(name) for name in listed) if each)),
        number=int(given) if given.isdigit() else int(number.group(1)) if number else None,
        common_words=frozenset(each for each in set(_WORD.findall(text)) if each.islower()),
    )


def _kind(path: str, stem: str) -> str:
    if "outline" in stem.lower():
        return "outline"
    folder = path.lower()
    if "scene" in folder or stem.startswith("SCN-") or "chapter" in folder:
        return "scene"
    if "character" in folder or stem.startswith("CHAR-"):
        return "person"
    return "card" if re.match(r"[A-Z]{2,5}-", stem) or "compendium" in folder else "file"


def _plain(name: str) -> str:
    return " ".join(_WORD.findall(fold_word(name.replace("'s", "s").replace("’s", "s"))))  # noqa: RUF001


def find_mentions(request: str, workspace: Sequence[NamedFile]) -> list[Mention]:
    """Return the files that a request names, in its order; a part of a longer name names nothing."""
    found = [*_by_path(request, workspace), *_by_number(request, workspace), *_by_name(request, workspace)]
    found.sort(key=lambda each: (each.start - each.end, not each.exact))
    taken: list[Mention] = []
    for each in found:
        if all(
            each.end <= other.start or each.start >= other.end or (each.start, each.end) == (other.start, other.end)
            for other in taken
        ):
            taken.append(each)
    return sorted(taken, key=lambda each: (each.start, not each.exact))


def _by_path(request: str, workspace: Sequence[NamedFile]) -> Iterator[Mention]:
    for found in _PATH.finditer(request):
        for file in workspace:
            if file.path == found.group() or file.path.endswith(f"/{found.group()}"):
                yield Mention(start=found.start(), end=found.end(), file=file, exact=True)


def _by_number(request: str, workspace: Sequence[NamedFile]) -> Iterator[Mention]:
    scenes = {file.number: file for file in workspace if file.kind == "scene" and file.number is not None}
    for found in _NUMBERED.finditer(request):
        for number in re.findall(_NUMBER, found.group(1), re.IGNORECASE):
            value = int(number) if number.isdigit() else NUMBER_WORDS[number.lower()]
            if value in scenes:
                yield Mention(start=found.start(), end=found.end(), file=scenes[value], exact=True)
    for found in _BARE.finditer(request):
        numbers = [int(each) for each in re.findall(r"\d+", found.group(1))]
        for number in numbers if all(each in scenes for each in numbers) else ():
            yield Mention(start=found.start(1), end=found.end(1), file=scenes[number], exact=True)
    for found in _ORDINAL.finditer(request):
        value = _ORDINALS.get(found.group(1).lower(), max(scenes, default=0))
        if value in scenes:
            yield Mention(start=found.start(), end=found.end(), file=scenes[value], exact=True)


def _by_name(request: str, workspace: Sequence[NamedFile]) -> Iterator[Mention]:
    # `Captain's` is one word in a title (`captains`) and, of a person, the name with an ending.
    folded = fold_word(request).replace("'s", "s ")
    words = [(found.group(), found.start(), found.end()) for found in _WORD.finditer(folded)]
    common = STOP_WORDS.union(*(file.common_words for file in workspace))
    for file in workspace:
        for name in _called(file):
            parts = name.split()
            for at in range(len(words) - len(parts) + 1):
                if not all(_is(word, part) for (word, _, _), part in zip(words[at:], parts, strict=False)):
                    continue
                last, end = words[at + len(parts) - 1][0], words[at + len(parts) - 1][2]
                start, end = words[at][1], end - (last != parts[-1])
                is_rare = file.kind in {"person", "card", "scene"} and parts[0] not in common
                if len(parts) > 1 or is_rare or _may_be_name(request, start, end, file):
                    yield Mention(start=start, end=end, file=file, exact=name in file.names)


def _is(word: str, part: str) -> bool:
    """Return whether a word is part of a name, as it is or with the ending of a genitive."""
    return word in (part, f"{part}s")


def _called(file: NamedFile) -> Iterable[str]:
    """Return the names of a file and what people make of them: without an article; of a person, each name."""
    for name in file.names:
        parts = name.split()
        yield name
        if parts[0] in {"the", "a", "an"} and len(parts) > 1:
            yield " ".join(parts[1:])
        if file.kind in {"card", "person"} and len(parts) > 1:
            yield from (part for part in parts if len(part) >= _LEAST_NAME and part not in _TITLES)


def _may_be_name(request: str, start: int, end: int, file: NamedFile) -> bool:
    """Return whether a common word names a file: written like a name, or before `scene` or `card`."""
    written = request[start:end]
    if written[:1].isupper() and (start > 0 or file.kind != "file"):
        return True
    return _AFTER.match(request[end:]) is not None


def masked(request: str, mentions: Sequence[Mention]) -> str:
    """Return a request with the names of files replaced by their kinds, as the examples have them."""
    text, at = "", 0
    for each in mentions:
        if each.start < at:
            continue
        there = [other for other in mentions if (other.start, other.end) == (each.start, each.end)]
        mark = _MARKS[_best_kind(request, each, mentions)]
        several = len({other.file.path for other in there if other.file.kind == "scene"}) if mark == "{scene}" else 1
        text += request[at : each.start] + " and ".join([mark] * min(max(several, 1), 3))
        at = each.end
    return text + request[at:]


_MARKS: Mapping[str, str] = {
    "scene": "{scene}",
    "outline": "the outline",
    "card": "{card}",
    "place": "{place}",
    "person": "{person}",
    "file": "{scene}",
}


def _best_kind(request: str, mention: Mention, mentions: Sequence[Mention]) -> str:
    same = {each.file.kind for each in mentions if (each.start, each.end) == (mention.start, mention.end)}
    after = _AFTER.match(request[mention.end :])
    is_card = after is not None and after.group(1).lower() == "card"
    if is_card or ("scene" in same and "card" in same and after is None):
        # A place and the scene named after it: the place is meant unless the scene is named as one.
        return "card" if is_card else "place"
    if "scene" in same:
        return "scene"
    return "place" if mention.file.kind == "card" else mention.file.kind
