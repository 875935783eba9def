"""Recipes: the bundled ones are sound, bad ones say where, and none takes the others with it."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.gate.session import LOCAL_OWNER
from tallystick.rooms.studio.runs.recipe import Recipe
from tallystick.rooms.studio.runs.recipe_reader import read_recipe
from tests.rooms.studio.runs.conftest import Bench

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[3] / "vectors" / "recipes" / "bad.json").read_text(encoding="utf-8")
)
BUNDLED = {
    "draft-scene", "book-consistency", "prose-review", "foreshadowing", "scene-validation", "canon-rebuild",
    "outline-review",
}  # fmt: skip
named = lambda case: str(case["name"])  # noqa: E731


def changed(case: dict[str, Any]) -> dict[str, Any]:
    """The sound recipe with the case's one change."""
    recipe: dict[str, Any] = copy.deepcopy(VECTORS["sound"])
    pointer, value = case.get("set") or (case["drop"], None)
    *parents, last = pointer.strip("/").split("/")
    inside: Any = recipe
    for part in parents:
        inside = inside[int(part)] if isinstance(inside, list) else inside[part]
    key = int(last) if isinstance(inside, list) else last
    if "drop" in case:
        del inside[key]
    else:
        inside[key] = value
    return recipe


@pytest.mark.promise("runs.bad-recipes")
@pytest.mark.parametrize("case", VECTORS["cases"], ids=named)
def test_a_bad_recipe_is_refused_with_a_code_and_its_place(case: dict[str, Any]) -> None:
    assert isinstance(read_recipe(json.dumps(VECTORS["sound"]).encode()), Recipe)
    problem = read_recipe(json.dumps(changed(case)).encode())
    assert isinstance(problem, Problem)
    assert problem.code == case["code"]
    assert problem.pointer.startswith(case.get("pointer", ""))


@pytest.mark.promise("runs.bad-recipes")
@pytest.mark.parametrize("text", VECTORS["not_json"], ids=repr)
def test_what_is_not_a_json_object_is_no_recipe(text: str) -> None:
    problem = read_recipe(text.encode())
    assert isinstance(problem, Problem)
    assert problem.code == "recipe_not_json"


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_reading_never_raises(data: bytes) -> None:
    assert isinstance(read_recipe(data), Problem)


@pytest.mark.promise("runs.bad-recipes")
def test_each_bad_file_is_listed_with_its_name_and_the_others_work(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench()
    bench.recipe("good")
    folder = bench.workspace / ".control-room" / "recipes"
    (folder / "torn.json").write_text('{"id": "torn", ', encoding="utf-8")
    (folder / "notes.txt").write_text("not a recipe", encoding="utf-8")
    (folder / "folder.json").mkdir()
    for at, case in enumerate(VECTORS["lacking"]):
        (folder / f"lacking-{at}.json").write_text(
            json.dumps({**changed(case), "id": f"lacking-{at}"}), encoding="utf-8"
        )
    listed = {one.id: one for one in bench.desk.recipes.list()}
    assert listed["good"].problem is None
    assert "notes" not in listed
    for name, code in (("torn", "recipe_not_json"), ("folder", "recipe_unreadable")):
        problem = listed[name].problem
        assert problem is not None
        assert problem.code == code
        assert f"{name}.json" in problem.message
    for at, case in enumerate(VECTORS["lacking"]):
        problem = listed[f"lacking-{at}"].problem
        assert problem is not None, case["name"]
        assert (problem.code, problem.pointer) == (case["code"], case["pointer"])
        refused = bench.desk.start(f"lacking-{at}", {"thread": "x"}, LOCAL_OWNER)
        assert isinstance(refused, Problem)
        assert refused.code == case["code"]
    assert not (bench.workspace / ".control-room" / "runs").exists(), "what cannot run leaves no run behind"


@pytest.mark.promise("runs.bundled")
def test_the_seven_bundled_recipes_can_run(open_bench: Callable[..., Bench]) -> None:
    listed = {one.id: one for one in open_bench().desk.recipes.list()}
    assert listed.keys() == BUNDLED
    assert {name: one.problem for name, one in listed.items() if one.problem} == {}
    for one in listed.values():
        assert one.recipe is not None
        assert one.recipe.phase_b, "an agent interprets"
        assert any(check.kind == "evidence_ok" for check in one.recipe.done)


@pytest.mark.promise("runs.bundled")
def test_a_project_s_own_recipe_goes_over_the_bundled_one(open_bench: Callable[..., Bench]) -> None:
    bench = open_bench()
    bench.recipe("prose-review", title="Our way")
    found = bench.desk.recipes.get("prose-review")
    assert found is not None
    assert (found.source, found.as_dict()["title"]) == ("project", "Our way")
    assert {one.id for one in bench.desk.recipes.list()} == BUNDLED


@pytest.mark.promise("runs.inputs")
@pytest.mark.parametrize(
    "inputs", [{}, {"thread": 3}, {"thread": "x", "other": 1}, {"thread": "x", "count": "three"}], ids=repr
)
def test_inputs_that_do_not_fit_start_nothing(open_bench: Callable[..., Bench], inputs: dict[str, Any]) -> None:
    bench = open_bench()
    bench.recipe("strict", inputs={"thread": {"type": "string"}, "count": {"type": "integer", "default": 1}})
    refused = bench.desk.start("strict", inputs, LOCAL_OWNER)
    assert isinstance(refused, Problem)
    assert refused.code == "inputs_invalid"
    unknown = bench.desk.start("nothing", inputs, LOCAL_OWNER)
    assert isinstance(unknown, Problem)
    assert unknown.code == "recipe_unknown"
    assert bench.desk.page(LOCAL_OWNER, limit=10, offset=0) == ([], 0)
