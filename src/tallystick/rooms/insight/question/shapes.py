"""What is known in a question by its form: numbers with their units, buckets of time, weekdays, superlatives."""

import re

from tallystick.rooms.insight.question.vocabulary import grammar
from tallystick.rooms.insight.question.word_run import Item, WordRun, phrase_at
from tallystick.text.calendar_names import WEEKDAY_NUMBERS, WEEKDAYS
from tallystick.text.number_words import NUMBER_WORDS

_UNITS = {"minute": 1 / 60, "hour": 1.0, "day": 24.0, "week": 168.0}
_ADVERBS = {
    "date": "day",
    "daily": "day",
    "weekly": "week",
    "monthly": "month",
    "yearly": "year",
    "quarterly": "quarter",
}
_SUPERLATIVE = re.compile(r"[a-z]{2,}est")
_COMPARATIVE = re.compile(r"[a-z]{2,}er")
_CLOCK = re.compile(r"(\d{1,2})(am|pm)")
_NOON = 12


def shape_at(run: WordRun, at: int) -> Item | None:
    """Numbers with their units, buckets of time, weekdays and superlatives: what is known by its form."""
    for read in (_pronoun, _hour, _quantity, _weekday, bucket_at, _order, _degree):
        found = read(run, at)
        if found is not None:
            return found
    return None


def _pronoun(run: WordRun, at: int) -> Item | None:
    word = run.folded[at]
    counted = run.folded[max(0, at - 1)] in {"least", "most", "than", "over", "under"}
    if word in {"one", "ones"} and not counted and run.bucket(at + 1) is None:
        return Item(kind="filler", at=at, end=at + 1, said=word)
    return None


def _hour(run: WordRun, at: int) -> Item | None:
    """`6pm`, `8 in the morning`."""
    clock = _CLOCK.fullmatch(run.folded[at])
    if clock is not None and 1 <= int(clock[1]) <= _NOON:
        return Item(kind="hour", at=at, end=at + 1, value=int(clock[1]) % _NOON + (_NOON if clock[2] == "pm" else 0))
    number, half = _number_of(run.folded[at]), _half_of_day(run, at + 1)
    if number is None or half is None:
        return None
    return Item(kind="hour", at=at, end=at + half[0] + 1, value=int(number) % _NOON + half[1])


def _quantity(run: WordRun, at: int) -> Item | None:
    word = run.folded[at]
    number = _number_of(word)
    if number is None and word in {"a", "an"} and run.bucket(at + 1) in {"day", "week", "hour"}:
        before = run.folded[at - 1] if at else ""
        number = 1.0 if before in {"than", "within", "least", "most", "over", "under"} else None
    return None if number is None else _number(run, at, number)


def _weekday(run: WordRun, at: int) -> Item | None:
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


def _links(run: WordRun, at: int) -> bool:
    return at + 1 < len(run.folded) and run.folded[at] in {"to", "through"}


def _weekday_number(word: str) -> int | None:
    return WEEKDAY_NUMBERS.get(word) or WEEKDAY_NUMBERS.get(word.removesuffix("s"))


def bucket_at(run: WordRun, at: int) -> Item | None:
    """`week`, `daily`, `calendar month`, `hour of the day`, `month by month`."""
    skipped = run.folded[at] == "calendar"
    if run.folded[at] == "minutes":
        return Item(kind="bucket", at=at, end=at + 1, value="minute", said="minutes")
    bucket = _ADVERBS.get(run.folded[at]) or run.bucket(at + skipped)
    if bucket is None:
        return None
    end = at + 1 + skipped
    if run.folded[end : end + 2] == ["by", run.folded[at]]:
        end += 2
    if bucket in {"hour", "day"} and run.folded[end : end + 3] in (["of", "the", "day"], ["of", "the", "week"]):
        bucket, end = ("weekday" if run.folded[end + 2] == "week" else bucket), end + 3
    return Item(kind="bucket", at=at, end=end, value=bucket, said=run.folded[at])


def _order(run: WordRun, at: int) -> Item | None:
    word = run.folded[at]
    kinds = {"oldest": "oldest", "earliest": "oldest", "newest": "newest", "latest": "newest", "recent": "newest"}
    # `biggest first` says an order; the first week is a period and was read as one.
    kind = "order" if word == "first" else kinds.get(word)
    return None if kind is None else Item(kind=kind, at=at, end=at + 1, said=word)


def _half_of_day(run: WordRun, at: int) -> tuple[int, int] | None:
    """`am`, `pm`, `in the morning`: how many words, and what is added to the hour."""
    rest = run.folded[at : at + 3]
    if rest[:1] in (["am"], ["pm"]):
        return 1, _NOON if rest[0] == "pm" else 0
    if rest[:2] == ["in", "the"] and rest[2:] in (["morning"], ["afternoon"], ["evening"]):
        return 3, 0 if rest[2] == "morning" else _NOON
    return None


def _degree(run: WordRun, at: int) -> Item | None:
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


def _number(run: WordRun, at: int, number: float) -> Item:
    if run.percent_after(at):
        level = run.folded[at + 1 : at + 2] == ["level"]
        return Item(kind="number", at=at, end=at + 1 + level, value=number, said="%")
    unit = run.folded[at + 1].removesuffix("s") if at + 1 < len(run.folded) else ""
    ranked = at and (
        _degree(run, at - 1) or ((found := phrase_at(run, at - 1)) is not None and found.kind in {"high", "low"})
    )
    if unit in _UNITS and not (ranked and run.folded[at - 1] != "than"):
        return Item(kind="hours", at=at, end=at + 2, value=number * _UNITS[unit], said=run.said(at, at + 2))
    plus = run.text[run.spans[at].end :].startswith("+")
    return Item(kind="number", at=at, end=at + 1, value=number, said=run.said(at, at + 1) + ("+" if plus else ""))


def _number_of(word: str) -> float | None:
    if word in NUMBER_WORDS:
        return float(NUMBER_WORDS[word])
    plain = word[:-2] if word[-2:] in {"st", "nd", "rd", "th"} else word
    plain = plain.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", plain) else plain
    return float(plain) if re.fullmatch(r"\d+(\.\d+)?", plain) else None
