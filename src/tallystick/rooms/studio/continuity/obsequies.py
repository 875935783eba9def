"""Deaths by the part that a name has in them: whose grave it is, who is found dead, who is shot, whom God is to rest.

Which noun, which verb and which order do not matter much; that the name is what death is done to does. Each of these
deaths counts only while its subject hardly acts any more.
"""

# ruff: noqa: ISC004 - a list of patterns, each over some lines

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.people import NAME
from tallystick.rooms.studio.continuity.vocabulary import words

_N = rf"(?:poor\s+|old\s+|the\s+late\s+|young\s+)?(?P<name>{NAME})(?!\w|')"
_NOUN = (
    r"(?:graveside|grave|coffin|funeral|burial|tomb|tombstone|gravestone|headstone|slab|mound|epitaph|hearse|bier|"
    r"shroud|undertaker|sexton|gravedigger|executors?|mourners?|wreath|corpse|remains|ashes|murder|murderer|death|"
    r"death-?bed|wake|requiem|widow|relict|obituary|inquest|coroner|dirge|knell|passing-bell|memorial|cenotaph|"
    r"widowhood|crape|crepe|mourning|gallows|executioner|hangman)"
)
_EARTH = (
    r"(?:churchyard|cemetery|graveyard|grave|vault|tomb|crypt|"
    r"coffin|mould|consecrated\s+ground|six\s+feet\s+of\s+earth)"
)
_GROUND = r"(?:earth|ground|soil|clay|turf|sod|grass|yews?|limes|elms?|cypress(?:es)?)"
_WOUND = (
    r"(?:shot|poisoned|stabbed|hanged|hung|drowned|trampled|crushed|smothered|strangled|beheaded|butchered|slaughtered|"
    r"burnt|burned|gored|knifed|garrotted|throttled|struck\s+down|cut\s+down|run\s+through|thrown\s+(?:from|under|off)|"
    r"flung\s+(?:from|under|off)|swept\s+away\s+by\s+the\s+(?:flood|river|sea|tide|current|water|torrent|waves?)|"
    r"dashed\s+to\s+pieces|blown\s+(?:to|up)|torn\s+to\s+pieces)"
)
_DEAD = (
    r"(?:(?<!for )(?<!half )(?<!nearly )(?<!almost )dead(?!\s+(?:asleep|tired|drunk|to\b))|lifeless|stone-?cold|"
    r"stark\s+and\s+cold|no\s+(?:life|breath|pulse)\s+(?:left\s+)?in\b|too\s+late\b|hanging\s+(?:from|by)|"
    r"not\s+breathing|(?:down\s+)?(?:in)?to\s+(?:the|his|her)\s+(?:grave|earth|ground|tomb|vault)|to\s+(?:the|his|"
    r"her)\s+(?:churchyard|grave|cemetery|burial|burying)|with\s+(?:his|her|a)\s+(?:throat|neck|skull|head)\s+(?:cut|"
    r"broken|crushed|smashed)|with\s+a\s+(?:knife|dagger|bullet|ball|arrow|sword)\s+(?:\w+\s+)?(?:in|through)|"
    r"face\s+down(?:wards?)?\s+in|floating)"
)
_OBSEQUIES = tuple(
    re.compile(pattern)
    for pattern in (
        # Whose it is.
        rf"\b{_NOUN}\b(?!\s+(?:warrant|sentence|threats?))(?:\s+(?!of\b|was\b|were\b|is\b|seemed\b|his\b|her\b|"
        rf"for\b|by\b|with\b|went\b|told\b)[\w'-]+){{0,4}}?\s+(?:of|for|over)\s+{_N}(?!\s+to\b)",
        rf"\b(?:passing|clothes|belongings|effects)\s+of\s+{_N}(?=\s+(?:had|made|was|were|caused|left)\b)",
        rf"\b(?:dead|cold|waxen|stiffened|lifeless)\s+(?:\w+\s+)?(?:face|hands?|body|eyes|lips|form|limbs|"
        rf"fingers)\s+of\s+{_N}",
        rf"\b(?:folded|crossed)\s+the\s+hands\s+of\s+{_N}",
        # A body that others have to do with.
        rf"\b(?:gave\s+(?:up|back)|found|finished\s+with|recovered|identified|examined|opened|claimed|released|"
        rf"washed|wrapped|"
        rf"covered|uncovered|buried|burned|burnt|lowered|discovered|viewed|dragged\s+(?:up|out)|pulled\s+out|"
        rf"brought\s+(?:in|"
        rf"up|down|home)|carried\s+(?:in|up|down|home|out)|laid\s+out|lay\s+out|watched\s+(?:by|over)|sat\s+(?:by|"
        rf"with)|stood\s+"
        rf"over|knelt\s+(?:by|beside|over))\s+(?:poor\s+|old\s+)?(?P<name>{NAME})(?:'s|')\s+(?:dead\s+|drowned\s+|"
        rf"poor\s+|"
        rf"naked\s+)?body\b(?!\s+and\s+(?:soul|mind))",
        rf"\b(?:outlived|survived|buried|widowed\s+by|bereaved\s+of)\s+{_N}(?=\s*[.,;]|\s+(?:by|and|for|in|on)\b)",
        rf"\b(?:(?:ship|boat|vessel|raft|ferry|barge)\s+(?:had\s+)?(?:went|gone|sank|sunk)(?:\s+down)?\s+with|"
        rf"(?:made\s+away\s+with))\s+{_N}",
        rf"\b(?:wave|sea|current|surf|avalanche|landslide|shark|wolves|mob|guillotine|rope|headsman|"
        rf"firing\s+party)\s+(?:had\s+)?(?:took|taken|got|had|swallowed|buried|tore)\s+{_N}(?=\s*[.,;]|\s+(?:off|"
        rf"from|overboard|and|at|in|on|that)\b)",
        rf"\b(?:soldiers|sheriff|firing\s+party|squad|hangman|rebels|brigands|robbers|murderers|thieves|"
        rf"enemy)\s+(?:had\s+)?(?:shot|hanged|killed|stabbed|cut\s+down|butchered)\s+{_N}",
        rf"\b(?:coroner|jury|crowner)\s+(?:had\s+)?sat\s+(?:up)?on\s+{_N}",
        rf"\b(?:black\s+horses|hearse|plumes)\s+[^;:.]{{0,20}}?{_N}(?=\s+to\b)",
        rf"\blast\s+(?:breath|sigh|hours?|illness|agony)\s+of\s+{_N}",
        rf"\bOf\s+{_N}\s+there\s+(?:was|were|remained|is)\b[^;:.]{{0,20}}?\b(?:\w*stone|grave|left|memory|name|"
        rf"dust|bones|nothing)\b",
        rf"\b(?:waves?|waters?|sea|river|ice|earth|sand|mud|bog|flames|flood|snow|lake|"
        rf"pool)\s+(?:had\s+)?(?:closed|shut|met|rolled|broke|broken)\s+over\s+{_N}",
        rf"\b(?:knife|bullet|ball|sword|blade|arrow|lance|bayonet|pike|axe|dagger|spear)\s+(?:had\s+)?(?:found|"
        rf"pierced|entered|reached|split|passed\s+through|gone\s+through|went\s+through)\s+"
        rf"(?:the\s+)?(?:heart|brain|throat|breast|lungs?|skull)\s+of\s+{_N}",
        rf"\b(?:cloth|sheet|blanket|shroud|coat|flag|cloak|pall)\s+(?:up\s+)?over\s+(?:the\s+(?:\w+\s+)?(?:face|"
        rf"head|eyes|body)\s+of\s+)?{_N}(?=\s*[.,;]|\s+(?:and|where|when)\b)",
        rf"(?P<name>{NAME})(?:'s|s'|')\s+(?:\w+\s+)?(?:heirs|executors?|mourners|undertaker|creditors|"
        rf"pall-?bearers|grave-?digger|graveside|orphan\w*|assassins?|slayer)\b",
        rf"\b(?:grass|daisies|nettles|moss|ivy|weeds|earth|clods|turf|snow)\s+[^;:,.]{{0,30}}?\bover\s+{_N}",
        rf"\b(?:soul|spirit|life|breath|heart|pulse)\s+of\s+{_N}\s+(?:had\s+)?(?:departed|fled|passed|went|"
        rf"gone|left|stopped|ceased|failed|ended|was\s+over)",
        rf"\b[Tt]he\s+(?:last|end)\s+of\s+{_N}(?=\s*[.,;]|\s+(?:was|came|had\s+come)\b)",
        rf"\b(?:stone|tablet|slab|brass(?!\s+plate)|cross|marble)\b[^;:.]{{0,50}}?\b(?:name|memory)\s+of\s+{_N}",
        rf"\b(?:will|estate|effects|books|furniture)\s+of\s+(?:the\s+late\s+)?{_N}\s+(?:was|were|"
        rf"had\s+been)\s+(?:read|proved|opened|wound\s+up|sold\s+up)\b",
        rf"\b(?:put\s+an\s+end\s+to|made\s+an\s+end\s+of|ended\s+the\s+(?:life|days)\s+of|"
        rf"was\s+the\s+death\s+of)\s+{_N}(?=\s*[.,;]|\s+(?:in|on|at|that)\b)",
        rf"\bcost\s+{_N}(?=\s+(?:his|her)\s+life\b)",
        rf"\b(?:closed|shut)\s+the\s+(?:\w+\s+)?eyes\s+of\s+{_N}",
        rf"\b(?:[Nn]othing|[Ll]ittle|[Aa]ll\s+that)\s+(?:was\s+|were\s+|is\s+)?(?:left|remained|remains)\s+of\s+{_N}",
        # Who is found, struck, brought home dead.
        rf"\b(?:struck|shot|found|left|laid|brought|carried|cut|pulled|dragged|fished|hauled|let|lowered|took|drew|"
        rf"dug|lifted|bore|knocked|hit|picked\s+up|picked|got)\s+{_N}\s+[^;:.]{{0,45}}?\b{_DEAD}",
        rf"\b(?:grave|coffin|ground|earth|tomb|vault)\b[^;:.]{{0,20}}?\b(?:into\s+which|in\s+which|"
        rf"where)\s+(?:they|the\s+\w+|we)\s+(?:had\s+)?(?:laid|put|lowered)\s+{_N}",
        # What is done to him.
        rf"(?P<name>{NAME})\s+(?:was|were|had\s+been|has\s+been)\s+(?:\w+ly\s+)?{_WOUND}\b(?!\s+(?:at|"
        rf"in\s+the\s+(?:arm|leg|foot|hand|shoulder|knee|thigh))\b(?!\s+(?:dawn|sunrise|the)))",
        rf"(?P<name>{NAME})\s+(?:was|were|had\s+been)\s+(?:lost\s+(?:with|off|on|in)\s+the\b|laid\s+(?:beside|"
        rf"under|by|next\s+to|in)\b|beyond\s+(?:the\s+reach\s+of\s+(?:help|"
        rf"pain|man|medicine|(?:the\s+)?(?:doctors?|law|surgeons?|physicians?)|any|all|human)|all|any)\b|"
        rf"past\s+(?:all|any|help|saving|mending)\b|(?:not|never)\s+(?:\w+\s+){{0,3}}?alive\b)",
        # Where he is now.
        rf"(?P<name>{NAME})\s+(?:had\s+(?:now\s+)?(?:been|lain)|was|lay|has\s+lain|lies|slept|sleeps|rested|"
        rf"rests)\s+[\w\s-]{{0,25}}?(?:in|under|beneath)\s+(?:the\s+|his\s+|her\s+|a\s+)?(?:\w+\s+)?{_EARTH}\b",
        rf"(?P<name>{NAME})\s+(?:had\s+(?:now\s+)?(?:been|lain)|has\s+lain)\s+(?:these\s+|for\s+)?[\w-]+\s+(?:days|"
        rf"weeks|months|years|winters)\s+(?:in|under|beneath)\s+the\s+(?:\w+\s+)?{_GROUND}\b",
        rf"(?P<name>{NAME})\s+(?:rests?|rested|lies|lay|sleeps|slept)\s+(?:\w+\s+)?(?:in|under|beneath)\s+(?:the|"
        rf"a)\s+(?:\w+\s+)?(?:aisle|chancel|nave|transept|brass|slab|tombstone|crypt|vault|cross)\b",
        rf"(?P<name>{NAME}),\s+whom\s+(?:they|we|the\s+\w+)\s+(?:had\s+)?(?:buried|hanged|shot|drowned|killed|"
        rf"laid\s+to\s+rest)\b",
        # What is said after the name of the dead.
        rf"(?P<name>{NAME}),?\s+(?:\(|,)?\s*(?:God|Heaven|the\s+Lord|may\s+God)?\s*(?:rest|keep|"
        rf"receive)\s+(?:him|her|his\s+soul|her\s+soul)\b",
        rf"(?P<name>{NAME}),?\s+(?:of\s+(?:blessed|happy|sainted|dear|honoured)\s+memory|"
        rf"peace\s+(?:be\s+)?(?:to|with|on)\s+(?:him|her|his|her))\b",
        rf"(?P<name>{NAME})\s+(?:had\s+)?(?:succumbed|fell\s+at\s+[A-Z]\w+(?=\s*[.,;])|"
        rf"fallen\s+at\s+[A-Z]\w+(?=\s*[.,;])|not\s+lived\s+to|ended\s+(?:his|her)\s+(?:days|life)|"
        rf"lay\s+in\s+state|never\s+c[ao]me\s+(?:out\s+of\s+the\s+(?:chloroform|ether|faint|coma|fever|water|mine|"
        rf"sea|fire)|up\s+again|round\s+again)|(?:was|had\s+been)\s+taken\s+(?:off\s+)?by\s+(?:an?\s+|"
        rf"the\s+)?(?:stroke|fit|fever|apoplexy|chill|cholera|plague|seizure|cancer|consumption)|"
        rf"gone\s+the\s+way\s+of\s+all\s+flesh|joined\s+(?:his|her)\s+(?:fathers|ancestors|wife|husband)|"
        rf"crossed\s+the\s+river|breathed\s+out\s+(?:his|her)\s+(?:life|soul)|gone\s+under\s+the\s+(?:sod|turf|"
        rf"ground)|dropped\s+down\s+dead)\b",
    )
)
"""Each with the name it is about."""
_WORDS = frozenset(
    words("""
        agony aisle alive ancestors apoplexy arrow ashes assassin assassins avalanche away axe ball barge bayonet
    beheaded     belongings bereaved beyond bier blade blanket blown boat body bog brass breath breathing brigands
    bullet burial buried     burned burnt burying butchered cancer cemetery cenotaph chancel chill chloroform cholera
    churchyard clay cloak clods     cloth clothes coat coffin cold coma consumption coroner corpse cost crape
    creditors crepe cross crossed crowner     crushed crypt current cut cypress dagger daisies dashed dead death
    death-bed deathbed dirge done dropped drowned     earth effects elm elms end ended enemy epitaph estate ether
    executioner executor executors eyes face faint fallen     fathers fell ferry fever fit flag flames flesh floating
    flood flung folded funeral furniture gallows garrotted god     gored grass grave gravedigger graveside gravestone
    graveyard ground guillotine hanged hanging hangman headsman     headstone hearse heart heaven heirs horses hour
    hours hung ice illness inquest ivy jury killed knell knife knifed     laid lake lance landslide last late left
    life lifeless limes lived lord lost marble memorial memory mob moss mould     mound mourner mourners mourning mud
    murder murderer murderers nave neck nettles never obituary orphan orphans     outlived pall pallbearers passing
    passing-bell peace pike plague plumes poisoned pool proved pulse raft rebels     relict remained remains requiem
    rest robbers rope run sand sea seizure sexton shark sheet sheriff ship shot shroud     sigh skull slab slaughtered
    slayer smothered snow sod soil soldiers soul spear spirit squad stabbed stark state     stiffened stone stone-cold
    strangled stroke struck succumbed surf survived swept sword tablet thieves throat     throttled thrown tomb
    tombstone torn trampled transept turf undertaker vault vessel wake water waters wave waves     waxen weeds widow
    widowed widowhood wolves wreath yew yews
    """)
)


def obsequies(binder: Binder) -> Iterator[tuple[int, re.Match[str]]]:
    """Every such death in the sentences that name a person, with the name it is about."""
    prose = binder.prose
    for number in prose.with_words(_WORDS):
        sentence = prose.sentences[number]
        people = [one for one in binder.mentions(number) if binder.cast.is_person(one.key)]
        if people:
            spans = [(one.start, sentence.end) for one in people]
            for found in (*_led_by(prose.told, spans), *_led_to(prose.told, (sentence.start, people[-1].end))):
                yield number, found


def _led_by(told: str, spans: list[tuple[int, int]]) -> Iterator[re.Match[str]]:
    """The name leads: it is enough to look where one stands."""
    for pattern in _LED_BY:
        for start, end in spans:
            if found := pattern.match(told, start, end):
                yield found


def _led_to(told: str, span: tuple[int, int]) -> Iterator[re.Match[str]]:
    for pattern in _LED_TO:
        yield from pattern.finditer(told, span[0], min(span[1] + _TAIL, len(told)))


_LED_BY = tuple(pattern for pattern in _OBSEQUIES if pattern.pattern.startswith("(?P<name>"))
_LED_TO = tuple(pattern for pattern in _OBSEQUIES if pattern not in _LED_BY)
_TAIL = 80
"""Characters after the last name that may still belong to it."""
