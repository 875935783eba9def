"""Items → a typed query: the measure, the groups, the two sides of a comparison.

Every item has to find its use. What is left over was said for a reason that was not understood, so the question is
refused rather than answered without it.
"""

from dataclasses import replace
from itertools import pairwise

from tallystick.rooms.insight.query.columns import Column
from tallystick.rooms.insight.query.model import (
    HOURS,
    Comparison,
    Filter,
    Grouping,
    Having,
    TypedQuery,
)
from tallystick.rooms.insight.question.conditions import CREATED, RESOLVED, Condition, Unclear, merged, presence
from tallystick.rooms.insight.question.sides import Question, SideReader
from tallystick.rooms.insight.question.word_run import Item

_MEASURES = ("median", "percentile", "mean", "sum")
_VERBS = ("is", "are", "was", "were", "has", "have", "had")
_FINER = {"year": ("month", "quarter", "week", "day"), "month": ("week", "day")}
"""`calendar month (year and month)`: the finer bucket says the coarser, too."""
_JOINS = frozenset({"and", "or", "the", "of", "a", "by", "then", "its", "their"})
"""Words that may stand between `per` and a column, or between two columns."""
_PREPOSITIONS = ("for", "of", "in", "on", "with", "from", "to")
_HEADS = ("ticket", "person")
_LISTED = 10


def interpret(asked: Question) -> TypedQuery:
    """The query that a question means.

    Raises:
        Unclear: It means none, or several.
    """
    refused = asked.scan.of("refuse")
    if refused:
        raise Unclear(f"Tickets say what was; “{refused[0].said}” asks for more than that.")
    if asked.scan.unread:
        words = ", ".join(f"“{word}”" for word in dict.fromkeys(asked.scan.unread))
        raise Unclear(f"Not understood: {words}. No column or value of these tickets is called so.")
    return _Reading(asked).query()


class _Reading(SideReader):
    """One question on its way to a query."""

    def query(self) -> TypedQuery:
        self._shared: str | None = None
        self._use_units()
        compare, shared = self.sides()
        by = self._groups()
        if compare is not None and (compare.first or compare.second):
            # `weekly volume from the first week to the last`: each side is one such week.
            by = tuple(one for one in by if one.bucket is None or not self._by_time(compare))
        measure, of = self._measure(by, compare)
        where, part = self._split(shared, measure, by)
        having = self._having(by, where)
        if having is not None and having.times_of is not None:
            where = tuple(one for one in where if having.times_of not in one.values)
        order, limit = self._order(by, measure, of, compare)
        summarise = self._summary(by, measure, having)
        if measure == "tickets":
            of = of or CREATED
        elif not by:
            order = limit = None
        self._check_left(by, (*where, *part))
        return TypedQuery(
            dataset_id=self._asked.dataset_id,
            measure=measure,
            of=of,
            percent=self._reader.percent if measure == "percentile" else None,
            where=where,
            part=part,
            by=by,
            compare=compare,
            having=having,
            summarise=summarise,
            order=order,
            limit=limit,
        )

    def _by_time(self, compare: Comparison) -> bool:
        """Whether the sides are periods, so that a bucket of time only says so once more."""
        return all(one.column in {CREATED, RESOLVED} for one in (*compare.first, *compare.second))

    def _use_units(self) -> None:
        """`in hours`, `hours to resolve`: the unit of a duration, and no group."""
        self._slow = any(one.value == "duration" for one in self._scan.of("high", "low")) or self._scan.has("duration")
        words = self._scan.words
        for one in self._scan.of("bucket"):
            until = words[one.end : one.end + 1] == ("to",) and any(
                each.kind == "resolved" and each.at == one.end + 1 for each in self._scan.items
            )
            if one.said in {"hours", "minutes"} and (self._slow or until):
                self._slow = True
                self._used.add(one.at)
                if until:
                    self._drop(RESOLVED)

    # -- groups --------------------------------------------------------------------------------------------------------

    def _groups(self) -> tuple[Grouping, ...]:
        """What stands behind `per` or `which`; of a pair of columns with a superlative, the one that is asked for."""
        made = self._named_groups()
        if not made and any(one.said.lower() == "who" for one in self._scan.of("which")):
            if not self._asked.agents:
                raise Unclear("No column says who worked on a ticket.")
            made = [Grouping(column=self._asked.agents[0].key)]
        made = made or self._implied_groups() or self._apart()
        if self._reader.times is not None and not made:
            named = [one for one in self._conditions if one.value is not None and one.column is not None]
            made = [Grouping(column=named[-1].column or "")] if named else []
        if len(made) > 2:  # noqa: PLR2004
            raise Unclear("Tickets can be grouped by two columns at most.")
        held = {one.column for one in self._conditions if one.value is not None and one.filters[0].op == "is"}
        counted = [one.column for one in self._conditions if one.value is not None]
        # `from Brooklyn, by the borough column`: one value of a column makes no groups.
        said = [one.said for one in self._scan.of("by")]
        made = [
            one for one in made
            if one.column not in held or counted.count(one.column) > 1 or said != ["by"] or not self._scan.has("share")
        ]  # fmt: skip
        return tuple(dict.fromkeys(made))

    def _apart(self) -> list[Grouping]:
        """`for Finance and for Sales`: two values, each by itself."""
        valued = [one for one in self._conditions if one.value is not None and one.column is not None]
        for one, other in pairwise(valued):
            between = self._scan.words[one.end : other.at]
            if one.column == other.column and between[:1] == ("and",) and between[1:2] and between[1] in _PREPOSITIONS:
                return [Grouping(column=one.column or "")]
        return []

    def _named_groups(self) -> list[Grouping]:
        made: list[Grouping] = []
        after_by = False
        for place, item in enumerate(self._scan.items):
            between = self._scan.words[self._scan.items[place - 1].end if place else 0 : item.at]
            after_by = after_by and set(between) <= _JOINS
            if item.kind == "by":
                self._used.add(item.at)
                follows = self._scan.items[place + 1 : place + 2]
                if follows and follows[0].kind == "value" and item.said in {"each", "every", "per", "across"}:
                    raise Unclear(f"“{item.said} {follows[0].said}” names one value, and no groups.")
                made += self._before_by(place) if item.said == "against" else []
                after_by = True
            elif item.kind in {"column", "bucket"} and item.at not in self._used:
                if item.kind == "bucket" and made and made[-1].bucket in _FINER.get(item.value, ()):
                    self._used.add(item.at)
                    continue
                adverb = item.kind == "bucket" and item.said.endswith("ly")
                if item.kind == "bucket" and any(one.bucket == item.value for one in made):
                    self._used.add(item.at)
                    continue
                found = self._grouping(place) if after_by or adverb or self._is_which(place) else None
                made += [found] if found is not None else []
            elif item.at not in self._used:
                after_by = False
        return made

    def _before_by(self, place: int) -> list[Grouping]:
        """`channel against rider type`."""
        if place and self._scan.items[place - 1].kind == "column":
            found = self._grouping(place - 1)
            return [found] if found is not None else []
        return []

    def _is_which(self, place: int) -> bool:
        """`which hub`, `what are the three least used channels`: asked for, and not the measure."""
        items, item = self._scan.items, self._scan.items[place]
        before = [one for one in items[:place] if one.at not in self._used or one.kind in {"which", "high", "low"}]
        asks = [one for one in before if one.kind in {"which", "list"} and not self._is_relative(one)]
        if not asks:
            return False
        if item.kind == "column" and item.value[0].kind in {"number", "words", "id"}:
            return False
        between = [one for one in items[:place] if one.at > asks[-1].at]
        taken = [one for one in between if one.kind in {"column", "bucket"}]
        return not taken or (taken[-1] is between[-1] and self._scan.words[taken[-1].end : item.at] == ("and",))

    def _is_relative(self, one: Item) -> bool:
        """`tickets for which …`, and not `for which hub …`."""
        return one.at > 1 and self._scan.words[one.at - 1] in _PREPOSITIONS and one.at - 1 not in self._scan.breaks

    def _implied_groups(self) -> list[Grouping]:
        """`weekly count`, `busiest hour`, `tickets does an agent handle on average`."""
        made = []
        for place, item in enumerate(self._scan.items):
            ranked = self._scan.has("high", "low", "good", "bad") or self._reader.having is not None
            averaged = self._scan.has("mean") and self._scan.has("count")
            if item.at in self._used or self._scan.words[max(0, item.at - 1)] == "both":
                continue
            if (item.kind == "bucket" and not self._scan.has("oldest", "newest")) or (
                item.kind == "column" and item.value[0].kind in {"value", "theme"} and (ranked or averaged)
            ):
                found = self._grouping(place)
                made += [found] if found is not None else []
        return made[:2]

    def _grouping(self, place: int) -> Grouping | None:
        item = self._scan.items[place]
        if item.kind == "bucket" and item.value == "minute":
            raise Unclear("Tickets are grouped by hours and longer; durations are told in hours.")
        if item.kind == "bucket":
            self._used.add(item.at)
            return Grouping(column=self._bucket_column(place), bucket=item.value)
        column = self._only(item)
        if column.kind in {"words", "id"}:
            return None
        self._used.add(item.at)
        return Grouping(column=column.key)

    def _bucket_column(self, place: int) -> str:
        before = [one for one in self._scan.items[:place] if one.kind in {"resolved", "opened"}]
        after = self._scan.items[place + 1 : place + 2]
        if after and after[0].kind == "opened":
            self._used.add(after[0].at)
            return CREATED
        if before and before[-1].kind == "resolved":
            self._drop(RESOLVED)
            return RESOLVED
        return CREATED

    def _drop(self, column: str) -> None:
        """`resolved per week` counts by the time of resolving; that it is known goes without saying."""
        self._conditions = [
            one
            for one in self._conditions
            if not any(each.column == column and each.op == "known" for each in one.filters)
        ]

    def _only(self, item: Item) -> Column:
        if len(item.value) > 1:
            names = ", ".join(column.key for column in item.value)
            raise Unclear(f"“{item.said}” may be one of several columns: {names}. Say which is meant.")
        found: Column = item.value[0]
        return found

    # -- measure -------------------------------------------------------------------------------------------------------

    def _measure(self, by: tuple[Grouping, ...], compare: Comparison | None) -> tuple[str, str | None]:
        scan = self._scan
        target = self._target()
        named = next((kind for kind in _MEASURES if scan.has(kind)), None)
        if (listed := self._list(by, named)) is not None:
            return "tickets", target if listed == "" else listed
        shares = [one for one in scan.of("share") if one.at not in self._used]
        if shares:
            self._use("share")
            counts = [one for one in scan.of("count") if one.at < shares[0].at]
            self._shared = target
            # `compare the number of …; is the difference in share significant` has both in its answer.
            return ("count" if counts and compare is not None else "share"), None
        if named in {"sum", "mean"} and target is None:
            return self._without_target(named, by)
        if named is not None:
            self._use(named)
            if target is None:
                raise Unclear(f"The {named} of what? No column of numbers is named.")
            return named, target
        return self._counted() if target is None else self._bare(target, by)

    def _list(self, by: tuple[Grouping, ...], named: str | None) -> str | None:
        """Whether tickets are listed: by the column that is named (an empty text), or by their time."""
        scan = self._scan
        ids = any(one.said.lower().endswith(("id", "ids")) for one in scan.of("list"))
        if (
            scan.has("list")
            and not by
            and (ids or scan.has(*_HEADS))
            and named is None
            and not scan.has("count", "share")
        ):
            self._use("list", "ticket", "person")
            return ""
        if not by and scan.has("oldest", "newest"):
            self._use("which")
            return CREATED
        return None

    def _without_target(self, named: str, by: tuple[Grouping, ...]) -> tuple[str, str | None]:
        """`the total number of tickets`, `tickets per agent on average`."""
        if named == "sum":
            self._use("sum")
            return self._counted()
        if not by or not self._scan.has("count", "ticket"):
            raise Unclear("The average of what? No column of numbers is named.")
        return "count", None

    def _counted(self) -> tuple[str, str | None]:
        """Tickets, or different values: `how many hubs`."""
        self._use("count")
        left = [one for one in self._scan.of("column") if one.at not in self._used]
        asked = self._scan.has("count") and not self._scan.has("ticket")
        if left and (asked or self._scan.has("distinct")):
            self._use("distinct")
            self._used.add(left[0].at)
            return "distinct", self._only(left[0]).key
        return "count", None

    def _bare(self, target: str, by: tuple[Grouping, ...]) -> tuple[str, str | None]:
        """A column of numbers without a measure: `the largest refund`, `how long`, `how many refunds`."""
        scan = self._scan
        if scan.has("count") and target != HOURS:
            self._use("count")
            self._conditions.append(
                Condition(at=len(scan.words), end=len(scan.words), filters=(self._presence(target),))
            )
            return "count", None
        if target == HOURS and (by or not scan.has("high", "low")):
            return "median", target
        if scan.has("high", "low") and not by:
            if not any(_is_superlative(one) for one in scan.of("high", "low")):
                raise Unclear("More or longer than what?")
            if self._reader.limit is not None:
                return "tickets", target
            found = "maximum" if scan.has("high") else "minimum"
            self._use("high", "low", "which")
            return found, target
        if scan.has("good", "bad") or by:
            return "mean", target
        raise Unclear("Is the sum, the average or the median asked for?")

    def _target(self) -> str | None:
        """The column of numbers that the measure is of."""
        numbers = [
            one for one in self._scan.of("column")
            if one.at not in self._used and any(column.kind == "number" for column in one.value)
        ]  # fmt: skip
        if numbers:
            self._used.add(numbers[0].at)
            found: Column = next(column for column in numbers[0].value if column.kind == "number")
            return found.key
        if not self._slow or any(self._filtered(HOURS)):
            self._use("duration")
            return None
        if self._columns.find(HOURS) is None:
            raise Unclear("These tickets do not say when they were resolved.")
        self._use("duration")
        return HOURS

    def _filtered(self, column: str) -> list[bool]:
        return [True for one in self._conditions for each in one.filters if each.column == column]

    # -- shares --------------------------------------------------------------------------------------------------------

    def _split(
        self, conditions: list[Condition], measure: str, by: tuple[Grouping, ...]
    ) -> tuple[tuple[Filter, ...], tuple[Filter, ...]]:
        """The tickets that are meant, and of a share those that count."""
        conditions = [one for one in conditions if one in self._conditions]
        conditions += [one for one in self._conditions if one.at == len(self._scan.words) and one not in conditions]
        if measure != "share":
            return merged(conditions), ()
        rated = self._rated()
        if not rated and self._shared is not None and not any(self._filtered(self._shared)):
            # `which hub has a refund least often, as a share`: the tickets in which the column says something count.
            rated = (self._presence(self._shared),)
        share = self._scan.of("share")[0]
        behind_share = self._scan.words[share.end : share.end + 2]
        if by and behind_share[:1] == ("of",) and behind_share[1:] and behind_share[1] in {"them", "these", "those"}:
            # `which hub has most …, and what share of them`: each group's share of the tickets that are meant.
            return merged(conditions), ()
        if not any(one.at > share.at for one in conditions):
            # `…, in percent`: it says of all that stands before it how it is told.
            share = replace(share, at=-1, end=0)
        heads = [one.at for one in self._scan.of(*_HEADS) if one.at > share.at]
        head = heads[0] if heads else share.end
        verbs = [at for at, word in enumerate(self._scan.words) if at >= head and word.removesuffix("n't") in _VERBS]
        verbs += [one.at for one in self._scan.of("filler", "opened", "with", "duration") if one.at > head]
        verbs += [at for at in self._scan.idle_at if at > head]
        behind = [one for one in conditions if one.at > share.at and one.period is None]
        verb = min((at for at in verbs if any(one.at >= at for one in behind)), default=None)
        late = [one for one in behind if verb is not None and one.at >= verb]
        part = late or behind
        where = [one for one in conditions if one not in part]
        if rated:
            return merged(conditions), rated
        if not part and not by:
            part, where = where, []
        return merged(where), merged(part)

    def _presence(self, key: str) -> Filter:
        column = self._columns.find(key)
        return Filter(column=key, op="known") if column is None else presence(column, known=True)

    def _rated(self) -> tuple[Filter, ...]:
        """`refund rate`: the share of tickets in which the column says something."""
        for one in self._scan.of("share"):
            before = next((each for each in self._scan.of("column") if each.end == one.at), None)
            if before is not None and one.said == "rate":
                self._used.add(before.at)
                return (Filter(column=self._only(before).key, op="known"),)
        return ()

    # -- groups: bounds, order, summary --------------------------------------------------------------------------------

    def _having(self, by: tuple[Grouping, ...], where: tuple[Filter, ...]) -> Having | None:
        if self._reader.having is None:
            return None
        if not by:
            raise Unclear("A bound on a number of tickets needs groups: which, or per what?")
        op, number = self._reader.having
        if self._reader.times is None:
            return Having(op=op, number=number)
        named = [one.values[0] for one in where if one.column == by[0].column and one.op == "is"]
        if not named:
            raise Unclear("As many as which?")
        return Having(op=op, number=number, times_of=named[0])

    def _order(
        self, by: tuple[Grouping, ...], measure: str, of: str | None, compare: Comparison | None
    ) -> tuple[str | None, int | None]:
        scan = self._scan
        ranked = [
            one
            for one in scan.of("high", "low", "good", "bad", "oldest", "newest", "grow")
            if one.at not in self._used or one.kind == "grow"
        ]
        self._use("high", "low", "good", "bad", "oldest", "newest")
        if not ranked:
            return (None, self._reader.limit)
        if not by and compare is None and measure not in {"tickets", "maximum", "minimum"} and ranked[0].kind != "grow":
            raise Unclear(f"“{ranked[0].said or 'Which'}”: of which groups? Say per what.")
        first = scan.has("order")
        one = ranked[-1] if len(ranked) > 1 and ranked[0].said in {"most", "more"} and not first else ranked[0]
        low = one.kind in {"low", "oldest"} or one.said == "shortest"
        if one.kind in {"good", "bad"}:
            low = (one.kind == "bad") != (of == HOURS)
        if one.value == "duration" and of != HOURS and measure != "tickets":
            raise Unclear(f"“{one.said}” speaks of time to resolve.")
        order = "lowest" if low else "highest"
        limit = self._reader.limit
        asks = [each for each in scan.of("which") if each.at < one.at or not first]
        ends = {each.end for each in ranked}
        asks += [each for each in scan.of("bucket", "column") if each.at in ends and not each.said.endswith("s")]
        if limit is None and (asks or measure == "tickets") and not first and self._reader.having is None:
            limit = 1
        if limit is None and not first and self._reader.having is None and compare is None and one.said == "top":
            limit = _LISTED
        return order, limit

    def _summary(self, by: tuple[Grouping, ...], measure: str, having: Having | None) -> str | None:
        scan = self._scan
        if not by or measure != "count":
            return None
        if scan.has("mean"):
            self._use("mean")
            return "mean"
        counts = scan.of("count")
        if having is not None and counts and counts[0].at < min(self._places_of_groups(), default=0):
            return "count"
        return None

    def _places_of_groups(self) -> list[int]:
        return [one.at for one in self._scan.of("bucket", "column")]

    # -- what is left --------------------------------------------------------------------------------------------------

    def _check_left(self, by: tuple[Grouping, ...], filters: tuple[Filter, ...]) -> None:
        """Some words may stand idle; a column, number or word that asks for something may not."""
        idle = {
            "ticket", "person", "filler", "with", "opened", "which", "count", "list", "by", "significant",
            "resolved", "open", "about", "order",
        }  # fmt: skip
        named = {each.column for each in by} | {each.column for each in filters}
        for one in self._scan.items:
            behind = next((each for each in self._scan.items if each.at >= one.end), None)
            if one.said == "over" and behind is not None and behind.kind in {"weekday", "period"}:
                continue
            if one.said == "both" or (one.kind == "bucket" and self._scan.words[max(0, one.at - 1)] == "both"):
                continue
            repeated = one.kind == "column" and any(column.key in named for column in one.value)
            if one.at not in self._used and one.kind not in idle and not repeated:
                raise Unclear(f"It is not clear what “{one.said or self._scan.words[one.at]}” asks for here.")


def _is_superlative(one: Item) -> bool:
    said = one.said.lower()
    return said.endswith("est") or said in {"most", "least", "top"} or said.startswith(("max", "min"))
