"""The words that tie somebody to a place, and those that untie it again."""

import re

from tallystick.rooms.studio.continuity.dates import DATE_WORDS, WEEKDAY, YEAR
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, ORDINAL, words

BORN = re.compile(
    r"(?<![-\w])(?<!\ba )[Bb]orn\b|(?<!gave )(?<!given )(?<!giving )\b[Bb]irth(?:place)?\b(?!-|\s+to\b)|"
    r"\bgave\s+birth\s+to\s+(?:him|her|[A-Z]|the\s+(?:child|infant|baby))|brought\s+to\s+bed\s+of\s+(?:him|her)\b|"
    r"\bgiv(?:en|ing)\s+birth\s+to\b|\b(?:given|gave)\s+(?:him|her)\s+birth\b|\bborne\s+(?:him|her)\b|\b(?:drew|"
    r"drawn|draw)\s+(?:(?:his|her)\s+first\s+)?breath\b|"
    r"\b(?:saw|seen)\s+(?:the\s+)?(?:first\s+)?light\b|\b(?:came|come|brought|arrived|"
    r"entered)\s+(?:[\w.]+\s+){0,3}?into\s+(?:the|this)\s+world\b|\b[Ll]ife\s+(?:had\s+)?beg[au]n\b|\b(?:a|the|"
    r"A)\s+native\b|(?:[Hh]is|[Hh]er|'s)\s+native\b|\b(?:his|her)\s+cradle\b|\bcradle\b|\bdelivered\s+(?=[A-Z]|"
    r"of\s+(?:him|her))|-born\b|\b(?:given|gave)\s+(?:[\w.]+\s+){1,3}to\s+the\s+world\b|\A\W*(?:A|"
    r"The)\s+(?:true\s+)?(?:child|son|daughter)\s+of\s+(?=[A-Z])"
)
AS_HE_WAS = re.compile(
    r",\s+as\s+(?:he|she|(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:\w+\s+)?(?:was|is|had\s+been)(?=\s*[,.;])|"
    r"\b(?:[Nn]ot|[Nn]o|[Nn]obody|[Nn]one|[Ff]ew)\b[^;,]*\bthan\s+(?=[A-Z])|"
    r"\A\W*(?:Like|As\s+with)\s+(?:most|all|many|every|other|so\s+many)\b[^;]*?,\s+(?=[A-Z])"
)
"""`Nobody born there, as Mara was, forgets it`; `Like most who are born there, Mara …`."""
NOT_BORN = re.compile(
    r"\b[Tt]here\s+(?:was|were|had\s+been)\s+born\b|\bbirthplace\s+of\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s\s+[a-z]|"
    r"\b(?:before|since|when|ere|after|until|till|year|day|night|time|if)\s+(?:that\s+)?(?:he|she|"
    r"(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:was|were|had\s+been)\s+born\b(?!\s+(?:there|here|in|at)\b)|(?:'s|\bhis|"
    r"\bher)\s+(?:\w+\s+)?(?:mother|father|parents|wife|husband|son|daughter|sister|brother|uncle|aunt|cousin|"
    r"stepmother|grand\w+|friend|servant|cook|nurse|children)\s+(?:was|were|had\s+been|came|hailed)\s+(?:from|born|"
    r"a\s+native)|\b(?:horse|dog|mare|cat|parrot)\b|\b(?:took|taken|passed|mistaken)\s+(?:\w+\s+)?for\s+a\s+native|"
    r"\b(?:met|saw|knew|heard|passed|watched|by)\s+(?:an?|the|every|some)\s+native\b|\b(?:as|than|like|"
    r"unlike)\s+(?:the|"
    r"his|her)\s+(?:\w+\s+)?(?:town|place|city|village|parish|country)\s+(?:in\s+which|where|of\s+(?:his|her))\b"
)
HOME = re.compile(
    r"\b(?:liv(?:ed|es?|ing)|dwel(?:t|ls?|ling)|resid(?:ed|es?|ing|ent)|(?<!the )(?<!of )lodges?|lodg(?:ed|ing|ings|"
    r"er)|inhabit\w*|tenant|householders?|neighbours?|neighbors?|(?:house|abode|residence|dwelling|home|door|lodgings?|"
    r"rooms)\s+of\s+(?=[A-Z])|Home,?\s+(?:to|for),?\s+(?=[A-Z])|occupied\s+by\s+(?=[A-Z])|called\s+(?:his|her)\s+own|"
    r"keep\s+(?:there\s+)?a\s+house|landlady|landlord|home|homes|address|household|latch-?key|key|"
    r"hung\s+(?:up\s+)?(?:his|her)\s+hat|let\s+(?:himself|herself)\s+in\w*|(?:(?:his|her|whose|"
    r"'s)\s+(?:own\s+)?(?:front\s+|"
    r"back\s+|little\s+|two\s+|[\w-]+\s+)?|(?:had|kept|rented|occupied|took|taken|shared|inherited|owned|"
    r"called)\s+(?:[\w-]+\s+){1,3})(?:house|cottage|rooms?|door|doorstep|step|bed|bedroom|window|windows|roof|hearth|"
    r"fireside|quarters|flat|chambers|garret|attic|garden|gate|parlour|kitchen|plate|walls|"
    r"stairs?|staircase|hall|passage|threshold|mantelpiece|arm-?chair|pillow|latch|knocker|bell|cellar|study|"
    r"sitting-room|dining-room|drawing-room|balcony|lodging)|(?:occupied|rented|paid|"
    r"had|owned|kept|slept|furnished|shared)\b[^.;]{0,60}?\b(?:house|rooms?|floor|door|bed|number|flat|lodgings?)|"
    r"[Nn]umber\s+[\w-]+(?=,)|(?:slept|sleeps)(?=\s+(?:badly|well|in|every))|"
    r"(?<='s)\s+was\s+the\s+(?:\w+\s+){0,2}(?:house|door|window)|(?:[Hh]is|[Hh]er|(?<='s))\s+(?:\w+\s+)?(?:cat|dog|"
    r"fire|lamp|supper)|(?:house|cottage|door|"
    r"villa|flat|rooms?|windows?)\b[^,;]{0,30}\b(?:was|were)\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s|(?:one|house|door|cottage|"
    r"villa),\s+which\s+was\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s(?=\s+own\b|\s*[.,;]))\b"
)
_ROOF = (
    r"(?:house|home|cottage|rooms?|lodgings?|door|doorstep|windows?|gate|chambers|flat|garden|residence|fireside|"
    r"parlour|landlady|landlord|neighbou?rs?|hearth|quarters|apartments?|dwelling|abode|address|bedroom|sitting-room|"
    r"kitchen|study|steps?|stoop|porch|shutters|threshold|knocker|place(?=\s+in\s))"
)
_PERSON = r"(?P<name>(?:[A-Z][\w.]+\s+)*?[A-Z]\w+)"
_ADJECTIVE = (
    r"(?!(?:had|has|was|were|with|on|in|at|of|and|the|an?|to|for|from|kept|took|left|by|that|"
    r"his|her|their|made|brother|sister|mother|father|son|daughter|uncle|aunt|cousin|nephew|niece|wife|husband|friend)"
    r"\b)[a-z-]+"
)
HOUSE_IN = re.compile(
    rf"(?P<own>'s|\b[Hh]is|\b[Hh]er)\s+(?:{_ADJECTIVE}\s+){{0,3}}?{_ROOF},?\s+(?:which\s+(?:was|stood|"
    rf"lay)\s+(?:[a-z]+\s+){{0,6}}?)?"
    rf"(?:[a-z]+\s+){{0,3}}?(?:in|at|of|on|into)\s+(?=[A-Z])|\b{_ROOF}\s+of\s+{_PERSON},?\s+(?:in|at|on)\s+(?=[A-Z])"
)
"""`the bell of Mara's house in Fish Street`: whoever does whatever there, it is hers."""
WHERE_HE = re.compile(
    rf",?\s+(?:where|in\s+which|which|that)\s+(?:he|she|{_PERSON})\s+(?:had\s+)?(?:(?!never|not\b|"
    rf"once)\w+\s+)?(?:lived|lodged|dwelt|resided|"
    rf"slept|occupied|rented|inhabited|had\s+(?:his|her|an?)\s+(?:\w+\s+)?{_ROOF})\b|"
    rf",?\s+where\s+(?:his|her|{_PERSON.replace('name', 'named')}'s)\s+(?:\w+\s+)?{_ROOF}\s+(?:was|were|stood|lay)\b"
)
_HIS_ROOF = (
    r"(?:it|them|his|her|the|an?|that|this)\b(?:\s+[a-z-]+)?\s*(?:house|home|cottage|lease|rooms?|place|farm)?\b"
)
NO_LONGER = re.compile(
    rf"\b(?:once(?!\s+belonged)|formerly|former|until|till|used\s+to|moved|gave\s+up|removed|sold\s+{_HIS_ROOF}|"
    rf"bought\s+{_HIS_ROOF}|to\s+let|empty|imagin\w+|"
    r"wished(?!\s+to\s+(?:consult|see|find|speak|visit|call|know)\b)|would(?!\s+have\s+chosen)|might|pretend\w*|"
    r"as\s+a\s+(?:child|boy|girl))\b"
)
OPENING = re.compile(r"\W*(?:(?:Though|Although|Being|Having\s+been|Only|Himself|Herself)\s+)?")
BESIDE_NAME = re.compile(r",\s+(?:(?:old|poor|young|little)\s+)?\Z")
THERE = re.compile(r"[\w\s]{3,20}?\b(?:there|here|in\s+(?:that|the)\s+(?:town|city|street|place|village|house))\b")
HE_WAS = re.compile(r"\b([Hh]e|[Ss]he)\s+(?:(?:had|was|been|has|still|now|always|first|herself|himself)\s+)*\Z")
TURNS = re.compile(r"[;—]|\b(?:but|though|although|while|whereas|yet)\b")
GREW = re.compile(r"\b(?:grew|grown)\s+up\b")
HIS_OWN = re.compile(r"(?:'s|\b[Hh]is|\b[Hh]er)\s+(?:landlady|landlord|neighbours?|cat|dog|lamp|fire|key|cradle)\Z")
DELIVERED = re.compile(
    r"(?:given|gave)\s+(?:him|her)\s+birth|g[ai]v(?:en?|ing)\s+birth|borne\s|delivered|brought\s+(?:to\s+bed\s+of|"
    r"[A-Z]|(?:him|her)\s+into)|(?:house|abode|residence|dwelling|"
    r"home|door|lodgings?|rooms)\s+of\s|Home,?\s+(?:to|for)|occupied\s+by|[a-z]+\b[^;]*\s(?:was|were)\s+[A-Z][^;]*'s\Z"
)
DWELLING = re.compile(r"dwelling|lodging|home|house|address|key|residence")
HIS_OWN_HOUSE = re.compile(r"(?:his|her)\s+own\s+")
"""`Fish Street was quiet. Mara looked up at her own windows`."""
WORKS = re.compile(r"\b(?:work|toil|labour|labor|clerk)(?:ed|s|ing)\b")
HIS_HOME = re.compile(r"[A-Z]\w+'s?\s+(?:own\s+|old\s+|little\s+|new\s+)?\Z")
"""Whoever does it, it is the named one's."""
OWNED = re.compile(r"(?:'s|\b[Hh]is|\b[Hh]er)\s+(?:(?:whole|long|weary|full)\s+)?\Z")
CLOSE = 8
"""Characters after the last word of the tie that still belong to it."""
NEAR = 16
VISITS = re.compile(
    r"\b(?:call(?:ed|ing)\s+(?:at|on|upon)|visit\w*|stay(?:ed|ing)?\s+(?:with|a|for|some|two|three)|friends?|guest|"
    r"drank\s+tea|house\s+of\s+(?:an?|the|his|her)|never\s+lived|inquired|knocked\s+at\s+an?|surgery|opposite|"
    r"once(?!\s+belonged)|formerly|[Aa]s\s+a\s+(?:child|boy|girl)|[Uu]ntil|[Tt]ill(?!\s+(?:late|morning))|let\s+(?:it|"
    r"them)\s+(?:out\s+)?to|gave\s+lessons|born\s+in\s+(?:an?|the)\s+(?:\w+\s+)?(?:house|cottage|room)|"
    r"(?<!was )(?<!be )(?<!got )used\s+to|moved|gave\s+up|removed|sold\s+(?:it|his|her|the)\b|left\s+(?:his|her)|"
    r"bought\s+(?:it|the|an?\s+(?:\w+\s+)?(?:house|cottage|villa))|to\s+let|empty\s+house|imagin\w+|"
    r"wished(?!\s+to\s+(?:consult|see|find|speak|visit|call|know)\b)|longed|wanted\s+to|"
    r"thought(?!\s+with)|would(?!\s+(?:have\s+chosen|not\s+last))|might|could\s+have\s+lived|holiday\w*|"
    r"for\s+the\s+(?:summer|winter|season|night)|"
    r"afterwards|passed\s+(?:through|by)|heard\s+of|on\s+the\s+(?:way|road))\b|\b(?:had|has|"
    r"kept)\s+(?:his|her|their|a)\s+(?:surgery|shop|office)\b"
)
NO = re.compile(r"\b(?:not|never|nor|neither|hardly|[Nn]obody|[Nn]one|[Nn]o\s+one|no\s+more)\b|n't\b")
LEAVES = re.compile(
    r"\b(?:set(?:ting)?\s+(?:out|off|forth)|depart\w*|start\w*|left|leav\w+|going|gone|go|went|carried|borne|bore|"
    r"drove|driv\w+|rode|sail\w*|embark\w*|journey|road|way|bound|made\s+for|head(?:ed|ing)|turned|coach|train|"
    r"climbed|took|taken|take|taking|waved|quitted|begun|begin|began|off|got|get|getting|away|fled|flight|packed|"
    r"steamed|galloped|trotted|tramped|walked|travel\w*|hurried|slipped|stole|vanished|removed|flung|exit|"
    r"good-?bye|farewell|saw|seen|see|struck\s+(?:out|off)|push(?:ed)?\s+off|ma[dk]e\s+off|put\s+(?:out|off)|"
    r"c(?:aught|atch|atching)\s+(?:the|an?|his|her)\s+(?!cold|chill|fever|glimpse|"
    r"sight)[\w-]+(?=\s+(?:[\w-]+\s+)?(?:to|for)\b)|board\w*|mount\w*|bus|boat|steamer|ferry|packet|flew|fly|plane|"
    r"shipped|escaped|ran\s+(?:off|away)|bolted|cleared\s+out|"
    r"moved\s+off|pulled\s+out|rolled|jogged|marched|hastened|sped|spurred|whirled|convey\w*|hitched)\b",
    re.IGNORECASE,
)
WAYS = re.compile(
    r"coach|train|bus\b|boat|steamer|ferry|packet|plane|journey|road|way|off|mail|first|home|until|since|newly|dated|"
    r"known|sight|stranger|newcomer|away|"
    r"good-?bye|farewell|flight|exit|been|saw|seen|see|between|days|life",
    re.IGNORECASE,
)
"""What somebody leaves by or comes as: less than a verb."""
TOWARDS = re.compile(r"\b(?:[Tt]o|[Ff]or|towards?|in\s+the\s+direction\s+of|[Tt]o\s+(?:far|distant|old))\s+\Z")
FROM = re.compile(r"\bfrom\s+(?:the\s+)?\Z")
CUSTOM = re.compile(
    r"\b(?:[Ee]very\s+(?:\w+day|week)|each\s+(?:\w+day|week)|always|usual(?:ly)?|commonly|generally|ordinarily|"
    r"customar\w+|as\s+a\s+rule|often|(?:a|the|his|her)\s+rule|regular\w*|"
    rf"in\s+former\s+(?:years|days|times)|ordinary\s+(?:way|times|weeks?)|habit|of\s+an?\s+{WEEKDAY}|"
    rf"never\s+(?:\w+\s+){{1,5}}on\s+an?\s+{WEEKDAY})\b"
)
ONE_DAY = re.compile(r"\b(?:that|this|the)\s+(?:(?:very|same)\s+|very\s+same\s+)?\Z")
"""`that Monday` is one day, whatever is usual or done every week."""
AGAIN = re.compile(
    r"\b(?:(?<!see )(?<!never )again|a\s+second\s+(?:time|journey|visit|trip|start|departure)|second\s+time|returned|"
    r"came\s+(?:home|back)|(?<!his )(?<!her )"
    r"(?<!inking )(?<!ooking )(?<!hought )(?<!ooked )back\s+(?:to|from|in|home)|"
    r"[Bb]y\s+the\s+\w+day(?!\s+(?:\w+\s+)?(?:train|coach|mail|boat|packet|bus|steamer|ferry|diligence|post|"
    r"tide)\b)(?!.*\bthat\s+(?:day|evening|night|afternoon))|next\s+(?:time|\w+day|week|journey))\b"
)
OTHER_TIME = re.compile(
    r"\b(?:[Ii]n\s+(?:another|other|some\s+other|an?\s+(?:earlier|former|later|previous))\s+years?|"
    r"[Tt]he\s+(?:year|summer|winter|spring|autumn|month|week)\s+(?:before|after|previous)(?=,)|"
    r"[Oo]n\s+an?(?:other)?\s+(?:earlier|former|previous|later|other|different)?\s*(?:occasion|visit|journey)|"
    r"(?:previous|former|last)\s+(?:year|summer|winter)|"
    r"[Ii]t\s+(?:was|had\s+been)(?:\s+not|n't)\s+(?:(?:up)?on|in|at|for|until|till|the|that|"
    r"an?)\b(?![^;]*\bbut\s+(?:on|in|at)))"
)
"""That a time is another than the story's, or is denied: `It was not on the Tuesday that …`."""
NOT_THEN = re.compile(
    r"\bmissed\s+(?:the|his|her)\b|\b(?:was|were)\s+to\s+have\b|\b(?:second|third|next|last)\s+time\b|\b(?:days?|"
    r"weeks?|months?|years?)\s+later\b|"
    r"\b(?:did|had|was)(?:\s+not|n't)\s+(?:\w+\s+)?(?:come|go|gone|leave|left|set|start|depart|arrive|settle|move|"
    r"travel|reach)\b(?![^,;]*\b(?:until|till|before|but)\b)"
)
DAYS = re.compile(
    rf"\bon\s+the\s+(?P<nth>{ORDINAL})\s+day\b|(?<![\w-])(?P<count>{NUMBER})(?:\s+(?:whole|full|long|weary|"
    rf"entire)\s+|\s+|-)(?P<unit>days|(?P<tally>(?:knot|stroke|notch|mark|cross|scratch|nick|tick|pebble|bead|stone|"
    rf"line|bean|"
    rf"button|tally|chalk-mark|pencil-mark|pencil-stroke)(?:e?s))|nights|weeks|day(?=['\s-]+(?:journey|ride|walk|"
    rf"voyage|passage|"
    rf"travel\w*)))(?:'|\b)",
    re.IGNORECASE,
)
TRAVELS = re.compile(
    r"\b(?:road|roads|way|journey\w*|travel\w*|voyage|passage|rid(?:e|ing)|rode|driv(?:e|ing)|coach\w*|reach\w*|get|"
    r"getting|got|march\w*|walk\w*|crossing|crossed|sail\w*|trip|took|taken|take|need\w*|required|cost|distance|"
    r"set(?:ting)?\s+(?:out|off)|start\w*|lay\s+between|between|made|came|come|coming|arriv\w*|bring|brought|climbed|"
    r"stepped|spent|went|gone|go|used\s+up|lasted|saw|sight\w*|set\s+down|put\s+down|alight\w*|enter\w*|"
    r"roofs?|spires?|towers?|gates?|dust|jolt\w*|consumed|occupied|occup(?:y|ies)|carr(?:ied|y|ying)|convey\w*|"
    r"bore|borne|trains?|stages?|miles|matter\s+of|landed|rolled|tramp\w*|toil\w*|tossed|drove|jogg\w+|"
    r"going|on\s+foot|on\s+horseback|by\s+(?:sea|land|rail|water|coach|boat)|behind\s+(?:him|her)|"
    r"days\s+(?:it\s+(?:was|had\s+been)\s+|off\s+|more\s+|all\s+told\s+)?(?:to|from)(?=\s+[A-Z])|"
    r"did|leav\w+|left|mud|snow)\b",
    re.IGNORECASE,
)
NOT_THE_WAY = re.compile(
    r"\b(?:(?:days?|weeks?)\s+later|wait(?:ed|ing)?(?!-)|(?:home|back)\b[^,;]{0,12}\bfrom|day\s+after\s+(?:he|she|"
    r"his|her)|"
    r"stay(?:ed|ing)?|remain(?:ed|ing)?|linger\w*|return\w*|(?:second|third|next|last|another|former|earlier|later|"
    r"previous)\s+(?:journey|voyage|"
    r"visit|time)|before\s+(?:starting|setting|leaving|(?:his|her)\s+(?:start|departure))|home\s+from|"
    r"after\s+(?:reaching|arriv\w+|(?:[\w.']+\s+){1,3}arrival)|before\s+(?:he|she)\s+(?:started|set\s+out|left)|"
    r"allowed|(?:reckon\w*|count\w*|calculat\w+)\s+(?:up)?on\s+(?=[a-z-]+\s+days)|reckoned(?!\s+(?:on|upon|with)\b)|"
    r"supposing|'s\s+time(?!-)|would(?:\s+not)?\s+(?:be|have\s+(?:been|taken))|might|if(?!\s+(?:they|"
    r"it)\s+had)|must\s+have|ago|seem\w*(?!\s+(?:\w+\s+){0,2}?(?:strange|odd|hard|wonderful|curious|queer|funny|"
    r"incredible|marvellous|absurd|unfair|natural)\b)|felt\s+like|"
    r"later\s+(?:he|she)|next|days\s+in\s+which\s+to|(?i:bread|food|water|money|provisions?|victuals|oats|rations?|"
    r"fodder|biscuits?|meat|supplies|leave)\s+(?:enough\s+)?for|(?<!it )again|"
    r"(?:[Yy]ears|[Mm]onths)\s+(?:later|after\w*)|(?:another|different|other)\s+(?:road|"
    r"journey|way)|after\s+the\s+(?:journey|voyage)|before\s+ever\s+(?:he|she)|rested|[Oo]nce\s+(?:in|at|there)|(?:in|"
    r"kept\s+(?:his|her))\s+bed)\b"
)
STAY = re.compile(
    r"\s+(?:together\s+|there\s+|alone\s+)?(?:in|at|within|inside)\s+(?:the\s+(?:town|city|port)\s+of\s+)?(?=[A-Z])"
)
"""`seven days in Leeds`: not the way there."""
TALLY = re.compile(r"\b(?:for|to|at\s+the\s+end\s+of)\s+(?:each|every)\s+(?:\w+\s+)?day\b|,\s+one\s+a\s+day\b")
"""`a notch for each day of the journey`: the notches count the days."""
GOES_BY = re.compile(r"\b(?:took|taken|caught|boarded|climbed|got|by\s+(?:it|the)|(?:with|in|on)\s+it|into|aboard)\b")
GIVEN = re.compile(
    r"\b(?:ha[ds]|having)\s+(?:(?:only|but|just|exactly)\s+)?\Z|\b(?:gave|given|giving|allow(?:ed|ing)|granted)\s+"
    r"(?:[\w.]+\s+){0,3}\Z"
)
TO_DO_IT = re.compile(r"\s+(?:in\s+which\s+)?to\s+(?:reach|get|make|do|be|come|go|travel|cover|arrive|find)\b")
"""`gave Mara six days to reach Leeds`: she may have needed fewer."""
A_PAPER = re.compile(
    r"(?:'s)?\s+(?:\w+\s+)?(?:papers?|newspapers?|edition|news|Times|Gazette|sermon|joint|market|suit|coat|hat|"
    r"clothes|best)\b"
)
CARRIED_TO = re.compile(r"\s+(?:coach|train|mail|boat|packet|bus|steamer|ferry|diligence|road|express)\b")
IT_TOOK = re.compile(
    r"\W*(?:(?:It|This|That|He|She|(?:The|His|Her)\s+(?:whole\s+)?(?:journey|voyage|road|way|trip|ride|drive|walk|"
    r"passage|"
    r"crossing|march|thing))\s+(?:had\s+)?(?:took|taken|lasted|cost|occupied)\s+)(?:(?:him|her|just|exactly|all\s+of|"
    r"a\s+"
    r"full|on\s+the\s+road)\s+)*\Z"
)
"""`Mara walked to Leeds. It took six days`."""
IT_WAS = re.compile(r"\W*(?:(?:It|This|That|The\s+day)\s+was\s+)?(?:on\s+)?(?:an?\s+|the\s+)?\Z")
NO_MORE = re.compile(r"(?:\s+(?:morning|evening|night|afternoon|noon))?\W*\Z")
"""`… and departed for Leeds. It was Monday.`"""
NOT_SO_LONG = re.compile(
    r"\b(?:did|had|was|were|has|is)(?:\s+not|n't)\s+(?:\w+\s+)?(?:take|taken|cost|be|been|need|needed|last|lasted|"
    r"spen[dt]|"
    r"require\w*|occup\w+)\s+(?:[A-Z][\w.]*\s+|him\s+|her\s+)*\Z|\b(?:never|nor)\s+(?:took|taken|been|lasted|cost)\s+"
    r"(?:[A-Z][\w.]*\s+|him\s+|her\s+)*\Z"
)
"""`It did not take Mara six days`."""
COMES = re.compile(
    r"\b(?:came|come|coming|comes|arriv\w*|settle\w*|first|moved|moving|removed|set\s+(?:foot|eyes)|appear\w*|"
    r"newcomer|stranger|resid\w*|abode|known|brought|sight|reached|entered|made\s+(?:his|her)\s+home|make\s+(?:his|"
    r"her)\s+home|turned\s+up|life\s+in|dated|newly|until|took\s+(?:him|her)\s+in|walked|lived\s+in|drove|"
    r"heard\s+of|took|taken|set\s+up|removal|home|been\s+in|been\s+at|since|settling|established|establish\w*|"
    r"alighted|stepped|(?:set|put|got|climbed)\s+down|landed|blown|drifted|driven|inhabitant|dweller|citizen|"
    r"new-?comer|beg[au]n\s+(?:his|her)\s+(?:new\s+)?life|quartered|planted|migrated|emigrated|"
    r"beheld|saw|given|gave|joined|transferred|posted|called\s+to|got\s+off|(?:washed|fetched|ended|wound|pitched|"
    r"showed)\s+up|found\s+(?:his|her)\s+way|fled|escaped|retired\s+to)\b"
)
NOT_COMING = re.compile(
    r"\b(?:came\s+back|come\s+back|returned|again|moved\s+(?:(?:in)?to\s+(?:an?|the|his|her)|from\s+(?:the|one))\b|"
    r"[Bb]y\s+(?:1\d|20)\d\d|"
    r"every\s+(?:year|summer|winter|spring|autumn|month|week|day)(?!\s+(?:but|since|of|that|he|she|(?-i:[A-Z])))|"
    r"would|as\s+early|not\s+the\s+year|anniversary(?!\s+of\b[^;]*\bwhich\s+(?:had|took|fell|was))|"
    r"bore\s+(?:the\s+)?date|style\s+of|fashion\s+of|(?:built|made|printed|cast|painted|cut)\s+in|"
    r"vintage|(?:bottle|coin|edition|print|copy)\s+of)\b|(?:'s|\bhis|"
    r"\bher)\s+(?:neighbours?|landlord|landlady|cousin|uncle|brother|sister|friend)\b"
)
FIRST = re.compile(
    r"\b(?:first|settl\w+|to\s+live|never\s+(?:been|set)|(?:his|her)\s+(?:home|abode|residence)|newcomer|stranger|"
    r"moved\s+to\s+(?=[A-Z])|establish\w+|removed\s+to|residence|abode|took\s+up)\b"
)
PASSING = re.compile(r"\b(?:sold|left|familiar|married|died|born)\b")
YEARS = re.compile(rf"(?<![\w-])(?P<year>{YEAR})(?![\w-])")
WEEKDAYS = re.compile(rf"\b(?P<day>{WEEKDAY})\b")
LINKED = re.compile(
    r"[;:,]\s+(?:and\s+)?(?:it\s+was\s+)?(?:in|on)\s+that\s+(?:same\s+|very\s+)?(?:year|day|evening|morning)\b|"
    r",?\s+(?:when|that|on\s+which|in\s+which|upon\s+which|as(?!\s+[\w.\s]{2,30}?\s(?:learned|learnt|knew|heard|said|"
    r"told|informed|remembered|read|was)\b)|which|[\w-]+\s+\w+\s+(?:after|before)|the\s+"
    r"(?:same\s+|very\s+)*(?:day|year|one)|at\s+the\s+moment|and\s+(?:in|on)\s+that|of\s+[A-Z][\w.\s]*'s)\b"
)
GOES_TO = re.compile(r"[\w\s]{2,30}?\b(?:for|to|in|at|into)\s+[A-Z]")
WORDS = DATE_WORDS | frozenset(
    words("""
    born birth birthplace borne breath light world life native cradle delivered live lived lives living dwelt
    dwells dwelling resided resides residing resident lodged lodges lodging lodgings lodger inhabited tenant
    householder householders neighbour neighbours landlady landlord home homes address household latchkey key
    hat child son daughter let house cottage room rooms door doorstep step bed bedroom window windows roof
    hearth fireside quarters floor slept sleeps number supper cat dog fire lamp flat chambers garret attic
    garden gate grew grown residence abode apartments study parlour kitchen plate walls days nights weeks day latch
    neighbor neighbors stair stairs staircase hall passage threshold mantelpiece armchair arm-chair pillow knocker bell
    cellar sitting-room dining-room drawing-room balcony inhabitant inhabitants dwell steps stoop porch shutters place
    cottages doors villa lodge lodgers called hung occupied rented
    """)
)
