"""Who speaks or acts in the narration's present: a deed is what only the living do.

The ways of telling a deed are few, whatever the verb: the name leads a verb (`At supper Tobias ate nothing`), follows
one (`In came Tobias`), is seen or spoken to (`Helen handed Tobias the cup`), or lends it a voice, a hand or a step.
"""

import re
from collections.abc import Iterator, Set

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.verbs import IRREGULAR, PRESENT_TENSE, SPEAKS, STATES

_TOLD_VERBS = "|".join((*SPEAKS, *IRREGULAR, *PRESENT_TENSE))
_VERB = (
    rf"(?:{_TOLD_VERBS}|looked\s+(?:up|down|at|round|back|out|away|over|into|across|on|from|towards?|along|through|"
    rf"about)|"
    r"appeared\s+(?:in|at|on|from|behind|round)|married\s+[A-Z]\w+|"
    rf"(?!(?:{'|'.join(STATES)})\b)[a-z]{{2,}}ed)"
)
_NOT_DONE = (
    r"(?!\s+(?:by(?!\s+(?:the\s+(?:\w+\s+)?)?(?:train|coach|boat|road|sea|fire|window|door)|\s+himself|\s+herself)|"
    r"to\s+death)\b)"
)
_DOES = re.compile(
    rf",?\s+(?:(?:then|now|only|just|also|still|again|who|too|both|himself|herself|meanwhile|at\s+once|at\s+last|"
    rf"\w+ly)[\s,]+)*{_VERB}\b{_NOT_DONE}"
)
_ASIDE = re.compile(
    r",\s+(?:(?!who\b|which\b|dead\b|buried\b|killed\b)[^,;:.¤A-Z]{2,50}|who\s+had\s+been\s+\w+ing),(?=\s)"
)
_TOGETHER = re.compile(r"\s+and\s+(?:the\s+\w+|his\s+\w+|her\s+\w+|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)(?=\s)")
_REFUSES = re.compile(
    r"\s+(?:did\s+not|didn't|could\s+not|couldn't|does\s+not)\s+(?:(?:even|at\s+once|yet|\w+ly)\s+)?(?!(?:live|survive|wake|waken|outlive|die|recover|last|"
    r"breathe|rise|come|return|know|see|be|have|exist|get|reach|escape|belong|like|love|want|need|deserve|own|mean|even)\b)[a-z]{3,}\b|"
    r"\s+has\s+(?:just\s+|already\s+)?(?!been\b)(?:hired|bought|taken|come|gone\s+(?:out|in|to\s+the)|ordered|asked|opened|lit|sent|brought)\b|"
    r"\s+had\s+(?:his|her|an?|some)\s+(?:\w+\s+)?(?:breakfast|dinner|supper|tea|lunch|luncheon|bath|drink|glass|smoke|nap|meal|sandwich)\b|"
    r"\s+(?:wanted|liked|needed|wished|decided|meant|seemed)\s+[^,;:¤]{2,40},?\s+and\s+(?:asked|said|took|went|told|did|got|began|rang|called)\b|"
    r"\s+(?:would\s+not)\s+(?:(?:even|at\s+once|\w+ly)\s+)?(?:answer|reply|"
    r"speak|move|look|stir|"
    r"smile|laugh|hesitate|notice|understand|mind|hear|see|turn|wait|raise|lift|take|touch|sit|sleep|stop|help|resist|"
    r"agree|budge|"
    r"let|go|eat|drink|flinch|blink|argue)\b|\s+could\s+be\s+(?:heard|seen)\b|\s+had\s+(?:another|"
    r"a\s+second)\s+\w+\b|\s+would\s+(?:take|have|hear)\s+no(?:ne|t|\s+more)\b|"
    r"[^;:¤]{3,60}?,?\s+and\s+said\s+(?:so|as\s+much)\b|\s+did\s+not(?=\s*[.,;])|\s+was\s+(?:up|down)\s+(?:before|"
    r"early|late|first)\b|"
    r"\s+was\s+in\s+(?:excellent|good|high|low|great|poor|the\s+best\s+of)\s+(?:spirits|humour|temper)\b|"
    r"\s+had\s+(?:his|her)\s+\w+\s+(?:off|on|up|open|"
    r"in)\b(?!\s+(?:the\s+)?(?:grave|coffin))"
)
_IS_DOING = re.compile(
    r"\s+(?:was|were|is|sat|stood|came|went)\s+(?:(?:already|still|there|now|busy|busily|again|alone|just|then|even|"
    r"\w+ly)\s+)*"
    r"(?!(?:being|lying|dying|going|rotting|missing|resting|sleeping|mouldering|nothing|something|everything|anything|"
    r"wanting|"
    r"lacking|living|having|belonging|king|interesting|willing|loving|becoming)\b)[a-z]{2,}ing\b"
)
_IS_PRESENT = re.compile(
    r"\s+(?:was|is)\s+(?:(?:already|still|there|now|back|again)\s+)*(?:(?:at|by|in|behind|on)\s+(?:the|his|her|"
    r"a)\s+(?:[\w-]+\s+)?"
    r"(?:gate|door|doorway|window|table|piano|stove|station|corner|fire|counter|helm|wheel|desk|kitchen|parlour|yard|"
    r"shop|garden|stable|"
    r"study|library|hall|saddle|stairs|bench|quay|hearth|armchair|platform|pulpit)\b|at\s+(?:breakfast|dinner|supper|"
    r"work|table|tea)\b|"
    r"(?:\w+\s+)?(?:pleased|glad|surprised|astonished|amused|sorry|relieved)\s+to\s+(?:see|hear|find)\b|"
    r"(?:asleep|awake|busy\s+(?:with|at|over)|up\s+(?:early|late)|late|hungry|thirsty|angry|delighted|furious|out\s+of\s+breath|first\s+to)\b)"
)
_OF_BODY = re.compile(
    r"(?:'s|')\s+(?:(?:own|old|loud|quiet|deep|hoarse|low|short|only|dry|slow|quick)\s+)*(?:"
    r"(?:voice|laugh|laughter|cough|whistle|answer|reply|footsteps?|steps?|tread|knock|shout|cry|snores?|chuckle)\s+"
    r"(?!(?:had|would|could|still|came\s+back|echoed|lived|rang\s+in|haunted|was\s+(?:silent|still|gone|no)|on|in|at|"
    r"and|of|or|to|from|for|as|that|which)\b)\w+"
    r"|(?:hands?|fingers?|eyes|gaze|glance|lips|mouth|head|brow|brows|eyebrows|shoulders|arm|arms|face|foot|jaw|"
    r"cheeks?|chin)\s+"
    r"(?:closed\s+(?:on|over|round|about)|twinkled|followed|met|narrowed|widened|flashed|moved|shook|trembled|"
    r"tightened|twitched|curled|"
    r"darted|strayed|travelled|went|came|reached|sought|found|rose|lifted|broke\s+into|brightened|darkened|reddened|"
    r"flushed|softened|lit|"
    r"tapped|drummed|slid|crept|shot)\b)"
)
_COMES = re.compile(r"\b(?:came|rose|rang|sounded)\s+\Z")
_VOICE_OF = re.compile(r"'s?\s+(?:\w+\s+)?(?:voice|laugh|cough|whistle|snores?)\b")
_THERE_WAS = re.compile(r"\b[Tt]here\s+was\s+\Z")
_BUSY = re.compile(r"(?:\s+(?:at|in|on|by)\s+(?:the|his|her)\s+\w+)?,[^;:]{0,40}?\b(?!lying\b|being\b)[a-z]{3,}ing\b")
_HIS_VOICE = re.compile(r"\b(?:voice|laugh|footsteps?|cough)\s+of\s+\Z")
_HEARD = re.compile(r"\s+(?:was\s+heard|came|rose|rang|sounded|broke)\b(?!\s+back)")
_BESIDE_HIM = re.compile(r"\s+(?:was\s+|stood\s+)?at\s+(?:his|her|their)\s+(?:side|elbow|heels|shoulder)\b")
_SAYS_BEFORE = re.compile(
    rf"(?:¤|[.,!?—])\s*({'|'.join(SPEAKS)}|put\s+in|broke\s+in|(?<=¤\s)[a-z]{{3,}}ed|was\s+all\s+that|"
    rf"came\s+from)\s+(?:old\s+|"
    rf"poor\s+)?\Z"
)
_COMES_BEFORE = re.compile(
    r"\b(came|sat|stood|went|rode|strode|walked|ran|leaned|leant|knelt|stepped|entered|rose|waited|stalked|marched|"
    r"galloped|hurried|"
    r"to\s+\w+\s+(?:was|were)|[Aa]mong\s+(?:them|the\s+\w+)\s+was|so\s+did|[Bb]ut\s+it\s+was\s+only|should\s+(?:come|"
    r"walk|appear)[^;]{0,20}\s+but|(?:came|rose|sounded)\s+the\s+voice\s+of|(?:were|was)\s+(?:\w+\s+)?"
    r"(?:joined|opened|poured|met|followed|accompanied|greeted|interrupted|answered|driven|led|helped|shut|closed|"
    r"carried|brought|served|stopped|called|taken|shown|fetched)"
    r"(?:\s+\w+){0,4}?\s+by)\s+(?:old\s+|"
    r"poor\s+)?\Z"
)
_IS_DEALT_WITH = re.compile(
    r"\b(?:met|overtook|encountered|greeted|came\s+upon|ran\s+into|thanked|handed|passed|offered|beckoned|hailed|"
    r"interrupted|"
    r"shook\s+hands\s+with|danced\s+with|(?:sat|walked|talked|spoke|dined|supped|quarrelled|argued|chatted|drank|"
    r"stood|rode|played)\s+(?:down\s+)?"
    r"(?:with|beside|to|opposite|next\s+to)|(?:smiled|winked|shouted|nodded|glared|waved|called|whispered)\s+(?:at|to|"
    r"across\s+at)|"
    r"(?:handed|gave|passed|offered|threw|poured)\s+(?:the|a|his|her|it|them)\s+(?:\w+\s+)?(?:over\s+)?to|"
    r"(?:asked|told|warned|begged|ordered|invited|helped|followed|joined|kissed|hugged|embraced|answered|paid|nudged|"
    r"slapped))\s+"
    r"(?:old\s+|poor\s+)?\Z"
)
_HIS_ARM = re.compile(r"\b(?:took|leaned\s+on|leant\s+on|seized|shook|caught|grasped|into|in|over|from|by)\s+\Z")
_ARM = re.compile(r"'s?\s+(?:\w+\s+)?(?:arm|hand|hands|sleeve|elbow|shoulder|fingers)\b(?!\s+(?:was|were|lay|had))")
_IS_SEEN = re.compile(
    r"\b(?:saw|heard|could\s+(?:hear|see)|watched|found|noticed|spied|caught|left)\s+(?:old\s+|poor\s+)?\Z"
)
_SEEN_DOING = re.compile(
    r"\s+(?:asleep|awake|deep\s+in)\b|\s+to\s+(?:see|mind|finish|lock|watch|do|look|deal|count|put)\b|"
    r"\s+(?:at|in|on|by|behind)\s+(?:the\s+|his\s+|her\s+|a\s+)?[\w-]+,\s+(?!lying)[a-z]+ing\b|\s+(?!(?:lying|dead|"
    r"being|dying)\b)(?:[a-z]+ing\b|(?:cross|laugh|come|go|turn|"
    r"walk|run|sing|cough|say|speak|"
    r"open|close|shut|rise|sit|"
    r"stand|move|smile|nod|shake|climb|call|whistle|sigh|enter|leave|take|put|lift|raise|ride|drive|pass|step|lean|"
    r"cry|shout)\b|"
    r"(?:at|in|on|by|behind)\s+(?:the\s+|his\s+|her\s+)?(?:breakfast|table|dinner|supper|door|gate|window|kitchen|"
    r"yard|garden|shop|"
    r"stairs|counter|desk|hearth|bench)\b)"
)
_LEADS = re.compile(
    r"(?:\A|[,;:—¤.!?]|\bit\s+was\b|\b(?:and|but|then|so|while|as|when|until|old|poor)\b|\b(?:presently|suddenly|now|"
    r"afterwards|later|"
    r"meanwhile|soon|again|there|here|yet|\w{3,}ly|(?:up|down|in|out|off|away)\s+jumped)\b,?)\s*\Z",
    re.IGNORECASE,
)
_WHERE_AND_WHEN = re.compile(
    r"\W*(?:To|Upon|Here|Overhead|At|In|On|By|Behind|Beside|Beyond|Under|Before|After|Near|Through|Across|Towards?|"
    r"During|From|Over|Outside|"
    r"Inside|"
    r"Within|Without\s+a|With\s+a|That|This|The\s+(?:next|following|same)|Next|One|Some|Every|An?\s+(?:week|hour|"
    r"minute|moment|day|"
    r"month|little|few))\s+(?:[^,;:.¤A-Z]|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|\bChristmas|\bEaster){2,50}?\s+\Z"
)
_BOUND = re.compile(
    r"\b(?:of|for|to|with|by|from|than|like|about|upon|on|at|in|into|after|before|or|near|the|a|an|his|her|their|my|"
    r"which|that|what|whom|"
    r"how|why|who|had|have)\s+\Z",
    re.IGNORECASE,
)
_OTHER_ONE = re.compile(r"\b(?:young|younger|little|another|second|ghost of|spirit of|late)\s+\Z", re.IGNORECASE)
_ANOTHER = re.compile(
    r"\s+the\s+(?:younger|elder|second|third|lesser)\b|,\s+(?:his|her|the)\s+(?:\w+\s+)?(?:son|nephew|grandson|cousin|"
    r"namesake)"
)
_GHOSTLY = re.compile(
    r"\b(?:ghost\w*|spirits?|spectre|specter|apparition|phantom|vampire|un-?dead|undead|risen|resurrect\w*|revived?|"
    r"back to life|reanimat\w*|from the dead|afterlife|heaven|grave|tomb|coffin|bier|shroud|portraits?|in oils|"
    r"on canvas|canvas|frame|framed|engraving|likeness|bust|statue|daguerreotype|photographs?|picture|locket|"
    r"mind's eye|"
    r"in\s+(?:his|her|the|a|their)\s+(?:letters?|diary|journal|will|head|ears|heart|minds?|thoughts|memory|"
    r"imagination)|"
    r"(?:before|till|until) (?:his|her|the) (?:death|funeral|accident|murder|end)|before (?:he|she) (?:died|was)|"
    r"last time|the late|once|"
    r"always|used|namesake|seemed to|could (?:still|almost|nearly)|almost|the way|was the (?:summer|winter|spring|"
    r"autumn|year|day|time|night|morning) |whenever|every (?:day|night|"
    r"morning|evening|year|"
    r"Sunday)|as (?:he|she) had|thought of|spoke of|talked of|told of|"
    r"(?:day|night|week|month|year|morning|evening|hour|summer|winter|spring)s?\s+(?:before|earlier|previous))\b",
    re.IGNORECASE,
)
_EARLIER = re.compile(
    r"\b(?:would(?!\s+(?:take|have|hear)\s+no)|had(?!\s+(?:(?:his|her)\s+\w+\s+(?:off|on|up)|another\b|"
    r"a\s+second\b|(?:his|her|an?|some)\s+(?:\w+\s+)?(?:breakfast|dinner|supper|tea|lunch|luncheon|bath|drink|glass|smoke|nap|meal|sandwich)\b))|been)\b|'d\b"
)
"""Before the deed: what is told there lies further back. After it, it may be anything."""


_THAT = re.compile(r"\s+that\b")
_AND_SAYS = re.compile(r"\band\s+(?:said|told\s+\w+|declared|announced|explained|remarked|observed)\s+that\b")
_WHO_HAD = re.compile(r",\s+who\s+had\s+[^,;:¤]{2,50},")
_WRITES = re.compile(r"\bwrote\b")


def deeds(narration: Narration, binder: Binder, subjects: Set[str]) -> Iterator[Fact]:
    """Where any of some people speaks or acts in the narration's present."""
    prose = narration.prose
    for mention in binder.cast.named_in(prose, 0, len(prose.told)):
        if mention.key not in subjects:
            continue
        number = prose.sentence_at(mention.start)
        end = None if number is None else _acts(narration, number, mention)
        if number is None or end is None or narration.in_dream(number):
            continue
        sentence = prose.sentences[number]
        last = max(mention.end, end)
        that = _THAT.match(prose.told, last)
        done = (min(mention.start, end), that.end() if that else last)
        if and_says := _AND_SAYS.search(prose.told, last, sentence.end):
            done = (done[0], and_says.end())
        if _GHOSTLY.search(sentence.text) or not narration.is_real(number, until=done[1], apart=done):
            continue
        if _WRITES.search(f"{sentence.text[: done[0] - sentence.start]} {sentence.text[done[1] - sentence.start :]}"):
            continue
        before = _WHO_HAD.sub(",", sentence.text[: max(mention.end, end) - sentence.start])
        if _EARLIER.search(_within_speech(before)):
            continue
        start = min(mention.start, end)
        words = prose.told[start : max(end, mention.end)].strip(" ¤,.!?")
        yield fact_at(prose, number, (start, max(end, mention.end)), mention, "acts", (), words)


def _acts(narration: Narration, number: int, mention: Mention) -> int | None:
    """Where the verb of a deed ends or, before the name, begins."""
    told = narration.prose.told
    before = max(narration.prose.sentences[number].start, mention.start - 60)
    if _OTHER_ONE.search(told, before, mention.start) or _ANOTHER.match(told, mention.end):
        return None
    if mention.is_possessive and _VOICE_OF.match(told, mention.end) and _COMES.search(told, before, mention.start):
        return mention.end
    if mention.is_possessive:
        of_body = _OF_BODY.match(told, mention.end)
        if of_body is None and _HIS_ARM.search(told, before, mention.start):
            of_body = _ARM.match(told, mention.end)
        return of_body.end() if of_body else None
    for pattern in (_SAYS_BEFORE, _COMES_BEFORE):
        if said := pattern.search(told, before, mention.start):
            return said.start(1)
    dealt_with = _dealt_with(told, before, mention)
    if dealt_with is not None:
        return dealt_with
    return _does(narration, number, mention) if _is_leading(narration, number, mention) else None


def _dealt_with(told: str, before: int, mention: Mention) -> int | None:
    """Where it ends that others see somebody do, or do with him."""
    if _IS_DEALT_WITH.search(told, before, mention.start):
        return mention.end
    seen = _SEEN_DOING.match(told, mention.end) if _IS_SEEN.search(told, before, mention.start) else None
    busy = _BUSY.match(told, mention.end) if _THERE_WAS.search(told, before, mention.start) else None
    heard = _HEARD.match(told, mention.end) if _HIS_VOICE.search(told, before, mention.start) else None
    beside = seen or busy or heard or _BESIDE_HIM.match(told, mention.end)
    return beside.end() if beside else None


def _does(narration: Narration, number: int, mention: Mention) -> int | None:
    """Where the verb ends that a name leads, whatever is put in between."""
    told = narration.prose.told
    between = (pattern.match(told, mention.end) for pattern in (_ASIDE, _TOGETHER))
    for start in (mention.end, *(found.end() for found in between if found)):
        for pattern in (_DOES, _IS_DOING, _IS_PRESENT, _REFUSES):
            does = pattern.match(told, start, narration.prose.sentences[number].end)
            if does:
                return does.end()
    return None


def _is_leading(narration: Narration, number: int, owner: Mention) -> bool:
    sentence = narration.prose.sentences[number]
    before = sentence.text[: owner.start - sentence.start]
    if _LEADS.search(before):
        return True
    return _WHERE_AND_WHEN.fullmatch(before) is not None and not _BOUND.search(before)


def _within_speech(text: str) -> str:
    """The narration since the last words that somebody says."""
    return text.rpartition("¤")[2]
