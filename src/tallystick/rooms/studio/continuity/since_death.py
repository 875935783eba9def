"""The years since a death, held against the date of the scene and the year of the death.

A scene may say when it is, in the `date` of its front matter; a card or another scene says when somebody died.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from tallystick.rooms.studio.book.nouns import Scene
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.comparing import Conflict
from tallystick.rooms.studio.continuity.dates import Moment, read_date
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import NAME
from tallystick.rooms.studio.continuity.vocabulary import NUMBER, number_of

_SINCE = re.compile(
    rf"\b(?P<n>{NUMBER})\s+years?\s+(?:since|after)\s+(?:the\s+(?:death|burial|funeral)\s+of\s+(?P<of>{NAME})|"
    rf"(?P<his>{NAME})(?:'s|')\s+(?:death|burial|funeral)|(?P<he>{NAME})\s+(?:had\s+)?(?:died|was\s+buried))"
    rf"|(?P<dead>{NAME})\s+had\s+(?:now\s+)?been\s+(?:dead\s+(?:for\s+)?(?P<m>{NUMBER})\s+years|"
    rf"(?P<k>{NUMBER})\s+years\s+(?:dead|in\s+(?:his|her)\s+grave))",
    re.IGNORECASE,
)
_NAMES = ("of", "his", "he", "dead")


def miscounted_years(
    tellings: Sequence[tuple[Narration, Binder]], facts: Sequence[Fact], dates: Mapping[str, Moment]
) -> Iterator[Conflict]:
    """Every count of years that the two dates do not give.

    Args:
        tellings: The scenes.
        facts: What the cards settle and the scenes tell.
        dates: The date of each scene that has one, by its path.
    """
    died = {fact.subject: fact for fact in facts if fact.attribute == "died" and fact.value[0]}
    for narration, binder in tellings:
        today = dates.get(narration.prose.path)
        if today is None or not today.year:
            continue
        for number, found in narration.prose.matches(_SINCE, {"years", "year"}):
            yield from _miscounted(narration, binder, number, found, died, today)


def dates_of(scenes: Sequence[Scene]) -> dict[str, Moment]:
    """The date of each scene whose front matter has one."""
    read = {scene.path: read_date(str(scene.front["date"])) for scene in scenes if scene.front.get("date")}
    return {path: moment for path, moment in read.items() if moment is not None}


def _miscounted(
    narration: Narration, binder: Binder, number: int, found: re.Match[str], died: Mapping[str, Fact], today: Moment
) -> Iterator[Conflict]:
    group = next(name for name in _NAMES if found.group(name))
    start, end = found.span(group)
    subject = next((one for one in binder.mentions(number) if start <= one.start and one.end <= end), None)
    death = died.get(subject.key) if subject else None
    count = number_of(next(part for name in ("n", "m", "k") if (part := found.group(name))))
    if subject is None or death is None or count is None or narration.prose.sentences[number].is_question:
        return
    whole = int(today.year) - int(death.value[0])
    if count in {whole - 1, whole} or (not death.value[1] and count == whole + 1):
        return
    told = fact_at(narration.prose, number, found.span(), subject, "died", death.value, found.group())
    message = (
        f"{subject.name} died in {death.value[0]}: in {today.year} that is {whole - 1} or {whole} years, not {count}."
    )
    yield Conflict(first=death, second=told, message=message)
