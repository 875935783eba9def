"""Whether a look lasts: what only the light, a dye or another time of life gives is no fact of the book's present."""

import re

from tallystick.rooms.studio.continuity.colours import EYES, HAIR
from tallystick.rooms.studio.continuity.narration import clause_around
from tallystick.rooms.studio.continuity.owners import Thing
from tallystick.rooms.studio.continuity.prose import Sentence

_COLOURS = "|".join(EYES | HAIR)
_LIGHT = re.compile(
    r"\b(?:in|by|under|against)\s+(?:that|this|the|certain|some|such|a\s+certain|another)?\s*(?:\w+\s+)?(?:light|"
    r"firelight|candlelight|lamplight|moonlight|sunlight|starlight|twilight|glow|dusk|gloom|shadows?|lights)\b"
)
"""What a colour only looks like for the moment."""
_AS_EVER = re.compile(r"[^,;:]*\b(?:as\s+ever|as\s+always)\b")
_LIT_FIRST = re.compile(rf"\W*(?!Even)(?:For\s+a\s+moment,\s+)?(?i:{_LIGHT.pattern})")
_TURNED = re.compile(
    r"(?<!Nature had )(?<!nature had )(?<!God had )\b(?:turned|made|dyed|left|rendered|painted|stained|gilded|tinged|"
    r"lit|called|thought|believed|pronounced|declared|considered|judged|termed|described|supposed|wanted)"
    r"\s+(?:[A-Z][\w.]*\s+)*\Z"
)
_IT = r"(?:hair|eyes|beard|locks|curls|it|they|which)"
CHANGES = re.compile(
    r",\s+once\s+[\w-]+,|\bever\s+after\b|\bno\s+longer\s+(?:(?:so|as|quite|all|the|of|that|wholly|"
    r"\w+ly)\s+){0,6}(?:what|same|colou?r|dark|fair|light|it)\b|"
    rf"\bno\s+longer\s+(?:(?:so|as|quite|all|the|wholly|\w+ly)\s+){{0,6}}(?:{_COLOURS})\b|"
    r"\b(?:had|until|till|before)\s+(?:(?:once|formerly|then|till\s+then)\s+)?been\s+(?:(?:so|quite|as|rather|very|"
    rf"a|of\s+a)\s+)*(?:[a-z]+-)?(?:{_COLOURS})\b|"
    rf"\bnow\s+(?:(?:all|quite|almost|nearly|a|entirely|wholly)\s+)?(?:{_COLOURS})\b|"
    r"\bhad\s+become\b|\b(?:years|months)\s+(?:later|afterwards)\b|"
    rf"\b(?:turned|changed|faded|darkened|deepened|grew|grown)\s+(?:in)?to\s+(?:[\w-]+\s+){{0,3}}?(?:{_COLOURS})\b|"
    rf"\b{_IT}\s+had\s+(?:\w+\s+)?(?:turned|gone|grown|faded|darkened|changed)\b(?!\s+(?:upon|on|from|towards?|"
    rf"away|to)\b)|"
    r"\b(?:[Ll]ong\s+after(?:wards|\s+the(?:se)?\s+events)|[Ii]n\s+(?:after|later)\s+(?:years|life)|"
    r"in\s+(?:his|her)\s+old\s+age)\b|\buntil\s+(?:it|they)\s+(?:was|were)\s+(?:\w+\s+)?(?:grey|gray|white|black|"
    r"brown|red|fair|blue|green|gold\w*|dark)\b|"
    r"\b[Ff]or\s+(?:the\s+space\s+of\s+)?(?:(?:that|this|one|the\s+one)\s+(?:one\s+)?(?:night|evening|occasion|week|"
    r"fortnight|performance)|the\s+(?:night|occasion|week|fortnight|performance))\b|\b(?:walnut[\s-]juice|henna|"
    r"(?:black\w*|dark\w*|rub\w*|smear\w*|colou?red|with|of)\s+(?:\w+\s+){0,2}soot(?=\s+(?:and|from)\b|[^,;]*\bhair\b)|"
    rf"peroxide|(?:from|to|at|by)\s+(?:the|an?|his|her)\s+hairdresser(?:'s)?|"
    rf"hairdresser(?:'s)?\s+(?:\w+\s+)?(?:had|made|turned|did|gave|called|bottle|art|work)|been\s+hired|"
    rf"{_IT}\s+(?:had\s+)?(?:\w+\s+)?(?:come|came)\s+(?:back|again|in)|"
    r"(?:grew|grown)\s+(?:back|again|in)|(?:thanks\s+to|out\s+of|from)\s+an?\s+(?:bottle|packet|pot)|"
    r"powdered\s+(?:hair|head|locks|curls)|rinse)\b|\bshowing\s+(?:again\s+)?at\s+the\s+roots\b"
)
"""That it was otherwise once, or will be."""


def is_lasting(sentence: Sentence, thing: Thing, start: int, end: int) -> bool:
    """`were gold in that light`, `the sunset turned her hair red`: what they looked like for the moment."""
    before = sentence.text[: thing.cue_start - sentence.start]
    aside = sentence.text[thing.end - sentence.start : thing.end - sentence.start + 1] == ","
    if _AS_EVER.search(sentence.text, max(end - sentence.start, 0)):
        return True
    lit = _LIGHT.search(clause_around(sentence, start, end)) and not re.match(r"\W*Even\b", sentence.text)
    passing = lit or (_LIT_FIRST.match(before) and not aside)
    # `called her hair a bonfire; it was black`: what a new clause says is the story's own.
    turned = _TURNED.search(before) and ";" not in sentence.text[thing.end - sentence.start : start - sentence.start]
    return not (passing or turned)
