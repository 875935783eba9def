"""A colour that is said of eyes or hair, wherever in the sentence it stands.

Every colour that no other noun follows is said of something: of the eyes or the hair that the sentence speaks of,
unless another thing stands between as its subject (`her eyes were on the sea, which was grey`).
"""

import re
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.continuity.colours import EYES, HAIR, LIKENED_EYES, LIKENED_HAIR, colours_in
from tallystick.rooms.studio.continuity.focus import OTHERS
from tallystick.rooms.studio.continuity.vocabulary import words

_COLOUR = re.compile(
    rf"(?<![\w-])(?:[a-z]+-)?(?:{'|'.join(sorted({*EYES, *HAIR}, key=len, reverse=True))})(?![\w-])", re.IGNORECASE
)
_FREE = re.compile(
    r"\s*(?:[,.;:—!?)]|\Z)|\s+(?:and|or|but|as|in|with|under|beneath|behind|above|like|than|by|at|to|for|on|that|which|"
    r"they|these|he|she|it|were|was|are|is|had|has|from|against|through|enough|again|still|now|too|when|where|while|"
    r"until|though|because|since|so|ever|indeed|once|ones?|about|round|upon|over|down|(?:flood|waves?|rope|mass|"
    r"cloud|tangle|"
    r"plaits?|braids?|coils?|cascade|sheet|curtain|strands|wisps|mop|mane|tufts|strings|tails|knot|ringlets|curls|"
    r"tresses|spikes|crown|cap|halo|river)\b)\b|\s+of\s+(?:them|it|each)\b"
)
"""What follows a colour that no noun follows; hair may fall in black waves."""
_COLOUR_OF = re.compile(
    r"[\s,]+(?:(?:were|was|are|is)\s+)?(?:of\s+)?the\s+(?:very\s+|exact\s+)?(?:colou?r|shade|hue)\s+of\s+"
    r"(?P<things>(?:[\w'-]+\s+){0,2}[\w'-]+)"
)
_TWO = re.compile(r"\s+(?:spots|points|pools|slits|marbles|beads|stones|coals|stars|pebbles|buttons|discs|lamps)\b")
"""`her eyes two grey slits`."""
_FOR_NOW = re.compile(
    r"\s+(?:with\b(?!\s+(?:an?|no|the\s+same)\b)|(?:from|by|in|for|at)\b(?!\s+(?:an?\s+(?:country|land|family|village|"
    r"town|county|parish|house)|the\s+same|all|every|daylight|nature|"
    r"colou?r|its|their)\b)|(?:under|against)\s+(?:the\s+|that\s+)?(?:\w+\s+)?(?:\w*light|lamps?|sun|moon|candles?|"
    r"glow|glare|stars|sky)\b|(?:until|till|before|as\s+an?\s+(?:\w+\s+)?(?:child|boy|girl|baby)(?!')|when\s+(?:he|she|"
    r"[A-Z]\w+)\s+"
    r"(?:was|were|had|married|left|went|came|first|set))\b)"
)
"""`grey with tiredness`, `red in the sunset`: what passes."""
_GLINT = re.compile(
    r"\b(?:glint|gleam|chips?|shards?|flecks?|slits?|discs?|beads?|pools?|rim|ring|spark|flash|points?|spots?|"
    r"specks?|patch|tuft|wisp|lock|strand|touch|shade|tinge|"
    r"depths?|blur|glimpse|line|thread|streak|circle)\s+of\s+(?:\w+\s+)?\Z"
)
"""`a glint of grey between the lids`."""
_BE = re.compile(
    r"\b(?:(?:(?:proved|seen|found|known|turned\s+out|happened)\s+)?to\s+be(?!\s+seen)|were|was|are|is|being|"
    r"(?<!had )been|remained|"
    r"stayed|kept|showed|shone|gleamed|glowed|proved|burned|hung|lay|stood|came|grew)\b(?!\s+(?:them|it|him|her)\b)"
)
_NO_LINK = re.compile(
    r"\b(?:on|at|to(?!\s+be)|upon|with|from|towards?|by|for|over|into|full|like|not|never|no|fixed|closed|shut|covered|"
    r"hidden|lost|gone|two|the(?!\s+(?:same|very|colou?r|\w+est))|his|her|my|their|\w{4,}ing|red(?=\s+and)|\w{4,}ed)\b"
)
_KEPT = re.compile(
    r"\b(?:startling|piercing|striking|arresting|penetrating|surprising|unsettling|burning|shining|gleaming|glowing|"
    r"unblinking|unchanging|amazing|astonishing|faded|flecked|washed|deep-set|wide-set|red-rimmed|undoubted|decided|"
    r"pronounced|unmixed|clouded|speckled|being|again|not\s+[\w\s]{2,30}?,?\s+but)\b"
)
_TAKES_UP = frozenset(words("they these those which that it both this"))
_WERE_THE = re.compile(r"\b(?:were|was)\s+the\s+\Z")
_NOMINAL = re.compile(r"\b(?:the|their|its|whose)\s+\Z|\bhow\s+\Z(?<=how )")
"""Before a colour that stands as a noun."""
_THEIR = re.compile(r"\b(?:their|its)\s+(?:[a-z]+\s+)?\Z")
_NO_THING = re.compile(
    r"\s*(?:[,.;:—]|\Z)|\s+(?:an?|the|more|most|all|seem\w*|look\w*|grew|deepen\w*|darken\w*|shone|was|were|had|did|"
    r"and|in|with|to|under|quite|so|as|than|by)\b"
)
"""What follows a colour that stands as a noun: `made their brown a shade brighter`."""
_WITHIN = re.compile(
    r"\s+(?:in|of|behind|under|beneath|above|beyond|on|at|about|over|that|which|he|she|through|between|across|"
    r"below|it|[A-Z][\w.]*)\b[^,;:—]*\Z|\s*,(?!\s+(?:and|but|for)\b)[^,;:—]*,?\s*\Z|\s*\Z"
)
_SKIPPED = re.compile(
    r"(?:\s+(?:had|have|has|always|ever|still|also|all|both|now|indeed|certainly|once|more|to|themselves|itself|would|"
    r"too|were|was|are|is|,|\w+ly)|,)+\s*\Z"
)
_ADJECTIVES = re.compile(r"\s*(?:(?:[a-z'-]+,?|and|all|very|so|still|a|more|as|rather|quite|how|once|now)\s+){0,4}\Z")
_NOUNY = re.compile(
    r"\b(?:the|an|his|her|my|their|of|in|on|at|to|with|from|by|for|was|were|had|he|she|they|it|or|who|which|that|"
    r"then|when|looked|like|turned|went|blazed|flashed|flamed|burned|flushed|everything|nothing|all)\b"
)
_OBJECT = re.compile(
    r"\b(?:to|on|upon|at|over|into|from|towards?|across|of|through|against)\s+(?:the\s+|an?\s+|his\s+|her\s+|"
    r"some\s+)?(?:[\w-]+\s+){0,2}[\w'-]+\s*\Z"
)
_OF_SLOT = re.compile(r"\s+(?:as\s+to|about|in|of)\s+(?:the\s+|his\s+|her\s+)?(?:eyes?|hair)\b")
_NIGHTFALL = re.compile(r"\b(?:it|It)\s+(?:was|is|grew)\s+(?:(?!as\b|so\b)\w+\s+)?(?:dark|light|fair)\s+(?!and\b)")
_TAKEN_UP = re.compile(r"\b(?:hair|curls?|head)\s*[;:,—]\s*(?:and\s+|for\s+|but\s+)?it\s+was\s+(?:\w+\s+)?\Z")
"""`Nothing had touched her hair; it was fair still`: the hair, not the weather."""


Slot = tuple[int, int, str]
"""Where a noun for eyes or hair stands, and which of them it is."""


@record
class Tint:
    """A colour, and the noun it is said of."""

    colours: tuple[str, ...]
    span: tuple[int, int]
    slot: tuple[int, int]


def tints(text: str, slots: Sequence[Slot]) -> Iterator[Tint]:
    """Every colour of a sentence that is said of one of its nouns for eyes or hair (start, end, attribute)."""
    for found in _COLOUR.finditer(text):
        two = _TWO.match(text, found.end()) and re.search(r"\b(?:two|twin|were)\s+(?:\w+\s+)?\Z", text[: found.start()])
        if (
            not (
                _FREE.match(text, found.end())
                or two
                or re.search(r"\bhow\s+(?:very\s+)?\Z", text[: found.start()])
                or (_THEIR.search(text[: found.start()]) and _NO_THING.match(text, found.end()))
                or (_WERE_THE.search(text[: found.start()]) and text.startswith(" of ", found.end()))
            )
            or _FOR_NOW.match(text, found.end())
            or (
                _NIGHTFALL.search(text[max(0, found.start() - 16) : found.end() + 2])
                and not _TAKEN_UP.search(text[: found.start()])
            )
        ):
            continue
        slot = _said_of(text, found, slots)
        if slot is None:
            continue
        lexicon = EYES if slot[2] == "eyes" else HAIR
        further = re.match(r",?\s+(?:and|or|flecked\s+with|shading\s+to|almost)\s+([\w-]+)", text[found.end() :])
        colours = colours_in([found.group(), *([further.group(1)] if further else [])], lexicon)
        if colours_in([found.group()], lexicon):
            yield Tint(colours=colours, span=found.span(), slot=slot[:2])


def likened(told: str, at: int, end: int, lexicon: dict[str, str]) -> tuple[tuple[str, ...], int]:
    """The colour of what eyes or hair are likened to after their noun, and where it ends: `of the colour of slate`."""
    found = _COLOUR_OF.match(told, at, end)
    things = LIKENED_HAIR if lexicon is HAIR else LIKENED_EYES
    thing = next((word for word in found.group("things").split() if word in things), None) if found else None
    return ((things[thing],), found.end()) if found and thing else ((), at)


def _said_of(text: str, found: re.Match[str], slots: Sequence[Slot]) -> Slot | None:
    before = text[: found.start()]
    ahead = [slot for slot in slots if slot[1] <= found.start()]
    nearest = ahead[-1] if ahead else None
    if _THEIR.search(before) and nearest is not None and _NO_THING.match(text, found.end()):
        return nearest
    if _NOMINAL.search(before) and not (before.endswith("how ") and nearest is None):
        return nearest if nearest is not None and _is_their(before, nearest, text[found.end() :]) else None
    if _GLINT.search(before) and slots:
        return nearest or slots[0]
    clause = max((one.end() for one in re.finditer(r"[;:—.¤]", before)), default=0)
    verbs = [one for one in _BE.finditer(before, clause) if _links(before[one.end() :])]
    if verbs:
        return _by_verb(text, verbs[-1], nearest, slots, found)
    if nearest is None:
        return _inverted(text, found, slots)
    # `one of her hairs lay on the seat, a long black one`.
    return nearest if text.startswith(" one", found.end()) or _beside(before, nearest) else None


def _is_their(before: str, slot: Slot, after: str) -> bool:
    """`the grey of them`, `their grey`, `how grey they were`, `eyes whose grey …`, `were the grey of slate`."""
    if before.endswith("how "):
        return re.match(r"\s+(?:they|it)\s+(?:were|was)\b", after) is not None
    if before.endswith("whose "):
        return re.fullmatch(r",?\s+whose\s+", before[slot[1] :]) is not None
    were = re.search(r"\b(?:were|was)\s+the\s+\Z", before) and re.match(r"\s+of\s", after)
    return bool(were or re.match(r"\s+of\s+(?:them|it|each)\b", after) or before.endswith(("their ", "its ")))


def _links(between: str) -> bool:
    plain = _KEPT.sub("", between)
    return len(plain.split()) <= _MOST_WORDS and not _NO_LINK.search(plain) and not re.search(r"[;:—]", plain)


def _by_verb(
    text: str, verb: re.Match[str], nearest: Slot | None, slots: Sequence[Slot], found: re.Match[str]
) -> Slot | None:
    """The slot that is the subject of `were`."""
    subject = _SKIPPED.sub("", text[: verb.start()].rstrip())
    last = re.search(r"([\w'-]+)\W*\Z", subject)
    word = last.group(1).lower() if last else ""
    if nearest is None:
        after = _OF_SLOT.match(text, found.end())
        if word in {"they", "it"} and slots:
            # `In colour they were grey, those eyes of hers`.
            return slots[0]
        return (
            next((slot for slot in slots if slot[1] <= after.end() + 1 and slot[0] > found.start()), None)
            if after
            else _inverted(text, found, slots)
        )
    if nearest[0] >= verb.start():
        # `what she had was hair, black and long`.
        return nearest if _beside(text[: found.start()], nearest) else None
    if word in {"which", "that"} and not re.search(r"[;:—]\s*(?:and\s+|but\s+)?that\Z", subject):
        # `her eyes were on the sea, which was grey`.
        return (
            nearest
            if re.fullmatch(r"(?:\s+of\s+[^,;]*)?,?\s*(?:which|that)\W*", text[nearest[1] : len(subject)])
            else None
        )
    if word in _TAKES_UP or subject.endswith(text[nearest[0] : nearest[1]]):
        return nearest
    return (
        nearest
        if _WITHIN.match(text, nearest[1], len(subject))
        and (text.startswith(", which ", nearest[1]) or not OTHERS.search(text, nearest[1], len(subject)))
        else None
    )


def _inverted(text: str, found: re.Match[str], slots: Sequence[Slot]) -> Slot | None:
    """`So black was Mara's hair`, `showed how grey her eyes were`, `Grey were the eyes`."""
    after = text[found.end() :]
    turned = re.match(
        r"(?:,?\s+as\s+[^,;:]{2,30}?)?,?\s+(?:too,\s+|indeed\s+)?(?:were|was)\s+[^,;:]{0,40}?(?=\b(?:eyes?|hair)\b)",
        after,
    ) or (
        re.search(r"\bhow\s+(?:very\s+)?\Z", text[: found.start()])
        and re.match(r"\s+[^,;:]{0,30}?(?=\b(?:eyes?|hair)\b)", after)
    )
    behind = [slot for slot in slots if slot[0] >= found.end()]
    if not turned and behind and _SET_FIRST.fullmatch(text, 0, found.start()):
        # `Grey, wide and perfectly sober, Mara's eyes met his`.
        turned = _THEN.fullmatch(text, found.end(), behind[0][0])
    return behind[0] if turned and behind else None


_SET_FIRST = re.compile(r"\W*(?:(?:Being|So|Still|As)\s+)?(?:[A-Za-z-]+,?\s+(?:and\s+)?){0,3}")
_THEN = re.compile(
    r"(?:\s+(?:and|as|but|with|from|in|of)\b[^,;:—]{2,40}|,\s+(?:and\s+)?[a-z][^,;:—]{2,40}){0,2},\s+"
    r"(?:the|his|her|(?:[A-Z][\w.]*\s+){0,2}[A-Z]\w+'s)\s+(?:[a-z-]+\s+){0,2}"
)


def _beside(before: str, slot: Slot) -> bool:
    """Whether a colour without a verb belongs to the noun before it: `made them grey`, `her eyes, wide and grey,`."""
    between = before[slot[1] :]
    if re.search(r"\blike\b", between):
        return False
    if re.fullmatch(r"\s+of\s+(?:(?:an?|the)\s+)?(?:[\w-]+,?\s+(?:and\s+)?){0,4}", between):
        # `eyes of a startling grey`.
        return not re.search(r"\b(?:his|her|their|my)\b|'s\b", between)
    piece = re.split(r"[,;:—(]", between)[-1]
    if piece == between or re.search(r"\b(?:them|they|it|their)\b", piece):
        # The same piece of the sentence: `leaving them grey`, `her eyes grey as slate`.
        rest = re.split(r"\b(?:them|they|it|their)\b", piece)[-1]
        return len(rest.split()) <= _MOST_WORDS and not _NOUNY.search(
            rest.replace("in", "", 1) if re.match(r"\s+(?:\w+\s+){0,3}in\s", rest) else rest
        )
    if not _ADJECTIVES.match(piece) or _NOUNY.search(piece):
        return False
    owned = _OBJECT.search(between[: len(between) - len(piece) - 1])
    if owned is None or re.search(r"\b(?:it|them|each)\s*\Z", owned.group()):
        return True
    return OTHERS.search(owned.group()) is not None or re.match(r"\s+of\s+[A-Z]", between) is not None


_MOST_WORDS = 7
"""Words between a verb and its colour."""
