"""What is wrong with an outline by itself, against the scenes, and in its weights."""

from collections.abc import Iterable, Sequence

import pytest

from tallystick.rooms.studio.book.model import Outline, Scene
from tallystick.rooms.studio.book.outline import parse_outline
from tallystick.rooms.studio.book.scenes import parse_scene
from tallystick.rooms.studio.outline.checks import (
    OutlineProblem,
    act_shares,
    balance_problems,
    coverage_problems,
    pov_shares,
    structure_problems,
    word_count,
)
from tallystick.rooms.studio.outline.contents import match_outline
from tallystick.rooms.studio.outline.matches import match_book, same_person
from tests.rooms.studio.projects import source

SAME = same_person({})


def outline(text: str) -> Outline:
    return parse_outline(source(text, "Story/SCN-outline.md"))


def scene(slug: str, text: str = "It rained.\n") -> Scene:
    return parse_scene(source(text, f"Story/Scenes/SCN-{slug}.md"))


def told(problems: Iterable[OutlineProblem]) -> list[tuple[str, int | None]]:
    return [(one.code, one.place.line if one.place else None) for one in problems]


@pytest.mark.promise("outline.structure")
@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", [("outline_empty", None)]),
        ("1. A: x\n2. B: y\n3. C: z\n", []),
        ("- Scene 1: A\n- Scene 1: B\n- Scene 5: C\n", [("number_repeated", 2), ("number_gap", 3)]),
        ("- The Quay: x\n- the quay: y\n", [("title_repeated", 1), ("title_repeated", 2)]),
        # Lists that begin anew with every act repeat nothing.
        ("# Act I\n1. A: x\n2. B: x\n# Act II\n1. C: x\n2. D: x\n", []),
        ("# Act I\n1. A: x\n# Act II\n1. C: x\n3. D: x\n", [("number_gap", 5)]),
        ("## Scene 1: A (POV: Mara)\nx\n## Scene 2: B\n", [("pov_missing", 3), ("beat_empty", 3)]),
    ],
)
def test_gaps_repeats_and_empty_entries_are_told_on_their_lines(
    text: str, problems: list[tuple[str, int | None]]
) -> None:
    assert told(structure_problems(outline(text))) == problems


def against(text: str, scenes: Sequence[Scene]) -> list[tuple[str, int | None]]:
    found = outline(text)
    return told(coverage_problems(found, scenes, match_outline(found, scenes, ())))


@pytest.mark.promise("outline.coverage")
def test_links_to_nothing_and_scenes_out_of_order_are_told() -> None:
    assert against("- [[SCN-gone]]: x\n- Quay: y\n", [scene("quay")]) == [
        ("beat_without_scene", 1), ("scene_missing", 1),
    ]  # fmt: skip
    assert against("- Quay: x\n- Fire: y\n", [scene("02-quay"), scene("01-fire")]) == [("out_of_order", 2)]
    assert against("- Quay: x\n", [scene("quay"), scene("empty", "")]) == [("scene_without_beat", None)]


LETTER = "---\ntitle: The Letter\npov: Ilya\nnumber: 5\n---\nIlya opened the letter by the lamp and read of the debt. He burned it.\n"


@pytest.mark.promise("outline.coverage")
@pytest.mark.parametrize(
    ("entry", "codes"),
    [
        (
            "- SCN-05 The Burning Boat (POV Marta): Marta sets fire to the pilot boat.\n",
            ["pov_differs", "beat_differs"],
        ),
        ("## SCN-05 The Burning Boat\nPOV: Marta\n\nMarta rows out at dawn.\n", ["pov_differs", "beat_differs"]),
        ("### Scene 5: The Burning Boat (POV: Marta)\nMarta rows out.\n", ["beat_without_scene", "scene_without_beat"]),
        ("- Scene 5: The Burning Boat: Marta sets fire to the pilot boat.\n", ["beat_differs"]),
        ("- The Letter (POV Marta): Marta reads.\n", ["pov_differs"]),
        # A working title is no other scene where its entry is told.
        ("- SCN-05 The Debt (POV Ilya): Ilya reads of the debt and burns the letter.\n", []),
        ("- SCN-05: Ilya rows out.\n", []),
        ("- Scene 5: Ilya rows out.\n", []),
    ],
)
def test_an_entry_and_a_scene_that_share_a_number_alone_are_a_problem(entry: str, codes: list[str]) -> None:
    assert [code for code, _ in against(entry, [scene("05-the-letter", LETTER)])] == codes


@pytest.mark.promise("outline.coverage")
def test_a_scene_that_is_there_is_never_called_missing() -> None:
    night = scene("14-a-night")
    assert against("- SCN-14 A day: x\n- [[SCN-14]]: y\n", [night]) == [("scene_unclear", 1), ("scene_unclear", 2)]
    # The file of the name comes before a scene that calls itself the fourteenth.
    assert against("- SCN-14: x\n", [night, scene("b", "---\nnumber: 14\n---\nRain.\n")]) == [("scene_without_beat", 4)]
    assert against("- SCN-14: x\n", [night, scene("14-another")]) == [("scene_unclear", 1)]


@pytest.mark.promise("outline.matching")
def test_an_entry_without_a_name_in_common_finds_the_scene_that_tells_it() -> None:
    entries = (
        "- The Debt (POV Ilya): Ilya opens the letter by the lamp and burns it.\n"
        "- The Crossing (POV Ilya): Ilya sails to the island with a sick horse.\n"
        "- The Wedding (POV Ilya): The mayor marries two bakers.\n"
    )
    found = outline(entries)
    scenes = [
        scene("b", "---\npov: Ilya\n---\nIlya sailed for the island. The horse was sick.\n"), scene("a", LETTER.replace("number: 5\n", "")),
        scene("c", "---\npov: Marta\n---\nThe mayor married two bakers.\n"),
    ]  # fmt: skip
    matches = match_outline(found, scenes, ())
    assert [(match.beat.title, match.scene.slug, match.by) for match in matches] == [
        ("The Debt", "a", "content"), ("The Crossing", "b", "content"),
    ]  # fmt: skip
    # Two scenes that tell it as well: nobody can say which.
    twice = [scene("a", LETTER), scene("d", LETTER)]
    assert match_outline(outline("- The Debt: Ilya opens the letter by the lamp and burns it.\n"), twice, ()) == []


@pytest.mark.promise("outline.balance")
def test_uneven_acts_and_odd_scenes_are_told() -> None:
    found = outline("- Prelude\n# Act I\n- Quay: x\n# Act II\n- Fire: y\n")
    scenes = [scene("quay", "It rained. " * 50), scene("fire"), scene("prelude", "It rained. " * 12)]
    matches = match_book(found.beats, scenes, SAME)
    words = {one.path: word_count(one) for one in scenes}
    acts = act_shares(found, matches, words)
    assert [(act.name, act.words) for act in acts] == [("", 24), ("Act I", 100), ("Act II", 2)]
    assert sum(act.share for act in acts) == pytest.approx(1)
    assert told(balance_problems(found, acts, scenes, words)) == [
        ("act_uneven", 2),
        ("scene_long", 1),
        ("scene_short", 1),
    ]
    assert [(one.name, one.scenes) for one in pov_shares(scenes, matches, words)] == [("", 3)]
