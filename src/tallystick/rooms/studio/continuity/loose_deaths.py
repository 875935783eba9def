"""Deaths in sentences about one person only, told by any of the words that only a death has.

Nothing but the company ties such words to the name, so that each of these deaths counts only while its subject hardly
acts any more, and never where the name does something at the grave.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import alone
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import words

_OF_HIMSELF = re.compile(
    r"\b(?:among|one\s+of)\s+(?:the\s+(?:dead|drowned|killed|slain|lost)|those\s+who\s+(?:had\s+)?(?:died|perished|"
    r"drowned|fell))\b|"
    r"\b[Oo]f\s+those\s+who\s+died\b|\bneck\s+(?:was\s+|had\s+been\s+)?broken\b|\bbroken?\s+(?:his|her)\s+neck\b|"
    r"\bnever\s+(?:spoke|woke|awoke|rose|stirred|"
    r"breathed)(?:\s+again)?\b(?=\s*[.,;])|\beyes\s+(?:had\s+)?closed\s+for\s+the\s+last\s+time\b|"
    r"\bspoke\s+for\s+the\s+last\s+time\b|"
    r"\b(?:shot|ball|bullet|sword|knife|blade|pike)\s+(?:\w+\s+)?through\s+(?:the|his|her)\s+(?:heart|head|brain|"
    r"throat|lungs?)\b|"
    r"\bsheet\s+(?:drawn\s+)?(?:up\s+)?over\s+(?:his|her)\s+face\b|\b(?:gone|went)\s+out\s+like\s+a\s+(?:candle|lamp|"
    r"light)\b|"
    r"\b(?:been|lay|lies|was|rests|rested)\s+(?:\w+\s+){0,3}?(?:in|under|beneath)\s+the\s+(?:ground|sod|turf|grass|"
    r"churchyard|graveyard|yews?)\b|"
    r"\b(?:rests|rested|lies|lay|sleeps|slept)\s+(?:under|beneath)\s+a\s+(?:\w+\s+)?(?:stone|slab|cross)\b|"
    r"\b(?:he|she)\s+(?:had\s+)?(?:died|drowned|perished)\b|\band\s+(?:quietly\s+)?(?:died|perished)\b(?=\s*[.;,]|"
    r"\s+(?:in|on|at|of|before|within|there))|"
    r"\b(?:he|she)\s+was\s+(?:stone\s+|quite\s+)?dead\b|\bbeing\s+dead\b|,\s+(?:stone\s+|quite\s+)?dead(?:\s+at\s+last)?\s*(?=[.,;])|\blife\s+(?:\w+\s+)?out\s+of\s+(?:him|her)\b|"
    r"\b(?:first|last|next)\s+(?:\w+\s+){0,3}to\s+(?:die|fall|perish)\b|\band\s+(?:was|were)\s+(?:found|picked\s+up|brought\s+(?:home|in|back)|taken\s+up|dug\s+out)\s+(?:\w+\s+)?(?:dead|drowned|frozen|lifeless)\b|"
    r"\b(?:rose|spoke|breathed|moved|stirred|woke|smiled|laughed)\s+no\s+more\b|\b(?:it|that|which|this|they|fever|winter|cold|end)\s+(?:had\s+)?killed\s+(?:him|her)\b|"
    r"\bno\s+(?:life|breath|pulse)\s+(?:left\s+)?in\s+(?:him|her|the)\b|\bthe\s+end\s+of\s+(?:him|her)\b|\b(?:he|she)\s+was\s+(?:past|beyond)\s+(?:all|help|saving|aid)\b|"
    r"\b(?:his|her)\s+(?:heart|pulse|breath|breathing)\s+(?:had\s+)?(?:stopped|ceased|failed)\b(?!\s+(?:for\s+a|at\s+the|to\b))|\btoo\s+late\s+to\s+save\b|"
    r"\b(?:died|killed)\s+(?:of|by)\s+it\b|\band\s+then\s+(?:it\s+)?killed\s+(?:him|her)\b|"
    r"\band\s+was\s+(?:killed|drowned|hanged|dead)\b"
)
"""What happens to the one whom the sentence names."""
_DONE_TO_HIM = re.compile(
    r"\b(?:home|back|out|in|ashore)\b[^;]{0,30}?\bdead\b(?=\s*[.,;])|\b[Dd]eath\s+(?:had\s+)?(?:found|come\s+to|"
    r"came\s+to|overtaken|overtook|claimed|"
    r"taken|took)\b|\b(?:verses|service|prayers|hymn|psalm|turf|stone|earth|spade|words)\b[^;]{0,24}?\bover\b|"
    r"\ball\s+over\s+with\b|"
    r"\bburied\b|\bburying\b|\bthe\s+dead\s+are\b|\bmortal(?:ly)?\b"
)
"""What is done to him: the name stands as its object."""
_HIS_OWN = re.compile(
    r"'s?\s+(?:\w+\s+){0,2}?(?:funeral|grave|coffin|burial|burying|death|tomb|tombstone|headstone|wake|corpse|"
    r"remains|shroud|hearse|bier|"
    r"inquest|last\s+(?:breath|hour|illness))\b(?!-|\s+(?:would|will|could|might|warrant|sentence))"
)
_DENIED = re.compile(
    r"\b(?:not|if|would|could|might|may|should|must|will|shall|perhaps|almost|nearly|half|thought|believed|feared|"
    r"supposed|reported|"
    r"wish\w*|want\w*|threat\w*|swore|hope[ds]?|until|till|before|as\s+if|as\s+though|like|every|whoever|anyone|"
    r"escap\w+|near|prevent\w*|"
    r"news|reports?|rumou?r|sentenced|condemned|expected|dread\w*|ordered|planned|attend\w*|invited)\b|n't\b|'d\b",
    re.IGNORECASE,
)
_BEASTS = re.compile(
    r"\b(?:dog|horse|mare|pony|cat|hound|bird|parrot|cow|ox|donkey|mule|hen|sheep|canary|wife|husband)\b(?!\s+was\s+with)"
)
_OBJECT = re.compile(
    r"\b(?:brought|carried|took|bore|found|buried|burying|lost|laid|over|with|for|upon|on|of|to|killed|shot|hanged|"
    r"drowned|claimed|overtaken|"
    r"overtook|round|measured?|put)\s+(?:poor\s+|old\s+)?\Z"
)
_HE_WAS = re.compile(r"(?:he|she)\s+(?:was|had)\b")
_CLOSE = 12
"""Characters before a clause in which a conjunction would stand."""
_TRIGGERS = frozenset(
    words("""
    dead drowned killed slain lost died perished fell neck spoke woke awoke rose stirred breathed last heart
    head brain throat lung lungs face candle lamp light ground sod turf grass churchyard graveyard yew yews
    stone slab cross being hanged death over buried burying mortal mortally funeral grave coffin burial tomb
    tombstone headstone wake corpse remains shroud hearse bier inquest hour illness breath more life pulse end past
    beyond heart breathing late save out die fall perish
    """)
)


def loose_deaths(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every death that a sentence about one person can only mean for him."""
    for number in narration.prose.with_words(_TRIGGERS):
        sentence = narration.prose.sentences[number]
        if sentence.is_question or narration.in_dream(number) or not narration.is_real(number):
            continue
        if _BEASTS.search(sentence.text):
            continue
        owner = alone(binder, number)
        found = _tells(narration, number, owner) if owner is not None else None
        if owner is not None and found is not None and not _DENIED.search(_said_before(sentence, found)):
            yield fact_at(
                narration.prose, number, found.span(), owner, "dead", ("dead",), found.group().strip(" '"),
                details=("loosely",),
            )  # fmt: skip


def _tells(narration: Narration, number: int, owner: Mention) -> re.Match[str] | None:
    sentence, told = narration.prose.sentences[number], narration.prose.told
    if owner.is_possessive:
        return _HIS_OWN.match(told, owner.end, sentence.end) or _OF_HIMSELF.search(told, owner.end, sentence.end)
    himself = _OF_HIMSELF.search(told, sentence.start, sentence.end)
    if himself is not None:
        return himself
    if _OBJECT.search(told, sentence.start, owner.start):
        return _DONE_TO_HIM.search(told, sentence.start, sentence.end)
    return None


def _said_before(sentence: Sentence, found: re.Match[str]) -> str:
    """What may deny it: the clause, or only the word before `he was dead`, which is a clause of its own."""
    at = found.start() - sentence.start
    if _HE_WAS.match(found.group()):
        return sentence.text[max(0, at - _CLOSE) : at]
    return _clause(sentence.text, found.end() - sentence.start)


def _clause(text: str, end: int) -> str:
    """What stands before the words, back to the last sign that begins another clause."""
    return re.split(r"[;:—¤,]|\b(?:since|when|after|because|and)\b", text[: max(end - 4, 0)])[-1]
