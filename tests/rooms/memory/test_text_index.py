"""The index: what it finds, what it keeps, what it costs."""

import random
from array import array
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.memory.recall import text_index
from tallystick.rooms.memory.recall.postings import WEIGHTS, Postings, add_scores, best_of, pack, weigh
from tallystick.rooms.memory.recall.text_index import TextIndex
from tallystick.storage.text_segments import SegmentEntry, TextSegments
from tests.sizes import size

WORDS = [f"w{number}" for number in range(60)]


def entry(number: int, text: str, **more: object) -> SegmentEntry:
    return SegmentEntry(number=0, id=f"obs_{number}", seq=10 * number, words=weigh(text.split()), **more)  # type: ignore[arg-type]


def texts(number: int, seed: int = 1) -> list[str]:
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(1, 30))) for _ in range(number)]


def filled(said: list[str], path: Path | None = None) -> TextIndex:
    index = TextIndex(TextSegments(path))
    for number, text in enumerate(said):
        index.add(entry(number, text))
    return index


def by_hand(said: list[str], words: dict[str, float], before: int) -> dict[int, float]:
    weighed = [weigh(text.split()) for text in said]
    worth = {}
    for word in words:
        holders = sum(word in each for each in weighed)
        worth[word] = log(1 + (len(said) - holders + 0.5) / (holders + 0.5))
    scores = {}
    for number, each in enumerate(weighed[:before]):
        held = [word for word in words if word in each]
        if held:
            scores[number] = sum(words[word] * worth[word] * WEIGHTS[each[word]] for word in held)
    return scores


@pytest.fixture
def small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "SEGMENT", 16)


@pytest.mark.promise("reading.index")
@pytest.mark.usefixtures("small_segments")
def test_scores_are_those_of_the_formula_at_any_size_and_any_cut() -> None:
    chance = random.Random(4)
    for number in (0, 1, 15, 16, 17, 100):
        said = texts(number, seed=number)
        index = filled(said)
        for _ in range(size(10, 200)):
            words = {word: chance.choice((0.3, 1.0)) for word in chance.sample(WORDS, 5)}
            before = chance.randint(0, number)
            found = index.search(words, before=before)
            assert found.complete
            assert found.scores == pytest.approx(by_hand(said, words, before))


@pytest.mark.promise("reading.index")
@pytest.mark.usefixtures("small_segments")
def test_a_file_that_is_opened_again_goes_on_where_whole_segments_end(tmp_path: Path) -> None:
    said, path = texts(40), tmp_path / "index.db"
    first = filled(said, path)
    first.close()
    again = TextIndex(TextSegments(path))
    assert again.size == 32
    assert again.last_seq == 310
    for number, text in enumerate(said):
        # What is there already is passed over.
        again.add(entry(number, text))
    words = {"w1": 1.0, "w2": 1.0}
    assert again.search(words).scores == pytest.approx(by_hand(said, words, 40))
    assert (path.stat().st_mode & 0o077) == 0


@pytest.mark.promise("reading.index")
@pytest.mark.usefixtures("small_segments")
def test_two_that_fill_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    said, path = texts(64), tmp_path / "index.db"
    one, other = TextIndex(TextSegments(path)), TextIndex(TextSegments(path))
    for number, text in enumerate(said[:40]):
        one.add(entry(number, text))
    for number, text in enumerate(said):
        other.add(entry(number, text))
    # The slower one found its segments kept by the other, and takes what it missed from the log again.
    for index in (one, other):
        for number, text in enumerate(said):
            index.add(entry(number, text))
        assert index.size == 64
        assert index.search({"w3": 1.0}).scores == pytest.approx(by_hand(said, {"w3": 1.0}, 64))


@pytest.mark.promise("reading.index")
def test_two_that_fill_one_file_in_other_portions_number_every_text_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_index, "SEGMENT", 4)
    said, path = texts(64), tmp_path / "index.db"
    slow, quick = TextIndex(TextSegments(path)), TextIndex(TextSegments(path))
    monkeypatch.setattr(text_index, "BULK", 16)
    for number, text in enumerate(said[:6]):
        # One at a time: a segment of four is kept, and the rest waits.
        quick.add(entry(number, text, episode="e"))
    slow.fill(entry(number, text, episode="e") for number, text in enumerate(said))
    assert slow.size == 64
    again = TextIndex(TextSegments(path))
    assert again.size == 64
    for index in (slow, again):
        assert index.search({"w3": 1.0}).scores == pytest.approx(by_hand(said, {"w3": 1.0}, 64))
        assert [(held.id, held.before) for _, held in sorted(index.entries(range(64)).items())] == [
            (f"obs_{number}", number - 1) for number in range(64)
        ]


@pytest.mark.promise("reading.index")
@pytest.mark.usefixtures("small_segments")
def test_texts_of_an_episode_are_chained_over_segments_and_over_others_between_them() -> None:
    index = TextIndex(TextSegments(None))
    for number in range(60):
        index.add(entry(number, "w1", episode=("a", "b", "")[number % 3]))
    for number, held in index.entries(range(60)).items():
        alone = number % 3 == 2
        assert held.before == (-1 if alone or number < 3 else number - 3)
        assert held.after == (-1 if alone or number > 56 else number + 3)


@pytest.mark.promise("reading.index")
def test_a_query_of_common_words_is_bounded_and_finds_the_best_of_the_newest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "VISITS", 50)
    monkeypatch.setattr(text_index, "SEGMENT", 64)
    said = ["common other"] * 300 + ["common rare"] + ["common other"] * 300
    found = filled(said).search({"common": 1.0, "rare": 1.0, "other": 1.0})
    assert not found.complete
    assert len(found.scores) <= 51
    # The rare word comes first, so what holds it is found however old it is.
    assert max(found.scores, key=found.scores.__getitem__) == 300


@pytest.mark.promise("reading.index")
def test_as_of_is_a_cut_at_a_place_of_the_log(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "SEGMENT", 16)
    index = filled(texts(40))
    assert [index.upto(seq) for seq in (-1, 0, 9, 10, 155, 320, 385, 10_000)] == [0, 1, 1, 2, 16, 33, 39, 40]


@pytest.mark.promise("reading.index")
def test_an_index_of_another_form_is_begun_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_index, "SEGMENT", 4)
    path = tmp_path / "index.db"
    filled(texts(9), path).close()
    segments = TextSegments(path)
    segments._base.execute("PRAGMA user_version = 99")
    segments.close()
    again = TextIndex(TextSegments(path))
    assert again.size == 0
    again.add(entry(0, "w1"))
    again.clear()
    assert again.size == 0


@pytest.mark.promise("reading.index")
@given(st.dictionaries(st.integers(0, 200), st.sampled_from((0.5, 1.0, 1.5, 2.0))), st.integers(1, 12))
def test_the_best_are_those_of_a_full_sort_however_many_are_equal(scores: dict[int, float], limit: int) -> None:
    assert best_of(scores, limit) == sorted(scores, key=lambda number: (-scores[number], -number))[:limit]


@pytest.mark.promise("reading.index")
@given(
    st.sets(st.integers(0, 60)), st.sets(st.integers(1, 59)), st.integers(0, 61) | st.none(), st.integers(1, 70),
    st.sampled_from(("kept", "tail")),
)  # fmt: skip
def test_of_many_short_lists_the_newest_postings_before_a_cut_are_taken(
    holders: set[int], borders: set[int], cut: int | None, visits: int, newest: str
) -> None:
    numbers = sorted(holders)
    parts = [
        [number for number in numbers if low <= number < high]
        for low, high in zip([0, *sorted(borders)], [*sorted(borders), 61], strict=True)
    ]
    lists: list[Postings] = [pack(array("I", part), bytes(part)) for part in reversed(parts) if part]
    if newest == "tail" and lists:
        last = [part for part in parts if part][-1]
        lists[0] = (array("I", last), bytearray(last))
    scores = dict.fromkeys(range(0, 61, 7), 1.0)
    values = [number / 4 for number in range(256)]
    wanted = [number for number in numbers if cut is None or number < cut][-visits:]
    expected = dict(scores)
    for number in wanted:
        expected[number] = values[number] + scores.get(number, 0.0)
    assert add_scores(iter(lists), values, scores, cut=cut, visits=visits) == visits - len(wanted)
    assert scores == expected
