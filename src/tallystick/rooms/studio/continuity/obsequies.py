"""Deaths by the part that a name has in them: whose grave it is, who is found dead, who is shot, whom God is to rest.

Which noun, which verb and which order do not matter much; that the name is what death is done to does. Each of these
deaths counts only while its subject hardly acts any more.
"""

import re

from tallystick.rooms.studio.continuity.people import NAME
from tallystick.rooms.studio.continuity.vocabulary import words

_N = rf"(?:poor\s+|old\s+|the\s+late\s+|young\s+)?(?P<name>{NAME})(?!\w|')"
_NOUN = (
    r"(?:graveside|grave|coffin|funeral|burial|tomb|tombstone|gravestone|headstone|slab|mound|epitaph|hearse|bier|"
    r"shroud|undertaker|sexton|gravedigger|executors?|mourners?|wreath|corpse|remains|ashes|murder|murderer|death|"
    r"death-?bed|wake|requiem|widow|relict|obituary|inquest|coroner|dirge|knell|passing-bell|memorial|cenotaph|"
    r"widowhood|crape|crepe|mourning|gallows|executioner|hangman)"
)
_EARTH = r"(?:churchyard|cemetery|graveyard|grave|vault|tomb|crypt|coffin|mould|consecrated\s+ground|six\s+feet\s+of\s+earth)"
_GROUND = r"(?:earth|ground|soil|clay|turf|sod|grass|yews?|limes|elms?|cypress(?:es)?)"
_WOUND = (
    r"(?:shot|poisoned|stabbed|hanged|hung|drowned|trampled|crushed|smothered|strangled|beheaded|butchered|slaughtered|"
    r"burnt|burned|gored|knifed|garrotted|throttled|struck\s+down|cut\s+down|run\s+through|thrown\s+(?:from|under|off)|"
    r"flung\s+(?:from|under|off)|swept\s+away|dashed\s+to\s+pieces|blown\s+(?:to|up)|torn\s+to\s+pieces)"
)
_DEAD = (
    r"(?:(?<!for )(?<!half )(?<!nearly )(?<!almost )dead(?!\s+(?:asleep|tired|drunk|to\b))|lifeless|stone-?cold|stark\s+and\s+cold|no\s+(?:life|breath|pulse)\s+(?:left\s+)?in\b|too\s+late\b|"
    r"hanging\s+(?:from|by)|not\s+breathing|(?:down\s+)?(?:in)?to\s+(?:the|his|her)\s+(?:grave|earth|ground|tomb|vault)|"
    r"to\s+(?:the|his|her)\s+(?:churchyard|grave|cemetery|burial|burying)|with\s+(?:his|her|a)\s+(?:throat|neck|skull|head)\s+(?:cut|broken|crushed|smashed)|"
    r"with\s+a\s+(?:knife|dagger|bullet|ball|arrow|sword)\s+(?:\w+\s+)?(?:in|through)|face\s+down(?:wards?)?\s+in|floating)"
)
OBSEQUIES = tuple(
    re.compile(pattern)
    for pattern in (
        # Whose it is.
        rf"\b{_NOUN}\b(?!\s+(?:warrant|sentence|threats?))(?:\s+(?!of\b|his\b|her\b|for\b|by\b|with\b|went\b|told\b)[\w'-]+){{0,4}}?\s+(?:of|for|over)\s+{_N}(?!\s+to\b)",
        rf"\blast\s+(?:breath|sigh|hours?|illness|agony)\s+of\s+{_N}",
        rf"\bOf\s+{_N}\s+there\s+(?:was|were|remained|is)\b[^;:.]{{0,20}}?\b(?:\w*stone|grave|left|memory|name|dust|bones|nothing)\b",
        rf"\b(?:waves?|waters?|sea|river|ice|earth|sand|mud|bog|flames|flood|snow|lake|pool)\s+(?:had\s+)?(?:closed|shut|met|rolled|broke|broken)\s+over\s+{_N}",
        rf"\b(?:knife|bullet|ball|sword|blade|arrow|lance|bayonet|pike|axe|dagger|spear)\s+(?:had\s+)?(?:found|pierced|entered|reached|split|passed\s+through|gone\s+through|went\s+through)\s+"
        rf"(?:the\s+)?(?:heart|brain|throat|breast|lungs?|skull)\s+of\s+{_N}",
        rf"\b(?:cloth|sheet|blanket|shroud|coat|flag|cloak|pall)\s+(?:up\s+)?over\s+(?:the\s+(?:\w+\s+)?(?:face|head|eyes|body)\s+of\s+)?{_N}(?=\s*[.,;]|\s+(?:and|where|when)\b)",
        rf"(?P<name>{NAME})(?:'s|s'|')\s+(?:\w+\s+)?(?:heirs|executors?|mourners|undertaker|creditors|pall-?bearers|grave-?digger|graveside|orphan\w*|assassins?|slayer)\b",
        rf"\b(?:grass|daisies|nettles|moss|ivy|weeds|earth|clods|turf|snow)\s+[^;:,.]{{0,30}}?\bover\s+{_N}",
        rf"\b(?:soul|spirit|life|breath|heart|pulse)\s+of\s+{_N}\s+(?:had\s+)?(?:departed|fled|passed|went|gone|left|stopped|ceased|failed|ended|was\s+over)",
        rf"\b[Tt]he\s+(?:last|end)\s+of\s+{_N}(?=\s*[.,;]|\s+(?:was|came|had\s+come)\b)",
        rf"\b(?:stone|tablet|slab|brass|cross|marble)\b[^;:.]{{0,50}}?\b(?:name|memory)\s+of\s+{_N}",
        rf"\b(?:will|estate|effects|books|furniture)\s+of\s+(?:the\s+late\s+)?{_N}\s+(?:was|were|had\s+been)\s+(?:read|proved|opened|wound\s+up|sold\s+up)\b",
        rf"\b(?:put\s+an\s+end\s+to|made\s+an\s+end\s+of|ended\s+the\s+(?:life|days)\s+of|was\s+the\s+death\s+of|cost)\s+{_N}(?=\s*[.,;]|\s+(?:in|on|at|his\s+life|her\s+life|that)\b)",
        rf"\b(?:closed|shut)\s+the\s+(?:\w+\s+)?eyes\s+of\s+{_N}",
        rf"\b(?:[Nn]othing|[Ll]ittle|[Aa]ll\s+that)\s+(?:was\s+|were\s+|is\s+)?(?:left|remained|remains)\s+of\s+{_N}",
        # Who is found, struck, brought home dead.
        rf"\b(?:struck|shot|found|left|laid|brought|carried|cut|pulled|dragged|fished|hauled|let|lowered|took|drew|dug|lifted|bore|knocked|hit|picked\s+up|"
        rf"picked|got)\s+{_N}\s+[^;:.]{{0,45}}?\b{_DEAD}",
        rf"\b(?:grave|coffin|ground|earth|tomb|vault)\b[^;:.]{{0,20}}?\b(?:into\s+which|in\s+which|where)\s+(?:they|the\s+\w+|we)\s+(?:had\s+)?(?:laid|put|lowered)\s+{_N}",
        # What is done to him.
        rf"(?P<name>{NAME})\s+(?:was|were|had\s+been|has\s+been)\s+(?:\w+ly\s+)?{_WOUND}\b(?!\s+(?:at|in\s+the\s+(?:arm|leg|foot|hand|shoulder|knee|thigh))\b(?!\s+(?:dawn|sunrise|the)))",
        rf"(?P<name>{NAME})\s+(?:was|were|had\s+been)\s+(?:lost\s+(?:with|off|on|in)\s+the\b|laid\s+(?:beside|under|by|next\s+to|in)\b|beyond\s+(?:the\s+reach|all|any)\b|"
        rf"past\s+(?:all|any|help|saving|mending)\b|(?:not|never)\s+(?:\w+\s+){{0,3}}?alive\b)",
        # Where he is now.
        rf"(?P<name>{NAME})\s+(?:had\s+(?:now\s+)?(?:been|lain)|was|lay|has\s+lain|lies|slept|sleeps|rested|rests)\s+[\w\s-]{{0,25}}?(?:in|under|beneath)\s+(?:the\s+|his\s+|her\s+|a\s+)?(?:\w+\s+)?{_EARTH}\b",
        rf"(?P<name>{NAME})\s+(?:had\s+(?:now\s+)?(?:been|lain)|has\s+lain)\s+(?:these\s+|for\s+)?[\w-]+\s+(?:days|weeks|months|years|winters)\s+(?:in|under|beneath)\s+the\s+(?:\w+\s+)?{_GROUND}\b",
        rf"(?P<name>{NAME})\s+(?:rests?|rested|lies|lay|sleeps|slept)\s+(?:\w+\s+)?(?:in|under|beneath)\s+(?:the|a)\s+(?:\w+\s+)?(?:aisle|chancel|nave|transept|brass|slab|tombstone|crypt|vault|cross)\b",
        # What is said after the name of the dead.
        rf"(?P<name>{NAME}),?\s+(?:\(|,)?\s*(?:God|Heaven|the\s+Lord|may\s+God)?\s*(?:rest|keep|receive)\s+(?:him|her|his\s+soul|her\s+soul)\b",
        rf"(?P<name>{NAME}),?\s+(?:of\s+(?:blessed|happy|sainted|dear|honoured)\s+memory|peace\s+(?:be\s+)?(?:to|with|on)\s+(?:him|her|his|her))\b",
        rf"(?P<name>{NAME})\s+(?:had\s+)?(?:succumbed|fell\s+at\s+[A-Z]\w+(?=\s*[.,;])|fallen\s+at\s+[A-Z]\w+(?=\s*[.,;])|not\s+lived\s+to|gone\s+the\s+way\s+of\s+all\s+flesh|joined\s+(?:his|her)\s+(?:fathers|ancestors|wife|husband)|crossed\s+the\s+river|"
        rf"breathed\s+out\s+(?:his|her)\s+(?:life|soul)|gone\s+under\s+the\s+(?:sod|turf|ground)|dropped\s+down\s+dead)\b",
    )
)
"""Each with the name it is about."""
OBSEQUY_WORDS = frozenset(
    words("""
    graveside grave coffin funeral burial tomb tombstone gravestone headstone slab mound epitaph hearse bier shroud undertaker sexton gravedigger
    executor executors mourner mourners wreath corpse remains ashes murder murderer death deathbed death-bed wake requiem widow relict obituary inquest
    coroner dirge knell passing-bell memorial cenotaph widowhood crape crepe mourning gallows executioner hangman grass daisies nettles moss ivy weeds
    earth clods turf snow soul spirit life breath heart pulse last end stone tablet brass cross marble will estate effects books furniture eyes left
    remained dead lifeless stone-cold stark late hanging breathing ground vault churchyard cemetery burying throat neck skull knife dagger bullet ball
    arrow sword face floating shot poisoned stabbed hanged hung drowned trampled crushed smothered strangled beheaded butchered slaughtered burnt burned
    gored knifed garrotted throttled struck cut run thrown flung swept dashed blown torn lost laid beyond past alive graveyard crypt mould soil clay sod yew
    yews limes elm elms cypress god heaven lord rest memory peace succumbed flesh fathers ancestors river dropped cost days waves wave water waters sea ice sand mud bog flames flood lake pool blade lance bayonet pike axe
    spear cloth sheet blanket coat flag cloak pall heirs creditors pallbearers orphan orphans assassin assassins slayer aisle chancel nave transept fell fallen
    lived sigh hour hours illness agony
    """)
)
