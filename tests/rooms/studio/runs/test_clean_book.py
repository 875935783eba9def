"""The bundled recipes on a book in which nothing is wrong: that is a report, and no failure."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.session import LOCAL_OWNER
from tallystick.settings import parse_settings
from tests.durable.conftest import InProcessWorker
from tests.offline_turns import write_files
from tests.rooms.studio.runs.conftest import Bench

SCENE = "Story/Scenes/SCN-01-the-harbour.md"
FILES = {
    SCENE: "# The harbour\n\nAda Pike walked down to the harbour before the bell. She counted the boats.\n",
    "Story/Scenes/SCN-02-the-vestry.md": "# The vestry\n\nIn the evening Ada Pike waited in the vestry. It rained.\n",
    "Story/Compendium/Characters/CHAR-ada-pike.md": "# Ada Pike\n\nEyes: grey\nOccupation: ferry clerk\n",
    "Story/SCN-outline.md": "# Outline\n\n1. The harbour: Ada counts the boats.\n2. The vestry: Ada waits.\n",
}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    folder: Path = tmp_path_factory.mktemp("clean")
    write_files(folder / "work", FILES)
    settings = parse_settings({"ledger": {"durability": "os"}, "storage": {"state_dir": str(folder / "state")}})
    with Gate.open(folder / "work", settings=settings, rooms=["studio"]) as gate:
        made = Bench(gate)
        with InProcessWorker(gate.durable):
            yield made


@pytest.mark.promise("runs.bundled")
@pytest.mark.parametrize(
    ("recipe", "inputs", "says"),
    [
        ("book-consistency", {}, "no findings"),
        ("prose-review", {"scene_path": SCENE}, "no findings"),
        ("foreshadowing", {"thread": "zeppelin"}, "holds: zeppelin"),
        ("scene-validation", {"scene_path": SCENE}, SCENE),
        ("canon-rebuild", {}, "no findings"),
        ("outline-review", {}, "no problems"),
    ],
)
def test_a_recipe_reports_that_nothing_is_wrong(book: Bench, recipe: str, inputs: dict[str, Any], says: str) -> None:
    run = book.run(recipe, **inputs)
    assert run["status"] == "done", run
    assert all(check["ok"] for check in run["done"])
    slot = next(step["slot"] for step in run["steps"] if "agent" in step)
    held = book.desk.slot(run["run_id"], slot, LOCAL_OWNER)
    assert held is not None
    assert says in held.value["reply"]
