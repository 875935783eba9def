"""Deaths in sentences about one person only, told by any of the words that only a death has.

Nothing but the company ties such words to the name, so that each of these deaths counts only while its subject hardly
acts any more, and never where the name does something at the grave.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import alone, named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import BOUND, about, bearer, clause_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Sentence
from tallystick.rooms.studio.continuity.vocabulary import words

_OF_HIMSELF = re.compile(
    r"\b(?:among|one\s+of)\s+(?:the\s+(?:dead|drowned|killed|slain|lost)|those\s+who\s+(?:had\s+)?(?:died|perished|"
    r"drowned|fell))\b|\b[Oo]f\s+those\s+who\s+died\b|\bneck\s+(?:was\s+|had\s+been\s+)?broken\b|\bbroken?\s+(?:his|"
    r"her)\s+neck\b|\bnever\s+(?:spoke|woke|awoke|rose|stirred|breathed)(?:\s+again)?\b(?=\s*[.,;])|"
    r"\beyes\s+(?:had\s+)?closed\s+for\s+the\s+last\s+time\b|\bspoke\s+for\s+the\s+last\s+time\b|\b(?:shot|ball|bullet|"
    r"sword|knife|blade|pike)\s+(?:\w+\s+)?through\s+(?:the|his|her)\s+(?:heart|head|brain|throat|lungs?)\b|"
    r"\bsheet\s+(?:drawn\s+)?(?:up\s+)?over\s+(?:his|her)\s+face\b|\b(?:gone|went)\s+out\s+like\s+a\s+(?:candle|lamp|"
    r"light)\b|\b(?:been|lay|lies|was|rests|rested)\s+(?:\w+\s+){0,3}?(?:in|under|beneath)\s+the\s+(?:ground|sod|turf|"
    r"grass|churchyard|graveyard|yews?)\b|\b(?:rests|rested|lies|lay|sleeps|slept)\s+(?:under|"
    r"beneath)\s+a\s+(?:\w+\s+)?(?:stone|slab|cross)\b|\b(?:he|she)\s+(?:had\s+)?(?:died|drowned|perished)\b|"
    r"\band\s+(?:quietly\s+)?(?:died|perished)\b(?=\s*[.;,]|\s+(?:in|on|at|of|before|within|there))|\b(?:he|"
    r"she)\s+was\s+(?:stone\s+|quite\s+)?dead\b|(?:\A|[;:—]|\b(?:[Hh]e|[Ss]he|[A-Z]\w+))\W*[Bb]eing\s+dead\b|"
    r",\s+(?:stone\s+|"
    r"quite\s+)?dead(?:\s+at\s+last)?\s*(?=[.,;])|\blife\s+(?:\w+\s+)?out\s+of\s+(?:him|her)\b|\b(?:first|last|"
    r"next)\s+(?:\w+\s+){0,3}to\s+(?:die|fall|perish)\b|\band\s+(?:was|were)\s+(?:found|picked\s+up|brought\s+(?:home|"
    r"in|back)|taken\s+up|dug\s+out)\s+(?:\w+\s+)?(?:dead|drowned|frozen|lifeless)\b|\b(?:rose|spoke|breathed|moved|"
    r"stirred|woke|smiled|laughed)\s+no\s+more\b|\b(?:it|that|which|this|they|fever|winter|cold|"
    r"end)\s+(?:had\s+)?killed\s+(?:him|her)\b|\bno\s+(?:life|breath|pulse)\s+(?:left\s+)?in\s+(?:him|her|the)\b|"
    r"\bthe\s+end\s+of\s+(?:him|her)\b(?=\s*[.,;]|\s+(?:at|in|on|when|before)\b)|\b(?:he|she)\s+was\s+(?:past|"
    r"beyond)\s+(?:all|help|saving|aid)\b|\b(?:his|"
    r"her)\s+(?:heart|pulse|breath|breathing)\s+(?:had\s+)?(?:stopped|ceased|failed)\b(?!\s+(?:for\s+a|at\s+the|to\b))|"
    r"\btoo\s+late\s+to\s+save\b|\b(?:died|killed)\s+(?:of|by)\s+it\b|\band\s+then\s+(?:it\s+)?killed\s+(?:him|her)\b|"
    r"\band\s+was\s+(?:killed|drowned|hanged|dead)\b|"
    r"(?<=[a-z]),\s+killed\s+by\s+(?:an?|the)\b|\blost\s+(?:his|her)\s+life\b"
)
"""What happens to the one whom the sentence names."""
_LIFELESS = re.compile(
    r"\b(?:no(?:\s+longer\s+any)?|not\s+(?:a|another|any)|nor\s+(?:a|any)|without)\s+(?:more\s+)?(?:pulse|breath|"
    r"heart-?beat|"
    r"life\s+(?:left\s+)?in)\b(?!-)|\b(?:never|did\s+not)\s+(?:once\s+)?(?:mov|stir|speak|spoke|breath|wake|woke|awoke|"
    r"rise|rose|start|beat|blink)\w*\s+(?:again|any\s+more)\b(?!\s+(?:till|until|of|to|about|about|that))|\b(?:got|"
    r"pulled|fished|dragged|brought|carried|dug|took|lifted|found|buried|covered|washed)\s+(?:out\s+|up\s+|in\s+|"
    r"home\s+)?(?:the|his|her)\s+(?:\w+\s+)?(?:body|corpse|remains)\b|\b(?:his|her|the|a)\s+(?:(?:dead|poor|cold|"
    r"broken|drowned)\s+)?(?:body|corpse)\s+(?:was\s+(?:\w+\s+)?(?:cold|found|stiff|carried|washed|brought|laid|taken|"
    r"cut|dug|in|on|under)|lay|under\s+a\s+sheet|in\s+an?)\b|\b(?:was|were)\s+(?:already\s+|quite\s+|now\s+)?(?:stiff|"
    r"stone\s+cold|cold\s+and\s+stiff|past\s+(?:all\s+)?(?:help|aid|saving))\b(?!\s+(?:with|and|from|in))|"
    r"\bwent\s+to\s+(?:his|her)\s+(?:grave|account|rest|long\s+home)\b|\b(?:did\s+not|never)\s+(?:rise|rose|get\s+up|"
    r"got\s+up|come\s+up|came\s+up|c[ao]me\s+to\s+himself)(?=\s*[.;]|\s+again)|"
    r"\bwas\s+found\b[^;.]{0,40}?,\s+(?:quite\s+|stone\s+|stark\s+)?(?:cold|dead|drowned|stiff)\b|\b(?:slipped|passed|"
    r"faded)\s+away\s+(?:in|at|before|quietly|during)\b|\bwent\s+(?:away\s+)?in\s+(?:his|her)\s+sleep\b|\b(?:is|was|"
    r"lies|lay)\s+buried\s+(?:at|under|beside|by|"
    r"in\s+(?:the\s+(?:\w+\s+)?(?:aisle|churchyard|cemetery|garden|church|chancel|vault)|[A-Z]\w+))\b|\bgave\s+(?:one|"
    r"a)\s+(?:\w+\s+)?(?:sigh|gasp|groan|cry)\s+and\s+was\s+(?:gone|still|dead)\b|\b[Ii]t\s+was\s+all\s+(?:up|"
    r"over)\s+with\b|\b(?:has|have)\s+been\s+(?:\w+\s+)?(?:dead|buried|in\s+(?:his|her)\s+grave)\b|\b(?:he|"
    r"she)\s+never\s+(?:spoke|moved|stirred|breathed|woke|knew\s+what)\b(?=\s*[.;]|\s+(?:hit|struck|again))|\b(?:was|"
    r"were|been)\s+(?:lowered|let\s+down|laid|put)\s+(?:in)?to\s+the\s+(?:ground|earth|grave|vault|clay|sea)\b|"
    r"\bto\s+be\s+buried\s+(?:in|at|there)\b|\bthe\s+last\s+(?:that\s+)?(?:any\s?one|anybody|they|he|"
    r"she)\s+saw\s+of\b[^;.]{2,30}\balive\b|\bgathered\s+to\s+(?:his|her)\s+fathers\b|\b(?:closed|shut|"
    r"pressed\s+down)\s+(?:the|(?:his|her)\s+(?:dead|staring))\s+(?:dead\s+|staring\s+|blind\s+)?(?:eyes|eyelids|"
    r"lids)\b|\b(?:sheet|blanket|coat|cloak|rug|cloth)\s+(?:\w+\s+){0,3}?over\s+(?:the|his|her)\s+(?:\w+\s+)?face\b|"
    r"\bno(?:thing)?\s+more\s+(?:to\s+be|that\s+could\s+be)\s+done\s+for\b|"
    r"\bheart\b[^.;]{0,50}?\bstopped\s+for\s+(?:good|ever)\b|\bstopped\s+the\s+clock\b|\bin\s+(?:his|her)\s+(?:grave|"
    r"coffin)\b(?!\s+before)|\beyes\b[^.;]{0,30}?\bclosed\s+for\s+the\s+last\s+time\b|\b(?:fished|pulled|dragged|cut|"
    r"dug|washed)\b[^.;]{0,50}?\b(?:cold|dead|drowned|stiff|lifeless)\b|\beyes\s+were\s+closed\s+for\s+(?:him|her)\b|"
    r"\bthey\s+(?:were\s+burying|buried|hanged|had\s+(?:buried|hanged))(?=\s*[.,;])|\b(?:under|beneath)\s+(?:a|"
    r"the)\s+(?:sheet|rug|tarpaulin|flag|sail|cloth|blanket)(?=\s*[.,;]|\s+in\s+the\b)|\b(?:he|"
    r"she)\s+was\s+(?:now\s+)?(?:a|"
    r"the)\s+corpse\b|\blife\s+(?:was|had\s+(?:been|gone|fled|left))\s+(?:now\s+)?(?:extinct|ended|over|out\s+of|from|"
    r"him|her)\b|\b(?:the|his|her)\s+(?:coffin|hearse)\s+(?:was\s+in|stood\s+in|was\s+(?:carried|closed|nailed|screwed|"
    r"shut|lowered|brought))\b|\b(?:closed|shut|weighed\s+down)\s+(?:his|her)\s+(?:eyes|eyelids|lids)\s+(?:with|"
    r"for\s+(?:him|her|the\s+last))\b|\bname\s+was\s+(?:read\s+(?:out\s+)?)?(?:\w+\s+){0,3}among\s+the\s+dead\b"
)
"""What only the dead are like, in a sentence about one person."""
_ENDS = re.compile(
    r"\b(?:did\s+not|would\s+not|had\s+not)\s+spared?\s+\Z|\bpleased\s+(?:God|Heaven|Providence|"
    r"the\s+Almighty)\s+to\s+(?:take|release|call|remove)\s+\Z|\b(?:grave|vault|churchyard|earth|tomb|"
    r"ground)\b[^;:.]{0,40}?\b(?:they|we|he|she)\s+(?:had\s+)?(?:laid|put|lowered|left|buried)\s+\Z|"
    r"\b[Dd]eath\b[^;:.]{0,80}?\b(?:took|taken|claimed|found|seized|overtook|came\s+(?:to|for))\s+\Z|\b(?:ended|"
    r"finished|closed|cut\s+short)\s+(?:the\s+)?(?:life|days|earthly\s+\w+|career)\s+of\s+\Z|\b(?:life|breath|soul|"
    r"spirit)\s+(?:had\s+)?(?:went|gone|passed|ebbed|fled|departed|slipped)\s+(?:quietly\s+)?(?:out\s+of|from)\s+\Z|"
    r"\b(?:bell|bells)\b[^;:.]{0,30}?\bfor\s+\Z|\b(?:pit|grave|vault|tomb|earth|churchyard)\s+(?:had\s+)?(?:received|"
    r"held|took|taken|closed\s+(?:on|over))\s+\Z|\b(?:an|the)\s+end\s+of\s+\Z|\blast\s+breath\s+(?:went|passed|left|"
    r"fled|had\s+\w+)\s+(?:out\s+of\s+|from\s+)?\Z|\b(?:stroke|fit|seizure|apoplexy|fever|chill|cough|plague|cholera|"
    r"consumption|[Pp]neumonia|cold|winter)\b[^;:.]{0,90}?\b(?:took|carried\s+off|killed|finished|laid\s+low)\s+\Z|"
    r"\b[Pp]oison\s+was\s+found\s+in\s+the\s+\w+\s+of\s+\Z|\b(?:sea|river|lake|water|bog)\s+(?:had|has|took|"
    r"kept)\s+\Z|\b(?:ball|bullet|shot|sword|blade|knife|lance|arrow|spear)\s+(?:had\s+)?(?:passed|went|gone|ran|"
    r"entered|pierced|struck|took|taken)\s+(?:through\s+|into\s+)?\Z"
)
"""What ends the life of the one whose name follows."""
_MIDST = re.compile(r"(?!'s?\s)|'s?\s+(?:heart|brain|throat|lungs?|breast|skull|face|eyes|body)\b")
_DONE_TO_HIM = re.compile(
    r"\b(?:home|back|out|in|ashore)\b[^;]{0,30}?\bdead\b(?=\s*[.,;])|\b[Dd]eath\s+(?:had\s+)?(?:found|come\s+to|"
    r"came\s+to|overtaken|overtook|claimed|taken|took)\b|\b(?:verses|service|prayers|hymn|psalm|turf|stone|earth|spade|"
    r"words)\b[^;]{0,24}?\bover\b|\ball\s+over\s+with\b|\bburied\b|\bburying\b|\bthe\s+dead\s+are\b|\bmortal(?:ly)?\b"
)
"""What is done to him: the name stands as its object."""
_HIS_OWN = re.compile(
    r"'s?\s+(?:\w+\s+){0,2}?(?:funeral|grave|coffin|burial|burying|death|tomb|tombstone|headstone|wake|corpse|remains|"
    r"shroud|hearse|bier|inquest|last\s+(?:breath|hour|illness))\b(?!-|\s+(?:would|will|could|might|warrant|sentence))"
)
_DENIED = re.compile(
    r"\b(?:not|if|would|could|might|may|should|must|will|shall|perhaps|almost|nearly|half|thought|believed|feared|"
    r"supposed|reported|wish\w*|want\w*|threat\w*|swore|hope[ds]?|until|till|before|as\s+if|as\s+though|like|every|"
    r"whoever|anyone|escap\w+|near|prevent\w*|"
    r"news|reports?|rumou?r|sentenced|condemned|expected|dread\w*|ordered|planned|attend\w*|invited)\b|n't\b|'d\b",
    re.IGNORECASE,
)
_DOUBTED = re.compile(
    r"\b(?:if|would|could|might|may|should|must|perhaps|almost|nearly|half|thought|believed|feared|as\s+if|"
    r"as\s+though|like|until|till|seem\w*|for\s+a\s+(?:moment|minute|while|time))\b"
)
_BEASTS = re.compile(
    r"\b(?:dog|horse|mare|pony|cat|hound|bird|parrot|cow|ox|donkey|mule|hen|sheep|canary|wife|"
    r"husband)\b(?!\s+was\s+with)"
)
_OBJECT = re.compile(
    r"\b(?:brought|carried|took|bore|found|buried|burying|lost|laid|over|with|for|upon|on|of|to|killed|shot|hanged|"
    r"drowned|claimed|overtaken|overtook|round|measured?|put)\s+(?:poor\s+|old\s+)?\Z"
)
_HE_WAS = re.compile(r"(?:he|she)\s+(?:was|had)\b")
_CLOSE = 12
"""Characters before a clause in which a conjunction would stand."""
_TRIGGERS = frozenset(
    words("""
    dead drowned killed slain lost died perished fell neck spoke woke awoke rose stirred breathed last heart head brain
    throat lung lungs face candle lamp light ground sod turf grass churchyard graveyard yew yews stone slab cross being
    hanged death over buried burying mortal mortally funeral grave coffin burial tomb tombstone headstone wake corpse
    remains shroud hearse bier inquest hour illness breath more life pulse end past beyond breathing late save out die
    fall perish heartbeat again body spare spared ended finished stiff bell bells covered pit received fathers alive
    closed cold soul spirit lowered under beneath moved account away sigh gasp groan poison stroke fit seizure sea river
    pleased lake up
    ball bullet shot sword blade knife lance arrow spear eyes lids eyelids clock done drowned stiff lifeless
    """)
)


def loose_deaths(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every death that a sentence about one person can only mean for him."""
    for number in narration.prose.with_words(_TRIGGERS):
        sentence = narration.prose.sentences[number]
        if sentence.is_question or narration.in_dream(number) or _BEASTS.search(sentence.text):
            continue
        owner = alone(binder, number) if narration.is_real(number) else None
        found = _tells(narration, number, owner) if owner is not None else None
        if found is not None and _DENIED.search(_said_before(sentence, found)):
            found = None
        if found is None:
            owner, found = _lifeless(narration, binder, number)
        if owner is not None and found is not None:
            yield fact_at(
                narration.prose, number, found.span(), owner, "dead", ("dead",), found.group().strip(" '"),
                details=("loosely",),
            )  # fmt: skip


def _lifeless(narration: Narration, binder: Binder, number: int) -> tuple[Mention | None, re.Match[str] | None]:
    """A death by what only the dead are like, of the one whom the sentence or its neighbour is about."""
    sentence, told = narration.prose.sentences[number], narration.prose.told
    for one in named_people(binder, number):
        if ends := _ENDS.search(told, sentence.start, one.start):
            so = _MIDST.match(told, one.end) and is_claimed(narration, number, ends.span(), granted=True)
            return (one, ends) if so else (None, None)
    found = _LIFELESS.search(told, sentence.start, sentence.end)
    owner = bearer(binder, number, found.start()) or _laid_out(binder, number, found) if found is not None else None
    if found is None or owner is None or _attends(binder, number, owner, found):
        return None, None
    start, _ = clause_at(sentence.text, found.start() - sentence.start)
    doubted = _DOUBTED.search(sentence.text, start, found.end() - sentence.start)
    if doubted or not is_claimed(narration, number, found.span(), granted=True):
        return None, None
    return owner, found


def _laid_out(binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    """`The surgeon bent over Mara, and then closed the eyes`: others are about the dead, who is named before."""
    owner, start = about(binder, number), binder.prose.sentences[number].start
    if owner is None or owner.start >= found.end():
        return None
    dealt_with = BOUND.search(binder.prose.told, start, owner.start) if owner.start >= start else None
    return owner if owner.is_possessive or dealt_with is not None else None


def _attends(binder: Binder, number: int, owner: Mention, found: re.Match[str]) -> bool:
    """`Mara felt for a pulse`, `Mara closed her eyes`: whoever does this lives."""
    sentence = binder.prose.sentences[number]
    start, _ = clause_at(sentence.text, found.start() - sentence.start)
    if re.match(r"\W*who\b", sentence.text[start:]) and any(
        one.key == owner.key and one.end == sentence.start + start for one in binder.mentions(number)
    ):
        # `It was Mara who found the body`.
        return True
    here = sentence.start + start <= owner.start < found.start()
    between = binder.prose.told[owner.end : found.start()]
    return (
        here
        and not owner.is_possessive
        and re.fullmatch(r"\s*(?:himself|herself)?\s*", between) is None
        and not re.search(r"\bof\s+\Z", binder.prose.told[: owner.start][-4:])
    )


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
