"""Deaths by their company: one name, and words that stand only where somebody is dead.

The words alone do not say who died. Whoever is named and does nothing in the sentence but suffer it did; whoever acts
in it did only where a pronoun says so afterwards (`Mara drank, and fell back, and was dead`). Those who attend the
dying are never the dead. Each of these deaths counts only while its subject hardly acts any more.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import DENIED, is_claimed
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import BOUND, HIMSELF, KIN, OTHERS, clause_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.vocabulary import words

_ONLY_NEARLY = r"(?!(?:near|hard|scarce|bare|supposed|apparent|reported|probab|possib|seeming)ly\b)"
_DEAD = (
    rf"(?:(?:stone|quite|already|now|{_ONLY_NEARLY}\w+ly)\s+){{0,6}}"
    r"(?:dead(?!\s+(?:to|tired|asleep|drunk|set|against|"
    r"certain|sure|calm|white|pale|keen|beat|still|broke|bored|faint|on\s+(?:time|his|her))|-)|lifeless|stone-?cold|"
    r"a\s+"
    r"corpse|a\s+dead\s+(?:man|woman)|no\s+more(?=\s*[.,;:])|past\s+(?:all\s+)?(?:help|saving|praying\s+for|aid)|"
    r"beyond\s+"
    r"(?:all\s+)?(?:help|saving|aid|recall)|hardly\s+cold|scarcely\s+cold|cold\s+before|drowned|killed|murdered|slain|"
    r"buried(?!\s+(?:(?:in|among)\s+(?:\w+\s+){0,3}?(?:thoughts?|work|books?|hands|papers)|himself|herself|alive)\b)|"
    r"hanged)\b"
)
_BE = r"(?:was|were|is|lay|had\s+been|must\s+have\s+been|has\s+been|fell|dropped|sank)"
_DIES = (
    rf"(?:had\s+|has\s+|must\s+have\s+)?(?:(?:then|{_ONLY_NEARLY}[a-z]+ly)\s+){{0,6}}"
    r"(?:died(?!\s+(?:away|down|out|laughing|inside|a\s+(?:thousand|little(?=\s*[.,;]|\s+(?:inside|every|more|each)))|"
    r"of\s+(?:laughter|laughing|shame|curiosity|boredom|envy|mortification|impatience|embarrassment)|to\b))|expired|"
    r"perished|"
    r"drowned(?=\s*[.,;]|\s+(?:in|off|at|on|that|when|while|within|before|near|under|by|with|there)\b)|succumbed|"
    r"breathed\s+(?:his|her)\s+last|bled\s+to\s+"
    r"death|never\s+(?:woke|awoke|spoke|breathed|stirred|moved)(?:\s+again)?(?=\s*[.,;:])|never\s+(?:recovered|"
    r"regained)\s+"
    r"(?:consciousness|(?:his|her)\s+senses)|departed\s+this\s+life|passed\s+away|ceased\s+to\s+(?:breathe|live))\b|"
    r"did\s+not\s+(?:live|last|survive)(?=\s+(?:an?|the|out|till|until|to|through|another|long|it|many|two|three)\b|"
    r"\s*[.,;])"
)
_PREDICATE = re.compile(
    rf"\b(?P<he>he|she|who)\s+(?:{_BE}\s+{_DEAD}|{_DIES})|(?<=,)\s+and\s+(?:then\s+|so\s+)?(?:{_BE}\s+{_DEAD}|{_DIES})"
)
"""Said of a pronoun, or of the subject before it."""
_LED = re.compile(rf"(?:,\s+[^,;:]{{2,50}},)?\s+(?:{_BE}\s+{_DEAD}|{_DIES})")
"""Said of the name directly before it."""
_FOUND = re.compile(
    r"\b(?:found|saw|picked|brought|carried|took|drew|pulled|dragged|got|fished|dug|cut|washed|buried|laid|lowered|"
    r"lifted)\s+"
    r"(?:him|her)\b[^;:]{0,60}?\b(?:dead|cold(?!\s+(?:tea|water|meat|and\s+wet))|stiff|drowned|lifeless|hanging|"
    r"hanged|frozen|"
    r"murdered|for\s+the\s+grave|in\s+(?:his|her|a|the)\s+(?:coffin|grave|shroud|churchyard)|into\s+the\s+(?:ground|"
    r"earth|grave|vault))\b|\b(?:they|who|somebody|someone|nurse|doctor|surgeon|priest|women|sister|keeper|landlady|"
    r"maid)\s+(?:had\s+)?"
    r"(?:closed|shut)\s+(?:his|her)\s+eyes\b|\bwhile\s+(?:he|she)\s+(?:lived|was\s+alive)(?=\s*[.,;])|\b(?:buried|"
    r"killed|drowned|hanged|murdered)\s+(?:him|her)\b"
)
"""What others do with him."""
_GONE = re.compile(
    r"\b(?:he|she|[A-Z]\w+)\s+(?:had\s+|was\s+|is\s+)(?:quite\s+|already\s+|quietly\s+|indeed\s+)?(?:gone(?=\s*[.,;:]|"
    r"\s+"
    r"(?:from\s+(?:them|us|him|her|this|the\s+world)|for\s+ever|forever|where|before|out|at\s+last|to\s+(?:his|her)))|"
    r"slipped\s+away|left\s+(?:them|us)|at\s+(?:rest|peace)|out\s+of\s+(?:his|her)\s+pain|still(?=\s*[.,;:])|"
    r"gone\s+down\s+with\s+(?:it|her|them))|\bslipped\s+away\b|\b(?:all|it)\s+was\s+(?:all\s+)?over\b(?!\s+(?:the|his|"
    r"her|a)"
    r"\b)|\bthe\s+end\s+(?:had\s+come|came)\b"
)
"""What is said of those who go away as well: it takes a sign that this was a death."""
_SIGNS = re.compile(
    r"\b(?:pulse|(?:the|dead|his|her)\s+(?:\w+\s+)?body|corpse|heart\s+(?:was|had|stopped|gave)|(?:no|last|long|one)\s+"
    r"(?:\w+\s+)?breath|breathing|head\s+(?:fell|sank|dropped|rolled)|fell\s+back|eyes\s+(?:were\s+)?(?:open|glazed|"
    r"fixed|"
    r"closed)|sheet|shroud|coffin|grave|priest|last\s+words|dead|death|dying|candles\s+were|mourning|so\s+much\s+blood|"
    r"wreck|physicians?|surgeon|wound|laid\s+out|(?:slack|cold)\b)"
)
_SURE = re.compile(
    r"\b(?:(?:hour|minute|time|moment|cause|manner|certificate)\s+of\s+(?:the\s+)?death|death\s+certificate|pyre|"
    r"its\s+dead|corpse|coffin|hearse|funeral|burial|buried(?!\s+(?:(?:in|among)\s+(?:\w+\s+){0,3}?(?:thoughts?|"
    r"work|books?|hands|papers|face)|himself|herself|alive)\b)|(?:the|a|his|her|open|new|whose|narrow|into\s+(?:his|"
    r"her))\s+(?:\w+\s+)?"
    r"grave(?!\s+(?:face|man|voice|and|look|air|manner))|graveside|tomb|tombstone|gravestone|headstone|vault|"
    r"undertaker|"
    r"mourners?|shroud|epitaph|(?<!for )(?<!one )(?<!the )dead(?!\s+(?:on\s+(?:his|her|time)|of|to|silence|tired|"
    r"asleep|drunk|set|calm|leaves|weight|white|wood|end|letter|branch"
    r"\w*|flowers|faint|still|m[ae]n's)\b|-)|"
    r"(?:killed|murdered|drowned|hanged)(?!\s+(?:the|an?|his|her|their|two|three|some)\s)|beheaded|perished|slain|"
    r"lifeless|inquest|death-?bed|"
    r"(?:the|his|her|a|dead|drowned)\s+body(?!\s+(?:of\s+(?:men|troops|horse|water|the\s+(?:hall|church|ship))|"
    r"and\s+soul|"
    r"and\s+mind|was\s+(?:warm|strong|shaken|covered\s+with)))|cut\s+down\s+and|headsman|gallows|scaffold|into\s+the\s+"
    r"(?:ground|earth)|in\s+the\s+earth|service\s+over|brought\s+up\s+alive|ball\s+in\s+(?:the|his|her)\s+(?:throat|"
    r"heart|head|brain|lungs?)|bullet\s+in\s+(?:the|his|her)\s+(?:throat|heart|head|brain|lungs?)|all\s+over\s+with)\b|"
    r"'s\s+(?:dead\s+)?body\s+(?:was\s+(?:found|taken|carried|brought|never|washed|laid|borne)|out|up|from|into|to|"
    r"home|ashore|back|down|on|under)\b"
)
"""Words that stand where somebody has died."""
_ATTENDANTS = re.compile(
    r"\b(?:doctors?|surgeons?|physicians?|nurses?|priests?|parson|vicar|curate|rector|chaplain|minister|sexton|"
    r"undertaker|"
    r"bearers|guides?|(?<=the )women|(?<=the )men|neighbours|coachman|servants?|maids?|footm[ae]n|crew|sailors|"
    r"soldiers|"
    r"captain|mate|carter|keeper|gamekeeper|coroner|headsman|hangman|executioner|lawyer|porter|boatm[ae]n|fisherm[ae]n|"
    r"watchman|constable|police|policeman|housekeeper|landlady|landlord|sister|friends|shepherd|gardener|butler|valet|"
    r"mourners?|gravediggers?|regiment|apothecary|physician|firing\s+party|clergyman|inspector|murderer|"
    r"brother-officers)\b"
)
_DOUBTED = re.compile(
    r"\b(?:if|would|could(?!\s+(?:save|be\s+done|do))|might|may|should|perhaps|almost|nearly|half|thought|believed|"
    r"feared|as\s+if|"
    r"as\s+though|like|seem\w*|whether|suppose\w*|afraid|wish\w*|hoped?|threat\w*|about\s+to|to\s+be|lest|unless|every|"
    r"never\s+(?:been|to)|expected|condemned|sentenced|dread\w*|not\s+(?:dead|killed|drowned|buried|really)|until|till|"
    r"before|as\s+good\s+as|presumed|reported|given\s+up|pronounced|for\s+dead|rumou?r\w*|news|swore|threaten\w*|"
    r"rather|sooner|"
    r"nor|neither|no\s+one|nobody|prevent\w*|escap\w+|plot\w*|wanted|tried|trying|imagin\w+|pretend\w*|appear\w*|"
    r"concerned)\b"
)
_AS_FAR = re.compile(r"\W*(?:As\s+far\s+as|So\s+far\s+as|For\s+all)\b[^,]*\b(?:concerned|knew|cared)\b")
_MUST = re.compile(r"\bmust\b(?!\s+have\b)")
_BY = re.compile(r"\bby\s+(?:poor\s+|old\s+)?\Z")
_ROLE = re.compile(
    r"\b(?:of|(?:opened|made|dug|ordered|built|measured|tolled|tolling|rung)\s+for|over|over\s+with|killed|took|"
    r"taken|buried|found|lowered|laid|carried|brought|whom\s+they|buried|left|lost|"
    r"finished|claimed|got|pulled|burned|burnt|dragged|fished|dug|lifted|bore|cut\s+down)\s+(?:poor\s+|old\s+)?\Z"
)
_OF_HIM = re.compile(
    r"'s?\s+(?:(?:dead|cold|poor|stiff|own|last|waxen|white|open|new)\s+)*(?:body|face|eyes|eyelids|lips|hands?|wrist|"
    r"breast|"
    r"heart|pulse|name|remains|head|neck|throat|skull|grave|coffin|funeral|tomb|vault|corpse|burial|shroud|limbs|brow|"
    r"mouth)\b"
)
_PASSIVE = re.compile(
    r"\s+(?:was|were|had\s+been|is|has\s+been|lay|lies|had\s+lain|fell|rested|rests|sleeps|slept)\b|"
    r",\s+(?:who\s+had\s+lain|whom\s+(?:they|we|the\s+\w+))\b|\s+whom\s+(?:they|we)\b"
)
_ALIVE_AT_IT = re.compile(
    r"\s+(?:was|were|had\s+been|is)\s+(?:\w+\s+)?(?:at|by|beside|among|present|in\s+(?:black|mourning|tears|"
    r"the\s+(?:church|"
    r"house|room|carriage|crowd|village|road|lane|procession))|going|coming|standing|sitting|walking|kneeling|\w+ing|"
    r"to\b|not|"
    r"never|told|asked|called|sent|seen|heard|obliged|too|so|very|\w+\s+to\b|away|late|absent|sorry|glad|afraid|"
    r"\w+er\s+than|an?\s+(?!corpse|dead)|the\s+(?!first|last|next|one)|fond)\b"
)
_TRIGGERS = frozenset(
    words("""
    dead lifeless corpse cold drowned killed murdered slain buried hanged died expired perished succumbed last death
    woke awoke spoke breathed stirred consciousness senses live survive life gone slipped rest peace pain still over
    end coffin hearse funeral burial grave graveside tomb tombstone gravestone headstone vault undertaker mourner
    mourners shroud epitaph beheaded inquest deathbed body headsman gallows scaffold ground earth service alive ball
    bullet away breathe left help saving aid recall stone-cold eyes lived pyre certificate
    """)
)


def last_hours(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every death that the company of one name tells."""
    for number in narration.prose.with_words(_TRIGGERS):
        people = named_people(binder, number)
        sentence = narration.prose.sentences[number]
        if len({one.key for one in people}) != 1 or sentence.is_question or narration.is_dreamt(number):
            continue
        found = _told(binder, number, people)
        if found is not None and is_claimed(narration, number, found.span(), granted=True, memory=True):
            yield fact_at(
                narration.prose, number, found.span(), people[0], "dead", ("dead",), found.group().strip(" ,"),
                details=("loosely",),
            )  # fmt: skip


def _told(binder: Binder, number: int, people: list[Mention]) -> re.Match[str] | None:
    sentence, told = binder.prose.sentences[number], binder.prose.told
    for one in people:
        led = None if one.is_possessive or BOUND.search(told, sentence.start, one.start) else _LED.match(told, one.end)
        if led is not None and not _is_doubted(sentence.text, led, sentence.start):
            return led
    for pattern in (_PREDICATE, _FOUND, _GONE):
        first = sentence.start if pattern is _GONE else people[0].end
        for found in pattern.finditer(told, first, sentence.end):
            if pattern is _GONE and not _SIGNS.search(sentence.text):
                continue
            if _may_be_he(binder, number, people[0], found) and not _is_doubted(sentence.text, found, sentence.start):
                return found
    sure = _SURE.search(told, sentence.start, sentence.end)
    if sure is None or _is_doubted(sentence.text, sure, sentence.start) or _others(binder, number, sure.end()):
        return None
    return sure if any(_suffers(told, sentence.start, one) for one in people) else None


def _suffers(told: str, start: int, one: Mention) -> bool:
    """Whether a name suffers it: `of Mara`, `buried Mara`, `Mara's lips`, `Mara lay`."""
    if one.is_possessive:
        return _OF_HIM.match(told, one.end) is not None
    if _BY.search(told, start, one.start):
        return False
    if _ROLE.search(told, start, one.start):
        return re.match(r"\s+to\s+[a-z]|\s+[a-z]{3,}ed\b", told[one.end : one.end + 20]) is None
    return _PASSIVE.match(told, one.end) is not None and _ALIVE_AT_IT.match(told, one.end) is None


def _may_be_he(binder: Binder, number: int, owner: Mention, found: re.Match[str]) -> bool:
    """Whether a pronoun can be nobody but the one who is named."""
    said, gender = found.groupdict().get("he"), binder.cast.gender(owner.key)
    if (said == "he" and gender == "f") or (said == "she" and gender == "m"):
        return False
    if said == "who":
        return re.fullmatch(r",?\s+", binder.prose.told[owner.end : found.start("he")]) is not None
    return not _others(binder, number, found.start())


def _others(binder: Binder, number: int, end: int) -> bool:
    """Whether anybody else could be the dead; whoever attends the dying could not."""
    sentence = binder.prose.sentences[number]
    text = _ATTENDANTS.sub(lambda one: " " * len(one.group()), sentence.text[: end - sentence.start])
    text = HIMSELF.sub(lambda one: " " * len(one.group()), text)
    return (
        OTHERS.search(text) is not None
        or KIN.search(text) is not None
        or re.search(r"\b(?:I|my|me)\b", text) is not None
    )


def _is_doubted(text: str, found: re.Match[str], start: int) -> bool:
    first, last = found.start() - start, found.end() - start
    # `, and was dead`: the clause begins with the conjunction.
    head = first + len(found.group()) - len(found.group().lstrip(" ,"))
    begin = max(clause_at(text, head)[0], text.rfind(",", 0, head), 0)
    return (
        _DOUBTED.search(text, begin, head) is not None
        or _AS_FAR.match(text) is not None
        or _MUST.search(text, begin, last) is not None
        or DENIED.search(text, begin, first) is not None
    )
