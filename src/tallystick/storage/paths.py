"""What may name a file of the workspace.

A path is taken as it is written: nothing is decoded (`%2e%2e` is a file of that name), and nothing is resolved. It
is relative, uses `/`, and its parts are compared in NFC, so that one file has one name, whichever way its accents
are typed. What the gate keeps for itself (`.control-room`, `.git`, `tallystick.toml`) has no name at all.
"""

import re
import unicodedata
from functools import lru_cache

from tallystick.errors import PathRefused
from tallystick.settings import CONFIG_NAME, CONTROL_ROOM

Parts = tuple[str, ...]

CANON: Parts = ("Canon.md",)
CANON_NAMES: frozenset[Parts] = frozenset({CANON, ("Story", "Compendium", "Canon.md")})
"""Two names of one file; the first is the one that is reported."""
CANON_FILE: Parts = (CONTROL_ROOM, "canon", "canon-index.md")
"""What the canon is served from. It is compiled, so nobody writes it through its names."""

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4_096
MAX_DEPTH = 64
MAX_PATTERN = 1_000

_PROTECTED = frozenset({CONTROL_ROOM, ".git"})
CONFERENCE_LOG: Parts = ("private", "conference_log.md")
"""What models were asked and said in conferences. Whoever could read it would read what the others replied."""
NOTIFICATIONS: Parts = ("data", "notifications.json")
"""What a person is told. It is no part of the book, and no tool's to change."""
_OWN_FILES = frozenset({CONFERENCE_LOG, NOTIFICATIONS})
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and halves of characters."""
_DRIVE = re.compile(r"[A-Za-z]:")
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:[.:].*)?", re.IGNORECASE
)
"""Names that are devices on Windows, whatever their extension."""
_SHORT = re.compile(r"(?:git|contro|tallys)~[0-9]{1,6}(?:\..*)?")
"""What Windows calls our own places for old programs."""
_UNPORTABLE = re.compile(r'[<>:"|?*]|[ .]\Z')
"""What some systems cannot write, cut off, or take for a stream inside another file."""
_KERNEL = ("/proc/", "/dev/", "/sys/")


def path_parts(path: str) -> Parts:
    """The parts of a path inside the workspace, in NFC.

    Raises:
        PathRefused: `path_outside`, `bad_path`, `not_a_file` (the kernel's own trees) or `path_protected`.
    """
    _check_text(path)
    _check_inside(path)
    parts = tuple(part for part in unicodedata.normalize("NFC", path).split("/") if part not in {"", "."})
    if not parts:
        raise PathRefused("Name a file, not the workspace itself.", code="not_a_file")
    if len(parts) > MAX_DEPTH:
        raise PathRefused(f"The path has more than {MAX_DEPTH} parts.", code="bad_path")
    for part in parts:
        _check_part(part)
    if is_protected(parts):
        raise PathRefused("The gate keeps this place for itself; choose another path.", code="path_protected")
    return parts


def is_protected(parts: Parts) -> bool:
    """Whether the parts name something of the gate's own. Compared as a careless file system would."""
    plain = [_carelessly(part) for part in parts]
    return (
        not _PROTECTED.isdisjoint(plain)
        or plain == [CONFIG_NAME]
        or tuple(plain) in _OWN_FILES
        # Only names with a tilde can be such short ones; looking at every name of a large tree would show.
        or any("~" in part and _SHORT.fullmatch(part) for part in plain)
    )


def check_writable(parts: Parts) -> None:
    """Refuse what could not be written alike on every system, or would be another file's second name there.

    Raises:
        PathRefused: `path_protected` (the canon, however it is spelled) or `bad_path`.
    """
    if tuple(map(_carelessly, parts)) in _CANON_CARELESSLY:
        raise PathRefused("The canon is compiled from its cards; change those.", code="path_protected")
    for part in parts:
        if _UNPORTABLE.search(part):
            message = 'A name in the path ends with a dot or blank, or holds one of < > : " | ? *; choose another.'
            raise PathRefused(message, code="bad_path")


def nameable(name: str) -> bool:
    """Whether an entry of a folder can be a part of a path; others are not listed."""
    try:
        _check_text(name)
        _check_part(unicodedata.normalize("NFC", name))
    except PathRefused:
        return False
    return True


def matches(pattern: Parts, parts: Parts) -> bool:
    """Whether parts fit a glob: `*` and `?` within a part, `**` over any number of parts."""
    # Row by row, as for an edit distance: no pattern makes this slower than parts times pattern.
    row = [True] + [False] * len(parts)
    for wanted in pattern:
        if wanted == "**":
            reached = False
            after = []
            for fits in row:
                reached = reached or fits
                after.append(reached)
        else:
            after = [False] + [fits and fits_part(wanted, part) for fits, part in zip(row, parts, strict=False)]
        row = after
    return row[-1]


def fits_part(wanted: str, name: str) -> bool:
    """Whether one name fits one part of a glob; hidden names only where the pattern begins with a dot."""
    if name.startswith(".") and not wanted.startswith("."):
        return False
    return _compiled(wanted)(name)


def pattern_parts(pattern: str) -> Parts:
    """The parts of a glob, under the same rules as a path."""
    if len(pattern) > MAX_PATTERN:
        raise PathRefused(f"The pattern has more than {MAX_PATTERN} characters.", code="bad_path")
    return path_parts(pattern)


def is_pattern(path: str) -> bool:
    """Whether a path holds wildcards."""
    return "*" in path or "?" in path


class _Wildcard:
    """A part of a glob, matched from star to star by plain search: no pattern can make it slow."""

    def __init__(self, wanted: str) -> None:
        self.pieces = re.split(r"\*+", wanted)

    def __call__(self, name: str) -> bool:
        first, *rest = self.pieces
        if not rest:
            return len(name) == len(first) and _fits_at(first, name, 0)
        if len(name) < sum(map(len, self.pieces)) or not _fits_at(first, name, 0):
            return False
        at = len(first)
        *middle, last = rest
        end = len(name) - len(last)
        if not _fits_at(last, name, end):
            return False
        for piece in middle:
            at = next((place for place in range(at, end - len(piece) + 1) if _fits_at(piece, name, place)), -1)
            if at < 0:
                return False
            at += len(piece)
        return at <= end


@lru_cache(maxsize=512)
def _compiled(wanted: str) -> _Wildcard:
    return _Wildcard(wanted)


def _fits_at(piece: str, name: str, at: int) -> bool:
    if "?" not in piece:
        return name.startswith(piece, at)
    return all(sign in {"?", name[at + place]} for place, sign in enumerate(piece))


def _carelessly(part: str) -> str:
    """A name as the most careless file system compares it: no case, no invisible signs, no stream, no trailing dots."""
    if not part.isascii():
        part = "".join(sign for sign in part if unicodedata.category(sign) != "Cf" and not "\ufe00" <= sign <= "\ufe0f")
    return part.partition(":")[0].casefold().rstrip(" .")


_CANON_CARELESSLY = frozenset(tuple(map(_carelessly, parts)) for parts in CANON_NAMES)


def _check_text(path: str) -> None:
    if not path:
        raise PathRefused("The path is empty; name a file.", code="bad_path")
    if _UNFIT.search(path):
        message = "The path holds a control character or half a character; remove it."
        raise PathRefused(message, code="bad_path")
    if len(path.encode()) > MAX_PATH_BYTES:
        raise PathRefused(f"The path is longer than {MAX_PATH_BYTES} bytes.", code="bad_path")


def _check_inside(path: str) -> None:
    if f"{path}/".startswith(_KERNEL):
        raise PathRefused("This is no file of the workspace.", code="not_a_file")
    outside = PathRefused(
        "The path leaves the workspace; name a file inside it, with / and without ..", code="path_outside"
    )
    if path.startswith(("/", "\\", "~")) or _DRIVE.match(path):
        raise outside
    if ".." in re.split(r"[/\\]", path):
        raise outside
    if "\\" in path:
        raise PathRefused("Use / between folders, not a backslash.", code="bad_path")


def _check_part(part: str) -> None:
    if len(part.encode()) > MAX_NAME_BYTES:
        raise PathRefused(f"A name in the path is longer than {MAX_NAME_BYTES} bytes.", code="bad_path")
    if not part.strip(" .") or _RESERVED.fullmatch(part):
        raise PathRefused("A name in the path is reserved on some systems; choose another.", code="bad_path")
