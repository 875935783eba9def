"""Parse the references on an Evidence line: paths, lines, headings, receipts, records, figures, scopes.

The syntax is lenient: a path may come before or after its quote, in backticks or brackets, with its lines in any common
notation. Every regular expression is bounded, so that no input can make it slow.
"""

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_REFERENCE = 2_000
"""Maximum characters parsed of one piece of text outside the quotes; a longer piece is prose, not a reference."""
_MAX_SPACED = 12
"""Maximum number of words in a file name with spaces."""

RECEIPT = re.compile(r"\brcpt_[A-Za-z0-9_-]{1,80}")
REQUEST = "ACCESS_REQUEST"

_EXTENSION = r"\.[A-Za-z][A-Za-z0-9]{0,7}"
_NOT_NAME = r"\s;\"“”„«»`()\[\]"
_LEAD = re.compile(
    r"[\s,.()\[\]{}`*—–:→@<>-]{0,6}"  # noqa: RUF001
    r"(?:(?i:in|from|at|of|see|on|not|absent|found|per|via|file|path|source|and|or|is|occurs?)\b[\s`(\[*:]{0,3}){0,6}"
)
"""Punctuation and filler words allowed between a quote and its reference."""
_KEYWORD = re.compile(
    r"(?i:receipts?|checked|figure)\b|rcpt_|ACCESS_REQUEST\b|§|(?i:outline)(?: entry\b| ?[:§])"
    r"|[a-z][a-z_]{1,15}:[A-Za-z0-9]"
)
_NAME = re.compile(rf"[^{_NOT_NAME},]{{1,300}}")
_NAME_END = re.compile(rf"(?:{_EXTENSION}|:L?\d{{1,7}}[-–—…L\d]{{0,12}})[.:#]?$")  # noqa: RUF001
_AHEAD = 300
"""Characters after a quote that are searched for its reference."""
_ENDS_IN_EXTENSION = re.compile(rf".{{0,300}}{_EXTENSION}")
_BESIDE_END = re.compile(r"[;\"“”]")
_SPACED_END = re.compile(rf"{_EXTENSION}(?=$|[\s:,#)\]`§])")
_LINES_IN_TOKEN = re.compile(r"(.{1,300}?)[:#]L?(\d{1,7})(?:[-–—…]L?(\d{1,7}))?")  # noqa: RUF001
_LINES_AFTER = re.compile(
    r"[\s,(:@]{0,3}(?:lines?|ll?\.|L)\s{0,2}(?:L)?(\d{1,7})(?:\s{0,2}(?:-|–|—|…|to)\s{0,2}L?(\d{1,7}))?",  # noqa: RUF001
    re.IGNORECASE,
)
_RECORD = re.compile(r"(?!lines?:)[a-z][a-z_]{1,15}:[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_OUTLINE = re.compile(r"outline\b(?![./]\w)(?: entry\b)?[\s:§,-]{0,4}", re.IGNORECASE)
_FIGURE = re.compile(r"figure\s{1,3}([-+]?[\d][\d.,]{0,30}) ?%?\s{0,3}(?:=|:|from|by)\s{0,3}(.{1,500})", re.IGNORECASE)
_WRAPPERS = "`*<>(){}[],"
_TRAILING = _WRAPPERS + ".:;!?"


@dataclass(frozen=True, kw_only=True, slots=True)
class PathRef:
    """A path and the line range given with it."""

    path: str
    lines: tuple[int, int] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class References:
    """All references in one piece of text."""

    paths: tuple[PathRef, ...] = ()
    heading: str | None = None
    entry: str | None = None
    """Name of an outline entry."""
    receipts: tuple[str, ...] = ()
    records: tuple[str, ...] = ()
    figure: tuple[str, str] | None = None
    """A number as written, and the query that computes it."""
    note: str = ""
    """The remaining text, without paths and records."""

    def __bool__(self) -> bool:
        """Whether the text contains any reference."""
        return bool(
            self.paths or self.heading or self.entry or self.receipts or self.records or self.figure is not None
        )


def reference_follows(text: str, at: int) -> bool:
    """Whether a path, receipt or other reference begins here, after at most a few filler words."""
    lead = _LEAD.match(text, at)
    rest = text[lead.end() if lead else at :][:_AHEAD]
    name = _NAME.match(rest)
    if _KEYWORD.match(rest) or name is None:
        return name is not None
    if _NAME_END.search(_without_lines(name.group())):
        return True
    if "/" not in name.group() and "*" not in name.group():
        return False
    # A folder or glob at the end of the item, or a file name with spaces.
    beside = _BESIDE_END.split(rest, maxsplit=1)[0]
    return len(beside.rstrip()) <= name.end() or _SPACED_END.search(beside) is not None


def has_reference(text: str) -> bool:
    """Whether text outside a quote contains a reference, an absence scope (`checked`) or an access request."""
    return bool(references_in(text)) or "checked" in text.lower() or REQUEST in text


@lru_cache(maxsize=256)
def references_in(text: str) -> References:
    """Parse the references in one piece of text."""
    text = text[:MAX_REFERENCE].strip()
    if figure := _FIGURE.match(text):
        return References(figure=(figure.group(1), figure.group(2).strip()))
    before, section, after = text.partition("§")
    outline = _OUTLINE.match(before if section else text)
    if outline and (section or _says(text[outline.end() :])):
        return References(entry=_plain(after if section else text[outline.end() :]))
    paths, records, note = _read_tokens(before)
    return References(
        paths=tuple(paths),
        heading=_plain(after) or None,
        receipts=tuple(dict.fromkeys(RECEIPT.findall(text))),
        records=tuple(dict.fromkeys(records)),
        note=note,
    )


def _read_tokens(text: str) -> tuple[list[PathRef], list[str], str]:
    paths: list[PathRef] = []
    records: list[str] = []
    note: list[str] = []
    at = 0
    while at < len(text):
        end = _token_end(text, at)
        token = text[at:end]
        bare = token.strip(_WRAPPERS).rstrip(_TRAILING)
        if _RECORD.fullmatch(bare):
            records.append(bare)
        elif (found := _path_at(text, at, end)) is not None:
            ref, end = found
            paths.append(ref)
        elif bare:
            note.append(bare)
        at = end
        while at < len(text) and text[at] == " ":
            at += 1
    return paths, records, " ".join(note)


def _token_end(text: str, at: int) -> int:
    """Return the end of the token: the next space; a token in backticks may contain spaces."""
    if text[at] == "`" and (closing := text.find("`", at + 1)) > 0:
        at = closing
    end = text.find(" ", at)
    return len(text) if end < 0 else end


def _path_at(text: str, at: int, end: int) -> tuple[PathRef, int] | None:
    """Return the path here and its end, or None; it has an extension, wildcard or slash, and may contain spaces."""
    token = text[at:end]
    name, lines = _with_lines(token)
    if not _looks_like_path(name):
        return None
    if "/" in name and not _ENDS_IN_EXTENSION.fullmatch(name) and "*" not in name:
        spaced = _spaced(text, at)
        if spaced is not None:
            end = spaced
            name, lines = _with_lines(text[at:end])
    if lines is None and (after := _LINES_AFTER.match(text, end)):
        lines = _line_range(after.group(1), after.group(2))
        end = after.end()
    return PathRef(path=name, lines=lines), end


def _spaced(text: str, at: int) -> int | None:
    """Return the end of a file name with spaces, or None if there is none."""
    end = at
    for _ in range(_MAX_SPACED):
        end = _token_end(text, end)
        name, _ = _with_lines(text[at:end])
        if _ENDS_IN_EXTENSION.fullmatch(name):
            return end
        if end >= len(text):
            return None
        end += 1
    return None


def _with_lines(token: str) -> tuple[str, tuple[int, int] | None]:
    bare = token.strip(_WRAPPERS).rstrip(_TRAILING) if "*" not in token else token.strip("`(){}[],").rstrip(".:;,)]`")
    bare = bare.replace("`", "")
    found = _LINES_IN_TOKEN.fullmatch(bare)
    if found is None:
        return bare, None
    return found.group(1), _line_range(found.group(2), found.group(3))


def _without_lines(name: str) -> str:
    return name.partition("#")[0] or name


def _line_range(first: str, last: str | None) -> tuple[int, int]:
    return int(first), int(last if last is not None else first)


def _looks_like_path(name: str) -> bool:
    if name in {"and/or", "he/she", "she/he", "his/her", "either/or", "s/he", "n/a", "N/A"}:
        return False
    return "/" in name.strip("/") or "*" in name or name.endswith("/") or bool(_ENDS_IN_EXTENSION.fullmatch(name))


def _plain(text: str) -> str:
    return text.strip(" `*_()[]{}\"“”'‘’.,:;#")  # noqa: RUF001


def _says(text: str) -> bool:
    return any(map(str.isalnum, text))
