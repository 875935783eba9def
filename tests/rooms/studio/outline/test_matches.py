"""Which scene is which entry: title, then point of view, then number."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.book.cards import parse_card
from tallystick.rooms.studio.book.model import Beat, CanonCard, Scene
from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.outline.matches import candidates, card_of, match_book, names_of, same_person
from tests.rooms.studio.projects import source

CARDS = [
    parse_card(source(f"---\nname: {name}\naliases: [{alias}]\n---\n", f"Compendium/Characters/{alias}.md"))
    for name, alias in (("Mara Voss", "the Grey"), ("Tom", "Tommy"), ("Anna Hale", "Nan"), ("Anna Voss", "Annie"))
]
PEOPLE = [card for card in CARDS if isinstance(card, CanonCard)]
SAME = same_person(names_of(PEOPLE))


def beat(line: int, title: str, pov: str | None = None, number: int | None = None, scene: str | None = None) -> Beat:
    return Beat(line=line, end_line=line, title=title, text="", act=None, number=number, pov=pov, scene=scene)


def scene(slug: str, pov: str | None = None, number: int | None = None, title: str = "") -> Scene:
    fields = "".join(
        f"{name}: {value}\n" for name, value in (("pov", pov), ("number", number), ("title", title)) if value
    )
    return parse_scene(source(f"---\n{fields}---\nRain.\n", f"Story/Scenes/SCN-{slug}.md"))


def matched(beats: list[Beat], scenes: list[Scene]) -> list[tuple[str, str, str]]:
    return [(match.beat.title, match.scene.slug, match.by) for match in match_book(beats, scenes, SAME)]


@pytest.mark.promise("outline.matching")
def test_each_pass_takes_what_the_one_before_left() -> None:
    beats = [
        beat(1, "The Harbour", "Mara", 1), beat(2, "Somewhere", "Tom", 2), beat(3, "Elsewhere", None, 3),
        beat(4, "Nowhere", None, 9),
    ]  # fmt: skip
    scenes = [scene("the-harbour"), scene("quarrel", "Tom"), scene("fire", None, 3), scene("end")]
    assert matched(beats, scenes) == [
        ("The Harbour", "the-harbour", "title_slug"),
        ("Somewhere", "quarrel", "pov_name"),
        ("Elsewhere", "fire", "scene_number"),
    ]


@pytest.mark.promise("outline.matching")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (beat(1, "Any", scene="SCN-the-quay"), scene("the-quay")),
        (beat(1, "Any", scene="Scenes/SCN-the-quay.md"), scene("the-quay")),
        (beat(1, "The Quay!"), scene("07-the-quay")),
        (beat(1, "The quay at night"), scene("x", title="The Quay at Night")),
        (beat(1, "Quarrel"), scene("the-quarrel")),
        (beat(1, "Mara's letter"), scene("maras-letter-from-senn")),
        (beat(1, "Café Noir"), scene("cafe-noir")),
    ],
)
def test_titles_and_names_match_as_authors_vary_them(one: Beat, other: Scene) -> None:
    assert [by for *_, by in matched([one], [other])] == ["title_slug"]


@pytest.mark.promise("outline.matching")
@pytest.mark.parametrize(
    ("beats", "scenes"),
    [
        # Two of one person: nobody can say which, without a number.
        ([beat(1, "A", "Mara"), beat(2, "B", "Mara")], [scene("x", "Mara"), scene("y", "Mara")]),
        # One word in common is no title.
        ([beat(1, "Storm")], [scene("storm-in-senn")]),
        ([beat(1, "A", "Tom", 1)], [scene("x", "Tom", 2)]),
        ([beat(1, "A", number=1), beat(2, "B", number=1)], [scene("x", number=1)]),
    ],
)
def test_what_is_uncertain_is_left_open(beats: list[Beat], scenes: list[Scene]) -> None:
    assert matched(beats, scenes) == []


@pytest.mark.promise("outline.matching")
def test_a_number_decides_between_scenes_of_one_person() -> None:
    beats = [beat(1, "A", "Mara", 4), beat(2, "B", "Mara", 5)]
    scenes = [scene("x", "the Grey", 5), scene("y", "Mara Voss", 4)]
    assert matched(beats, scenes) == [("A", "y", "pov_name"), ("B", "x", "pov_name")]
    lost = scene("z", "Mara")
    assert [one.title for one in candidates(beats, lost, SAME)] == ["A", "B"]


def test_people_are_the_same_through_their_cards() -> None:
    assert SAME("Mara Voss", "the Grey")
    assert SAME("Mara", "Mara Voss")
    assert not SAME("Anna Voss", "Mara Voss")
    assert not SAME("Mara Voss", "Mara Hale")
    assert [getattr(card_of(PEOPLE, name), "name", None) for name in ("tommy", "Hale", "Mara", "Anna", "Nobody")] == [
        "Tom", "Anna Hale", "Mara Voss", None, None,
    ]  # fmt: skip


TITLES = st.sampled_from(["The Harbour", "Harbour", "The Letter", "Storm", "The Storm at Sea", ""])
POVS = st.sampled_from([None, "Mara", "Tom", "the Grey"])
NUMBERS = st.sampled_from([None, 1, 2, 3])


@pytest.mark.promise("outline.matching")
@given(st.lists(st.tuples(TITLES, POVS, NUMBERS), max_size=6), st.lists(st.tuples(TITLES, POVS, NUMBERS), max_size=6))
def test_no_entry_has_two_scenes_and_no_scene_two_entries(
    entries: list[tuple[str, str | None, int | None]], files: list[tuple[str, str | None, int | None]]
) -> None:
    beats = [beat(line, *entry) for line, entry in enumerate(entries, 1)]
    scenes = [scene(f"s{at}", pov, number, title) for at, (title, pov, number) in enumerate(files)]
    found = match_book(beats, scenes, SAME)
    assert len({match.beat.line for match in found}) == len(found) == len({match.scene.path for match in found})
    assert [match.beat.line for match in found] == sorted(match.beat.line for match in found)


@pytest.mark.promise("outline.matching")
def test_an_entry_that_names_a_scene_by_its_number_is_that_scene_s() -> None:
    beats = [beat(1, "SCN-03 The Mill", scene="SCN-03"), beat(2, "SCN-04 At Sea", scene="SCN-04")]
    assert matched(beats, [scene("03-the-mill"), scene("04-nothing-alike")]) == [
        ("SCN-03 The Mill", "03-the-mill", "title_slug"), ("SCN-04 At Sea", "04-nothing-alike", "title_slug"),
    ]  # fmt: skip


@pytest.mark.promise("outline.matching")
def test_a_number_alone_does_not_join_two_points_of_view() -> None:
    burning = beat(1, "The Burning Boat", "Tom", 5)
    assert matched([burning], [scene("05-the-letter", "Anna Hale", 5, "The Letter")]) == []
