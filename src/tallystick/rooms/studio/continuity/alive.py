"""Who dies in the narration, and who turns out to live after all."""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.doers import doer
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.mourning import APPOSED, BURIALS, CAUSES, LEFT_BEHIND, TRIGGERS, name_span
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.obsequies import obsequies
from tallystick.rooms.studio.continuity.owners import holder
from tallystick.rooms.studio.continuity.people import NAME, Mention
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, words

_DIED = re.compile(
    r"(?:had\s+|has\s+)?(?:\b[a-z]+ly\s+)?(?:\bdied\b(?!\s+(?:away|down|out|laughing|a\s+little(?=\s*[.,;]|"
    r"\s+(?:inside|"
    r"every|more|each))|a\s+thousand|inside|to\b|of\s+(?:laughter|shame|boredom|embarrassment|curiosity|envy|laughing|"
    r"mortification|impatience)))|\b(?:was|is|lay|fell|dropped|had\s+fallen|had\s+been|sank|toppled|"
    r"collapsed)\s+(?:(?:\w+ly|quite|now|stone|already|as|down|back|there|found|struck|shot|picked\s+up|"
    r"brought\s+home)\s+)*dead\b(?!\s+(?:to|tired|asleep|drunk|set|on\s+(?:time|target|course|schedule|the\s+hour|"
    r"(?:his|her)\s+feet)|against|certain|sure|calm|silent|serious|weight|ahead|last|white|pale|keen|beat|still|level|"
    r"right|wrong|broke|easy|quiet|reckoning|bored|faint)|-)|\b(?:was|were|had\s+been|been)\s+(?:\w+ly\s+)?(?:killed|"
    r"murdered|slain|hanged|executed|beheaded|guillotined|drowned(?!\s+out)|shot\s+dead|stabbed\s+to\s+death|strangled|"
    r"assassinated|poisoned\s+to\s+death|burned\s+to\s+death|crushed\s+to\s+death|laid\s+to\s+rest|lost\s+at\s+sea|"
    r"laid\s+in\s+(?:the|his|her|a)\s+(?:\w+\s+)?(?:churchyard|ground|earth|grave|vault|cemetery|tomb|"
    r"coffin))\b(?!\s+(?:with\s+kindness|in\s+(?:debt|thought|work)))|\b(?:was|were|"
    r"had\s+been)\s+(?:\w+ly\s+)?buried\b(?=\s*[.,;]|\s+(?:on|at|beside|next\s+to|yesterday|that|there|under|with|"
    r"in\s+(?:the\s+)?(?:\w+\s+)?(?:churchyard|cemetery|graveyard|vault|garden|tomb|crypt|ground|grave)))|"
    r"\bhad\s+not\s+survived\b(?=\s+(?:the|his|her)\b)|"
    r"\bbreathed\s+(?:his|her)\s+last\b|\bdr(?:ew|awn)\s+(?:his|her)\s+(?:last|final)\s+breath\b|"
    r"\bwent\s+down\s+with\s+the\s+(?:ship|boat|vessel)\b|\bclosed\s+(?:his|her)\s+eyes\s+for\s+the\s+last\s+time\b|"
    r"\bwas\s+(?:beyond|past)\s+(?:all\s+)?(?:help|saving|aid)\b|\b(?:lay|was)\s+in\s+(?:his|her)\s+(?:coffin|grave)\b|"
    r"\bwas\s+(?:found\s+)?(?:cold\s+and\s+)?lifeless\b|\bdid\s+not\s+outlive\b|\bpassed\s+from\s+(?:this\s+life|"
    r"the\s+world)\b|\bdeparted\s+this\s+life\b|\bpassed\s+(?:away|out\s+of\s+(?:the|this)\s+(?:world|life))\b|"
    r"\bperished\b|\bsuccumbed\s+to\b|\bexpired\b|\bgave\s+up\s+the\s+ghost\b|\btook\s+(?:his|her)\s+own\s+life\b|"
    r"\bnever\s+(?:woke|awoke|rose|breathed|stirred)\s+again\b|\bnever\s+(?:woke|awoke)(?=\s*[.;]|\s+(?:from|"
    r"out\s+of)\s+"
    r"(?:it|(?:that|the|his|her)\s+(?:\w+\s+)?(?:sleep|slumber|faint|swoon|fever|stupor|coma|operation|drug))\b)|"
    r"\bnever\s+(?:came|come)\s+(?:round|to|out)\b(?=\s*[.,;]|\s+(?:again|(?:from|of|after)\s+(?:it|(?:that|the|his|"
    r"her)\s+"
    r"(?:\w+\s+)?(?:operation|chloroform|ether|faint|swoon|fever|coma|stupor|stroke|fit|water|fire|mine)))\b)|"
    r"\bbreathed\s+no\s+more\b|\bstopped\s+breathing\b(?!\s+to\b)|\b(?:hanged|shot|drowned|poisoned|"
    r"killed)\s+(?:himself|herself)\b|\bput\s+a\s+bullet\s+through\s+(?:his|her)\s+(?:own\s+)?(?:head|heart|brain)\b|"
    r"\bcut\s+(?:his|her)\s+own\s+throat\b|\btaken\s+(?:his|her)\s+own\s+life\b|\bdid\s+not\s+rise\s+again\b|"
    r"\bwas\s+(?:laid|put|carried|borne|followed|taken|brought|lowered)\s+(?:in|into|to|under|beside|by|"
    r"next\s+to)\s+(?:the|his|her)\s+(?:\w+\s+)?(?:wife|husband|mother|father|people|grave|churchyard|cemetery|"
    r"graveyard|ground|earth|vault|tomb)\b|\b(?:was|were)\s+(?:lost|swept|washed|thrown|knocked)\s+overboard\b|"
    r"\blost\s+with\s+all\s+hands\b|\bwent\s+down\s+with\s+all\s+hands\b|\b(?:left|quitted|departed)\s+this\s+(?:world|"
    r"life)\b|\bgone\s+to\s+(?:a\s+better\s+(?:place|world)|(?:his|her)\s+(?:account|reward|Maker))\b|\bmet\s+(?:his|"
    r"her)\s+Maker\b|\bpaid\s+the\s+debt\s+of\s+nature\b|\bmade\s+a\s+(?:good|quiet|bad|poor|brave)\s+end\b|\b(?:drunk|"
    r"drank|coughed|worked|starved)\s+(?:himself|herself)\s+to\s+death\b|\bdid\s+not\s+wake\b(?=\s*[.;]|\s+(?:again|on|"
    r"that|nor)\b)|\bdid\s+not\s+breathe\s+(?:in\s+)?again\b|\blay\s+(?:stiff|stark)\b(?!\s+as\b)|\blay\s+cold\s+(?:in|"
    r"up?on|on|there)\b|\b(?:sigh|groan|gasp|breath)\s+and\s+was\s+(?:gone|still)\b|\bdid\s+not\s+last\s+(?:the|"
    r"another|till|until)\b|\b(?:did\s+not\s+see|never\s+saw)\s+(?:the\s+(?:morning|spring|summer|winter|end|dawn)|"
    r"another)\b|\bgathered\s+to\s+(?:his|her)\s+fathers\b|\b(?:went|gone)\s+(?:quietly|peacefully|"
    r"easily)?,?\s*in\s+(?:his|her)\s+sleep\b|\bwas\s+found\s+(?:stone\s+|quite\s+)?cold\b|"
    r"\bwith\s+pennies\s+on\s+(?:his|her)\s+eyes\b|\bburned\s+to\s+death\b|"
    rf"\b(?:was|had\s+been)\s+(?:{NUMBER}|many|some|several|long|a)\s+(?:years?|months?|weeks?|days?)\s+(?:dead|buried|"
    rf"in\s+(?:his|"
    r"her)\s+(?:grave|coffin)|under\s+the\s+(?:sod|turf|grass|ground))\b|\b(?:was|"
    r"had)\s+(?:\w+\s+){0,2}?long\s+(?:since\s+)?(?:been\s+)?dead\b|\b(?:lay|slept)\s+buried\b|\b(?:lay|slept|"
    r"had\s+been|was)\s+(?:(?:in|under|beneath)\s+(?:the|his|her|a)\s+(?:\w+\s+)?(?:churchyard|cemetery|graveyard|"
    r"grave|yew|sod|turf|clay)\b)|\b(?:was|were)\s+found\s+(?:drowned|hanged|murdered|frozen|lifeless|stabbed)\b|"
    r"\b(?:was|were|had\s+been)\s+[a-z\s]{3,40}?\s+and\s+(?:was\s+)?(?:killed|drowned)\b|\b(?:was|"
    r"had)\s+gone\s+(?:to\s+(?:his|her)\s+(?:grave|rest|long\s+home)|for\s+ever)\b|\bwas\s+with\s+God\b|"
    r"\bfell\s+in\s+action\b|\b(?:was|had\s+been)\s+carried\s+off\s+by\b|\bdid\s+not\s+(?:live|"
    r"survive)\b(?=\s+(?:to\s+see|the|until|till|through|long|another|it)|\s*[.,;])|\blived\s+no\s+(?:more|longer)\b|"
    r"\b(?:was|is)\s+no\s+more\b(?=\s*[.,;])|\bceased\s+to\s+(?:breathe|live)\b|\bwas\s+carried\s+off\s+by\b|"
    r"\bfell\s+in\s+(?:the\s+)?battle\b|\bmet\s+(?:his|her)\s+(?:death|end)\b|\bbled\s+to\s+death\b|"
    r"\bstarved\s+to\s+death\b|\bfroze\s+to\s+death\b|\bfell\s+to\s+(?:his|her)\s+death\b|\bdrowned\b(?=\s*[.,;]|"
    r"\s+(?:in|off|at|on|that|when|while|within|before|near|under|by|with)))"
)
_KILLED = re.compile(
    rf"\b(?:killed|murdered|slew|assassinated|strangled|beheaded|drowned|buried|hanged)\s+(?:poor\s+|"
    rf"old\s+)?(?P<name>{NAME})(?!'s|\w)"
)
_KILLED_HIM = re.compile(
    r"\b(?:killed|murdered|slew|strangled|beheaded|drowned|buried|hanged)\s+(?P<him>him|her)\b(?=\s*[.,;]|\s+(?:in|on|"
    r"at|by|with|that|instantly|there|outright|and|beside|under)\b)"
)
_REMAINS = re.compile(
    rf"(?P<name>{NAME})(?:'s|'|s')\s+(?:corpse|(?:dead|lifeless)\s+body|coffin|funeral(?=\s+(?:was|took|had|that|on|"
    rf"two|three|the)|\s*[.,;])|"
    r"grave(?=\s*[.,;]|\s+(?:was|lay|in|at|on|beside|under|and|stood))|tomb(?:stone)?|gravestone|ashes|(?:heart|pulse|"
    r"breath|breathing)\s+(?:had\s+)?(?:stopped|ceased)(?:\s+beating|\s+to\s+beat)?(?=\s*[.,;]|\s+(?:and|at|in|before|"
    r"that|a\s+little|for\s+ever|forever))|life\s+(?:was\s+over|had\s+ended|ended|was\s+at\s+an\s+end))"
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
    end survived slew corpse body coffin funeral grave tomb tombstone gravestone ashes heart live survive lived carried
    took claimed breathing breathe more fell succumbed murder execution burial drowning assassination lost sea
    ship help saving aid churchyard cemetery graveyard yew sod turf clay god bullet throat rise rose stirred
    himself herself gone lifeless last morning spring summer dawn another fathers sleep cold pennies overboard
    hands world better account reward maker debt brave quiet wake stiff stark sigh groan gasp
    """)
)
_TRIGGERS = _DEADLY | TRIGGERS
_NOT_REALLY = re.compile(
    r"\b(?:news|reports?|concerned|presumed|believed|thought|reported|pronounced|supposed|given\s+up|left\s+for|"
    r"feared|rumou?r|fear\w*|dread\w*|plot\w*|threat\w*|expect\w*|await\w*|event\s+of|case\s+of|prevent\w*|"
    r"demand\w*|wish\w*|wanted|tried|trying|sooner|rather|no\s+one|nobody|neither|swear|swore|vow\w*|whether|suppose|"
    r"imagin\w+|pretend\w*|seem\w*|appear\w*)\b|\A\W*to\s+(?:his|her|their|all)\s+\w+\b|"
    r"\b(?:if|unless|till|until|before|whether|like|nor)\s+(?:poor\s+|old\s+)?(?:he|she|"
    r"(?-i:(?:[A-Z][\w.]+\s+)*[A-Z]\w+))\s*\Z",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:half|almost|nearly|as\s+good\s+as|would|could|might|may|should|must|shall|will|not|never(?!\s+(?:woke|"
    r"awoke))|to(?!\s+th)|like)\b|n't\b|'d\b"
)
"""Between the name and the verb."""
_ALMOST = re.compile(r"\b(?:nearly|almost|hardly|scarcely|barely|supposedly|apparently|reportedly|probably)\b")
_OWNED = re.compile(r"\b(?:of|for|to|with|by|from|than|like|about|upon|on|after|before|or)\s+\Z")
_ALIVE = re.compile(
    rf"(?P<name>{NAME})\s+(?:(?:was|is|were|had|has|lay|must\s+be|could\s+not\s+be|came|rose)\s+)?(?:(?:still|yet|"
    rf"really|after\s+all|been)\s+)*"
    r"(?:alive\b(?!\s+(?:to|with|by|in))|survived\b|not\s+(?:been\s+)?(?:dead|died|killed|drowned)\b|n't\s+(?:dead|"
    r"died)\b|resurrected|back\s+to\s+life|from\s+the\s+dead|lives\b)|\b(?:he|she)\s+(?:was|is|had)\s+(?:still\s+|"
    r"not\s+)?(?:alive(?:\s+after\s+all)?|dead\s+after\s+all|not\s+dead|survived)\b(?!\s+(?:to|with))|\b(?:un-?dead|"
    r"vampire|resurrect\w*|risen\s+from)\b"
)


_ALIVE_HINT = re.compile(
    r"\b(?:alive|survived|dead|died|killed|drowned|life|lives|un-?dead|vampire|resurrect\w*|resurrected|risen)\b"
)
"""The words that `_ALIVE` cannot do without: it is tried only around them."""
_BEFORE_HINT = 90
_AFTER_HINT = 24
_LIVES_ON = re.compile(
    r"\b(?:and\s+lived|recover\w*|surviv\w*|escap\w*|unhurt|unharmed|alive|(?:he|she)\s+rose|got\s+up|kept\s+(?:his|"
    r"her)\s+bed|wounded|wet|to\s+the\s+(?:waist|knees?|neck)|only\s+(?:been|gone)|(?:broke|broken|sprained|"
    r"lost)\s+(?:an?|his|her)\s+(?:\w+\s+)?(?:arm|leg|wrist|rib|ribs|ankle|collar-?bone|finger|hat|way))\b"
)
"""What the same sentence says of somebody who only seemed to die."""
_AND_THEN = re.compile(r",\s+and(?:\s+then)?(?:,[^,;:]{2,40},)?\s+\Z")
"""`lingered till May, and then, at peace, passed away`: the verb has the subject before it."""
_NEAR = 16
"""Characters before a verb whose subject stands elsewhere."""


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
    told = narration.prose.told
    before = sentence.text[: max(owner.end, span[0]) - sentence.start]
    first = owner.end if sentence.start <= owner.end <= span[0] else max(span[0] - _NEAR, sentence.start)
    if (
        _NOT_REALLY.search(_last_clause(before))
        or _NOT_DONE.search(told, first, span[0])
        or _ALMOST.search(told, *span)
    ):
        return
    if not is_claimed(narration, number, span, granted=True, memory=True):
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


def _subject(narration: Narration, binder: Binder, number: int, at: int) -> Mention | None:
    owner = holder(binder, number, at) or doer(binder, number, at, leads=True)
    if owner is None and _AND_THEN.search(narration.prose.told, narration.prose.sentences[number].start, at):
        owner = doer(binder, number, at)
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
