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
    return told(coverage_problems(found, scenes, match_book(found.beats, scenes, SAME)))


@pytest.mark.promise("outline.coverage")
def test_links_to_nothing_and_scenes_out_of_order_are_told() -> None:
    assert against("- [[SCN-gone]]: x\n- Quay: y\n", [scene("quay")]) == [
        ("beat_without_scene", 1), ("scene_missing", 1),
    ]  # fmt: skip
    assert against("- Quay: x\n- Fire: y\n", [scene("02-quay"), scene("01-fire")]) == [("out_of_order", 2)]
    assert against("- Quay: x\n", [scene("quay"), scene("empty", "")]) == [("scene_without_beat", None)]


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
