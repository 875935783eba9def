"""The colour that is said of eyes or hair after the noun: `were a deep brown`, `fell in black waves`."""

import re

from tallystick.rooms.studio.continuity.colours import HAIR, LIKENED_EYES, LIKENED_HAIR, colours_in

_W = r"(?P<words>(?:[\w'-]+,?\s+){0,7}?)(?P<colour>[\w'-]+)"
_BE = (
    r"(?:were|was|are|is|remained|stayed|showed|shone|gleamed|glowed|hung|lay|proved|(?:had|have)\s+(?:always\s+|"
    r"ever\s+)?(?:been|"
    r"stayed|remained|kept))"
)
_IS = re.compile(
    rf"(?:,[^,;:]{{1,60}},|[,:;]\s+they|,?\s+(?:which|that))?\s+{_BE}\s+(?:(?:seen|found|known|"
    rf"said)\s+to\s+be\s+)?{_W}"
)
_FURTHER_OFF = re.compile(
    rf"(?:\s+(?:beyond|under|behind|beneath|above|over|on|about|through|between|across|below|that|which|he|she|"
    rf"[A-Z][\w.]+)\b[^,;:—]{{0,50}}?|,\s+(?:which|"
    rf"that)\b[^,;:]{{1,60}},)"
    rf"\s+(?:were|was)\s+{_W}"
)
"""`The eyes that Helen turned upon him were grey`."""
_TAKEN_UP = re.compile(
    rf"[^;!?¤]{{0,60}}?(?:[,:;—]\s*(?:and\s+|but\s+|for\s+)?|\s+(?:and|but|for)\s+)(?:they|it)\s+{_BE}\s+{_W}"
)
"""`let down her hair; it was black`."""
_BESIDE = re.compile(
    r"(?:[,:]\s+|\s*—\s*)(?P<words>(?:[\w'-]+,?\s+){0,3}?)(?P<colour>[\w'-]+)(?=\s+(?:as|and|like|by|in|under|"
    r"beneath|above|behind)\b|"
    r"[,.;—!])"
)
_BARE = re.compile(
    r"\s+(?P<words>(?:(?:very|so|all|quite|still|clear|wide|"
    r"large)\s+(?:and\s+)?){0,2})(?P<colour>[\w'-]+)(?=\s+(?:and|as|under|beneath|"
    r"behind)\b|\s*[,.;—])"
)
"""`She watched, her eyes grey and unblinking`."""
_OF = re.compile(r"\s+of\s+(?P<words>(?:[\w'-]+,?\s+){0,4}?)(?P<colour>[\w'-]+)")
_FALLS = re.compile(
    r"(?:,\s+|\s+(?:\w+\s+){1,4}?in\s+|"
    r"\s+in\s+)(?P<words>(?:an?\s+)?(?:[\w'-]+,?\s+){0,2}?)(?P<colour>[\w'-]+)(?=\s+(?:waves?|flood|curls?|"
    r"ringlets|rope|mass|cloud|tangle|plaits?|braids?|coils?|folds|cascade|sheet|curtain|strands|wisps|tendrils|"
    r"thatch|mop|mane|crown|cap|"
    r"tufts|river|strings|tails|rat-tails|points|knot|tresses|spikes)\b)"
)
"""`fell in black waves`, `her hair, a thick black rope,`."""
_FOUND_SO = re.compile(
    r"[^;!?¤]{0,40}?\b(?:found|showed|saw|proved|kept)\s+(?:it|them)\s+(?:to\s+be\s+)?(?P<words>(?:\w+ly\s+|"
    r"quite\s+)?)(?P<colour>[\w'-]+)"
    r"(?=\s*[.,;—])"
)
"""`The sun lay on her hair and found it black`."""
_LIKENED = re.compile(
    r"[\s,]+(?:(?:were|was|are|is)\s+)?(?:of\s+)?the\s+(?:very\s+|exact\s+)?(?:colou?r|shade|"
    r"hue)\s+of\s+"
    r"(?P<things>(?:[\w'-]+\s+){0,2}[\w'-]+)"
)
_NEXT_SENTENCE = re.compile(rf"\s*(?:It|They)\s+{_BE}\s+{_W}(?=\s*[.,;!—]|\s+(?:and|as|but)\b)")
_PATTERNS = (_IS, _BESIDE, _OF, _FALLS, _BARE, _FURTHER_OFF, _FOUND_SO, _TAKEN_UP)
_FIXED = {_BESIDE, _BARE, _FALLS, _FOUND_SO}
"""Those that say where the colour ends; the others may go on by a word."""
_APART = {_FURTHER_OFF, _TAKEN_UP, _FOUND_SO}
_NEXT = re.compile(r"\s+([\w-]+)")
_WITH_FEELING = re.compile(r"\s+(?:with|from|by|in|under|against|for|at)\b")
_NO_LINK = re.compile(
    r"\b(?:on|in|at|to|upon|with|from|towards?|by|for|over|into|full|like|than|not|never|no|looking|watching|fixed|red|"
    r"turned|bent|closed|shut|covered|hidden|lost|gone|open|two|as\s+\w+\s+as(?!\s+(?:ever|usual|before|of\s+old))|\w{4,}ing|"
    r"\w{4,}ed)\b"
)
_KEPT_LINK = re.compile(
    r"\b(?:startling|piercing|striking|arresting|penetrating|surprising|unsettling|faded|flecked|washed|wide-set|"
    r"deep-set|heavy-lidded|"
    r"red-rimmed|undoubted|decided|pronounced|unmixed|amazing|astonishing|burning|shining|gleaming|glowing|"
    r"unblinking|unchanging|"
    r"long-lashed|almond-shaped|speckled|warm-toned|clouded)\b"
)
_NOT_BUT = re.compile(r"\b(?:not|neither)\s+[\w\s]{2,30}?,?\s+but\b")
_AND = re.compile(r",?\s+(?:and|or|flecked\s+with|shading\s+to|touched\s+with|almost|nearly)\s+([\w-]+)")
_MOST_BETWEEN = 7
"""Words between `were` and the colour."""
Said = tuple[tuple[str, ...], str, tuple[int, int]]
"""The colours, their words, and the place of what says so."""


def right_of(told: str, at: int, lexicon: dict[str, str], end: int) -> Said:
    """The colour that is said of a noun which ends at an offset."""
    if likened := _LIKENED.match(told, at, end):
        things = LIKENED_HAIR if lexicon is HAIR else LIKENED_EYES
        thing = next((word for word in likened.group("things").split() if word in things), None)
        if thing is not None:
            return (things[thing],), thing, (at, likened.end())
    for pattern in _PATTERNS:
        said = _said(pattern, told, at, lexicon, end)
        if said is not None:
            return said
    return (), "", (at, at)


def in_next(told: str, start: int, end: int, lexicon: dict[str, str]) -> Said:
    """The colour that the next sentence gives, as in `She was vain of her hair. It was black.`."""
    said = _said(_NEXT_SENTENCE, told, start, lexicon, end)
    return said if said is not None else ((), "", (start, start))


def _said(pattern: re.Pattern[str], told: str, at: int, lexicon: dict[str, str], end: int) -> Said | None:
    """Each word may be the colour; the first that is one counts."""
    found = pattern.match(told, at, end)
    while found:
        colours = colours_in([found.group("colour")], lexicon)
        if (
            colours
            and _links(found.group("words"))
            and (pattern in _FIXED or not _WITH_FEELING.match(told, found.end()))
        ):
            more = _further(told, found.end(), lexicon)
            shade = colours_in([*found.group("words").split(), found.group("colour"), *more], lexicon)
            # What stands before a comma or another clause denies something else.
            start = found.start("colour") if pattern in _APART or told[at] in ",:—" else at
            return shade, f"{found.group('words')}{found.group('colour')}", (start, found.end())
        found = _longer(pattern, told, at, end, found)
    return None


def _longer(pattern: re.Pattern[str], told: str, start: int, end: int, found: re.Match[str]) -> re.Match[str] | None:
    """The same reading with one word more."""
    if len(found.group("words").split()) >= _MOST_BETWEEN or pattern in _FIXED:
        return None
    words = len(found.group("words").split()) + 1
    longer = re.compile(pattern.pattern.replace("{0,7}?", f"{{{words}}}").replace("{0,4}?", f"{{{words}}}"))
    return longer.match(told, start, end)


def _further(told: str, at: int, lexicon: dict[str, str]) -> list[str]:
    """`blue and grey`, `brown or green`, `a pale grey`: the other colour of the same eyes."""
    found = _AND.match(told, at) or _NEXT.match(told, at)
    return [found.group(1)] if found and colours_in([found.group(1)], lexicon) else []


def _links(words: str) -> bool:
    return not _NO_LINK.search(_KEPT_LINK.sub("", _NOT_BUT.sub("", words)))
