"""Deaths by the part that a name has in them: whose heirs, whom the waves close over, whom God is to rest.

Each of these deaths counts only while its subject hardly acts any more.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.people import NAME
from tallystick.rooms.studio.continuity.vocabulary import words

_N = rf"(?:poor\s+|old\s+|the\s+late\s+|young\s+)?(?P<name>{NAME})(?!\w|')"
_LEFT = (
    r"(?:executors?|heirs|mourners|pallbearers|creditors|passing|death-?bed|last\s+(?:breath|hours?|illness)|"
    r"dead\s+(?:face|hands?|lips|eyes|body|hand))"
)
_OFFICERS = r"(?:undertaker|coroner|executioner|sexton|gravedigger|hangman|headsman|hearse|black\s+horses)"
_EARTH = r"(?:churchyard|cemetery|graveyard|grave|vault|tomb|crypt|coffin|earth|ground)"
_LED_TO = (
    re.compile(rf"\b{_LEFT}\s+of\s+{_N}"),
    re.compile(
        rf"\b{_OFFICERS}\b[^;.]{{0,30}}?\s(?:for|upon|over|with|drew|buried|measured|laid\s+out|head\s+of|"
        rf"body\s+of)\s+{_N}"
    ),
    re.compile(rf"\b(?:waves?|sea|waters?|earth|turf|grass|snow|ice)\b[^;.]{{0,24}}?\b(?:over|under)\s+{_N}"),
    re.compile(
        rf"\b(?:wave|sea|current|flood)\s+(?:had\s+)?(?:took|taken|swept|carried)\s+{_N}\s+(?:off|away|under|out)\b"
    ),
    re.compile(rf"\b(?:went\s+down|was\s+lost|sank)\s+with\s+{_N}"),
    re.compile(rf"\b(?:shot|struck|strikes|cut)\s+{_N}\s+(?:dead|down\s+from|against)\b"),
    re.compile(rf"\b(?:let|lowered|drew|bore|followed)\s+{_N}\s+[^;.]{{0,20}}?\b{_EARTH}\b"),
    re.compile(rf"\b(?:heart|soul|spirit)\s+of\s+{_N}\s+(?:had\s+)?(?:stopped|ceased|departed|fled|left|passed)\b"),
    re.compile(rf"\b(?:outlived|wept\s+for|survived)\s+{_N}(?=\s*[.;]|,\s+whom\s+they\s+had\s+buried)"),
)
"""The name follows."""
_LED_BY = (
    re.compile(rf"(?P<name>{NAME})(?:'s|')\s+{_LEFT}\b"),
    re.compile(rf"(?P<name>{NAME}),?\s+(?:God|Heaven|the\s+Lord)\s+(?:rest|keep|receive)\s+(?:him|her|his|her)\b"),
    re.compile(
        rf"(?P<name>{NAME})\s+(?:had\s+|was\s+|had\s+been\s+)?(?:succumbed|lay\s+in\s+state|joined\s+(?:his|"
        rf"her)\s+(?:wife|"
        r"husband|fathers)|fell\s+at\s+[A-Z]\w+(?=\s*[.,;])|not\s+lived\s+to|ended\s+(?:his|her)\s+(?:days|life)|"
        r"never\s+c[ao]me\s+(?:out\s+of\s+the|up\s+again|round\s+again)|taken\s+(?:off\s+)?by\s+(?:an?\s+|the\s+)?"
        r"(?:stroke|fit|fever|apoplexy|chill|cholera|plague|seizure)|(?:shot|hanged)\s+for|lost\s+with\s+the|"
        r"dashed\s+to\s+pieces|thrown\s+from\s+the|poisoned|beyond\s+the\s+reach\s+of\s+(?:doctors|help|"
        rf"medicine)|\w+\s+(?:days|weeks|months|years)\s+in\s+the\s+{_EARTH}|rests\s+in\s+the)\b"
    ),
)
"""The name leads."""
_WORDS = frozenset(
    words("""
    executor executors heirs mourners pallbearers creditors passing deathbed death-bed last dead undertaker coroner
    executioner sexton gravedigger hangman headsman hearse horses wave waves sea water waters earth turf grass snow ice
    current flood down lost sank shot struck strikes cut let lowered drew bore followed heart soul spirit outlived wept
    survived rest keep receive succumbed state joined fell lived ended never taken hanged dashed thrown poisoned beyond
    days weeks months years rests
    """)
)
_TAIL = 80
"""Characters after the last name that may still belong to it."""


def obsequies(binder: Binder) -> Iterator[tuple[int, re.Match[str]]]:
    """Every such death in the sentences that name a person, with the name it is about."""
    prose = binder.prose
    for number in prose.with_words(_WORDS):
        sentence = prose.sentences[number]
        people = [one for one in binder.mentions(number) if binder.cast.is_person(one.key)]
        for pattern in _LED_BY:
            yield from (
                (number, found) for one in people if (found := pattern.match(prose.told, one.start, sentence.end))
            )
        last = min(people[-1].end + _TAIL, sentence.end) if people else sentence.start
        for pattern in _LED_TO:
            yield from ((number, found) for found in pattern.finditer(prose.told, sentence.start, last))
