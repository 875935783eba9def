"""Which two facts cannot both be true."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from tallystick.records import record
from tallystick.rooms.studio.continuity.colours import go_together
from tallystick.rooms.studio.continuity.dates import Moment, written
from tallystick.rooms.studio.continuity.elapsed import Elapsed
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.gazetteer import can_contain
from tallystick.rooms.studio.continuity.vocabulary import TITLES

_OPPOSITE_ENOUGH = 1.3
"""Two distances further apart than this are no longer two guesses at one."""


@record
class Conflict:
    """Two facts that cannot both be true."""

    first: Fact
    second: Fact
    message: str


class Comparer:
    """Compares the facts of one book."""

    def __init__(
        self, *, elapsed: Elapsed, nested: Callable[[str, str], bool], changed: Callable[[Fact, Fact], bool]
    ) -> None:
        """Compare with what the book says of time and place.

        Args:
            elapsed: The years that may have passed.
            nested: Whether the text itself puts one place into the other.
            changed: Whether the narration lets a look change between two facts.
        """
        self._elapsed = elapsed
        self._nested = nested
        self._changed = changed
        self._comparisons: tuple[tuple[Callable[[Fact], bool], Callable[[Fact, Fact], str | None]], ...] = (
            (lambda fact: fact.attribute in {"eyes", "hair", "beard"}, self._colour),
            (lambda fact: fact.attribute == "age", self._age),
            (lambda fact: fact.attribute in {"mother", "father", "husband", "wife"}, _kin),
            (lambda fact: fact.attribute.startswith("count:"), _count),
            (_is_place, self._place),
            (lambda fact: " from " in fact.attribute, _distance),
            (_is_date, _dated),
            # A trade may change; only a card fixes it. The dead are another rule's matter.
            (lambda fact: fact.attribute == "dead" or (fact.attribute == "trade" and not fact.from_card), _never),
        )

    def conflicts(self, facts: Iterable[Fact]) -> Iterator[Conflict]:
        """Each contradiction once, with the earliest fact that it contradicts."""
        groups: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        for fact in sorted(facts, key=lambda fact: (not fact.from_card, fact.place)):
            groups[(fact.subject, fact.attribute)].append(fact)
        for group in groups.values():
            yield from self._within(group)
        yield from self._ages_in_years(groups)

    def _within(self, group: list[Fact]) -> Iterator[Conflict]:
        """Each file against the cards, and each value that contradicts an earlier one, once."""
        told: set[tuple[object, ...]] = set()
        for at, second in enumerate(group):
            if second.from_card:
                continue
            for from_card in (True, False):
                found = self._earlier(group[:at], second, from_card=from_card)
                if found is None:
                    continue
                pair = frozenset({found.first.value, second.value})
                key = (from_card, pair, second.path, found.first.path) if from_card else (from_card, pair)
                if key not in told:
                    told.add(key)
                    yield found

    def _earlier(self, before: list[Fact], second: Fact, *, from_card: bool) -> Conflict | None:
        for first in before:
            if first.from_card == from_card and (message := self.clash(first, second)):
                return Conflict(first=first, second=second, message=message)
        return None

    def clash(self, first: Fact, second: Fact) -> str | None:
        """Why two facts of one attribute cannot both be true; None where they can."""
        if first.from_card and not (second.sure and _holds(first, second.order)):
            return None
        for belongs, compare in self._comparisons:
            if belongs(first):
                return compare(first, second)
        return (
            None
            if set(first.value) & set(second.value)
            else f"{second.name}: {second.words} here, {first.words} there."
        )

    def _colour(self, first: Fact, second: Fact) -> str | None:
        ones, others = [str(one) for one in first.value], [str(one) for one in second.value]
        if go_together(first.attribute, ones, others) or self._changed(first, second):
            return None
        if first.attribute != "eyes" and "grey" in others and not first.from_card:
            # Hair turns grey.
            return None
        return f"{second.name}'s {first.attribute}: {' and '.join(others)} here, {' and '.join(ones)} there."

    def _age(self, first: Fact, second: Fact) -> str | None:
        low, high = (int(part) for part in first.value)
        least, most = (int(part) for part in second.value)
        if first.details and second.details and first.details[0].isdigit() and second.details[0].isdigit():
            passed = int(second.details[0]) - int(first.details[0])
            fits = low + passed - 1 <= most and least <= high + passed + 1
            return None if fits else f"{second.name} is {second.words} after {passed} years, having been {first.words}."
        if most < low:
            return f"{second.name} is younger here ({second.words}) than before ({first.words})."
        since = first.place if not first.from_card else (first.valid_from, 0)
        passed = self._elapsed.between(since, second.place) + 1
        if least > high + passed:
            return f"{second.name} is {second.words} here, {first.words} there, and so much time has not passed."
        return None

    def _place(self, first: Fact, second: Fact) -> str | None:
        here, there = str(second.value[0]), str(first.value[0])
        if here == there or here in there or there in here or can_contain(here, there) or self._nested(here, there):
            return None
        if (
            first.attribute.startswith("whereabouts")
            and first.details[-1:] != second.details[-1:]
            and first.details[-1]
            and second.details[-1]
        ):
            return None
        if first.attribute == "home" and self._changed(first, second):
            return None
        what = {"in": "lies in", "home": "lives in", "birthplace": "was born in", "raised": "grew up in"}.get(
            first.attribute, "is in"
        )
        return (
            f"{second.name} {what} {second.words if second.attribute != 'in' else here.title()} "
            f"here, {there.title()} there."
        )

    def _ages_in_years(self, groups: dict[tuple[str, str], list[Fact]]) -> Iterator[Conflict]:
        """An age in a year that is named, against the year of birth."""
        for (subject, attribute), births in groups.items():
            if attribute != "born":
                continue
            for birth in births:
                year = int(birth.value[0])
                for fact in groups.get((subject, "age"), []) if year else []:
                    if not fact.details or fact.from_card or (birth.from_card and not fact.sure):
                        continue
                    age = int(fact.details[0]) - year
                    low, high = (int(part) for part in fact.value)
                    if high < age - 1 or low > age:
                        message = (
                            f"{fact.name}, born in {year}, is {age - 1} or {age} in {fact.details[0]}, "
                            f"not {fact.words}."
                        )
                        yield Conflict(first=birth, second=fact, message=message)


def _is_place(fact: Fact) -> bool:
    return fact.attribute in {"in", "home", "birthplace", "raised"} or fact.attribute.startswith("whereabouts")


def _is_date(fact: Fact) -> bool:
    return len(fact.value) == len(Moment().as_value()) and all(isinstance(part, int) for part in fact.value)


def _never(_first: Fact, _second: Fact) -> None:
    return None


def _holds(fact: Fact, order: int) -> bool:
    return fact.valid_from <= order and (fact.valid_until is None or order < fact.valid_until)


def _kin(first: Fact, second: Fact) -> str | None:
    ones, others = _name_words(str(first.value[1])), _name_words(str(second.value[1]))
    if first.value[0] == second.value[0] or ones & others or not ones or not others:
        return None
    return f"{second.name}'s {second.attribute} is {second.words} here, {first.words} there."


def _name_words(name: str) -> set[str]:
    """Given names; a title and a surname alone could be anybody's."""
    words = re.findall(r"\w+", name.lower())
    return set() if words and words[0] in TITLES else set(words)


def _count(first: Fact, second: Fact) -> str | None:
    one, other = int(first.value[0]), int(second.value[0])
    grows = first.attribute.endswith(("son", "daughter", "child"))
    if one == other or (grows and other > one):
        return None
    return f"{second.name}: '{second.words}' here, '{first.words}' there."


def _distance(first: Fact, second: Fact) -> str | None:
    one, other = int(first.value[0]), int(second.value[0])
    if max(one, other) <= _OPPOSITE_ENOUGH * max(min(one, other), 1):
        return None
    return f"{second.name} is {other} {second.attribute} here, {one} there."


def _dated(first: Fact, second: Fact) -> str | None:
    one, other = _moment(first), _moment(second)
    return f"{second.name}: {written(other)} here, {written(one)} there." if one.differs(other) else None


def _moment(fact: Fact) -> Moment:
    year, month, day, weekday = (int(part) for part in fact.value)
    return Moment(year=year, month=month, day=day, weekday=weekday)
