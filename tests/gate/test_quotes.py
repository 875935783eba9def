import json
import random
import re
import unicodedata
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.gate.quotes import (
    INDEXED_FROM,
    Folded,
    find_quote,
    fold,
    fold_text,
    occurrences,
    split_lines,
    word_count,
)
from tests.gate.quote_noise import BROKEN, Book, broken, noisy
from tests.gate.stopwatch import cpu_seconds
from tests.sizes import size

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "reply_quotes.json").read_text(encoding="utf-8"))
PROSE: str = VECTORS["text"]


def named(cases: list[dict[str, str]]) -> Any:
    return pytest.mark.parametrize("quote", [case["quote"] for case in cases], ids=[case["note"] for case in cases])


@named(VECTORS["true"])
@pytest.mark.promise("reply.quotes-form-is-folded")
def test_a_true_quote_is_found_whatever_its_typography(quote: str) -> None:
    assert find_quote(quote, fold_text(PROSE)) is not None
    assert find_quote(quote, padded(PROSE)) is not None
    assert fold(quote) in fold(PROSE)


@named(VECTORS["false"])
@pytest.mark.promise(
    "reply.quotes-truth-is-strict",
    "reply.quotes-whole-words",
    "reply.quotes-hidden-and-lookalike",
    "reply.quotes-ellipsis",
)
def test_a_quote_that_is_not_there_is_never_found(quote: str) -> None:
    assert find_quote(quote, fold_text(PROSE)) is None
    assert find_quote(quote, padded(PROSE)) is None


def padded(text: str) -> Folded:
    """Long enough to be searched by its index of words."""
    return fold_text("Lorem ipsum dolor sit amet.\n" * (INDEXED_FROM // 20) + text)


@cache
def books(data: Path) -> tuple[Book, ...]:
    novels = sorted((data / "gutenberg-novels" / "dev").glob("*.txt"))
    excerpts = sorted((data / "litbank" / "dev" / "quotations").glob("*.txt"))[:10]
    found = [("own prose", PROSE)]
    found += [(path.name, path.read_bytes().decode("utf-8-sig")) for path in [*novels, *excerpts]]
    if len(found) == 1:
        other = re.sub(r"\b(\w)(\w*)(\w)\b", r"\3\2\1", PROSE)
        found.append(("own prose, turned round", other))
    return tuple(Book.of(name, text) for name, text in found)


@cache
def folded_book(book_name: str, data: Path) -> Folded:
    return fold_text(next(book.text for book in books(data) if book.name == book_name))


@pytest.mark.promise("reply.quotes-no-false-rejects")
def test_true_quotes_with_noise_are_found_on_their_lines(data: Path) -> None:
    dice = random.Random(20_001)
    rounds = size(2_000, 50_000)
    missed: Counter[str] = Counter()
    wrong_lines = 0
    for _ in range(rounds):
        book = dice.choice(books(data))
        words, first, last = book.window(dice)
        quote, kinds = noisy(" ".join(words), dice)
        places = list(occurrences(quote, folded_book(book.name, data)))
        if not places:
            missed[kinds] += 1
        elif not any((place.first_line, place.last_line) == (first, last) for place in places):
            wrong_lines += 1
    assert sum(missed.values()) < rounds / 100, missed
    assert wrong_lines == 0


@pytest.mark.promise("reply.quotes-no-false-accepts")
@pytest.mark.parametrize("kind", list(BROKEN))
def test_broken_quotes_are_never_found(data: Path, kind: str) -> None:
    dice = random.Random(f"broken {kind}")
    for _ in range(size(170, 4_200)):
        book, other = dice.sample(books(data), 2)
        quote = broken(kind, book, other, dice)
        assert find_quote(quote, folded_book(book.name, data)) is None, (book.name, quote)


@pytest.mark.promise("reply.quotes-no-false-accepts", "reply.quotes-no-false-rejects")
def test_the_quote_checks_come_out_as_labelled(data: Path) -> None:
    cases = data / "quote-checks" / "dev" / "quotes.jsonl"
    if not cases.exists():
        pytest.skip("left out: quote-checks, TALLY_DATA not there")
    wrong = [
        case
        for case in map(json.loads, cases.read_text(encoding="utf-8").splitlines())
        if (find_quote(case["quote"], folded_book(case["file"], data)) is not None) != bool(case["label"])
    ]
    assert wrong == []


def test_the_quotations_of_an_annotated_corpus_are_found(data: Path) -> None:
    folder = data / "litbank" / "dev" / "quotations"
    if not folder.exists():
        pytest.skip("left out: litbank, TALLY_DATA not there")
    checked = 0
    for annotations in sorted(folder.glob("*.ann"))[: size(10, 100)]:
        text = fold_text(annotations.with_suffix(".txt").read_text(encoding="utf-8"))
        for row in annotations.read_text(encoding="utf-8").splitlines():
            if row.startswith("QUOTE\t"):
                checked += 1
                assert find_quote(row.split("\t")[6], text) is not None, row
    assert checked > 50


@pytest.mark.promise("reply.quotes-hidden-and-lookalike")
def test_no_confusable_letter_verifies(data: Path) -> None:
    table = data / "unicode" / "shared" / "confusables.json"
    if not table.exists():
        pytest.skip("left out: confusables, TALLY_DATA not there")
    letters = {
        letter: found for letter, found in json.loads(table.read_text(encoding="utf-8")).items() if letter.isascii()
    }
    tried = 0
    for letter, lookalikes in letters.items():
        if len(letter) == 1 and letter.isalpha():
            source = fold_text(f"there stood wor{letter}ds beside the gate")
            for lookalike in (found["c"] for found in lookalikes):
                if lookalike != letter:
                    tried += 1
                    assert find_quote(f"stood wor{lookalike}ds beside", source) is None, (letter, lookalike)
    assert tried > 1_000


def test_canonical_equivalents_fold_alike(data: Path) -> None:
    table = data / "unicode" / "shared" / "NormalizationTest.txt"
    if not table.exists():
        pytest.skip("left out: NormalizationTest, TALLY_DATA not there")
    signs_left_alone = set("\u037e\u0387\u1fef\u2126\u212a\u212b")
    different = set()
    for row in table.read_text(encoding="utf-8").splitlines():
        if row and row[0] not in "#@":
            forms = ["".join(chr(int(code, 16)) for code in form.split()) for form in row.split(";")[:3]]
            if unicodedata.normalize("NFC", forms[0]) != forms[1]:
                continue  # newer than this Python's own tables
            if len({fold(form) for form in forms}) > 1:
                different.add(forms[0])
    assert different <= signs_left_alone


@pytest.mark.parametrize("sign", ["\u00ad", "ﬁ"])
def test_a_soft_hyphen_or_ligature_in_the_text_does_not_matter_but_one_in_the_quote_must_be_copied(sign: str) -> None:
    plain = "" if sign == "\u00ad" else "fi"
    text = fold_text(f"They could not {sign}nd the harbour that night.")
    assert find_quote(f"could not {plain}nd the harbour", text) is not None
    assert find_quote(f"could not {sign}nd the harbour", text) is not None
    assert find_quote(f"could not {sign}nd the harbour", fold_text(f"They could not {plain}nd the harbour.")) is None
    assert fold(f"could not {sign}nd the harbour") in fold(text.raw)


words = st.text(alphabet=st.sampled_from("abcdeäöéßΩжx0189"), min_size=1, max_size=6)
layout = st.sampled_from([" ", "\n", "  ", "\r\n", "\n\n", "\t", "\u00a0", " \n "])


@given(st.lists(st.tuples(words, layout), min_size=1, max_size=60), st.data())
@pytest.mark.promise("reply.quotes-real-lines")
def test_any_run_of_words_is_found_on_its_real_lines(pieces: list[tuple[str, str]], draw: st.DataObject) -> None:
    text = "".join(word + space for word, space in pieces)
    start = draw.draw(st.integers(0, len(pieces) - 1))
    end = draw.draw(st.integers(start, len(pieces) - 1))
    quote = " ".join(word for word, _ in pieces[start : end + 1])
    before = "".join(word + space for word, space in pieces[:start])
    inside = "".join(word + space for word, space in pieces[start:end])
    first = len(split_lines(before))
    found = [(place.first_line, place.last_line) for place in occurrences(quote, fold_text(text))]
    assert (first, first + len(split_lines(inside)) - 1) in found


@given(st.text(), st.text())
def test_any_text_can_be_folded_and_searched(text: str, quote: str) -> None:
    folded = fold_text(text)
    assert len(folded.starts) == len(folded.numbers)
    for place in occurrences(quote, folded):
        assert fold(quote) in folded.text or folded.literal
        assert 1 <= place.first_line <= place.last_line <= len(split_lines(text))
    assert word_count(quote) >= 0


@given(st.lists(words, min_size=3, max_size=20), st.integers(0, 2**32))
def test_the_index_finds_what_plain_search_finds(some: list[str], seed: int) -> None:
    dice = random.Random(seed)
    text = " ".join(dice.choice(some) for _ in range(INDEXED_FROM // 2))
    long = fold_text(text)
    quote = " ".join(dice.choice(some) for _ in range(dice.randint(1, 4)))
    plain = {found.start() for found in re.finditer(f"(?={re.escape(f' {quote} ')})", f" {text} ")}
    assert {place.start for place in occurrences(quote, long)} == plain


@given(st.text(st.sampled_from("ab1 .,'!-_*`\"\n\t(~^/")) | st.text(st.characters(max_codepoint=127)))
def test_what_has_nothing_to_fold_comes_to_the_same_as_by_the_long_way(text: str) -> None:
    # A second line of the same makes the text one that goes the long way.
    folded, doubled = fold_text(text), fold_text(f"{text}\n§§\n{text}")
    if folded.text == text:
        assert doubled.text.split("§§")[0].removesuffix(" ") == text
        assert (list(folded.numbers), list(folded.starts)) == (([1], [0]) if text else ([], []))


MIXED = st.text(st.sampled_from("ab12 é漢字かกพ မ'-.,_*\n\u0301\u200b"), max_size=40)
FILLER = "Lorem ipsum dolor sit amet.\n"


@given(st.data())
@settings(max_examples=size(300, 20_000))
@pytest.mark.promise("reply.quotes-any-length")
def test_a_quote_stands_in_a_long_text_exactly_if_it_stands_in_a_short_one(data: st.DataObject) -> None:
    text = data.draw(MIXED)
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    quote = data.draw(st.just(text[start:end]) | MIXED)
    long = fold_text(FILLER * (INDEXED_FROM // len(FILLER) + 1) + text)
    assert len(long.text) >= INDEXED_FROM
    short = fold_text(FILLER + text)
    assert (find_quote(quote, long) is None) == (find_quote(quote, short) is None), (quote, text)


@pytest.mark.promise("reply.quotes-any-length")
@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("港にTallystick runs here", "Tallystick runs here"),
        ("they call it Tallystickという道具", "call it Tallystick"),
        ("版2020年の Tallystick", "2020"),
        ("ไทยTally นี้", "Tally"),
    ],
)
def test_a_quote_may_begin_or_end_where_another_script_follows_without_a_space(text: str, quote: str) -> None:
    assert find_quote(quote, fold_text(text)) is not None
    assert find_quote(quote, padded(text)) is not None
    assert find_quote(quote[:-1], padded(text)) is None


@pytest.mark.parametrize(
    ("quote", "count"),
    [
        ("", 0),
        ("the", 1),
        ("— the —", 1),
        ("a well-known man", 3),
        ("one—two", 2),
        ("don't go", 2),
        ("wait ... what", 2),
        ("雨が降っていた", 4),
    ],
)
def test_words_are_counted_as_people_count_them(quote: str, count: int) -> None:
    assert word_count(quote) == count


def test_scripts_without_spaces_can_be_quoted_inside_a_run() -> None:
    text = fold_text("その朝、港には雨が降っていた。誰も来なかった。")
    assert find_quote("港には雨が降って", text) is not None
    assert find_quote("港には雪が降って", text) is None


@pytest.mark.promise("reply.quotes-linear")
@pytest.mark.parametrize(
    "text",
    [
        " " * 40_000, "\n" * 40_000, "- " * 20_000, ". " * 20_000, "*" * 40_000, "_ " * 20_000, "a" * 40_000, "'" * 40_000,
        "-\n" * 20_000, "a-" * 20_000, '1"' * 20_000, "a " * 20_000, "\u212a" * 40_000, ". .\n" * 13_000,
    ],
    ids=lambda text: repr(text[:4]),
)  # fmt: skip
def test_no_text_is_slow(text: str) -> None:
    def search() -> None:
        folded = fold_text(f"begin {text} end")
        find_quote(f"begin {text} fin", folded)
        find_quote("begin end", folded)

    # An answer takes a tenth of this; what grows with the square takes minutes.
    assert cpu_seconds(search) < (1 if text.isspace() else 5)
