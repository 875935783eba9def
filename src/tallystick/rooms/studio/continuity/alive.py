"""Who dies in the narration, and who turns out to live after all."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.mourning import APPOSED, BURIALS, CAUSES, LEFT_BEHIND, TRIGGERS, name_span
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.obsequies import obsequies
from tallystick.rooms.studio.continuity.owners import holder
from tallystick.rooms.studio.continuity.people import NAME, Mention
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, words

_DIED = re.compile(
    r"(?:had\s+|has\s+)?(?:\w+ly\s+)?(?:"
    r"\bdied\b(?!\s+(?:away|down|out|laughing|a\s+little(?=\s*[.,;]|\s+(?:inside|every|more|each))|a\s+thousand|"
    r"inside|to\b|of\s+(?:laughter|shame|boredom|"
    r"embarrassment|"
    r"curiosity|envy|laughing|mortification|impatience)))"
    r"|\b(?:was|is|lay|fell|dropped|had\s+fallen|had\s+been|sank|toppled|collapsed)\s+(?:(?:\w+ly|quite|now|stone|"
    r"already|as|down|back|there|found|struck|shot|picked\s+up|brought\s+home)\s+)*dead\b"
    r"(?!\s+(?:to|tired|asleep|drunk|set|on\s+(?:time|target|course|schedule|the\s+hour|(?:his|her)\s+feet)|against|"
    r"certain|sure|calm|"
    r"silent|serious|weight|ahead|last|white|pale|keen|"
    r"beat|still|level|right|wrong|broke|easy|quiet|reckoning|bored|faint)|-)"
    r"|\b(?:was|were|had\s+been|been)\s+(?:\w+ly\s+)?(?:killed|murdered|slain|hanged|executed|beheaded|guillotined|"
    r"drowned(?!\s+out)|"
    r"shot\s+dead|stabbed\s+to\s+death|strangled|assassinated|poisoned\s+to\s+death|burned\s+to\s+death|"
    r"crushed\s+to\s+death|"
    r"laid\s+to\s+rest|lost\s+at\s+sea|laid\s+in\s+(?:the|his|her|a)\s+(?:\w+\s+)?(?:churchyard|ground|earth|grave|"
    r"vault|"
    r"cemetery|tomb|coffin))\b(?!\s+(?:with\s+kindness|in\s+(?:debt|thought|work)))"
    r"|\b(?:was|were|had\s+been)\s+(?:\w+ly\s+)?buried\b(?=\s*[.,;]|\s+(?:on|at|beside|next\s+to|yesterday|that|"
    r"there|under|with|"
    r"in\s+(?:the\s+)?(?:\w+\s+)?(?:churchyard|cemetery|graveyard|vault|garden|tomb|crypt|ground|grave)))"
    r"|\bbreathed\s+(?:his|her)\s+last\b|\bdr(?:ew|awn)\s+(?:his|her)\s+(?:last|final)\s+breath\b|"
    r"\bwent\s+down\s+with\s+the\s+(?:ship|boat|vessel)\b|\bclosed\s+(?:his|her)\s+eyes\s+for\s+the\s+last\s+time\b|"
    r"\bwas\s+(?:beyond|past)\s+(?:all\s+)?(?:help|saving|aid)\b|\b(?:lay|was)\s+in\s+(?:his|her)\s+(?:coffin|"
    r"grave)\b|"
    r"\bwas\s+(?:found\s+)?(?:cold\s+and\s+)?lifeless\b|\bdid\s+not\s+outlive\b|\bpassed\s+from\s+(?:this\s+life|"
    r"the\s+world)\b|"
    r"\bdeparted\s+this\s+life\b|\bpassed\s+away\b"
    r"|\bperished\b|\bsuccumbed\s+to\b|\bexpired\b|\bgave\s+up\s+the\s+ghost\b|\btook\s+(?:his|her)\s+own\s+life\b|"
    r"\bnever\s+(?:woke|awoke|rose|breathed|stirred)\s+again\b|\bnever\s+(?:woke|awoke)(?=\s*[.;])|"
    r"\bbreathed\s+no\s+more\b|"
    r"\bstopped\s+breathing\b(?!\s+to\b)|\b(?:hanged|shot|drowned|poisoned|killed)\s+(?:himself|herself)\b|"
    r"\bput\s+a\s+bullet\s+through\s+(?:his|her)\s+(?:own\s+)?(?:head|heart|brain)\b|\bcut\s+(?:his|"
    r"her)\s+own\s+throat\b|"
    r"\btaken\s+(?:his|her)\s+own\s+life\b|\bdid\s+not\s+rise\s+again\b|"
    r"\bwas\s+(?:laid|put|carried|borne|followed|taken|brought|lowered)\s+(?:in|into|to|under|beside|by|"
    r"next\s+to)\s+(?:the|his|her)\s+"
    r"(?:\w+\s+)?(?:wife|husband|mother|father|people|grave|churchyard|cemetery|graveyard|ground|earth|vault|tomb)\b|"
    r"\b(?:was|were)\s+(?:lost|swept|washed|thrown|knocked)\s+overboard\b|\blost\s+with\s+all\s+hands\b|"
    r"\bwent\s+down\s+with\s+all\s+hands\b|"
    r"\b(?:left|quitted|departed)\s+this\s+(?:world|life)\b|\bgone\s+to\s+(?:a\s+better\s+(?:place|world)|(?:his|"
    r"her)\s+(?:account|reward|"
    r"Maker))\b|\bmet\s+(?:his|her)\s+Maker\b|\bpaid\s+the\s+debt\s+of\s+nature\b|\bmade\s+a\s+(?:good|quiet|bad|"
    r"poor|brave)\s+end\b|"
    r"\b(?:drunk|drank|coughed|worked|starved)\s+(?:himself|herself)\s+to\s+death\b|\bdid\s+not\s+wake\b(?=\s*[.;]|"
    r"\s+(?:again|on|that|nor)\b)|"
    r"\bdid\s+not\s+breathe\s+(?:in\s+)?again\b|\blay\s+(?:stiff|stark)\b(?!\s+as\b)|\blay\s+cold\s+(?:in|up?on|on|"
    r"there)\b|"
    r"\b(?:sigh|groan|gasp|breath)\s+and\s+was\s+(?:gone|still)\b|\bdid\s+not\s+last\s+(?:the|another|till|"
    r"until)\b|"
    r"\b(?:did\s+not\s+see|never\s+saw)\s+(?:the\s+(?:morning|spring|summer|winter|end|dawn)|another)\b|"
    r"\bgathered\s+to\s+(?:his|her)\s+fathers\b|"
    r"\b(?:went|gone)\s+(?:quietly|peacefully|easily)?,?\s*in\s+(?:his|her)\s+sleep\b|\bwas\s+found\s+(?:stone\s+|"
    r"quite\s+)?cold\b|"
    r"\bwith\s+pennies\s+on\s+(?:his|her)\s+eyes\b|\bburned\s+to\s+death\b|"
    rf"\b(?:was|had\s+been)\s+(?:{NUMBER}|many|some|several|long|a)\s+(?:years?|months?|weeks?|days?)\s+(?:dead|"
    rf"buried|in\s+(?:his|"
    r"her)\s+(?:grave|coffin)|under\s+the\s+(?:sod|turf|grass|ground))\b|\b(?:was|"
    r"had)\s+(?:\w+\s+){0,2}?long\s+(?:since\s+)?"
    r"(?:been\s+)?dead\b|\b(?:lay|slept)\s+buried\b|\b(?:lay|slept|had\s+been|was)\s+(?:(?:in|under|beneath)\s+(?:the|"
    r"his|her|a)\s+(?:\w+\s+)?"
    r"(?:churchyard|cemetery|graveyard|grave|yew|sod|turf|clay)\b)|\b(?:was|were)\s+found\s+(?:drowned|hanged|"
    r"murdered|frozen|"
    r"lifeless|stabbed)\b|\b(?:was|were|had\s+been)\s+[a-z\s]{3,40}?\s+and\s+(?:was\s+)?(?:killed|drowned)\b|\b(?:was|"
    r"had)\s+gone\s+"
    r"(?:to\s+(?:his|her)\s+(?:grave|rest|long\s+home)|for\s+ever)\b|\bwas\s+with\s+God\b|\bfell\s+in\s+action\b|"
    r"\b(?:was|had\s+been)\s+carried\s+off\s+by\b"
    r"|\bdid\s+not\s+(?:live|survive)\b(?=\s+(?:to\s+see|the|until|till|through|long|another|it)|\s*[.,;])|"
    r"\blived\s+no\s+(?:more|longer)\b|\b(?:was|is)\s+no\s+more\b(?=\s*[.,;])"
    r"|\bceased\s+to\s+(?:breathe|live)\b|\bwas\s+carried\s+off\s+by\b|\bfell\s+in\s+(?:the\s+)?battle\b|"
    r"\bmet\s+(?:his|her)\s+(?:death|end)\b|\bbled\s+to\s+death\b|\bstarved\s+to\s+death\b|\bfroze\s+to\s+death\b"
    r"|\bfell\s+to\s+(?:his|her)\s+death\b|\bdrowned\b(?=\s*[.,;]|\s+(?:in|off|at|on|that|when|while|within|before|"
    r"near|under|by|with))"
    r")"
)
_KILLED = re.compile(
    rf"\b(?:killed|murdered|slew|assassinated|strangled|beheaded|drowned|buried|hanged)\s+(?:poor\s+|"
    rf"old\s+)?(?P<name>{NAME})(?!'s|\w)"
)
_KILLED_HIM = re.compile(
    r"\b(?:killed|murdered|slew|strangled|beheaded|drowned|buried|hanged)\s+(?P<him>him|her)\b(?=\s*[.,;]|\s+(?:in|"
    r"on|at|by|with|that|"
    r"instantly|there|outright|and|beside|under)\b)"
)
_REMAINS = re.compile(
    rf"(?P<name>{NAME})(?:'s|'|s')\s+(?:corpse|(?:dead|lifeless)\s+body|coffin|funeral(?=\s+(?:was|took|had|that|"
    rf"on|two|three|the)|\s*[.,;])|"
    r"grave(?=\s*[.,;]|\s+(?:was|lay|in|at|on|beside|under|and|stood))|tomb(?:stone)?|gravestone|ashes|"
    r"(?:heart|pulse|breath|breathing)\s+(?:had\s+)?(?:stopped|ceased)(?:\s+beating|\s+to\s+beat)?(?=\s*[.,;]|"
    r"\s+(?:and|at|in|before|that|a\s+little|for\s+ever|forever))|life\s+(?:was\s+over|had\s+ended|ended|"
    r"was\s+at\s+an\s+end))"
)
_DEATH_OF = re.compile(
    rf"(?:(?P<name>{NAME})(?:'s|')\s+(?:sudden\s+|early\s+|own\s+)?death|\b(?:death|murder|execution|burial|"
    rf"funeral|drowning|assassination)\s+of\s+(?:poor\s+|old\s+)?(?P<of>{NAME}))(?!\w|'s|-|\s+(?:would|will|could|"
    rf"might|bed|warrant))"
)
_DEADLY = frozenset(
    words("""
    died dead killed murdered slain hanged executed beheaded guillotined drowned strangled assassinated
    poisoned burned crushed laid buried breathed breath passed perished expired ghost life woke awoke death
    end slew corpse body coffin funeral grave tomb tombstone gravestone ashes heart live survive lived carried
    took claimed breathing breathe more fell succumbed murder execution burial drowning assassination lost sea
    ship help saving aid churchyard cemetery graveyard yew sod turf clay god bullet throat rise rose stirred
    himself herself gone lifeless last morning spring summer dawn another fathers sleep cold pennies overboard
    hands world better account reward maker debt brave quiet wake stiff stark sigh groan gasp
    """)
)
_TRIGGERS = _DEADLY | TRIGGERS
_NOT_REALLY = re.compile(
    r"\b(?:news|reports?|concerned|presumed|believed|thought|reported|pronounced|supposed|given\s+up|left\s+for|"
    r"feared|rumou?r|half|"
    r"almost|nearly|as\s+good\s+as|would|could|might|may|should|if|(?:till|until|before)\s+(?=(?-i:[A-Z])|he\b|"
    r"she\b)|unless|fear\w*|dread\w*|plot\w*|threat\w*|expect\w*|await\w*|event\s+of|case\s+of|prevent\w*|"
    r"demand\w*|wish\w*|wanted|tried|trying|"
    r"threaten\w*|sooner|rather|not|never(?!\s+(?:woke|awoke))|no\s+one|nobody|neither|swear|swore|vow\w*|must|"
    r"shall|will|"
    r"whether|suppose|imagin\w+|pretend\w*|seem\w*|appear\w*|like|to(?!\s+th))\b|n't\b|'d\b",
    re.IGNORECASE,
)
_ALMOST = re.compile(r"\b(?:nearly|almost|hardly|scarcely|barely|supposedly|apparently|reportedly|probably)\b")
_OWNED = re.compile(r"\b(?:of|for|to|with|by|from|than|like|about|upon|on|after|before|or)\s+\Z")
_ALIVE = re.compile(
    rf"(?P<name>{NAME})\s+(?:(?:was|is|were|had|has|lay|must\s+be|could\s+not\s+be|came|rose)\s+)?(?:(?:still|yet|"
    rf"really|after\s+all|been)\s+)*"
    r"(?:alive\b(?!\s+(?:to|with|by|in))|survived\b|not\s+(?:been\s+)?(?:dead|died|killed|drowned)\b|n't\s+(?:dead|"
    r"died)\b|resurrected|"
    r"back\s+to\s+life|from\s+the\s+dead|lives\b)|"
    r"\b(?:he|she)\s+(?:was|is|had)\s+(?:still\s+|not\s+)?(?:alive(?:\s+after\s+all)?|dead\s+after\s+all|"
    r"not\s+dead|survived)\b(?!\s+(?:to|with))|"
    r"\b(?:un-?dead|vampire|resurrect\w*|risen\s+from)\b"
)


_ALIVE_HINT = re.compile(
    r"\b(?:alive|survived|dead|died|killed|drowned|life|lives|un-?dead|vampire|resurrect\w*|resurrected|risen)\b"
)
"""The words that `_ALIVE` cannot do without: it is tried only around them."""
_BEFORE_HINT = 90
_AFTER_HINT = 24
_LIVES_ON = re.compile(
    r"\b(?:and\s+lived|recover\w*|surviv\w*|escap\w*|unhurt|unharmed|alive|(?:he|she)\s+rose|got\s+up|"
    r"kept\s+(?:his|her)\s+bed|"
    r"wounded|wet|to\s+the\s+(?:waist|knees?|neck)|only\s+(?:been|gone)|(?:broke|broken|sprained|lost)\s+(?:an?|"
    r"his|her)\s+(?:\w+\s+)?"
    r"(?:arm|leg|wrist|rib|ribs|ankle|collar-?bone|finger|hat|way))\b"
)
"""What the same sentence says of somebody who only seemed to die."""


def deaths(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Everyone whom the narration says to be dead."""
    for number, found in narration.prose.matches(_DIED, _DEADLY):
        yield from _dies(narration, binder, number, found.span(), _subject(narration, binder, number, found.start()))
    for number, found in narration.prose.matches(_KILLED_HIM, _DEADLY):
        yield from _dies(
            narration, binder, number, found.span(), binder.pronoun(number, found.start("him"), found["him"])
        )
    for pattern in (_KILLED, CAUSES, BURIALS, _REMAINS, _DEATH_OF, LEFT_BEHIND):
        for number, found in narration.prose.matches(pattern, _TRIGGERS):
            loosely = pattern is LEFT_BEHIND
            yield from _dies(
                narration, binder, number, found.span(), _named_at(binder, number, name_span(found)), loosely=loosely
            )
    for number, found in obsequies(binder):
        owner = _named_at(binder, number, found.span("name"))
        yield from _dies(narration, binder, number, found.span(), owner, loosely=True)
    for number, found in narration.prose.matches(APPOSED, {"dead", "widow", "widower"}):
        owner = binder.named_before(number, found.start())
        yield from _dies(narration, binder, number, found.span(), owner)


def alive_again(narration: Narration, binder: Binder) -> Iterator[tuple[str, int]]:
    """Who turns out to live after all, and where."""
    flat = narration.prose.flat
    for hint in _ALIVE_HINT.finditer(flat):
        found = _ALIVE.search(flat, max(0, hint.start() - _BEFORE_HINT), hint.end() + _AFTER_HINT)
        number = narration.prose.sentence_at(found.start()) if found else None
        if found is None or number is None:
            continue
        for near in range(max(0, number - 1), number + 1):
            sentence = narration.prose.sentences[near]
            for mention in binder.cast.named_in(narration.prose, sentence.start, sentence.end, spoken=True):
                yield mention.key, found.start()


def _dies(
    narration: Narration,
    binder: Binder,
    number: int,
    span: tuple[int, int],
    owner: Mention | None,
    *,
    loosely: bool = False,
) -> Iterator[Fact]:
    sentence = narration.prose.sentences[number]
    if owner is None or sentence.is_question or narration.is_dreamt(number) or not binder.cast.is_person(owner.key):
        return
    before = sentence.text[: max(owner.end, span[0]) - sentence.start]
    if _NOT_REALLY.search(_last_clause(before)) or _ALMOST.search(narration.prose.told[span[0] : span[1]]):
        return
    if not narration.is_real(number) and not _is_only_dated(sentence.text):
        return
    if loosely and _LIVES_ON.search(sentence.text, max(0, span[1] - sentence.start)):
        return
    start = min(owner.start, span[0]) if owner.start >= sentence.start else span[0]
    yield fact_at(
        narration.prose,
        number,
        (start, max(span[1], owner.end)),
        owner,
        "dead",
        ("dead",),
        narration.prose.told[span[0] : span[1]],
        details=("loosely",) if loosely else (),
    )


def _is_only_dated(text: str) -> bool:
    """`had died ten years before` looks back, and yet is so."""
    plain = re.sub(r"\b(?:years?|months?) (?:ago|before|earlier|back)\b|\blong ago\b", "", text)
    return (
        not re.search(
            r"\b(?:dream\w*|nightmare|vision|imagin\w+|pretend\w*|stor(?:y|ies)|tales?|legend|rumou?r\w*|portrait|"
            r"novel|play|song|"
            r"wish\w*|as if|as though|claim\w*|according to|said that|told \w+ that|thought|believed|heard that|"
            r"remember\w*|recall\w*|memor\w+)\b",
            plain,
        )
        and plain != text
    )


def _subject(narration: Narration, binder: Binder, number: int, at: int) -> Mention | None:
    owner = holder(binder, number, at)
    if owner is None or owner.is_possessive:
        return None
    sentence = narration.prose.sentences[number]
    who = re.match(r",?\s+who\b", narration.prose.told[owner.end : owner.end + 8])
    before = sentence.text[: max(owner.start - sentence.start, 0)]
    if (
        owner.start >= sentence.start
        and not who
        and _OWNED.search(before)
        and not before.endswith((", for ", "; for "))
    ):
        return None
    return owner


def _named_at(binder: Binder, number: int, span: tuple[int, int]) -> Mention | None:
    for mention in binder.mentions(number):
        if mention.start >= span[0] and mention.end <= span[1] + 1 and mention.end >= span[1] - 1:
            return mention
    return None


def _last_clause(text: str) -> str:
    return re.split(r"[;:—¤]|,\s+(?:and|but|who)\b|\b(?:since|when|after|because|now\s+that|where|while)\b", text)[-1]
