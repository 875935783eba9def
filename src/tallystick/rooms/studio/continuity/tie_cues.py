"""The words that tie somebody to a place, and those that untie it again."""

import re

from tallystick.rooms.studio.continuity.dates import DATE_WORDS, WEEKDAY, YEAR
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, ORDINAL, words

BORN = re.compile(
    r"(?<![-\w])(?<!\ba )[Bb]orn\b|(?<!gave )(?<!given )(?<!giving )\b[Bb]irth(?:place)?\b(?!-|\s+to\b)|"
    r"\bgave\s+birth\s+to\s+(?:him|her|[A-Z]|the\s+(?:child|infant|baby))|brought\s+to\s+bed\s+of\s+(?:him|her)\b|"
    r"\bgiven\s+birth\s+to\b|\bborne\s+(?:him|her)\b|\b(?:drew|drawn|draw)\s+(?:(?:his|her)\s+first\s+)?breath\b|"
    r"\b(?:saw|seen)\s+(?:the\s+)?(?:first\s+)?light\b|\b(?:came|come|brought|arrived|"
    r"entered)\s+(?:[\w.]+\s+){0,3}?into\s+(?:the|this)\s+world\b|\b[Ll]ife\s+(?:had\s+)?beg[au]n\b|\b(?:a|the|"
    r"A)\s+native\b|(?:[Hh]is|[Hh]er|'s)\s+native\b|\b(?:his|her)\s+cradle\b|\bcradle\b|\bdelivered\s+(?=[A-Z]|"
    r"of\s+(?:him|her))|-born\b|\b(?:given|gave)\s+(?:[\w.]+\s+){1,3}to\s+the\s+world\b|\A\W*(?:A|"
    r"The)\s+(?:true\s+)?(?:child|son|daughter)\s+of\s+(?=[A-Z])"
)
NOT_BORN = re.compile(
    r"\b(?:before|since|when|ere|after|until|till|year|day|night|time|if)\s+(?:that\s+)?(?:he|she|"
    r"(?:[A-Z][\w.]+\s+)*[A-Z]\w+)\s+(?:was|were|had\s+been)\s+born\b|(?:'s|\bhis|\bher)\s+(?:\w+\s+)?(?:mother|father|"
    r"parents|wife|husband|son|daughter|sister|brother|uncle|aunt|cousin|stepmother|grand\w+|friend|servant|cook|nurse|"
    r"children)\s+(?:was|were|had\s+been|came|hailed)\s+(?:from|born|a\s+native)|\b(?:horse|dog|mare|cat|parrot)\b|"
    r"\b(?:took|taken|passed|mistaken)\s+(?:\w+\s+)?for\s+a\s+native|\b(?:met|saw|knew|heard|passed|watched|"
    r"by)\s+(?:an?|the|every|some)\s+native\b"
)
HOME = re.compile(
    r"\b(?:liv(?:ed|es?|ing)|dwel(?:t|ls?|ling)|resid(?:ed|es?|ing|ent)|lodg(?:ed|es?|ing|ings)|inhabit\w*|tenant|"
    r"householders?|neighbours?|neighbors?|house\s+of\s+(?=[A-Z])|occupied\s+by\s+(?=[A-Z])|called\s+(?:his|her)\s+own|"
    r"keep\s+(?:there\s+)?a\s+house|landlady|landlord|home|homes|address|household|latch-?key|key|"
    r"hung\s+(?:up\s+)?(?:his|her)\s+hat|let\s+(?:himself|herself)\s+in\w*|(?:(?:his|her|'s)\s+(?:own\s+|front\s+|"
    r"back\s+|little\s+|two\s+|[\w-]+\s+)?|(?:had|kept|rented|occupied|took|taken|shared|inherited|owned|"
    r"called)\s+(?:[\w-]+\s+){1,3})(?:house|cottage|rooms?|door|doorstep|step|bed|bedroom|window|windows|roof|hearth|"
    r"fireside|quarters|flat|chambers|garret|attic|garden|parlour|kitchen|plate|walls)|(?:occupied|rented|paid|had|"
    r"owned|kept|slept|furnished|shared)\b[^.;]{0,60}?\b(?:house|rooms?|floor|door|bed|number|flat|lodgings?)|"
    r"[Nn]umber\s+[\w-]+(?=,)|(?:slept|sleeps)(?=\s+(?:badly|well|in|every))|"
    r"(?<='s)\s+was\s+the\s+(?:\w+\s+){0,2}(?:house|door|window)|(?:[Hh]is|[Hh]er|(?<='s))\s+(?:\w+\s+)?(?:cat|dog|"
    r"fire|lamp|supper)|house\b[^,;]{0,30}\bwas\s+(?:[A-Z][\w.]*\s+)*[A-Z]\w+'s)\b"
)
HIS_OWN = re.compile(r"(?:'s|\b[Hh]is|\b[Hh]er)\s+(?:landlady|landlord|neighbours?|cat|dog|lamp|fire|key|cradle)\Z")
DELIVERED = re.compile(
    r"g[ai]ven?\s+birth|borne\s|delivered|brought\s+(?:to\s+bed\s+of|[A-Z])|house\s+of|occupied\s+by"
)
DWELLING = re.compile(r"dwelling|lodging|home|house|address|key|residence")
HIS_HOME = re.compile(r"[A-Z]\w+'s?\s+(?:own\s+|old\s+|little\s+|new\s+)?\Z")
"""Whoever does it, it is the named one's."""
NEAR = 16
VISITS = re.compile(
    r"\b(?:call(?:ed|ing)\s+(?:at|on|upon)|visit\w*|stay(?:ed|ing)?\s+(?:with|a|for|some|two|three)|friends?|guest|"
    r"drank\s+tea|house\s+of\s+(?:an?|the|his|her)|never\s+lived|inquired|knocked\s+at\s+an?|surgery|opposite|once|"
    r"formerly|[Aa]s\s+a\s+(?:child|boy|girl)|until|till(?!\s+(?:late|morning))|(?<!was )(?<!be )(?<!got )used\s+to|"
    r"moved|gave\s+up|removed|sold|left\s+(?:his|her)|bought|to\s+let|empty\s+house|imagin\w+|wished|longed|"
    r"thought(?!\s+with)|would|might|could\s+have\s+lived|holiday\w*|for\s+the\s+(?:summer|winter|season|night)|"
    r"afterwards|passed\s+(?:through|by)|heard\s+of|on\s+the\s+(?:way|road))\b|\b(?:had|has|"
    r"kept)\s+(?:his|her|their|a)\s+(?:surgery|shop|office)\b"
)
NO = re.compile(r"\b(?:not|never|nor|neither|hardly|nobody)\b|n't\b")
LEAVES = re.compile(
    r"\b(?:set(?:ting)?\s+(?:out|off|forth)|depart\w*|start\w*|left|leav\w+|going|gone|go|went|carried|borne|bore|"
    r"drove|driv\w+|rode|sail\w*|embark\w*|journey|road|way|bound|made\s+for|head(?:ed|ing)|turned|coach|train|"
    r"climbed|took|taken|waved|quitted|begun|began|off)\b",
    re.IGNORECASE,
)
TOWARDS = re.compile(r"\b(?:to|for|towards?|toward)\s+\Z|\b[Ff]or\s+\Z")
CUSTOM = re.compile(
    r"\b(?:[Ee]very\s+(?:\w+day|week)|each\s+(?:\w+day|week)|always|usual(?:ly)?|as\s+a\s+rule|often|again|"
    r"a\s+second|second\s+time|returned|came\s+(?:home|back)|(?<!his )(?<!her )back\s+(?:to|from|in|home)|"
    r"[Bb]y\s+the\s+\w+day|next|(?:a|the|his|her)\s+rule|regular\w*|"
    rf"in\s+former\s+(?:years|days|times)|ordinary\s+way|habit|of\s+an?\s+{WEEKDAY})\b"
)
DAYS = re.compile(
    rf"\bon\s+the\s+(?P<nth>{ORDINAL})\s+day\b|(?<![\w-])(?P<count>{NUMBER})(?:\s+(?:whole|full|long|weary|"
    rf"entire)\s+|\s+|-)(?P<unit>days|nights|weeks|day(?=['\s-]+(?:journey|ride|walk|voyage|passage|"
    rf"travel\w*)))(?:'|\b)",
    re.IGNORECASE,
)
TRAVELS = re.compile(
    r"\b(?:road|roads|way|journey\w*|travel\w*|voyage|passage|rid(?:e|ing)|rode|driv(?:e|ing)|coach\w*|reach\w*|"
    r"get|getting|got|march\w*|walk\w*|crossing|crossed|sail\w*|trip|took|taken|take|need\w*|required|cost|"
    r"distance|set(?:ting)?\s+(?:out|off)|start\w*|"
    r"lay\s+between|between|made|came|come|coming|arriv\w*|bring|brought|climbed|stepped|spent|used\s+up|lasted|"
    r"did|leav\w+|left|mud|snow)\b",
    re.IGNORECASE,
)
NOT_THE_WAY = re.compile(
    r"\b(?:(?:days?|weeks?)\s+later|day\s+after\s+(?:he|she|his|her)|stay(?:ed|ing)?|return\w*|(?:second|third|next|"
    r"last|another|former|earlier|later|previous)\s+(?:journey|voyage|visit|time)|before\s+(?:starting|setting|leaving|"
    r"(?:his|her)\s+(?:start|departure))|home\s+from|after\s+(?:reaching|arriv\w+|(?:his|her)\s+arrival)|"
    r"before\s+(?:he|she)\s+(?:started|set\s+out|left)|allowed|reckoned|supposing|"
    r"'s\s+time|would(?:\s+not)?\s+(?:be|have\s+(?:been|taken))|might|if|"
    r"must\s+have|ago|later\s+(?:he|she)|next)\b"
)
COMES = re.compile(
    r"\b(?:came|come|coming|comes|arriv\w*|settle\w*|first|moved|moving|removed|set\s+(?:foot|eyes)|appear\w*|"
    r"newcomer|stranger|resid\w*|abode|known|brought|sight|reached|entered|made\s+(?:his|her)\s+home|make\s+(?:his|"
    r"her)\s+home|turned\s+up|life\s+in|dated|newly|until|took\s+(?:him|her)\s+in|walked|lived\s+in|drove|"
    r"heard\s+of|took|taken|set\s+up|removal|home|been\s+in|been\s+at|since)\b"
)
NOT_COMING = re.compile(
    r"\b(?:came\s+back|come\s+back|returned|again|sold|left|familiar|married|died|born|"
    r"[Bb]y\s+(?:1\d|20)\d\d|every\s+(?:year|summer|"
    r"winter|spring|autumn|month|week|day)|would|as\s+early)\b|(?:'s|\bhis|\bher)\s+(?:neighbours?|landlord|landlady|"
    r"cousin|uncle|brother|sister|friend)\b"
)
YEARS = re.compile(rf"(?<![\w-])(?P<year>{YEAR})(?![\w-])")
WEEKDAYS = re.compile(rf"\b(?P<day>{WEEKDAY})\b")
LINKED = re.compile(
    r",?\s+(?:when|that|on\s+which|in\s+which|upon\s+which|as|which|an?\s+\w+\s+(?:after|before)|the\s+(?:day|year|"
    r"one)|at\s+the\s+moment)\b"
)
GOES_TO = re.compile(r"[\w\s]{2,30}?\b(?:for|to|in|at|into)\s+[A-Z]")
WORDS = DATE_WORDS | frozenset(
    words("""
    born birth birthplace borne breath light world life native cradle delivered live lived lives living dwelt
    dwells dwelling resided resides residing resident lodged lodges lodging lodgings inhabited tenant
    householder householders neighbour neighbours landlady landlord home homes address household latchkey key
    hat child son daughter let house cottage room rooms door doorstep step bed bedroom window windows roof
    hearth fireside quarters floor slept sleeps number supper cat dog fire lamp flat chambers garret attic
    garden parlour kitchen plate walls days nights weeks day latch
    """)
)
