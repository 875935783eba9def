"""The planted-error benchmark is honest: what it says it planted is there, and what it calls clean is clean."""

import random
import re
from pathlib import Path
from string import Formatter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.continuity.measuring import split_of
from benchmarks.continuity.novels import novel_of, novels
from benchmarks.continuity.people import people_of
from benchmarks.continuity.planting import Book, Passage, planted, same_as_novel, untouched
from benchmarks.continuity.wordings import FORMS, KINDS, forms
from benchmarks.continuity.wordings.age import ages, ordinal, words
from benchmarks.continuity.wordings.date import DAYS, calendars
from tests.benchmarks.pond import NOVEL, NOWHERE, PEOPLE, pond_cases, pond_text
from tests.sizes import size


def _standing_at(book: Book, passage: Passage) -> str:
    return " ".join(book.files[passage.path].split("\n")[passage.first - 1 : passage.last])


# -- the generator -----------------------------------------------------------------------------------------------------


@pytest.mark.promise("studio.continuity-honest")
@given(seed=st.integers(0, 10_000), errors=st.booleans(), wrapped=st.booleans())
def test_the_same_seed_gives_the_same_bytes(seed: int, errors: bool, wrapped: bool) -> None:  # noqa: FBT001
    first, again = (planted(NOVEL, pond_cases(seed), errors=errors, wrapped=wrapped) for _ in range(2))
    assert first.files == again.files
    assert first.plants == again.plants


def test_another_seed_gives_another_book() -> None:
    books = [planted(NOVEL, pond_cases(seed), errors=True, wrapped=True).files for seed in range(3)]
    assert books[0] != books[1] != books[2]


@pytest.mark.promise("studio.continuity-honest")
@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("cards", [True, False])
@pytest.mark.parametrize("split", ["dev", "held"])
def test_every_plant_stands_at_the_lines_it_names(*, wrapped: bool, cards: bool, split: str) -> None:
    for seed in range(size(4, 40)):
        cases = pond_cases(seed, split, cards=cards)
        assert cases
        for errors in (True, False):
            book = planted(NOVEL, cases, errors=errors, wrapped=wrapped)
            for plant in book.plants:
                assert plant.established.text in _standing_at(book, plant.established)
                assert plant.second.text in _standing_at(book, plant.second)
                assert plant.second.text == (plant.case.contradicting if errors else plant.case.clean)


@pytest.mark.parametrize("wrapped", [True, False])
def test_all_other_lines_are_the_novels_own_and_are_traced_to_it(*, wrapped: bool) -> None:
    plain = untouched(NOVEL, wrapped=wrapped)
    assert same_as_novel(plain, NOVEL, wrapped=wrapped)
    book = planted(NOVEL, pond_cases(), errors=True, wrapped=wrapped)
    for path, origin in book.origins.items():
        old, new = plain.files[path].split("\n"), book.files[path].split("\n")[:-1]
        assert len(origin) == len(new)
        assert [line for line in origin if line] == list(range(1, len(old)))
        for was, line in zip(origin, new, strict=True):
            assert not was or line.startswith(old[was - 1])


def test_the_two_statements_stand_apart_and_in_order() -> None:
    for seed in range(size(4, 40)):
        for case in pond_cases(seed):
            assert (case.first.scene, case.first.paragraph + 11) < (
                case.second.scene,
                case.second.paragraph,
            ) or case.first.scene < case.second.scene


def test_all_kinds_are_planted_and_half_of_them_against_cards() -> None:
    assert {case.kind for case in pond_cases()} == set(KINDS)
    assert {case.kind for case in pond_cases(cards=True)} == {"eyes", "hair", "age", "place", "death"}


# -- twins -------------------------------------------------------------------------------------------------------------


@pytest.mark.promise("studio.continuity-honest")
def test_a_twin_differs_from_its_error_and_says_why_it_is_clean() -> None:
    for seed in range(size(4, 40)):
        for case in pond_cases(seed):
            assert case.clean != case.contradicting
            assert case.why
            assert "{" not in case.established + case.contradicting + case.clean


@pytest.mark.promise("studio.continuity-honest")
def test_no_two_cases_of_a_book_can_contradict_each_other() -> None:
    for seed in range(size(6, 60)):
        parts: dict[str, list[str]] = {}
        for case in pond_cases(seed):
            parts.setdefault(case.person.key, []).append(case.kind)
        for kinds in parts.values():
            assert len(kinds) == len(set(kinds)) <= 2
            assert "death" not in kinds or len(kinds) == 1
            assert not {"date", "place"} <= set(kinds)


@pytest.mark.promise("studio.continuity-honest")
def test_nobody_dies_whom_the_novel_still_needs() -> None:
    for seed in range(size(6, 60)):
        for case in pond_cases(seed):
            if case.kind == "death":
                later = [
                    scene for scene in NOVEL.scenes[case.first.scene :] if case.person.key in " ".join(scene.texts)
                ]
                assert not later


def test_a_slip_is_a_spelling_the_novel_does_not_have() -> None:
    for seed in range(size(6, 60)):
        for case in pond_cases(seed):
            if case.kind == "name":
                assert case.person.key in NOVEL.text
                assert case.person.key not in case.contradicting


@given(st.integers())
def test_a_broken_calendar_is_wrong_and_the_same_one_right(seed: int) -> None:
    values = calendars(random.Random(seed))
    days = {ordinal(number): number for number in range(1, 32)}

    def read(text: str) -> tuple[int, int]:
        day, date = re.fullmatch(r"(\w+), the ([\w-]+) of .*", text).groups()  # type: ignore[union-attr]
        return DAYS.index(day), days[date]

    (start, first), (right, later), (wrong, again) = (
        read(slots["v"]) for slots in (values.settled, values.same, values.broken)
    )
    assert first < later == again
    assert (start + later - first) % 7 == right != wrong


@given(st.integers())
def test_a_broken_age_is_younger_or_out_of_reach(seed: int) -> None:
    values = ages(random.Random(seed))
    settled, broken = int(values.settled["digits"]), int(values.broken["digits"])
    assert broken < settled or broken >= settled + 26
    assert values.same == values.settled


def test_numbers_are_written_as_novels_write_them() -> None:
    assert [words(number) for number in (4, 12, 40, 57)] == ["four", "twelve", "forty", "fifty-seven"]
    assert [ordinal(number) for number in (2, 9, 12, 20, 33)] == [
        "second",
        "ninth",
        "twelfth",
        "twentieth",
        "thirty-third",
    ]


# -- wordings ----------------------------------------------------------------------------------------------------------


def test_every_kind_has_at_least_twelve_wordings_on_each_side() -> None:
    for kind in KINDS:
        mine = [form for form in FORMS if form.kind == kind]
        for side in ("established", "contradicting", "clean"):
            all_words = [wording for form in mine for wording in getattr(form, side)]
            assert len(all_words) == len(set(all_words)) >= 12


@pytest.mark.promise("studio.continuity-honest")
def test_the_two_sets_share_no_wording_and_know_the_same_slots() -> None:
    dev, held = forms("dev"), forms("held")
    slots = {"N", "A", "K", "M", "S", "v", "w", "V", "W", "he", "him", "his", "He", "His", "himself", "man"}
    slots |= {"town", "night", "nth", "digits", "later", "young", "day", "month"}
    for kind in KINDS:
        for one, other in zip(dev[kind], held[kind], strict=True):
            assert (one.name, one.card, one.values) == (other.name, other.card, other.values)
            for side in ("established", "contradicting", "clean"):
                ours, theirs = getattr(one, side), getattr(other, side)
                assert len(theirs) >= 12
                assert not set(ours) & set(theirs)
            for said in (*other.established, *other.contradicting, *(clean for _, clean in other.clean)):
                assert {name for _, name, _, _ in Formatter().parse(said) if name is not None} <= slots, said


# -- the novels --------------------------------------------------------------------------------------------------------


def test_a_text_is_split_into_scenes_at_its_headings() -> None:
    assert len(NOVEL.scenes) == 14
    assert [scene.title for scene in NOVEL.scenes[:2]] == ["Chapter 1", "Chapter 2"]
    named = {person.name for person in people_of(NOVEL, NOWHERE)}
    assert len(named) >= 5
    assert named <= set(PEOPLE)


def test_head_and_tail_of_gutenberg_are_left_out(tmp_path: Path) -> None:
    around = f"licence\n*** START OF THIS PROJECT GUTENBERG EBOOK X ***\n\n{pond_text()}\n\n*** END OF THIS PROJECT GUTENBERG EBOOK X ***\nlicence\n"
    (tmp_path / "The-Pond_12.txt").write_text(around.replace("\n", "\r\n"), encoding="utf-8")
    novel = novel_of(tmp_path / "The-Pond_12.txt")
    assert (novel.id, novel.title, len(novel.scenes)) == ("12", "The Pond", 14)
    assert "licence" not in novel.text


def test_real_novels_become_scenes_with_people_in_them(data: Path) -> None:
    if not (data / "gutenberg-novels").is_dir():
        pytest.skip("left out: gutenberg-novels, TALLY_DATA not there")
    found = novels(data)
    assert {split_of(novel) for novel in found} == {"dev", "held"}
    for novel in found:
        assert len(novel.scenes) >= 10
        assert "Gutenberg" not in novel.text
        assert people_of(novel, data)
