"""`task_router`: whom a request concerns, by the agents' own cards."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick import Gate
from tallystick.agents.roster import DEFAULT_AGENTS
from tallystick.rooms.studio.routing import route
from tallystick.storage.agents import Registry
from tallystick.turns.agent import Agent
from tests.sizes import size


def routed(gate: Gate, request: str, **more: Any) -> dict[str, Any]:
    return gate.call_sync("task_router", {"user_request": request, **more}).unwrap()


@pytest.mark.promise("studio.router")
@pytest.mark.parametrize(
    ("request_text", "agent", "intent"),
    [
        ("Plan the next scene after the storm", "planner", "plan_scene"),
        ("Break chapter three down into beats", "planner", "beat_architect"),
        ("Draft the dialogue between the two sisters", "writer", "write_beat"),
        ("Tighten the prose of the opening and fix grammar", "editor", "edit_scene"),
        ("Please critique the tension in the trial scene", "critic", "critique_scene"),
        ("Does her age contradict the timeline?", "continuity", "continuity_check"),
        ("Check whether the names agree with canon", "continuity", "continuity_check"),
        ("Check the continuity of Story/Scenes/SCN-01.md", "continuity", "continuity_check"),
        ("Continue the scene at the harbour", "writer", "write_beat"),
        ("The second act drags; what about its pacing as a reader?", "critic", "critique_scene"),
    ],
)
def test_work_goes_to_the_agent_that_owns_it(gate: Gate, request_text: str, agent: str, intent: str) -> None:
    result = routed(gate, request_text)
    assert result["routable"]
    assert (result["agents"][0]["agent_id"], result["intent"]) == (agent, intent)
    assert result["agents"][0]["why"]


@pytest.mark.promise("studio.router")
@pytest.mark.parametrize("request_text", ["hello", "asdf qwer", "???", "42"])
def test_what_concerns_nobody_is_not_routable(gate: Gate, request_text: str) -> None:
    result = routed(gate, request_text)
    assert (result["routable"], result["agents"]) == (False, [])


@pytest.mark.promise("studio.router-cards")
def test_an_agent_of_the_projects_own_is_routed_to_by_its_card(gate: Gate, tmp_path: Path) -> None:
    keeper = Agent(
        agent_id="keeper", name="Beekeeper", role="expert", purpose="Knows hives, swarms and honey.", owns=("bees",)
    )
    Registry(tmp_path).change(lambda roster: roster.add(keeper))
    assert routed(gate, "How would the swarm react to smoke in the hive?")["agents"][0]["agent_id"] == "keeper"
    off = Agent(**{**_fields(keeper), "enabled": False})
    Registry(tmp_path).change(lambda roster: roster.change(off))
    assert not routed(gate, "What do bees do with honey in a hive?")["routable"]


@pytest.mark.promise("studio.router-cards")
def test_what_an_agent_must_not_do_speaks_against_it() -> None:
    crew = [
        Agent(agent_id="a", name="A", role="a", purpose="translations and letters", must_not=("poems",)),
        Agent(agent_id="b", name="B", role="b", purpose="translations and letters"),
    ]
    assert route("translations of poems", crew).fits[0].agent_id == "b"


@pytest.mark.promise("studio.router-evidence")
@pytest.mark.parametrize(
    ("request_text", "kind"),
    [
        ("What does the letter say?", "content"),
        ("In which chapter do they meet?", "structural"),
        ("How many scenes are there?", "structural"),
        ("Is there any mention of a sword?", "absence"),
        ("Which beats are missing from the draft?", "absence"),
    ],
)
def test_the_evidence_follows_from_how_the_request_is_put(gate: Gate, request_text: str, kind: str) -> None:
    result = routed(gate, request_text)
    assert result["evidence_type"] == kind
    assert result["evidence_needs"]


def test_the_longest_pattern_wins() -> None:
    assert route("Write a scene", DEFAULT_AGENTS).matched_pattern == "write scene"
    assert route("Write", DEFAULT_AGENTS).matched_pattern == "write"


def test_a_dry_run_names_the_agents_there_are_and_routes_nothing(gate: Gate) -> None:
    told = routed(gate, "Draft the next scene", dry_run=True)
    assert (told["routable"], told["recipe"]) == (False, None)
    assert {agent["agent_id"] for agent in told["agents"]} == {one.agent_id for one in DEFAULT_AGENTS if one.enabled}


@pytest.mark.promise("studio.router")
@pytest.mark.parametrize(
    ("request_text", "recipe"),
    [
        ("Check the whole book for contradictions", "book-consistency"),
        ("Does her age contradict the timeline?", "book-consistency"),
        ("Rebuild the canon", "canon-rebuild"),
        ("Draft the dialogue between the two sisters", "draft-scene"),
        ("Write the harbour scene", "draft-scene"),
        ("Where is the knife foreshadowed?", "foreshadowing"),
        ("Review the outline", "outline-review"),
        ("Tighten the prose of the opening", "prose-review"),
        ("Validate the scene against its beat", "scene-validation"),
        ("Who is Mara?", None),
        ("How many scenes are there?", None),
        ("hello", None),
    ],
)
def test_a_request_names_the_recipe_that_does_it(gate: Gate, request_text: str, recipe: str | None) -> None:
    assert routed(gate, request_text)["recipe"] == recipe


@pytest.mark.promise("studio.router-cards")
def test_a_recipe_of_the_projects_own_is_named_as_long_as_its_agents_are_there(gate: Gate, tmp_path: Path) -> None:
    step = {"id": "say", "agent": "critic", "slot": "said", "prompt": "Which hives are there?"}
    recipe = {
        "id": "hives", "title": "Count the beehives", "description": "Counts hives.",
        "phase_a": [{"id": "look", "tool": "outline_analyzer", "args": {}, "slot": "looked"}],
        "phase_b": [step], "done": [{"check": "evidence_ok", "slot": "said"}],
    }  # fmt: skip
    folder = tmp_path / ".control-room" / "recipes"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hives.json").write_text(json.dumps(recipe))
    (folder / "broken.json").write_text("{")
    assert routed(gate, "How many beehives are left?")["recipe"] == "hives"
    step["agent"] = "beekeeper"
    (folder / "hives.json").write_text(json.dumps(recipe))
    assert routed(gate, "How many beehives are left?")["recipe"] is None


def test_a_damaged_roster_fails_cleanly(gate: Gate, tmp_path: Path) -> None:
    folder = tmp_path / ".control-room" / "agents"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agents.json").write_text("{")
    outcome = gate.call_sync("task_router", {"user_request": "Plan a scene"})
    assert outcome.failure is not None


@given(st.text(max_size=300))
@settings(max_examples=size(100, 2000))
def test_any_request_is_routed_the_same_way_twice(text: str) -> None:
    once = route(text, DEFAULT_AGENTS)
    assert once == route(text, DEFAULT_AGENTS)
    assert list(once.fits) == sorted(once.fits, key=lambda fit: -fit.score)


def _fields(agent: Agent) -> dict[str, Any]:
    return {name: getattr(agent, name) for name in Agent.__slots__}
