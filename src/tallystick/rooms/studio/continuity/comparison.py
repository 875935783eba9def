"""Which statements of the scenes cannot both be true with a card's or an earlier scene's."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date

from tallystick.records import record
from tallystick.rooms.studio.continuity.fields import appearance, kin, objects, place, rank
from tallystick.rooms.studio.continuity.rules import rule_of
from tallystick.rooms.studio.continuity.statements import END, NEAR, Statement
from tallystick.rooms.studio.continuity.story_time import NO_YEAR
from tallystick.rooms.studio.continuity.words import ACTS

Apart = Callable[[Statement, Statement], int | None]
Disagree = Callable[[Statement, Statement], bool]
_YEAR = 365
_LEAST_LATER = 3
"""Acts after a death from which the death was another's, or the person is not gone."""


@record
class Conflict:
    """Two statements that cannot both be."""

    first: Statement
    second: Statement
    message: str


_DISAGREE: dict[str, Disagree] = {
    "eyes": appearance.disagree,
    "hair": appearance.disagree,
    "beard": appearance.disagree,
    "moustache": appearance.disagree,
    "kin": kin.disagree,
    "kinname": kin.disagree,
    "count": kin.disagree,
    "title": rank.disagree,
    "occupation": rank.disagree,
    "height": objects.disagree,
    "build": objects.disagree,
    "handedness": objects.disagree,
    "side": objects.disagree,
    "hand": objects.disagree,
    "place": place.disagree,
}
_AMONG_SCENES = {"eyes", "hair", "handedness", "side", "count", "kin", "place"}
"""Fields in which two scenes alone can contradict each other."""
_EVERY_SIDE = {"hand"}
"""Fields that only hold for the moment a card names."""


def conflicts(cards: Sequence[Statement], told: Sequence[Statement], apart: Apart) -> Iterator[Conflict]:
    """Yield what a scene says against the cards, or else against an earlier scene.

    Args:
        cards: What the cards settle.
        told: What the scenes tell, in reading order.
        apart: Days between two statements, as far as the book gives them.
    """
    settled: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for one in cards:
        settled[(one.subject, one.field)].append(one)
    earlier: dict[tuple[str, str], list[Statement]] = defaultdict(list)
    for one in told:
        key = (one.subject, one.field)
        if one.field == "age":
            yield from _age_conflicts(settled, earlier[key], one, apart)
        else:
            against = _against_cards(settled[key], one) if settled[key] else None
            if against is not None:
                yield against
            # Where a card agrees, the earlier scene that says otherwise is the one to mend.
            among = _among_scenes(earlier[key], one) if against is not None or not settled[key] else None
            if among is not None:
                yield among
        earlier[key].append(one)


def _against_cards(settled: Iterable[Statement], one: Statement) -> Conflict | None:
    kind = one.field.partition(":")[0]
    disagree = _DISAGREE.get(kind)
    fitting = [card for card in settled if card.holds_in(one.order) and (card.hard or kind == "place")]
    if kind in _EVERY_SIDE:
        fitting = [card for card in fitting if card.first_scene == card.last_scene]
    if disagree is None or not fitting or not all(disagree(card, one) for card in fitting):
        return None
    return Conflict(first=fitting[0], second=one, message=_message(one, fitting[0]))


def _among_scenes(earlier: Sequence[Statement], one: Statement) -> Conflict | None:
    kind = one.field.partition(":")[0]
    disagree = _DISAGREE.get(kind)
    if disagree is None or kind not in _AMONG_SCENES or not earlier or not one.hard:
        return None
    hard = [other for other in earlier if other.hard]
    if not hard or not all(disagree(other, one) for other in hard):
        return None
    return Conflict(first=hard[0], second=one, message=_message(one, hard[0]))


def _age_conflicts(
    settled: dict[tuple[str, str], list[Statement]],
    earlier: Sequence[Statement],
    one: Statement,
    apart: Callable[[Statement, Statement], int | None],
) -> Iterator[Conflict]:
    low, high = (int(bound) for bound in one.value)
    for card in settled[(one.subject, "born")]:
        year = _year_of(one)
        if year is not None and not low - 1 <= year - int(card.value[0]) <= high + 1:
            message = f"Age conflict: {one.words} in the scene, {year - int(card.value[0])} by the year of birth."
            yield Conflict(first=card, second=one, message=message)
            return
    fitting = [card for card in settled[(one.subject, "age")] if card.holds_in(one.order)]
    if fitting:
        if all(high < int(card.value[0]) - 1 or low > int(card.value[1]) + 1 for card in fitting):
            yield Conflict(
                first=fitting[0],
                second=one,
                message=f"Age conflict: {one.words} in the scene, {fitting[0].words} on the card.",
            )
        return
    for other in earlier:
        days = apart(other, one)
        first_low, first_high = (int(bound) for bound in other.value)
        grown = 0 if days is None else days // _YEAR
        older = days is not None and low > first_high + grown + 1
        if older or (high < first_low + grown - (0 if days is None else 1) and days is not None):
            yield Conflict(
                first=other, second=one, message=f"Age conflict: {one.words} in the scene, {other.words} before."
            )
            return


def _year_of(one: Statement) -> int | None:
    if one.day is None:
        return None
    year = date.fromordinal(one.day).year
    return None if year == NO_YEAR else year


def _message(one: Statement, other: Statement) -> str:
    where = "on the card" if other.from_card else "before"
    label = rule_of(one.field).label
    return f"{label.capitalize()} conflict: {one.words} in the scene, {other.words} {where}."


def dead_conflicts(
    cards: Sequence[Statement], told: Sequence[Statement], acts: Sequence[Statement], spared: set[str]
) -> Iterator[Conflict]:
    """Yield those who act after a scene, or a day, on which they are dead.

    Args:
        cards: What the cards settle.
        told: What the scenes tell.
        acts: Who does what.
        spared: Those who the cards say live on, or walk after death.
    """
    deaths: dict[str, list[Statement]] = defaultdict(list)
    for one in (*cards, *told):
        if one.field == "dead" and one.subject not in spared and (not one.from_card or _dated(one)):
            deaths[one.subject].append(one)
    for subject, known in deaths.items():
        carded = [one for one in known if one.from_card]
        first = carded or known[:1]
        mine = [one for one in acts if one.subject == subject and (carded or one.value[0] in ACTS)]
        after = [one for one in mine if any(_after(death, one) for death in first)]
        if len({(one.order, one.at) for one in after}) > _LEAST_LATER:
            continue
        seen: set[int] = set()
        for one in after:
            if one.order in seen:
                continue
            seen.add(one.order)
            death = next(death for death in first if _after(death, one))
            yield Conflict(first=death, second=one, message=f"{one.name} is dead by then, but acts here ({one.words}).")


def _dated(one: Statement) -> bool:
    return one.day is not None or one.first_scene > 0 or one.last_scene < END


def _after(death: Statement, act: Statement) -> bool:
    if death.from_card:
        if death.first_scene == death.last_scene or death.first_scene > 0:
            return act.order > death.first_scene
        return death.day is not None and act.day is not None and act.day > death.day
    return act.order > death.order or (act.order == death.order and act.at > death.at + NEAR)
