"""A question → its items: values, columns, periods, numbers and the words of the grammar.

Function words carry nothing and are passed over. Any other word that is no item is not read, and a question with such a
word is refused: what was not understood might change the answer.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tallystick.records import record
from tallystick.rooms.insight.query.model import BUCKETS, THEME
from tallystick.rooms.insight.question.periods import DataSpan, period_at
from tallystick.rooms.insight.question.unknown_words import Sense
from tallystick.rooms.insight.question.vocabulary import Vocabulary, grammar
from tallystick.text.calendar_names import WEEKDAY_NUMBERS, WEEKDAYS
from tallystick.text.number_words import NUMBER_WORDS
from tallystick.text.stems import stem
from tallystick.text.words import QUERY_STOP_WORDS, Word, word_spans, words

_QUOTED = re.compile(r"[\"“”'‘’]([^\"“”'‘’]{2,80})[\"“”'‘’](?![^\W_])")  # noqa: RUF001
_UNITS = {"minute": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0}
_ADVERBS = {"date": "day", "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "quarterly": "quarter"}
_BREAKS = re.compile(r"[,;:.?!()]")
_SUPERLATIVE = re.compile(r"[a-z]{2,}est")
_COMPARATIVE = re.compile(r"[a-z]{2,}er")
_CLOCK = re.compile(r"(\d{1,2})(am|pm)")
_NOON = 12
_SHORTEST = 4
"""Letters of an abbreviation or of a word that is compared by meaning."""
_ASIDE = re.compile(r"\(\s*\d+\s*(?:-|–|to)\s*\d+\s*\)")  # noqa: RUF001 - both dashes
"""`(0-23)`: says in which form the answer is given."""
_STATES = frozenset({"open", "resolved"})


@record
class Item:
    """Something that the question says, from a word to a word."""

    kind: str
    at: int
    end: int
    value: Any = None
    said: str = ""


@record
class Scan:
    """A question, as far as it could be read."""

    text: str
    items: tuple[Item, ...]
    unread: tuple[str, ...]
    idle: tuple[str, ...]
    """Unknown words that ask for nothing."""
    breaks: frozenset[int]
    """Words before which a comma or a full stop stands."""
    words: tuple[str, ...]
    """All words, folded."""

    def of(self, *kinds: str) -> list[Item]:
        """The items of some kinds, in order."""
        return [item for item in self.items if item.kind in kinds]

    def has(self, *kinds: str) -> bool:
        """Whether there is one."""
        return any(item.kind in kinds for item in self.items)


class Scanner:
    """Scans the questions about one dataset."""

    def __init__(self, vocabulary: Vocabulary, span: DataSpan | None, sense: Sense | None = None) -> None:
        self._vocabulary, self._span, self._sense = vocabulary, span, sense

    def scan(self, text: str) -> Scan:
        """The items of a question; of two that begin at the same word the longer one."""
        spans = list(word_spans(text))
        folded = [_plain(word) for word in spans]
        run = _Run(text, spans, folded)
        items: list[Item] = []
        unknown: list[Word] = []
        at = 0
        while at < len(spans):
            found = self._item_at(run, at, items)
            if found is None and folded[at] not in QUERY_STOP_WORDS:
                found = self._alike(run, at, items)
            if found is not None:
                items.append(found)
                at = found.end
            else:
                if folded[at] not in QUERY_STOP_WORDS and len(folded[at]) > 1 and at not in run.asides:
                    unknown.append(spans[at])
                at += 1
        idle = self._sense.idle(text, unknown) if unknown and self._sense is not None else frozenset()
        return Scan(
            text=text,
            items=tuple(items),
            unread=tuple(one.written for one in unknown if one.start not in idle),
            idle=tuple(one.written for one in unknown if one.start in idle),
            breaks=run.breaks,
            words=tuple(folded),
        )

    def _item_at(self, run: "_Run", at: int, before: Sequence[Item]) -> Item | None:
        if at in run.asides:
            return None
        if run.folded[at].endswith("n't"):
            return Item(kind="not", at=at, end=at + 1, said=run.folded[at])
        if before and before[-1].kind == "mention" and before[-1].end == at:
            found = self._terms(run, at)
            if found is not None:
                return found
        quoted = run.quotes.get(run.spans[at].start)
        if quoted is not None and self._value(run, at) is None:
            end = next((place for place in range(at, len(run.spans)) if run.spans[place].end >= quoted), at) + 1
            return Item(kind="terms", at=at, end=end, value=((" ".join(run.folded[at:end]),),), said=run.said(at, end))
        if run.folded[at] in {"rated", "rating", "ratings"} and (part := self._part(run, at)) is not None:
            return part
        if run.folded[at] == "ids":
            return Item(kind="list", at=at, end=at + 1, said="ids")
        if self._span is not None:
            period = period_at(run.folded, at, self._span)
            if period is not None:
                return Item(kind="period", at=at, end=at + period[0], value=period[1])
        if run.folded[at] == "calendar" and (bucket := _bucket(run, at)) is not None:
            return bucket
        known = [self._value(run, at), self._column(run, at), self._phrase(run, at)]
        longest = max((item for item in known if item is not None), key=lambda item: item.end, default=None)
        # What the dataset calls so is meant, unless the grammar has a longer phrase.
        first = next((item for item in known if item is not None and longest and item.end == longest.end), None)
        if known[2] is not None and known[2].kind == "open" and known[0] is None:
            # `open` is a state, also where a column is called `Opened`.
            return known[2]
        if first is not None and first.kind == "value" and self._is_everyday(run, first, before):
            first = known[2]
        return first or _shape(run, at) or self._part(run, at)

    def _alike(self, run: "_Run", at: int, before: Sequence[Item]) -> Item | None:
        """What a word that names the same would be: an abbreviation, or a word near in meaning."""
        known = self._vocabulary.words
        word = run.folded[at]
        if not word.isalpha() or len(word) < _SHORTEST:
            return None
        found = [one for one in known if len(one) > len(word) + 1 and one.startswith(word)]
        name = found[0] if len(found) == 1 else None
        if name is None and self._sense is not None:
            name = self._sense.alike(word, known)
        if name is None:
            return None
        item = self._item_at(run.with_word(at, name), at, before)
        return None if item is None else replace(item, end=at + 1)

    def _phrase(self, run: "_Run", at: int) -> Item | None:
        """A phrase of the grammar; `theme` is a column where tickets are grouped."""
        found = _phrase(run, at)
        theme = self._vocabulary.columns.find(THEME)
        if found is None or found.kind != "theme" or theme is None:
            return found
        return Item(kind="column", at=found.at, end=found.end, value=(theme,), said=found.said)

    def _value(self, run: "_Run", at: int) -> Item | None:
        for end in range(min(len(run.stems), at + self._vocabulary.longest), at, -1):
            found = [
                each for each in self._vocabulary.values_at(run.stems[at:end])
                if _is_written(words(each[1]), run.folded[at:end])
            ]  # fmt: skip
            if found:
                return Item(kind="value", at=at, end=end, value=tuple(found), said=run.said(at, end))
        return None

    def _column(self, run: "_Run", at: int) -> Item | None:
        for end in range(min(len(run.stems), at + self._vocabulary.longest), at, -1):
            found = self._vocabulary.columns_at(run.stems[at:end])
            if found and all(column.kind == "time" for column in found):
                kind = {"created_at": "opened", "resolved_at": "filler"}.get(found[0].key, "time")
                return Item(kind=kind, at=at, end=end, value=tuple(found), said=run.said(at, end))
            if found:
                return Item(kind="column", at=at, end=end, value=tuple(found), said=run.said(at, end))
        return None

    def _part(self, run: "_Run", at: int) -> Item | None:
        """A word out of the name of a column or of a value."""
        if self._vocabulary.is_text(run.stems[at]):
            return Item(kind="filler", at=at, end=at + 1, said=run.said(at, at + 1))
        columns = self._vocabulary.column_by_part(run.stems[at])
        if columns:
            return Item(kind="column", at=at, end=at + 1, value=tuple(columns), said=run.said(at, at + 1))
        values = self._vocabulary.value_by_part(run.stems[at])
        if values:
            return Item(kind="value", at=at, end=at + 1, value=tuple(values), said=run.said(at, at + 1))
        return None

    def _is_everyday(self, run: "_Run", item: Item, before: Sequence[Item]) -> bool:
        """A value such as `new` is meant only beside the name of its column, or written as the value is."""
        phrase = _phrase(run, item.at)
        is_number = item.end == item.at + 1 and run.folded[item.at].isdigit()
        if is_number or (phrase is not None and phrase.kind not in _STATES):
            keys = {column.key for column, _ in item.value}
            after = self._column(run, item.end)
            beside = [*before[-1:], *([after] if after is not None else [])]
            return not any(
                one.kind == "column" and not keys.isdisjoint({column.key for column in one.value}) for one in beside
            )
        return False

    def _terms(self, run: "_Run", at: int) -> Item | None:
        """The words that tickets shall hold, up to a function word or a sign; `or` joins alternatives."""
        groups: list[list[str]] = [[]]
        held: list[str] = []
        end = at
        while end < len(run.folded) and not (held and end in run.breaks):
            word = run.folded[end]
            if word in {"or", "and"} and held:
                groups[-1].append(" ".join(held))
                groups += [[]] if word == "and" else []
                held = []
            elif word in {"a", "an", "the", "any", "either", "both"} and not held:
                pass
            elif word in QUERY_STOP_WORDS or _is_group_word(run, end):
                break
            else:
                held.append(word)
            end += 1
        if held:
            groups[-1].append(" ".join(held))
        found = tuple(tuple(dict.fromkeys(each)) for each in groups if each)
        return Item(kind="terms", at=at, end=end, value=found) if found else None


def _is_group_word(run: "_Run", at: int) -> bool:
    phrase = _phrase(run, at)
    return phrase is not None and phrase.kind in {"by", "compare"}


class _Run:
    """The words of a question in the forms that are compared."""

    def __init__(self, text: str, spans: Sequence[Word], folded: Sequence[str]) -> None:
        self.text, self.spans, self.folded = text, spans, folded
        self.stems = [stem(word) for word in folded]
        self.breaks = frozenset(
            at for at in range(1, len(spans)) if _BREAKS.search(text[spans[at - 1].end : spans[at].start])
        )

        marked = [found.span() for found in _ASIDE.finditer(text)]
        self.asides = frozenset(
            at for at, word in enumerate(spans) if any(start <= word.start < end for start, end in marked)
        )
        self.quotes = {
            found.start(1): found.end(1) for found in _QUOTED.finditer(text)
        }
        """Where quoted words begin, and where they end."""

    def with_word(self, at: int, word: str) -> "_Run":
        """The same question with another word at one place."""
        folded = [*self.folded[:at], word, *self.folded[at + 1 :]]
        return _Run(self.text, self.spans, folded)

    def said(self, at: int, end: int) -> str:
        return self.text[self.spans[at].start : self.spans[end - 1].end]

    def percent_after(self, at: int) -> bool:
        end = self.spans[at + 1].start if at + 1 < len(self.spans) else len(self.text)
        return "%" in self.text[self.spans[at].end : end]


def _is_written(value: Sequence[str], said: Sequence[str]) -> bool:
    """Whether words are those of a value but for a plural: `busy` and `business` share a stem and nothing else."""
    return all(_singular(one) == _singular(other) for one, other in zip(value, said, strict=True))


def _singular(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


def _plain(word: Word) -> str:
    return word.folded.removesuffix("'s")


def _phrase(run: _Run, at: int) -> Item | None:
    known = grammar()
    for end in range(min(len(run.stems), at + known.longest), at, -1):
        kind = known.phrases.get(tuple(run.stems[at:end]))
        if end == at + 1 and run.folded[at] in known.exact:
            kind = known.exact[run.folded[at]]
        if kind == "refuse" and run.folded[at] == "next" and _bucket_of(run, at + 1) is None:
            return None
        if kind is not None:
            return Item(kind=kind, at=at, end=end, said=run.said(at, end))
    return None


def _shape(run: _Run, at: int) -> Item | None:
    """Numbers with their units, buckets of time, weekdays and superlatives: what is known by its form."""
    for read in (_pronoun, _hour, _quantity, _weekday, _bucket, _order, _degree):
        found = read(run, at)
        if found is not None:
            return found
    return None


def _pronoun(run: _Run, at: int) -> Item | None:
    word = run.folded[at]
    if word in {"one", "ones"} and _bucket_of(run, at + 1) is None:
        return Item(kind="filler", at=at, end=at + 1, said=word)
    return None


def _hour(run: _Run, at: int) -> Item | None:
    """`6pm`, `8 in the morning`."""
    clock = _CLOCK.fullmatch(run.folded[at])
    if clock is not None and 1 <= int(clock[1]) <= _NOON:
        return Item(kind="hour", at=at, end=at + 1, value=int(clock[1]) % _NOON + (_NOON if clock[2] == "pm" else 0))
    number, half = _number_of(run.folded[at]), _half_of_day(run, at + 1)
    if number is None or half is None:
        return None
    return Item(kind="hour", at=at, end=at + half[0] + 1, value=int(number) % _NOON + half[1])


def _quantity(run: _Run, at: int) -> Item | None:
    word = run.folded[at]
    number = _number_of(word)
    if number is None and word in {"a", "an"} and _bucket_of(run, at + 1) in {"day", "week", "hour"}:
        before = run.folded[at - 1] if at else ""
        number = 1.0 if before in {"than", "within", "least", "most", "over", "under"} else None
    return None if number is None else _number(run, at, number)


def _weekday(run: _Run, at: int) -> Item | None:
    word = run.folded[at]
    if word == "weekdays" and run.folded[max(0, at - 1)] in {"on", "during"}:
        return Item(kind="weekday", at=at, end=at + 1, value=tuple(day.title() for day in WEEKDAYS[:5]))
    if word in {"weekend", "weekends"}:
        return Item(kind="weekday", at=at, end=at + 1, value=("Saturday", "Sunday"))
    day = _weekday_number(word)
    if day is None:
        return None
    last = _weekday_number(run.folded[at + 2]) if _links(run, at + 1) else None
    if last is None:
        return Item(kind="weekday", at=at, end=at + 1, value=(WEEKDAYS[day - 1].title(),))
    days = [(day - 1 + step) % 7 for step in range((last - day) % 7 + 1)]
    return Item(kind="weekday", at=at, end=at + 3, value=tuple(WEEKDAYS[each].title() for each in days))


def _links(run: _Run, at: int) -> bool:
    return at + 1 < len(run.folded) and run.folded[at] in {"to", "through"}


def _weekday_number(word: str) -> int | None:
    return WEEKDAY_NUMBERS.get(word) or WEEKDAY_NUMBERS.get(word.removesuffix("s"))


def _bucket(run: _Run, at: int) -> Item | None:
    skipped = run.folded[at] == "calendar"
    bucket = _ADVERBS.get(run.folded[at]) or _bucket_of(run, at + skipped)
    if bucket is None:
        return None
    end = at + 1 + skipped
    if run.folded[end : end + 2] == ["by", run.folded[at]]:
        end += 2
    if bucket in {"hour", "day"} and run.folded[end : end + 3] in (["of", "the", "day"], ["of", "the", "week"]):
        bucket, end = ("weekday" if run.folded[end + 2] == "week" else bucket), end + 3
    return Item(kind="bucket", at=at, end=end, value=bucket, said=run.folded[at])


def _order(run: _Run, at: int) -> Item | None:
    word = run.folded[at]
    kinds = {"oldest": "oldest", "earliest": "oldest", "newest": "newest", "latest": "newest", "recent": "newest"}
    # `biggest first` says an order; the first week is a period and was read as one.
    kind = "order" if word == "first" else kinds.get(word)
    return None if kind is None else Item(kind=kind, at=at, end=at + 1, said=word)


def _half_of_day(run: _Run, at: int) -> tuple[int, int] | None:
    """`am`, `pm`, `in the morning`: how many words, and what is added to the hour."""
    rest = run.folded[at : at + 3]
    if rest[:1] in (["am"], ["pm"]):
        return 1, _NOON if rest[0] == "pm" else 0
    if rest[:2] == ["in", "the"] and rest[2:] in (["morning"], ["afternoon"], ["evening"]):
        return 3, 0 if rest[2] == "morning" else _NOON
    return None


def _degree(run: _Run, at: int) -> Item | None:
    """`largest`, `slower`: of the listed adjectives alone."""
    word = run.folded[at]
    if not (_SUPERLATIVE.fullmatch(word) or _COMPARATIVE.fullmatch(word)):
        return None
    bare = word[:-3] if word.endswith("est") else word[:-2]
    forms = (bare, bare + "e", bare[:-1], bare[:-1] + "y")
    way = next((found for form in forms if (found := grammar().degrees.get(form)) is not None), None)
    if way is None:
        return None
    kind = "high" if way in {"high", "long"} else "low"
    return Item(kind=kind, at=at, end=at + 1, value="duration" if way in {"long", "short"} else None, said=word)


def _bucket_of(run: _Run, at: int) -> str | None:
    if at >= len(run.folded):
        return None
    word = run.folded[at].removesuffix("s")
    return word if word in BUCKETS else None


def _number(run: _Run, at: int, number: float) -> Item:
    if run.percent_after(at):
        level = run.folded[at + 1 : at + 2] == ["level"]
        return Item(kind="number", at=at, end=at + 1 + level, value=number, said="%")
    unit = run.folded[at + 1].removesuffix("s") if at + 1 < len(run.folded) else ""
    ranked = at and (
        _degree(run, at - 1) or ((found := _phrase(run, at - 1)) is not None and found.kind in {"high", "low"})
    )
    if unit in _UNITS and not (ranked and run.folded[at - 1] != "than"):
        return Item(kind="hours", at=at, end=at + 2, value=number * _UNITS[unit], said=run.said(at, at + 2))
    return Item(kind="number", at=at, end=at + 1, value=number, said=run.said(at, at + 1))


def _number_of(word: str) -> float | None:
    if word in NUMBER_WORDS:
        return float(NUMBER_WORDS[word])
    plain = word[:-2] if word[-2:] in {"st", "nd", "rd", "th"} else word
    plain = plain.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", plain) else plain
    return float(plain) if re.fullmatch(r"\d+(\.\d+)?", plain) else None
