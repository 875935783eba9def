"""The bundled recipes on the sample project, with the offline agents: what can be done without a model is done."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.session import LOCAL_OWNER
from tallystick.rooms.studio.sample_project import copy_sample
from tallystick.settings import parse_settings
from tests.durable.conftest import InProcessWorker
from tests.rooms.studio.runs.conftest import Bench

SCENE = "Story/Scenes/SCN-the-man-who-weighs.md"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("sample")
    copy_sample(folder / "work")
    settings = parse_settings({"ledger": {"durability": "os"}, "storage": {"state_dir": str(folder / "state")}})
    with Gate.open(folder / "work", settings=settings, rooms=["studio"]) as gate:
        made = Bench(gate)
        with InProcessWorker(gate.durable):
            yield made


@pytest.mark.promise("runs.bundled", "runs.phases")
@pytest.mark.parametrize(
    ("recipe", "inputs"),
    [
        ("book-consistency", {}),
        ("prose-review", {"scene_path": SCENE}),
        ("foreshadowing", {"thread": "the fourth half-hundredweight"}),
        ("scene-validation", {"scene_path": SCENE}),
        ("canon-rebuild", {}),
        ("outline-review", {}),
    ],
)
def test_a_bundled_recipe_is_done_offline_with_evidence(sample: Bench, recipe: str, inputs: dict[str, Any]) -> None:
    run = sample.run(recipe, **inputs)
    assert run["status"] == "done", run
    assert all(check["ok"] for check in run["done"])
    assert {step["status"] for step in run["steps"]} == {"done"}
    replies = [
        held.value
        for step in run["steps"]
        if "agent" in step and (held := sample.desk.slot(run["run_id"], step["slot"], LOCAL_OWNER)) is not None
    ]
    assert all("Evidence: " in reply["reply"] for reply in replies)
