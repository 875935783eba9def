"""A question → its items: values, columns, periods, numbers and the words of the grammar.

Function words carry nothing and are passed over. Any other word that is no item is not read, and a question with such a
word is refused: what was not understood might change the answer. Words that ask for nothing are told apart by `sense`.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from tallystick.records import record
from tallystick.rooms.insight.query.model import THEME
from tallystick.rooms.insight.question.periods import DataSpan, period_at
from tallystick.rooms.insight.question.sense import Sense
from tallystick.rooms.insight.question.shapes import bucket_at, shape_at
from tallystick.rooms.insight.question.vocabulary import Vocabulary, single_words
from tallystick.rooms.insight.question.word_run import Item, WordRun, phrase_at
from tallystick.text.words import QUERY_STOP_WORDS, Word, word_spans, words

_SHORTEST = 4
"""Letters of an abbreviation or of a word that is compared by meaning."""
_RATED = frozenset({"rated", "rating", "ratings"})
_LONG = 6
_PRIORITY = re.compile(r"p[1-9]")
_STATES = frozenset({"open", "resolved"})


@record
class Scan:
    """A question, as far as it could be read."""

    text: str
    items: tuple[Item, ...]
    unread: tuple[str, ...]
    idle: tuple[str, ...]
    """Unknown words that ask for nothing."""
    idle_at: frozenset[int]
    """Where they stand."""
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
        run = WordRun(text, spans, folded)
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
        unknown = [one for one in unknown if not _is_part_of_grouping(one, spans, items)]
        named = frozenset(spans[one.at].start for one in items if one.kind == "column")
        rows = frozenset(spans[one.at].start for one in items if one.kind in {"ticket", "person"})
        idle = self._sense.idle(text, unknown, named, rows) if unknown and self._sense is not None else frozenset()
        return Scan(
            text=text,
            items=tuple(items),
            unread=tuple(one.written for one in unknown if one.start not in idle),
            idle=tuple(one.written for one in unknown if one.start in idle),
            idle_at=frozenset(at for at, one in enumerate(spans) if one.start in idle),
            breaks=run.breaks,
            words=tuple(folded),
        )

    def _item_at(self, run: WordRun, at: int, before: Sequence[Item]) -> Item | None:
        if at in run.asides:
            return None
        return (
            self._written_so(run, at, before)
            or self._period(run, at)
            or self._known(run, at, before)
            or shape_at(run, at)
            or self._part(run, at)
        )

    def _written_so(self, run: WordRun, at: int, before: Sequence[Item]) -> Item | None:
        """What is known by how it is written: `haven't`, words in quotes or after *mention*, `ids`, `calendar day`."""
        word, said = run.folded[at], run.folded[max(0, at - 1)]
        is_list = word == "ids" or (word in {"numbers", "keys"} and before and before[-1].kind == "ticket")
        if word.endswith("n't") or (word == "but" and said in {"all", "any", "anything", "everything"}):
            return Item(kind="not", at=at, end=at + 1, said=word)
        if is_list:
            return Item(kind="list", at=at, end=at + 1, said="ids")
        if word in _RATED or _PRIORITY.fullmatch(word):
            return self._part(run, at) if word in _RATED else self._numbered_priority(run, at)
        if word == "calendar":
            return bucket_at(run, at)
        follows = bool(before) and before[-1].kind == "mention" and before[-1].end == at
        return (self._terms(run, at) if follows else None) or self._quoted(run, at)

    def _numbered_priority(self, run: WordRun, at: int) -> Item | None:
        """`P1`, of the values `1 - Critical`, `2 - High`."""
        column = self._vocabulary.columns.find("priority")
        values = () if column is None else column.values
        found = [value for value in values if value.partition(" ")[0] == run.folded[at][1:]]
        if column is None or len(found) != 1:
            return None
        return Item(kind="value", at=at, end=at + 1, value=((column, found[0]),), said=run.said(at, at + 1))

    def _quoted(self, run: WordRun, at: int) -> Item | None:
        """Quoted words that are no value are searched for."""
        quoted = run.quotes.get(run.spans[at].start)
        if quoted is None or self._value(run, at) is not None or self._column(run, at) is not None:
            return None
        end = next((place for place in range(at, len(run.spans)) if run.spans[place].end >= quoted), at) + 1
        return Item(kind="terms", at=at, end=end, value=((" ".join(run.folded[at:end]),),), said=run.said(at, end))

    def _period(self, run: WordRun, at: int) -> Item | None:
        period = None if self._span is None else period_at(run.folded, at, self._span)
        return None if period is None else Item(kind="period", at=at, end=at + period[0], value=period[1])

    def _known(self, run: WordRun, at: int, before: Sequence[Item]) -> Item | None:
        """A value, a column or a phrase: the longest one."""
        # `rated` and `rating` are no share, which `rate` is.
        phrase = None if run.folded[at] in _RATED else self._phrase(run, at)
        known = [self._value(run, at), self._column(run, at), phrase]
        longest = max((item for item in known if item is not None), key=lambda item: item.end, default=None)
        # What the dataset calls so is meant, unless the grammar has a longer phrase.
        first = next((item for item in known if item is not None and longest and item.end == longest.end), None)
        if known[2] is not None and known[2].kind == "open" and known[0] is None:
            # `open` is a state, also where a column is called `Opened`.
            return known[2]
        return (
            known[2] if first is not None and first.kind == "value" and self._is_everyday(run, first, before) else first
        )

    def _alike(self, run: WordRun, at: int, before: Sequence[Item]) -> Item | None:
        """What a word that names the same would be: an abbreviation, or a word near in meaning."""
        known = self._vocabulary.words
        word = run.folded[at]
        if not word.isalpha() or len(word) < _SHORTEST - 1:
            return None
        long = [*self._vocabulary.named, *(one for one in single_words() if len(one) > _LONG)]
        found = [one for one in dict.fromkeys(long) if len(one) > len(word) + 1 and one.startswith(word)]
        name = found[0] if len(found) == 1 else None
        if name is None and self._sense is not None and len(word) >= _SHORTEST:
            name = self._sense.alike(run.text, run.spans[at], known)
        if name is None:
            return None
        item = self._item_at(run.with_word(at, name), at, before)
        return None if item is None else replace(item, end=at + 1)

    def _phrase(self, run: WordRun, at: int) -> Item | None:
        """A phrase of the grammar; `theme` is a column where tickets are grouped."""
        found = phrase_at(run, at)
        theme = self._vocabulary.columns.find(THEME)
        if found is None or found.kind != "theme" or theme is None:
            return found
        return Item(kind="column", at=found.at, end=found.end, value=(theme,), said=found.said)

    def _value(self, run: WordRun, at: int) -> Item | None:
        for end in range(min(len(run.stems), at + self._vocabulary.longest), at, -1):
            found = [
                each for each in self._vocabulary.values_at(run.stems[at:end])
                if _is_written(words(each[1])[at - end :], run.folded[at:end])
            ]  # fmt: skip
            if found:
                return Item(kind="value", at=at, end=end, value=tuple(found), said=run.said(at, end))
        return None

    def _column(self, run: WordRun, at: int) -> Item | None:
        for end in range(min(len(run.stems), at + self._vocabulary.longest), at, -1):
            found = self._vocabulary.columns_at(run.stems[at:end])
            if found and all(column.kind == "id" for column in found):
                return Item(kind="list", at=at, end=end, said=run.said(at, end))
            if found and all(column.kind == "time" for column in found):
                kind = {"created_at": "opened", "resolved_at": "filler"}.get(found[0].key, "time")
                return Item(kind=kind, at=at, end=end, value=tuple(found), said=run.said(at, end))
            if found:
                return Item(kind="column", at=at, end=end, value=tuple(found), said=run.said(at, end))
        return None

    def _part(self, run: WordRun, at: int) -> Item | None:
        """A word out of the name of a column or of a value."""
        if self._vocabulary.is_text(run.stems[at]):
            return Item(kind="filler", at=at, end=at + 1, value="text", said=run.said(at, at + 1))
        if self._vocabulary.is_of_created(run.stems[at]):
            return Item(kind="opened", at=at, end=at + 1, said=run.said(at, at + 1))
        columns = self._vocabulary.column_by_part(run.stems[at])
        if columns:
            return Item(kind="column", at=at, end=at + 1, value=tuple(columns), said=run.said(at, at + 1))
        values = self._vocabulary.value_by_part(run.stems[at])
        if values:
            return Item(kind="value", at=at, end=at + 1, value=tuple(values), said=run.said(at, at + 1))
        return None

    def _is_everyday(self, run: WordRun, item: Item, before: Sequence[Item]) -> bool:
        """A value such as `new` is meant only beside the name of its column, or written as the value is."""
        phrase = phrase_at(run, item.at)
        is_number = item.end == item.at + 1 and run.folded[item.at].isdigit()
        if is_number or (phrase is not None and phrase.kind not in _STATES):
            keys = {column.key for column, _ in item.value}
            after = self._column(run, item.end)
            beside = [*before[-1:], *([after] if after is not None else [])]
            return not any(
                one.kind == "column" and not keys.isdisjoint({column.key for column in one.value}) for one in beside
            )
        return False

    def _terms(self, run: WordRun, at: int) -> Item | None:
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


def _is_group_word(run: WordRun, at: int) -> bool:
    phrase = phrase_at(run, at)
    return phrase is not None and phrase.kind in {"by", "compare"}


def _is_part_of_grouping(word: Word, spans: Sequence[Word], items: Sequence[Item]) -> bool:
    """`split by hub`: the verb before `by` and a column says no more than they do."""
    for one, follows in pairwise(items):
        if one.kind == "by" and one.at and spans[one.at - 1] == word and follows.at == one.end:
            return one.said == "by" and follows.kind in {"column", "bucket"}
    return False


def _is_written(value: Sequence[str], said: Sequence[str]) -> bool:
    """Whether words are those of a value but for a plural: `busy` and `business` share a stem and nothing else."""
    return all(_singular(one) == _singular(other) for one, other in zip(value, said, strict=True))


def _singular(word: str) -> str:
    return word[:-3] + "y" if word.endswith("ies") else word.removesuffix("s")


def _plain(word: Word) -> str:
    return word.folded.removesuffix("'s")
