"""Deaths that are told by what they leave behind: a grave, a widow, a will, somebody who mourns.

Such words are sometimes said of another bearer of the name (`the late Mr. Darcy` is a father), so that each of these
deaths counts only while its subject hardly acts any more.
"""

import re

from tallystick.rooms.studio.continuity.people import NAME
from tallystick.rooms.studio.continuity.vocabulary import words

_N = rf"(?:poor\s+|old\s+)?(?P<name>{NAME})(?!\w)"
_NOT_HIS = r"(?!'|\w)"
_GRAVEYARD = r"(?:churchyard|cemetery|graveyard|grave|ground|earth|vault|tomb|crypt|clay|turf|sod|yews?)"

CAUSES = re.compile(
    rf"\b(?:(?:fever|plague|cholera|typhus|illness|consumption|influenza|disease|sickness|smallpox|pneumonia|sea|river|"
    rf"fire|storm|cold|bullet|shot|blow|fall|wound|poison|drink|death|Death|winter|war|lightning|horse|tree|flood|"
    rf"frost|hunger)\s+(?:had\s+|that\s+)?(?:taken|took|claimed|killed|swallowed|finished|carried\s+off|"
    rf"made\s+an\s+end\s+of|(?:come|came)\s+for)|[Ll]ife\s+(?:had\s+)?(?:left|went\s+out\s+of|gone\s+out\s+of|"
    rf"ebbed\s+from|ebbed\s+out\s+of)|carried\s+off|[Dd]rink\s+that\s+killed|"
    rf"earth\s+(?:had\s+)?closed\s+over)\s+{_N}{_NOT_HIS}(?=\s*[.,;]|\s+(?:in|at|on|before|within|that|and|last|when|"
    rf"as|for|instead|too|first|while|during|after|with|off)\b)"
)
"""What takes somebody away."""
BURIALS = re.compile(
    rf"\b(?:(?:put|laid|lowered|lower|carried|bore|took|followed|brought)\s+{_N}{_NOT_HIS}\s+(?:in(?:to)?|to|"
    rf"under)\s+(?:the\s+|his\s+|her\s+|that\s+)?(?:\w+\s+){{0,2}}?{_GRAVEYARD}\b|(?:finished|did\s+for|"
    rf"put\s+an\s+end\s+to|was\s+the\s+(?:death|end)\s+of|gave\s+up|Lord\s+took|God\s+took|gr[eo]w(?:n|"
    rf"ing)?\s+over)\s+(?P<named7>{NAME}){_NOT_HIS}(?=\s*[.,;]|\s+(?:on|in|at|before|that|by|as|instead|too|what|"
    rf"within|last|first|when|while|during|with|after)\b)|"
    rf"(?:found)\s+(?P<named8>{NAME}){_NOT_HIS}(?:(?!\ban?\b)[^;]){{0,30}}?\s(?:quite\s+|"
    rf"stone\s+)?cold\b(?!\s+(?:meat|tea))|"
    rf"(?:carried)\s+(?P<named9>{NAME}){_NOT_HIS}\s+out\s+feet\s+first\b|\b[Ww]ith\s+(?P<named10>{NAME})\s+dead\b|"
    rf"burying\s+(?P<named11>{NAME}){_NOT_HIS}|(?:put|laid)\s+(?P<named12>{NAME}){_NOT_HIS}\s+(?:underground|(?:beside|"
    rf"by|next\s+to|with)\s+(?:his|her)\s+(?:wife|husband|mother|father|people|sister|brother))\b|"
    rf"where\s+they\s+(?:had\s+)?laid\s+(?P<named13>{NAME}){_NOT_HIS}|"
    rf"lost\s+(?P<named14>{NAME}){_NOT_HIS}\s+to\s+the\s+(?:fever|plague|sea|cholera|war|cold)\b|"
    rf"to\s+die\s+was\s+(?P<named15>{NAME}){_NOT_HIS}|(?:stone|earth|turf|service|"
    rf"prayers)\s+(?:was\s+)?over\s+(?P<named16>{NAME}){_NOT_HIS}|lid\s+(?:down\s+)?(?:on|"
    rf"over)\s+(?P<named17>{NAME}){_NOT_HIS}|inquest\s+(?:up)?on\s+(?P<named18>{NAME}){_NOT_HIS}|"
    rf"measured\s+(?P<named19>{NAME}){_NOT_HIS}\s+for\s+(?:his|her)\s+coffin|(?:put\s+on\s+black|into\s+mourning|"
    rf"bell\s+(?:was\s+)?(?:rung|rang|tolled)|end\s+(?:had\s+)?c[ao]me)\s+for\s+(?P<named20>{NAME}){_NOT_HIS}|"
    rf"\bgrave\b[^;]{{0,30}}\blast\s+of\s+(?P<named21>{NAME}){_NOT_HIS}|(?:laid|lay|"
    rf"carried)\s+(?P<named6>{NAME}){_NOT_HIS}\s+(?:to\s+rest|off(?!\s+(?:to|with|into|by|for|upstairs)\b))\b|"
    rf"(?:crushed|trampled|stabbed|beat|beaten|starved|"
    rf"burned|burnt|choked|bled|shot|cut)\s+(?P<named2>{NAME}){_NOT_HIS}\s+to\s+death\b|(?:found|saw|discovered|left|"
    rf"picked\s+up)\s+(?P<named3>{NAME}){_NOT_HIS}\s+(?:lying\s+)?(?:quite\s+|stone\s+)?(?:dead|drowned|murdered|"
    rf"lifeless|hanged|frozen)\b(?!\s+(?:asleep|tired|drunk|to))|(?:[Dd]ead\s+lay|(?:[Ss]o|[Tt]hus|[Hh]ere|[Tt]here|"
    rf"[Tt]hen)\b[^.;]{{0,30}}?\s(?:died|perished|fell|expired)|(?:[Kk]illed|[Dd]rowned|[Ss]lain|[Mm]urdered|[Hh]anged|"
    rf"[Cc]rushed|[Ss]tabbed|[Ss]trangled|[Tt]rampled|[Ff]rozen)\b[^.;]{{0,70}}?,)\s+(?P<named4>{NAME}){_NOT_HIS}|"
    rf"(?P<named5>{NAME})\s+(?:they|he|she|we)\s+(?:had\s+)?(?:buried|laid\s+to\s+rest)\b)"
)
"""What is done with the dead, and by whom."""
LEFT_BEHIND = re.compile(
    rf"(?P<name>{NAME})(?:'s|s'|')\s+(?:widow(?!')|widower|orphans?|relict|murderer|killer|remains|headstone|epitaph|"
    rf"obituary|burial|wake\b(?!\s+of)|last\s+(?:will|words\s+(?:were|had\s+been))|will\s+(?:was|had\s+been)\s+(?:read|"
    rf"proved)|name\s+(?:was\s+|had\s+been\s+)?(?:cut|carved|cast)\s+(?:on|in|into)|stone\s+(?:stood|leaned|was)|"
    rf"body\s+(?:was|had\s+been|lay|came|could)|soul\s+had\s+left)|\b(?:widow|corpse|(?:dead\s+)?body|remains|grave|"
    rf"tomb|headstone|coffin|relict|funeral|burial|ashes)\s+of\s+(?:poor\s+|old\s+|"
    rf"the\s+late\s+)?(?P<named2>{NAME}){_NOT_HIS}|\b[Tt]he\s+late\s+(?:lamented\s+)?(?P<named3>{NAME})(?!\w)|"
    rf"\b(?:mourned(?:\s+for)?|in\s+mourning\s+for|(?:in|wore|wearing)\s+black\s+for|tolled\s+for|"
    rf"widowed\s+by)\s+(?:poor\s+|old\s+)?(?P<named4>{NAME}){_NOT_HIS}|\b(?:sheet|blanket|cloth|"
    rf"shroud)\s+(?:up\s+)?over\s+(?P<named5>{NAME})'s\s+(?:face|head)\b|\b(?:closed|"
    rf"shut)\s+(?P<named6>{NAME})'s\s+(?:dead\s+|staring\s+)?eyes\b"
)
"""What remains of somebody."""
APPOSED = re.compile(
    r",\s+(?:who\s+(?:was|is|had\s+been)\s+)?(?:now|long|since|already|these\s+\w+\s+years|(?:\w+\s+)?(?:years?|"
    r"months?|weeks?|days?))?\s*dead(?=\s*,|\s+(?:these|this|for|since|now|and\s+(?:buried|gone))\b)|"
    r"\s+(?:had\s+)?left\s+a\s+(?:\w+\s+)?(?:widow|widower)\b"
)
"""Said of the name directly before it."""
TRIGGERS = frozenset(
    words("""
    fever plague cholera typhus illness consumption influenza disease sickness smallpox pneumonia sea river fire storm
    cold bullet shot blow fall wound poison drink death winter war lightning life carried earth churchyard cemetery
    graveyard grave ground vault tomb crypt clay turf sod yew yews dead drowned murdered lifeless hanged frozen died
    buried widow widower orphan orphans relict murderer killer remains headstone epitaph obituary burial wake will name
    stone body soul corpse coffin funeral ashes late mourned mourning black tolled widowed sheet blanket cloth shroud
    eyes tree horse flood frost hunger laid finished gave lord god grown growing feet words end burying underground wife
    husband mother father people lost die service perished expired slain crushed stabbed strangled trampled prayers lid
    inquest measured bell pulse sufferings
    """)
)


def name_span(found: re.Match[str]) -> tuple[int, int]:
    """Where the name stands that a match is about."""
    group = next(name for name, text in found.groupdict().items() if text)
    return found.span(group)
