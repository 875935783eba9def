"""The ways in which English tells that somebody does something, is dealt with, or is heard."""

import re

from tallystick.rooms.studio.continuity.verbs import IRREGULAR, PRESENT_TENSE, SPEAKS, STATES

TOLD_VERBS = "|".join((*SPEAKS, *IRREGULAR, *PRESENT_TENSE))
VERB = (
    rf"(?:{TOLD_VERBS}|looked\s+(?:up|down|at|round|back|out|away|over|into|across|on|from|towards?|along|through|"
    rf"about)|"
    r"appeared\s+(?:in|at|on|from|behind|round)|lay\s+(?:down|back)|set|put|felt|smelt|thought\s+(?:it|the|that|about|"
    r"over|of|so|better)|decided\s+(?:to|on|that|not)|wanted\s+to\s+know|fell\s+(?:asleep|silent|to\s+\w+ing)|"
    r"married\s+[A-Z]\w+|"
    rf"(?!(?:{'|'.join(STATES)})\b)[a-z]{{2,}}ed)"
)
NOT_DONE = (
    r"(?!\s+(?:by(?!\s+(?:the\s+(?:\w+\s+)?)?(?:train|coach|boat|road|sea|fire|window|door)|\s+himself|\s+herself)|"
    r"to\s+death)\b)"
)
DOES = re.compile(
    rf",?\s+(?:(?:then|now|only|just|also|still|again|who|too|both|himself|herself|meanwhile|at\s+once|at\s+last|"
    rf"\w+ly)[\s,]+){{0,6}}{VERB}\b{NOT_DONE}"
)
WHO_DOES = re.compile(
    r",\s+who,?\s+(?:was\s+(?!being|lying|dying|missing)[a-z]{3,}ing\b|had\s+(?:only|just|merely)\s+(?!been\b|"
    r"lived\b)[a-z]+|(?:(?:then|now|only|just|also|still|again|at\s+once|at\s+last|\w+ly)[\s,]+){0,6}"
    rf"{VERB}\b{NOT_DONE})"
)
"""`They looked at Tobias, who laughed`: whatever is done to the name, what follows he does."""
AND_DOES = re.compile(
    rf"\s+(?:was|were|had\s+(?:a|an|no|his|her))\s+[^;:¤]{{2,60}}?,?\s+and\s+(?:then\s+|\w+ly\s+)?{VERB}\b{NOT_DONE}"
)
"""`Tobias was in no mood for visitors, and told them so`."""
ASIDE = re.compile(
    r",\s+(?:(?!who\b|which\b|dead\b|buried\b|killed\b)[^,;:.¤A-Z]{2,50}|"
    r"who\s+had\s+been\s+\w+ing\b[^,;:¤]{0,40}|who\s+(?:was|were|had)\s+(?!(?:been\s+)?(?:dead|buried|killed|drowned|"
    r"lain|died|gone|hanged|murdered|lost|slain)\b)[^,;:¤]{2,90}),(?=\s)"
)
TOGETHER = re.compile(r"\s+and\s+(?:the\s+\w+|his\s+\w+|her\s+\w+|(?:[A-Z][\w.]+\s+)*[A-Z]\w+),?(?=\s)")
REFUSES = re.compile(
    r"\s+(?:did\s+not|didn't|could\s+not|couldn't|does\s+not)\s+(?:(?:even|at\s+once|yet|\w+ly)\s+)?(?!(?:live|survive|"
    r"wake|waken|outlive|die|recover|last|breathe|rise|come|return|know|see|be|have|exist|get|reach|escape|belong|like|"
    r"love|want|need|deserve|own|mean|even)\b)[a-z]{3,}\b|\s+has\s+(?:just\s+|already\s+|this\s+(?:very\s+)?(?:day|"
    r"morning|moment|minute)\s+)?(?!been\b)(?:hired|bought|"
    r"taken|come|gone\s+(?:out|in|to\s+the)|ordered|asked|opened|lit|sent|brought)\b|\s+had\s+(?:his|her|an?|"
    r"some)\s+(?:\w+\s+)?(?:breakfast|dinner|supper|tea|lunch|luncheon|bath|drink|glass|smoke|nap|meal|sandwich)\b|"
    r"\s+(?:wanted|liked|needed|wished|decided|meant|seemed)\s+[^,;:¤]{2,40},?\s+and\s+(?:asked|said|took|went|told|"
    r"did|got|began|rang|called)\b|\s+was\s+(?:helped|shown|led|asked|told|offered|invited|called|handed|greeted|"
    r"introduced|persuaded|obliged|forced|dealt\s+with)\b(?!\s+(?:to\s+(?:his|her)\s+(?:grave|rest)|by\s+death))|"
    r"\s+was\s+(?:deep\s+)?in\s+(?:talk|conversation|argument|tears|bed|an?\s+\w+\s+(?:mood|temper|humour|hurry|rage|"
    r"passion))\b|\s+had\s+(?:toothache|headache|gout|lumbago|hiccups|words\s+with)\b|"
    r"\s+had\s+[^;:¤]{2,50}?\s+and\s+was\s+(?:now\s+)?(?!being|lying|going|dying)[a-z]{3,}ing\b|"
    r"\s+had\s+an?\s+(?:\w+\s+)?(?:letter|visit|visitor|call|note|cold|headache|toothache|fit\s+of\s+\w+|bad\s+night|"
    r"good\s+night|mind\s+to)\b|\s+was\s+there\b(?!\s+(?:no|buried|laid))|\s+was\s+(?:seen|heard|observed|"
    r"found)\s+(?:to\s+[a-z]+|(?!lying|hanging|floating)[a-z]+ing)\b|\s+had\s+the\s+\w+\s+(?:open|up|down|out)\b|"
    r"\s+(?:would\s+not)\s+(?:(?:even|at\s+once|\w+ly)\s+)?(?:answer|reply|speak|move|look|stir|smile|laugh|hesitate|"
    r"notice|understand|mind|hear|see|turn|wait|raise|lift|take|touch|sit|sleep|stop|help|resist|agree|budge|let|go|"
    r"eat|drink|flinch|blink|argue)\b|\s+could\s+be\s+(?:heard|seen)\b|\s+had\s+(?:another|a\s+second)\s+\w+\b|"
    r"\s+would\s+(?:take|have|hear)\s+no(?:ne|t|\s+more)\b|[^;:¤]{3,60}?,?\s+and\s+said\s+(?:so|as\s+much)\b|"
    r"\s+did\s+not(?=\s*[.,;])|\s+(?:[a-z]+ly\s+)?did(?:\s+(?:so|it|this|that))?(?=\s*[.,;])|"
    r"\s+was\s+(?:up|down)\s+(?:before|early|late|first)\b|\s+was\s+in\s+(?:excellent|good|"
    r"high|low|great|poor|the\s+best\s+of)\s+(?:spirits|humour|temper)\b|\s+had\s+(?:his|her)\s+\w+\s+(?:off|on|up|"
    r"open|in)\b(?!\s+(?:the\s+)?(?:grave|coffin))"
)
IS_DOING = re.compile(
    r"\s+(?:was|were|is|sat|stood|came|went)\s+(?:(?:already|still|there|now|busy|busily|again|alone|just|then|even|"
    r"\w+ly)\s+){0,6}(?!(?:being|lying|dying|going|rotting|missing|resting|sleeping|mouldering|nothing|something|"
    r"everything|anything|wanting|lacking|living|having|belonging|king|interesting|willing|loving|"
    r"becoming)\b)[a-z]{2,}ing\b"
)
IS_PRESENT = re.compile(
    r"\s+(?:was|is|were)\s+(?:(?:already|still|there|now|back|again|just|soon|not|\w+ly)\s+){0,6}(?:(?:at|by|in|behind|on|"
    r"among|"
    r"beside|with|half-?way|up|out|down)\s+(?!(?:[\w']+\s+){0,3}?(?:rest|peace|ground|earth|graves?|coffin|heaven|"
    r"tomb|vault|churchyard|cemetery|glory|paradise|God|ashes|bottom\s+of\s+the\s+(?:sea|river|lake|pond|well|cliff)|"
    r"water|"
    r"sea|past|bier|end|last|history|question|kin|party|mind|thoughts?|memory|minds|name|nature|youth|day|time|heart|"
    r"trade|birth|profession|whole|things|those|days|life|far|means|all|love|debt)\b)(?:[a-z]|[A-Z])|"
    r"(?:\w+\s+)?(?:pleased|glad|surprised|astonished|amused|sorry|relieved)\s+to\s+(?:see|hear|find)\b|(?:asleep|"
    r"awake|"
    r"busy|himself\s+again|herself\s+again|late|hungry|thirsty|angry|delighted|furious|first\s+to|seen(?!\s+no))\b)"
)
OF_BODY = re.compile(
    r"(?:'s|')\s+(?:(?:own|old|loud|quiet|deep|hoarse|low|short|only|dry|slow|quick)\s+)*(?:(?:voice|laugh|laughter|"
    r"cough|whistle|answer|reply|footsteps?|steps?|tread|knock|shout|cry|snores?|chuckle|pen|pencil|spoon|chair|boots|"
    r"stick|needles?)\s+(?:could\s+be\s+heard\b|"
    r"(?!(?:had|would|could|still|came\s+back|echoed|lived|rang\s+in|haunted|(?:was|were)\s+(?:silent|still|gone|no|"
    r"carried|moved|sold|given|put|taken|empty|kept|left)|on|in|at|"
    r"and|of|or|to|from|for|as|that|which)\b)\w+)|(?:hands?|fingers?|eyes|gaze|glance|lips|mouth|head|brow|brows|"
    r"eyebrows|shoulders|arm|arms|face|foot|jaw|cheeks?|chin)\s+(?:closed\s+(?:on|over|round|about)|twinkled|followed|"
    r"met|narrowed|widened|flashed|moved|shook|trembled|tightened|twitched|curled|darted|strayed|travelled|went|came|"
    r"reached|sought|found|rose|lifted|broke\s+into|brightened|darkened|reddened|flushed|softened|lit|tapped|drummed|"
    r"slid|crept|shot)\b)"
)
INVERTED = re.compile(
    r"\b(?:[Uu]p|[Dd]own|[Ii]n|[Oo]ut|[Oo]ff|[Aa]way|[Bb]ack|[Oo]n|[Rr]ound|[Oo]ver)\s+(?!(?:of|the|to|and|for|a|"
    r"in|with|by|was|had)\b)([a-z]{3,})\s+\Z"
)
"""`Up got Tobias`, `In strode Tobias`."""
HAD_JUST = re.compile(
    r"\s+had\s+(?:(?:only\s+)?just|only|merely|that\s+(?:minute|moment)|lately|recently|newly)\s+(?!been\b|died\b|"
    r"gone\b|expired\b|lived\b|known\b|a\b|one\b|once\b|the\b|ever\b)[a-z]{3,}\b|\s+had\s+[a-z]+\s+[a-z]+\s+of\s+late\b"
)
MEANWHILE = re.compile(r"\W*While\b[^,;¤]*\b(?:were|was)\s+(?:still\s+)?\w+ing\b[^,;¤]*,\s+\Z")
HAD_THEN = re.compile(
    r"\s+had\s+(?:already\s+)?(?!(?:been|died|gone|fallen|left|passed|perished|drowned|expired|lived|lain|known|a|an|"
    r"the|no|his|her|once|never|always)\b)[a-z]{3,}\b"
)
"""`While the others were still disputing, Tobias had got the fire going`."""
IT_WAS = re.compile(r"\b[Ii]t\s+was\s+(?:only\s+|old\s+|poor\s+)?\Z")
WHO_IT_WAS = re.compile(rf"\s+who\s+(?:(?:first|then|now|at\s+last|\w+ly)\s+){{0,6}}{VERB}\b{NOT_DONE}")
"""`It was Tobias who heard the horses`."""
WAS = re.compile(r"(?:¤|[.,!?])\s*was\s+\Z")
ANSWER = re.compile(r"'s?\s+(?:\w+\s+)?(?:answer|reply|comment|opinion|remark|rejoinder|advice)\b")
IS_HIS = re.compile(r"\b[Ii]t\s+was\s+\Z")
HIS_OWN = re.compile(r"'s?\s*(?=[.,;])")
SOUNDS = re.compile(r"\b(?:voice|step|footsteps?|laugh|hand|knock|cough|tread|whistle)\b")
"""`There was a step on the stair, and it was Tobias's`."""
COMES = re.compile(r"\b(?:came|rose|rang|sounded)\s+\Z")
VOICE_OF = re.compile(r"'s?\s+(?:\w+\s+)?(?:voice|laugh|cough|whistle|snores?)\b")
THERE_WAS = re.compile(r"\bwas\s+\Z")
BUSY = re.compile(
    r"(?:\s+(?:already|still|again|now))?(?:\s+(?:at|in|on|upon|by|before|behind|beside|under)\s+(?:the|his|her|"
    r"an?)\s+\w+)?,[^;:]{0,40}?\b(?!lying\b|being\b)[a-z]{3,}ing\b|\s+with\s+(?:his|her|an?|the)\s+(?!eyes\s+closed)\w+"
)
HIS_VOICE = re.compile(r"\b(?:voice|laugh|footsteps?|cough)\s+of\s+\Z")
HEARD = re.compile(r"\s+(?:was\s+heard|came|rose|rang|sounded|broke)\b(?!\s+back)")
BESIDE_HIM = re.compile(r"\s+(?:was\s+|stood\s+)?at\s+(?:his|her|their)\s+(?:side|elbow|heels|shoulder)\b")
SAYS_BEFORE = re.compile(
    rf"(?:¤|[.,!?—])\s*({'|'.join(SPEAKS)}|put\s+in|broke\s+in|(?<=¤\s)[a-z]{{3,}}ed|was\s+all\s+that|"
    rf"came\s+from)\s+(?:old\s+|poor\s+)?\Z"
)
COMES_BEFORE = re.compile(
    r"\b(came|sat|stood|went|rode|strode|walked|ran|leaned|leant|knelt|stepped|entered|rose|waited|stalked|marched|"
    r"galloped|hurried|to\s+\w+\s+(?:was|were)|(?:first|last|next|one)\s+(?:\w+\s+)?to\s+"
    r"(?!die|fall|perish|be\b)\w+\s+(?:\w+\s+){1,4}(?:was|were)|[Aa]mong\s+(?:them|the\s+\w+|those\s+(?:who\s+(?!died|"
    r"were|had|perished|"
    r"fell)|present|at|in)[^;:¤]{2,90}?)\s+was|so\s+did|[Bb]ut\s+it\s+was\s+only|should\s+(?:come|walk|"
    r"appear)[^;]{0,20}\s+but|(?:came|rose|sounded)\s+the\s+voice\s+of|(?:were|was)\s+(?:\w+\s+)?(?:joined|opened|"
    r"poured|met|followed|accompanied|greeted|interrupted|answered|driven|led|helped|shut|closed|carried|brought|"
    r"served|stopped|called|taken|shown|fetched)(?:\s+\w+){0,4}?\s+by|,\s+(?:thrown|flung|hurled|held|carried|led|"
    r"followed|brought|driven|pushed|handed|watched|aimed|fired|kicked|pursued)\s+(?:\w+\s+){0,2}?by|\b(?:Up|Down|By|"
    r"In|Out|From|Through|Over|Into|Along|Across|Behind|At|On|After|Next)\b[^;:¤]{2,60}?\s(?:[a-z]{3,}ed))\s+(?:old\s+|"
    r"poor\s+)?\Z"
)
IS_DEALT_WITH = re.compile(
    r"\b(?:(?:ran|bumped|stumbled|walked)\s+(?:straight\s+)?(?:up\s+)?(?:into|against)|met|overtook|encountered|"
    r"greeted|came\s+upon|ran\s+into|thanked|handed|passed|offered|beckoned|hailed|"
    r"interrupted|shook\s+hands\s+with|danced\s+with|(?:bowed|curtsied|turned|listened|replied|apologised|explained|"
    r"complained|beckoned|appealed|objected|"
    r"proposed|reported|confided|deferred|clung)\s+to|(?:sat|walked|talked|spoke|dined|supped|quarrelled|argued|"
    r"chatted|stood|rode|played)\s+(?:down\s+)?(?:with|beside|to|opposite|next\s+to)|(?:smiled|winked|shouted|nodded|"
    r"glared|waved|called|whispered)\s+(?:at|to|across\s+at)|(?:handed|gave|passed|offered|threw|poured)\s+(?:the|a|"
    r"his|her|it|them)\s+(?:\w+\s+)?(?:over\s+)?to|to\s+(?:meet|greet|help|join|thank|wake|kiss|follow|tell|ask|warn|"
    r"please|amuse)|looked\s+in\s+(?:up)?on|dropped\s+in\s+on|(?:asked|told|warned|begged|ordered|invited|helped|"
    r"followed|joined|kissed|hugged|embraced|answered|paid|nudged|slapped))\s+(?:old\s+|poor\s+)?\Z"
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
SHAKEN = re.compile(
    r"\b(?:shook|took|seized|caught|pulled|clapped|patted|tapped|slapped|plucked|kissed|held)\s+(?:old\s+|poor\s+)?\Z"
)
BY_THE_HAND = re.compile(
    r"\s+(?:by|on|upon)\s+(?:the|both|one)\s+(?:\w+\s+)?(?:hands?|arms?|collar|sleeve|shoulders?|back|ear|elbow|coat|"
    r"cheek)\b"
)
"""`The minister shook Tobias by the hand`."""
LED = re.compile(
    r"\b(?:led|ushered|marched|hurried|conducted|escorted|invited|summoned|showed)\s+(?:old\s+|poor\s+)?\Z"
)
LED_TO = re.compile(
    r"\s+(?:before|into|in\b|up|upstairs|indoors|aside|out|through|across|to\s+(?:an?|the|his|her|their)\s+"
    r"(?!grave|rest|long|last|scaffold|gallows|tomb)\w+)"
)
MOVED_TO = re.compile(r"\s+(?:to|that)\b")
IN_VAIN = re.compile(r"\s+(?:nothing|no\s+more|in\s+vain)\b")
HIS_ARM = re.compile(
    r"\b(?:put\s+into|out\s+of|round|around|took|leaned\s+on|leant\s+on|seized|shook|caught|grasped|into|in|over|from|"
    r"by|on|upon)\s+\Z"
)
HIS_FACE = re.compile(
    r"\b(?:smile|frown|flush|blush|grin|colour|blood|tears|laugh)\s+(?:had\s+)?\w+\s+(?:over|across|on|to|into|up|from|"
    r"in)\s+\Z|\b(?:crossed|overspread|lit|lighted)\s+\Z"
)
FACE = re.compile(r"'s?\s+(?:\w+\s+)?(?:face|lips|cheeks?|brow|eyes|forehead)\b")
ARM = re.compile(
    r"'s?\s+(?:\w+\s+)?(?:arm|hand|hands|sleeve|elbow|shoulder|fingers|arms|knee|lap|neck)\b(?!\s+(?:was|were|lay|had))"
)
IS_SEEN = re.compile(
    r"\b(?:saw|heard|could\s+(?:hear|see)|watched|found|noticed|spied|caught|left|made|let|bade)\s+(?:old\s+|"
    r"poor\s+)?\Z"
)
SEEN_DOING = re.compile(
    r"\s+(?!(?:dead|lying|laid|buried|borne|die)\b)[a-z]{2,}(?<!ed)(?<!en)\s+(?:in|into|out|up|down|off|to|at|on|the|a|"
    r"his|her|by|through|over|across|past|away|back)\b|\s+(?:asleep|awake|deep\s+in)\b|\s+to\s+(?:see|mind|finish|lock|"
    r"watch|do|look|deal|count|put)\b|\s+(?:at|in|on|by|behind)\s+(?:the\s+|his\s+|her\s+|"
    r"a\s+)?[\w-]+,\s+(?!lying)[a-z]+ing\b|\s+(?!(?:lying|dead|being|dying)\b)(?:[a-z]+ing\b|(?:cross|laugh|come|go|"
    r"turn|walk|run|sing|cough|say|speak|open|close|shut|rise|sit|stand|move|smile|nod|shake|climb|call|whistle|sigh|"
    r"enter|leave|take|put|lift|raise|ride|drive|pass|step|lean|cry|shout)\b|(?:at|in|on|by|behind)\s+(?:the\s+|his\s+|"
    r"her\s+)?(?:breakfast|table|dinner|supper|door|gate|window|kitchen|yard|garden|shop|stairs|counter|desk|hearth|"
    r"bench)\b)"
)
LEADS = re.compile(
    r"(?:\A|[,;:—¤.!?]|\bit\s+was\b|\b(?:and|but|then|so|while|as|when|until|old|poor)\b|\b(?:presently|suddenly|now|"
    r"afterwards|later|"
    r"meanwhile|soon|again|there|here|yet|(?:times|rings|knocks|minutes?|moments?|seconds?)\s+before|\w{3,}ly|(?:up|"
    r"down|in|out|off|away)\s+jumped)\b,?)\s*\Z",
    re.IGNORECASE,
)
BOUND = re.compile(
    r"\b(?:of|for|to|with|by|from|than|like|about|upon|on|at|in|into|after|before|or|near|the|a|an|his|her|their|my|"
    r"which|that|what|whom|"
    r"how|why|who|had|have)\s+\Z",
    re.IGNORECASE,
)
IT_IS_FOR = re.compile(r"\b(?:left|fell|was\s+up|took|cost)\s+(?:to\s+|for\s+)?(?:poor\s+|old\s+)?\Z")
FOR_HIM_TO = re.compile(r"\s+(?:[\w\s-]{2,40}?\s+)?to\s+(?!die\b|be\b|death\b|(?:his|her|the)\b)[a-z]{2,}\b")
"""`It took Tobias an hour to find the key`, `It was left to Tobias to speak`."""
THAT_WAS = re.compile(r"¤\W*(?:That|It|This)\s+was\s+(?:only\s+|poor\s+|old\s+)?\Z")
AND_NO_MORE = re.compile(r"(?=\s*[.,;])")
"""`"Nonsense!" That was Tobias, behind the paper`."""
BEING = re.compile(
    r",?\s+being\s+(?!dead\b|buried\b|killed\b|gone\b|drowned\b|now\b|no\s+more\b|long\b|the\b|an?\b|of\b|born\b|"
    r"\w+ed\s+(?:in|by|at)\b)"
    r"(?:in|at|on|too|very|rather|un\w+|\w+)\b"
)
HAD_AND = re.compile(
    r"\s+had\s+(?!been\b|once\b|always\b|never\b|often\b|lived\b|died\b|left\s+(?:a|"
    r"orders)\b)[^;:¤]{2,60}?,\s+and\s+(?:now\s+|then\s+|"
    r"\w+ly\s+)?(?:(?:was|were)\s+(?:very\s+|quite\s+|rather\s+|a\s+little\s+)?(?:short|late|early|cross|hungry|"
    r"thirsty|tired|busy|"
    r"out\s+of\s+(?:breath|temper)|up|down|back|ready|hoarse|wet|pale|asleep|awake|angry|anxious|impatient|eager)|"
    r"wanted|went|came|took|gave|began|ran|rose|ate|drank|wrote|drove|rode|spoke|sang|shook|threw)\b"
)
"""`Tobias had slept badly, and was short with everybody`: what he had done is over, what he is now is not."""
THAT = re.compile(r"\s+that\b")
THEN_HE = re.compile(
    r"[^¤]*?(?:[;,—]\s*(?:and\s+|but\s+|so\s+)?|\band\s+|\b(?:until|till|while)\s+)(?P<he>he|she)\s+(?:\w+ly\s+|"
    r"then\s+|now\s+)?"
    rf"(?!had\b|was\b|would\b|could\b|fell\b(?!\s+asleep)|lost\b|left\s+(?:a|his|her)\b|met\s+(?:his|"
    rf"her)\b){VERB}\b{NOT_DONE}"
)
"""`The news was brought to Tobias, and he sat down`."""
AND_SAYS = re.compile(r"\band\s+(?:said|told\s+\w+|declared|announced|explained|remarked|observed)\s+that\b")
WHO_HAD = re.compile(r",\s+(?:(?:to|with|for|from|by|of)\s+)?(?:who|whom|whose)\b[^,;:¤]{0,50}?\bhad\s+[^,;:¤]{2,50},")
GOES_ON = re.compile(
    r",\s+(?:and|or|then|and\s+then)\s+(?!(?:he|she|they|it|we|you|the|an?|his|her|their|its|this|that|these|those|"
    r"there|when|while|as|so|then|at|in|on|with|for|not)\b)[a-z]+\b"
)
"""A further deed of the same person: no subject of its own."""
