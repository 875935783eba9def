"""Rules for paths of workspace files.

A path is used literally: it is not decoded (`%2e%2e` is a file of that name) and not resolved. It is relative, uses
`/`, and its parts are compared in NFC, so that one file has one name however its accents are typed. The gate's own
files (`.control-room`, `.git`, `tallystick.toml`) cannot be named.
"""

import re
import unicodedata
from functools import lru_cache

from tallystick.errors import PathRefused
from tallystick.settings import CONFIG_NAME, CONTROL_ROOM

Parts = tuple[str, ...]

CANON: Parts = ("Canon.md",)
CANON_NAMES: frozenset[Parts] = frozenset({CANON, ("Story", "Compendium", "Canon.md")})
"""Two names of one file; the first is the one reported."""
CANON_FILE: Parts = (CONTROL_ROOM, "canon", "canon-index.md")
"""The file behind the canon. It is compiled, so it cannot be written through its names."""

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 4_096
MAX_DEPTH = 64
MAX_PATTERN = 1_000

_PROTECTED = frozenset({CONTROL_ROOM, ".git"})
CONFERENCE_LOG: Parts = ("private", "conference_log.md")
"""Prompts and replies of models in conferences. It is protected so that no model reads the others' replies."""
NOTIFICATIONS: Parts = ("data", "notifications.json")
"""Notifications for people. It is not part of the book, and no tool may change it."""
_OWN_FILES = frozenset({CONFERENCE_LOG, NOTIFICATIONS})
_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters and lone surrogates."""
_DRIVE = re.compile(r"[A-Za-z]:")
_RESERVED = re.compile(
    r"(?:con|prn|aux|nul|conin\$|conout\$|clock\$|(?:com|lpt)[0-9\u00b9\u00b2\u00b3])[ ]*(?:[.:].*)?", re.IGNORECASE
)
"""Names of Windows devices, with any extension."""
_SHORT = re.compile(r"(?:git|contro|tallys)~[0-9]{1,6}(?:\..*)?")
"""Windows 8.3 short names of the gate's own files."""
_UNPORTABLE = re.compile(r'[<>:"|?*]|[ .]\Z')
"""Characters that some systems cannot write, strip, or read as an alternate data stream."""
_KERNEL = ("/proc/", "/dev/", "/sys/")


def path_parts(path: str) -> Parts:
    """Split a path inside the workspace into its parts, in NFC.

    Raises:
        PathRefused: `path_outside`, `bad_path`, `not_a_file` (`/proc`, `/dev`, `/sys`) or `path_protected`.
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
    """Return whether the parts name one of the gate's own files, compared as the most lenient file system would."""
    plain = [_carelessly(part) for part in parts]
    return (
        not _PROTECTED.isdisjoint(plain)
        or plain == [CONFIG_NAME]
        or tuple(plain) in _OWN_FILES
        # Only names with a tilde can be short names; matching every name of a large tree would be slow.
        or any("~" in part and _SHORT.fullmatch(part) for part in plain)
    )


def check_writable(parts: Parts) -> None:
    """Refuse names that are not portable, or that would be an alias of another file on some system.

    Raises:
        PathRefused: `path_protected` (the canon, in any spelling) or `bad_path`.
    """
    if tuple(map(_carelessly, parts)) in _CANON_CARELESSLY:
        raise PathRefused("The canon is compiled from its cards; change those.", code="path_protected")
    for part in parts:
        if _UNPORTABLE.search(part):
            message = 'A name in the path ends with a dot or blank, or holds one of < > : " | ? *; choose another.'
            raise PathRefused(message, code="bad_path")


def nameable(name: str) -> bool:
    """Return whether a folder entry can be a part of a path; other entries are not listed."""
    try:
        _check_text(name)
        _check_part(unicodedata.normalize("NFC", name))
    except PathRefused:
        return False
    return True


def matches(pattern: Parts, parts: Parts) -> bool:
    """Return whether parts match a glob: `*` and `?` within a part, `**` for any number of parts."""
    # Dynamic programming, as for an edit distance: the time is bounded by parts times pattern.
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
    """Return whether a name matches one part of a glob; hidden names only if the pattern begins with a dot."""
    if name.startswith(".") and not wanted.startswith("."):
        return False
    return _compiled(wanted)(name)


def pattern_parts(pattern: str) -> Parts:
    """Split a glob into its parts, under the same rules as a path."""
    if len(pattern) > MAX_PATTERN:
        raise PathRefused(f"The pattern has more than {MAX_PATTERN} characters.", code="bad_path")
    return path_parts(pattern)


def is_pattern(path: str) -> bool:
    """Return whether a path contains wildcards."""
    return "*" in path or "?" in path


class _Wildcard:
    """One part of a glob, matched by plain search for the pieces between stars: no pattern can make it slow."""

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
    """Normalise a name as the most lenient file system: no case, format characters, stream or trailing dots."""
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
