"""The ways in which English tells that somebody does something, is dealt with, or is heard."""

import re

from tallystick.rooms.studio.continuity.verbs import IRREGULAR, PRESENT_TENSE, SPEAKS, STATES

TOLD_VERBS = "|".join((*SPEAKS, *IRREGULAR, *PRESENT_TENSE))
VERB = (
    rf"(?:{TOLD_VERBS}|looked\s+(?:up|down|at|round|back|out|away|over|into|across|on|from|towards?|along|through|"
    rf"about)|"
    r"appeared\s+(?:in|at|on|from|behind|round)|lay\s+(?:down|back)|set|put|felt|smelt|thought\s+(?:it|the|that|"
    r"about|over|of|so|better)|decided\s+(?:to|on|that|not)|wanted\s+to\s+know|fell\s+(?:asleep|silent|"
    r"to\s+\w+ing)|"
    r"married\s+[A-Z]\w+|"
    rf"(?!(?:{'|'.join(STATES)})\b)[a-z]{{2,}}ed)"
)
NOT_DONE = (
    r"(?!\s+(?:by(?!\s+(?:the\s+(?:\w+\s+)?)?(?:train|coach|boat|road|sea|fire|window|door)|\s+himself|\s+herself)|"
    r"to\s+death)\b)"
)
DOES = re.compile(
    rf",?\s+(?:(?:then|now|only|just|also|still|again|who|too|both|himself|herself|meanwhile|at\s+once|at\s+last|"
    rf"\w+ly)[\s,]+)*{VERB}\b{NOT_DONE}"
)
WHO_DOES = re.compile(
    r",\s+who,?\s+(?:was\s+(?!being|lying|dying|missing)[a-z]{3,}ing\b|"
    r"(?:(?:then|now|only|just|also|still|again|at\s+once|at\s+last|\w+ly)[\s,]+)*"
    rf"{VERB}\b{NOT_DONE})"
)
"""`They looked at Tobias, who laughed`: whatever is done to the name, what follows he does."""
AND_DOES = re.compile(
    rf"\s+(?:was|were|had\s+(?:a|an|no|his|her))\s+[^;:¤]{{2,60}}?,?\s+and\s+(?:then\s+|\w+ly\s+)?{VERB}\b{NOT_DONE}"
)
"""`Tobias was in no mood for visitors, and told them so`."""
ASIDE = re.compile(
    r",\s+(?:(?!who\b|which\b|dead\b|buried\b|killed\b)[^,;:.¤A-Z]{2,50}|who\s+had\s+been\s+\w+ing),(?=\s)"
)
TOGETHER = re.compile(r"\s+and\s+(?:the\s+\w+|his\s+\w+|her\s+\w+|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)(?=\s)")
REFUSES = re.compile(
    r"\s+(?:did\s+not|didn't|could\s+not|couldn't|does\s+not)\s+(?:(?:even|at\s+once|yet|\w+ly)\s+)?(?!(?:live|"
    r"survive|wake|waken|outlive|die|recover|last|"
    r"breathe|rise|come|return|know|see|be|have|exist|get|reach|escape|belong|like|love|want|need|deserve|own|mean|"
    r"even)\b)[a-z]{3,}\b|"
    r"\s+has\s+(?:just\s+|already\s+)?(?!been\b)(?:hired|bought|taken|come|gone\s+(?:out|in|to\s+the)|ordered|"
    r"asked|opened|lit|sent|brought)\b|"
    r"\s+had\s+(?:his|her|an?|some)\s+(?:\w+\s+)?(?:breakfast|dinner|supper|tea|lunch|luncheon|bath|drink|glass|"
    r"smoke|nap|meal|sandwich)\b|"
    r"\s+(?:wanted|liked|needed|wished|decided|meant|seemed)\s+[^,;:¤]{2,40},?\s+and\s+(?:asked|said|took|went|"
    r"told|did|got|began|rang|called)\b|"
    r"\s+had\s+an?\s+(?:letter|visit|visitor|call|note|cold|headache|toothache|fit\s+of\s+\w+|bad\s+night|"
    r"good\s+night|mind\s+to)\b|\s+was\s+there\b(?!\s+(?:no|buried|laid))|\s+was\s+(?:seen|heard|observed|"
    r"found)\s+(?:to\s+[a-z]+|(?!lying|hanging|floating)[a-z]+ing)\b|"
    r"\s+had\s+the\s+\w+\s+(?:open|up|down|out)\b|"
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
IS_DOING = re.compile(
    r"\s+(?:was|were|is|sat|stood|came|went)\s+(?:(?:already|still|there|now|busy|busily|again|alone|just|then|even|"
    r"\w+ly)\s+)*"
    r"(?!(?:being|lying|dying|going|rotting|missing|resting|sleeping|mouldering|nothing|something|everything|anything|"
    r"wanting|"
    r"lacking|living|having|belonging|king|interesting|willing|loving|becoming)\b)[a-z]{2,}ing\b"
)
IS_PRESENT = re.compile(
    r"\s+(?:was|is)\s+(?:(?:already|still|there|now|back|again)\s+)*(?:(?:at|by|in|behind|on)\s+(?:the|his|her|"
    r"a)\s+(?:[\w-]+\s+)?"
    r"(?:gate|door|doorway|window|table|piano|stove|station|corner|fire|counter|helm|wheel|desk|kitchen|parlour|yard|"
    r"shop|garden|stable|"
    r"study|library|hall|saddle|stairs|bench|quay|hearth|armchair|platform|pulpit)\b|at\s+(?:breakfast|dinner|supper|"
    r"work|table|tea)\b|"
    r"(?:\w+\s+)?(?:pleased|glad|surprised|astonished|amused|sorry|relieved)\s+to\s+(?:see|hear|find)\b|"
    r"(?:asleep|awake|busy\s+(?:with|at|over)|up\s+(?:early|late)|late|hungry|thirsty|angry|delighted|furious|"
    r"out\s+of\s+breath|first\s+to)\b)"
)
OF_BODY = re.compile(
    r"(?:'s|')\s+(?:(?:own|old|loud|quiet|deep|hoarse|low|short|only|dry|slow|quick)\s+)*(?:"
    r"(?:voice|laugh|laughter|cough|whistle|answer|reply|footsteps?|steps?|tread|knock|shout|cry|snores?|chuckle)\s+"
    r"(?:could\s+be\s+heard\b|(?!(?:had|would|could|still|came\s+back|echoed|lived|rang\s+in|haunted|"
    r"was\s+(?:silent|still|gone|no)|on|in|at|"
    r"and|of|or|to|from|for|as|that|which)\b)\w+)"
    r"|(?:hands?|fingers?|eyes|gaze|glance|lips|mouth|head|brow|brows|eyebrows|shoulders|arm|arms|face|foot|jaw|"
    r"cheeks?|chin)\s+"
    r"(?:closed\s+(?:on|over|round|about)|twinkled|followed|met|narrowed|widened|flashed|moved|shook|trembled|"
    r"tightened|twitched|curled|"
    r"darted|strayed|travelled|went|came|reached|sought|found|rose|lifted|broke\s+into|brightened|darkened|reddened|"
    r"flushed|softened|lit|"
    r"tapped|drummed|slid|crept|shot)\b)"
)
INVERTED = re.compile(
    r"\b(?:[Uu]p|[Dd]own|[Ii]n|[Oo]ut|[Oo]ff|[Aa]way|[Bb]ack|[Oo]n|[Rr]ound|[Oo]ver)\s+(?!(?:of|the|to|and|for|a|"
    r"in|with|by|was|had)\b)([a-z]{3,})\s+\Z"
)
"""`Up got Tobias`, `In strode Tobias`."""
HAD_JUST = re.compile(
    r"\s+had\s+(?:(?:only\s+)?just|that\s+(?:minute|moment)|lately|recently|newly)\s+(?!been\b|died\b|gone\b|"
    r"expired\b)[a-z]{3,}\b|\s+had\s+[a-z]+\s+[a-z]+\s+of\s+late\b"
)
WAS = re.compile(r"(?:¤|[.,!?])\s*was\s+\Z")
ANSWER = re.compile(r"'s?\s+(?:\w+\s+)?(?:answer|reply|comment|opinion|remark|rejoinder|advice)\b")
IS_HIS = re.compile(r"\b[Ii]t\s+was\s+\Z")
HIS_OWN = re.compile(r"'s?\s*(?=[.,;])")
SOUNDS = re.compile(r"\b(?:voice|step|footsteps?|laugh|hand|knock|cough|tread|whistle)\b")
"""`There was a step on the stair, and it was Tobias's`."""
COMES = re.compile(r"\b(?:came|rose|rang|sounded)\s+\Z")
VOICE_OF = re.compile(r"'s?\s+(?:\w+\s+)?(?:voice|laugh|cough|whistle|snores?)\b")
THERE_WAS = re.compile(r"\bwas\s+\Z")
BUSY = re.compile(r"(?:\s+(?:at|in|on|by)\s+(?:the|his|her)\s+\w+)?,[^;:]{0,40}?\b(?!lying\b|being\b)[a-z]{3,}ing\b")
HIS_VOICE = re.compile(r"\b(?:voice|laugh|footsteps?|cough)\s+of\s+\Z")
HEARD = re.compile(r"\s+(?:was\s+heard|came|rose|rang|sounded|broke)\b(?!\s+back)")
BESIDE_HIM = re.compile(r"\s+(?:was\s+|stood\s+)?at\s+(?:his|her|their)\s+(?:side|elbow|heels|shoulder)\b")
SAYS_BEFORE = re.compile(
    rf"(?:¤|[.,!?—])\s*({'|'.join(SPEAKS)}|put\s+in|broke\s+in|(?<=¤\s)[a-z]{{3,}}ed|was\s+all\s+that|"
    rf"came\s+from)\s+(?:old\s+|"
    rf"poor\s+)?\Z"
)
COMES_BEFORE = re.compile(
    r"\b(came|sat|stood|went|rode|strode|walked|ran|leaned|leant|knelt|stepped|entered|rose|waited|stalked|marched|"
    r"galloped|hurried|"
    r"to\s+\w+\s+(?:was|were)|[Aa]mong\s+(?:them|the\s+\w+)\s+was|so\s+did|[Bb]ut\s+it\s+was\s+only|should\s+(?:come|"
    r"walk|appear)[^;]{0,20}\s+but|(?:came|rose|sounded)\s+the\s+voice\s+of|(?:were|was)\s+(?:\w+\s+)?"
    r"(?:joined|opened|poured|met|followed|accompanied|greeted|interrupted|answered|driven|led|helped|shut|closed|"
    r"carried|brought|served|stopped|called|taken|shown|fetched)"
    r"(?:\s+\w+){0,4}?\s+by)\s+(?:old\s+|"
    r"poor\s+)?\Z"
)
IS_DEALT_WITH = re.compile(
    r"\b(?:met|overtook|encountered|greeted|came\s+upon|ran\s+into|thanked|handed|passed|offered|beckoned|hailed|"
    r"interrupted|"
    r"shook\s+hands\s+with|danced\s+with|(?:sat|walked|talked|spoke|dined|supped|quarrelled|argued|chatted|drank|"
    r"stood|rode|played)\s+(?:down\s+)?"
    r"(?:with|beside|to|opposite|next\s+to)|(?:smiled|winked|shouted|nodded|glared|waved|called|whispered)\s+(?:at|to|"
    r"across\s+at)|"
    r"(?:handed|gave|passed|offered|threw|poured)\s+(?:the|a|his|her|it|them)\s+(?:\w+\s+)?(?:over\s+)?to|"
    r"to\s+(?:meet|greet|help|join|thank|wake|kiss|follow|tell|ask|warn|please|amuse)|"
    r"(?:asked|told|warned|begged|ordered|invited|helped|followed|joined|kissed|hugged|embraced|answered|paid|nudged|"
    r"slapped))\s+"
    r"(?:old\s+|poor\s+)?\Z"
)
SERVED = re.compile(
    r"\b(?:brought|gave|lent|showed|served|sent|fetched|taught|found|poured|bought|made|read|told)\s+(?:old\s+|"
    r"poor\s+)?\Z"
)
SERVED_WITH = re.compile(r"\s+(?:his|her|an?|the|some|two|three|another)\s+(?!grave\b|coffin\b|funeral\b)\w+")
MOVED = re.compile(
    r"\b(?:pleased|amused|suited|occurred\s+to|puzzled|annoyed|vexed|surprised|struck|irritated|"
    r"did\s+not\s+(?:please|suit))\s+\Z"
)
MOVED_TO = re.compile(r"\s+(?:to|that)\b")
IN_VAIN = re.compile(r"\s+(?:nothing|no\s+more|in\s+vain)\b")
HIS_ARM = re.compile(r"\b(?:took|leaned\s+on|leant\s+on|seized|shook|caught|grasped|into|in|over|from|by)\s+\Z")
ARM = re.compile(r"'s?\s+(?:\w+\s+)?(?:arm|hand|hands|sleeve|elbow|shoulder|fingers)\b(?!\s+(?:was|were|lay|had))")
IS_SEEN = re.compile(
    r"\b(?:saw|heard|could\s+(?:hear|see)|watched|found|noticed|spied|caught|left)\s+(?:old\s+|poor\s+)?\Z"
)
SEEN_DOING = re.compile(
    r"\s+(?!(?:dead|lying|laid|buried|borne|die)\b)[a-z]{2,}(?<!ed)(?<!en)\s+(?:in|into|out|up|down|off|to|at|on|"
    r"the|a|his|her|by|through|over|across|past|away|back)\b|"
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
LEADS = re.compile(
    r"(?:\A|[,;:—¤.!?]|\bit\s+was\b|\b(?:and|but|then|so|while|as|when|until|old|poor)\b|\b(?:presently|suddenly|now|"
    r"afterwards|later|"
    r"meanwhile|soon|again|there|here|yet|\w{3,}ly|(?:up|down|in|out|off|away)\s+jumped)\b,?)\s*\Z",
    re.IGNORECASE,
)
BOUND = re.compile(
    r"\b(?:of|for|to|with|by|from|than|like|about|upon|on|at|in|into|after|before|or|near|the|a|an|his|her|their|my|"
    r"which|that|what|whom|"
    r"how|why|who|had|have)\s+\Z",
    re.IGNORECASE,
)
OTHER_ONE = re.compile(r"\b(?:young|younger|little|another|second|ghost of|spirit of|late)\s+\Z", re.IGNORECASE)
ANOTHER = re.compile(
    r"\s+the\s+(?:younger|elder|second|third|lesser)\b|,\s+(?:his|her|the)\s+(?:\w+\s+)?(?:son|nephew|grandson|cousin|"
    r"namesake)"
)
GHOSTLY = re.compile(
    r"\b(?:ghost\w*|"
    r"(?<!good )(?<!high )(?<!low )(?<!excellent )(?<!great )(?<!best )(?<!better )(?<!poor )(?<!of )spirits?|"
    r"spectre|specter|apparition|phantom|vampire|un-?dead|undead|risen|resurrect\w*|revived?|"
    r"back to life|reanimat\w*|from the dead|afterlife|heaven|grave|tomb|coffin|bier|shroud|portraits?|in oils|"
    r"on canvas|canvas|frame|framed|engraving|likeness|bust|statue|daguerreotype|photographs?|picture|locket|"
    r"mind's eye|under (?:the|a) sheet|old letters|bundle of|in (?:\w+ )?ink|and (?:he|she|they|I) (?:a?woke|wakened)|"
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
EARLIER = re.compile(
    r"\b(?:would(?!\s+(?:not\b|(?:take|have|hear)\s+no))|had(?!\s+(?:(?:his|her|the)\s+\w+\s+(?:off|on|up|open|"
    r"down|out)|another\b|"
    r"a\s+second\b|(?:his|her|an?|some)\s+(?:\w+\s+)?(?:breakfast|dinner|supper|tea|lunch|luncheon|bath|drink|"
    r"glass|smoke|nap|meal|sandwich)\b))|been)\b|'d\b"
)
"""Before the deed: what is told there lies further back. After it, it may be anything."""


THAT = re.compile(r"\s+that\b")
AND_SAYS = re.compile(r"\band\s+(?:said|told\s+\w+|declared|announced|explained|remarked|observed)\s+that\b")
WHO_HAD = re.compile(r",\s+who\s+had\s+[^,;:¤]{2,50},")
WRITES = re.compile(r"\bwrote\b")
