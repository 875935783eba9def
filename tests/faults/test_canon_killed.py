"""The canon index by a model, whose workers are killed at its steps (all at full size): it goes on, and is the same in the end."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.gate.session import LOCAL_OWNER
from tallystick.rooms.studio.services.canon import CanonService
from tests.doors.http.talking import serve_agent
from tests.faults.test_runs_killed import PATIENCE_S, Yard
from tests.scripted_server import Says, ScriptedServer, Seen
from tests.sizes import size
from tests.verifying import verify

CARDS = {"ada": "# Ada\n\nAda never lies.\n", "ben": "# Ben\n\nEyes: grey\n", "cleo": "# Cleo\n\nShe sings.\n"}
STEPS = ("cards", "card-1", "card-2", "card-3", "compile")
EVERY = [
    (step, place)
    for step in STEPS
    for place in ("before", "inside", "behind")
    if (step, place) != ("compile", "behind")  # that is the end of the flow
]
SPREAD = [("cards", "behind"), ("card-2", "inside"), ("compile", "inside")]
"""At small size: each kind of step once."""
INDEX = Path(".control-room") / "canon" / "canon-index.md"


def read(seen: Seen) -> str:
    """A good answer about whichever card is asked about."""
    name = next(name for name, text in CARDS.items() if text.split("\n")[2] in seen.text)
    return json.dumps(
        {"type": "character", "scope": ["book"], "hardness": "hard", "topics": ["people"], "defines": [],
         "constraints": [], "summary": f"All about {name}."}
    )  # fmt: skip


@pytest.fixture
def yard(tmp_path: Path) -> Iterator[Yard]:
    made = Yard(tmp_path)
    people = made.workspace / "Compendium" / "Characters"
    people.mkdir(parents=True)
    for name, text in CARDS.items():
        (people / f"{name}.md").write_text(text, encoding="utf-8")
    yield made
    made.close()


@pytest.mark.promise("canon.killed", "canon.durable")
def test_an_index_whose_workers_are_killed_at_its_steps_is_made_once_and_the_same(yard: Yard) -> None:
    canon = CanonService(yard.gate)
    with ScriptedServer(always=Says(read)) as model:
        serve_agent(yard.workspace, model, "critic")
        assert canon.start(LOCAL_OWNER, agent="critic", run_id="undisturbed", fresh=True) == "undisturbed"
        process = yard.worker()
        assert yard.gate.durable.wait("undisturbed", timeout_s=PATIENCE_S) is not None
        process.kill()
        process.join()
        undisturbed, asked = (yard.workspace / INDEX).read_bytes(), len(model.requests)
        assert all(name in undisturbed.decode() for name in ("Ada", "Ben", "Cleo"))
        canon.start(LOCAL_OWNER, agent="critic", run_id="killed", fresh=True)
        for boundary in size(SPREAD, EVERY):
            yard.dies(boundary)
        ended = _ended(yard, "killed")
    assert ended == "done"
    assert (yard.workspace / INDEX).read_bytes() == undisturbed
    # A card whose worker was killed before the engine knew of it is asked about once more, and never oftener.
    assert len(model.requests) - asked <= 2 * len(CARDS)
    told = Counter(event.data["path"] for event in yard.gate.durable.events("killed"))
    assert set(told.values()) == {1}
    assert verify(yard.workspace).ok


def _ended(yard: Yard, run_id: str) -> str:
    process = yard.worker()
    status = yard.gate.durable.wait(run_id, timeout_s=PATIENCE_S)
    process.terminate()
    process.join(PATIENCE_S)
    assert status is not None
    return str(status.state)
