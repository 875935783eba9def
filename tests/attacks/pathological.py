"""Texts on which a regular expression that backtracks takes longest: built from the pattern's own characters."""

import re
from collections.abc import Iterator
from itertools import product
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

_CATEGORIES = {
    codes.CATEGORY_DIGIT: "7", codes.CATEGORY_NOT_DIGIT: "a", codes.CATEGORY_SPACE: " ", codes.CATEGORY_NOT_SPACE: "a",
    codes.CATEGORY_WORD: "a", codes.CATEGORY_NOT_WORD: "-",
}  # fmt: skip
_REPEATS = frozenset({codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT})
_COMMON = "aA7 \t\n.-'\"_,/"
_MOST_SIGNS = 10


def units(pattern: str, flags: int) -> list[tuple[str, str, str]]:
    """(beginning, what is repeated, end) of texts to try."""
    tree = parser.parse(pattern, flags)
    signs = _alphabet(tree)
    found: dict[tuple[str, str, str], None] = {}
    ends = ("", "\0", "!")
    for before, body in _repeats(tree, ""):
        for end in ends:
            found[before, body, end] = None
        found["", before + body, ""] = None
        found["", before + body * 3, ""] = None
    for sample in _samples(tree):
        found["", sample, ""] = None
        found["", sample[:-1], ""] = None
        found["", sample[: max(1, len(sample) // 2)], "\0"] = None
    for sign in signs:
        found["", sign, ""] = None
        found["", sign, "\0"] = None
    for first, second in product(signs[:_MOST_SIGNS], repeat=2):
        if first != second:
            found["", first + second, "\0"] = None
    return [unit for unit in found if unit[1]]


def text(unit: tuple[str, str, str], length: int) -> str:
    """A text of about this length."""
    before, body, end = unit
    return before + body * max(1, length // len(body)) + end


def _alphabet(tree: Any) -> str:
    signs: dict[str, None] = {}
    for op, argument in _walk(tree):
        if op in {codes.LITERAL, codes.NOT_LITERAL}:
            signs[chr(argument)] = None
        elif op is codes.IN:
            signs[_of_class(argument)] = None
    ranked = sorted(signs, key=lambda sign: sign.isalnum())
    kept = [sign for sign in ranked if not sign.isalnum()][:_MOST_SIGNS] + [sign for sign in ranked if sign.isalnum()][
        :4
    ]
    return "".join(dict.fromkeys([*kept, *_COMMON]))


def _walk(tree: Any) -> Iterator[tuple[Any, Any]]:
    for op, argument in tree:
        yield op, argument
        for inner in _inner(op, argument):
            yield from _walk(inner)


def _inner(op: Any, argument: Any) -> list[Any]:
    """The patterns inside a part of one."""
    found: dict[Any, Any] = {
        codes.SUBPATTERN: lambda: [argument[3]], codes.BRANCH: lambda: list(argument[1]),
        codes.ASSERT: lambda: [argument[1]], codes.ASSERT_NOT: lambda: [argument[1]],
        codes.ATOMIC_GROUP: lambda: [argument],
        codes.GROUPREF_EXISTS: lambda: [each for each in argument[1:] if each is not None],
        **dict.fromkeys(_REPEATS, lambda: [argument[2]]),
    }  # fmt: skip
    return found.get(op, list)()


def _sample(tree: Any, *, full: bool = False) -> str:
    """A text that the tree matches, more or less; the shortest, or one with what may be left out."""
    out = ""
    for op, argument in tree:
        if op is codes.LITERAL:
            out += chr(argument)
        elif op is codes.NOT_LITERAL:
            out += "a" if argument != ord("a") else "b"
        elif op is codes.ANY:
            out += "a"
        elif op is codes.IN:
            out += _of_class(argument)
        elif op is codes.BRANCH:
            out += _sample(argument[1][0], full=full)
        elif op is codes.SUBPATTERN:
            out += _sample(argument[3], full=full)
        elif op is codes.ATOMIC_GROUP:
            out += _sample(argument, full=full)
        elif op in _REPEATS:
            low, high, body = argument
            out += _sample(body, full=full) * max(min(low, 50), int(full and high > 0))
    return out


def _samples(tree: Any) -> list[str]:
    return [sample for sample in (_sample(tree), _sample(tree, full=True)) if sample]


def _of_class(argument: Any) -> str:
    negated = argument and argument[0][0] is codes.NEGATE
    if negated:
        pattern = re.compile("[^" + "".join(_escaped(item) for item in argument[1:]) + "]")
        return next((sign for sign in "a7 -.\n" if pattern.match(sign)), "é")
    for op, value in argument:
        if op is codes.CATEGORY:
            return _CATEGORIES[value]
        if op is codes.RANGE:
            return chr(value[0])
        if op is codes.LITERAL:
            return chr(value)
    return "a"


def _escaped(item: tuple[Any, Any]) -> str:
    op, value = item
    if op is codes.LITERAL:
        return re.escape(chr(value))
    if op is codes.RANGE:
        return f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
    if op is codes.CATEGORY:
        names = {codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_NOT_DIGIT: r"\D", codes.CATEGORY_SPACE: r"\s",
                 codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_WORD: r"\w", codes.CATEGORY_NOT_WORD: r"\W"}  # fmt: skip
        return names[value]
    return ""


def _repeats(tree: Any, before: str) -> Iterator[tuple[str, str]]:
    """Every repetition without a small bound: what stands before it, and what it repeats."""
    for op, argument in tree:
        if op in _REPEATS:
            low, high, body = argument
            if high == codes.MAXREPEAT or high >= 100:
                for sample in {_sample(body), _sample(body, full=True), *_of_branches(body)}:
                    if sample:
                        yield before, sample
            yield from _repeats(body, before)
            before += _sample(body) * min(low, 50)
        elif op is codes.BRANCH:
            for branch in argument[1][:8]:
                yield from _repeats(branch, before)
            before += _sample(argument[1][0])
        else:
            for inner in _inner(op, argument):
                yield from _repeats(inner, before)
            if op not in {codes.ASSERT, codes.ASSERT_NOT}:
                before += _sample([(op, argument)])


def _of_branches(body: Any) -> list[str]:
    return [_sample(branch) for op, argument in _walk(body) if op is codes.BRANCH for branch in argument[1][:6]]
