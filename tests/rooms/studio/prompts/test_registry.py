"""Three layers of wording, and proposals of agents."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import Gate
from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.tool import Card
from tallystick.rooms.studio.prompts.model import NONCE, Prompt, tool_of
from tallystick.rooms.studio.prompts.proposals import Proposal, Proposals
from tallystick.rooms.studio.prompts.registry import PromptRegistry
from tallystick.turns.prompt.catalogue import catalogue_section, offers_of
from tallystick.turns.tool_prompts import ToolPrompt
from tests.gates import open_gate
from tests.rooms.studio.issues.trackers import code, counted, ticking

CORE = {
    "file-locator", "file-reader", "outline-analyzer", "canon-checker", "task-router", "search-issues",
    "prose-analyzer", "consistency-checker", "scene-draft-validator",
}  # fmt: skip
LOCATOR = Card(
    name="file_locator",
    description="Finds files.",
    input_schema={
        "type": "object", "properties": {"search_criteria": {"type": "string"}}, "required": ["search_criteria"],
    },
)  # fmt: skip
EXAMPLE = {"tool": "file_locator", "args": {"search_criteria": "storm"}, "nonce": NONCE}


def layer(path: Path, *prompts: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"version": 1, "prompts": list(prompts)}))
    return path


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "work/.control-room/prompts/prompts.json"


@pytest.fixture
def user(tmp_path: Path) -> Path:
    return tmp_path / "home/prompts.json"


@pytest.fixture
def registry(tmp_path: Path, user: Path) -> PromptRegistry:
    return PromptRegistry(tmp_path / "work", user_file=user, cards=lambda: [LOCATOR])


@pytest.mark.promise("prompts.bundled")
def test_all_nine_tools_have_an_example_with_the_placeholder(registry: PromptRegistry) -> None:
    merged = registry.load()
    assert merged.prompts.keys() == CORE
    assert merged.cautions == ()
    for name, prompt in merged.prompts.items():
        assert prompt.tool == tool_of(name) == name.replace("-", "_")
        assert prompt.example is not None
        assert list(prompt.example) == ["tool", "args", "nonce"]
        assert (prompt.example["tool"], prompt.example["nonce"]) == (prompt.tool, "<TOOL_NONCE>")


@pytest.mark.promise("prompts.bundled")
def test_every_example_fits_the_tool_it_calls(tmp_path: Path) -> None:
    with open_gate(tmp_path) as gate:
        cards = {card.name: card for card in gate.tools()}
        examples = {
            each.tool: each.example
            for each in PromptRegistry(tmp_path, user_file=None, cards=tuple).load().prompts.values()
        }
        checked = 0
        for name in cards.keys() & examples.keys():
            example = examples[name]
            assert example is not None
            assert compile_schema(dict(cards[name].input_schema), closed=True).accepts(dict(example["args"])), name
            checked += 1
        assert checked >= 4


@pytest.mark.promise("prompts.layers")
def test_the_project_goes_over_the_user_and_the_user_over_the_package(
    registry: PromptRegistry, user: Path, project: Path
) -> None:
    layer(user, {"id": "file-locator", "description": "The user's words.", "title": "Find"})
    merged = registry.load()
    prompt = merged.prompts["file-locator"]
    assert (prompt.description, prompt.title, prompt.layer) == ("The user's words.", "Find", "user")
    layer(
        project,
        {"id": "file-locator", "description": "The project's words."},
        {"id": "my-tool", "example": {"tool": "my_tool", "args": {}, "nonce": NONCE}},
    )
    merged = registry.load()
    prompt = merged.prompts["file-locator"]
    assert (prompt.description, prompt.title, prompt.layer) == ("The project's words.", "Find", "project")
    assert prompt.example is not None
    assert [(each.code, each.layer, each.id) for each in merged.cautions] == [
        ("core_override", "user", "file-locator"), ("core_override", "project", "file-locator"),
    ]  # fmt: skip
    assert merged.wordings()["my_tool"].example is not None
    project.unlink()
    assert registry.load().prompts["file-locator"].description == "The user's words."


@pytest.mark.promise("prompts.layers")
@pytest.mark.parametrize(
    "said",
    [
        {"id": "file-locator", "example": {**EXAMPLE, "nonce": "abc"}}, {"id": "file-locator", "example": {**EXAMPLE, "tool": "other"}},
        {"id": "file-locator", "example": "call it"}, {"id": "file_locator", "title": "x"}, {"id": "file-locator", "unknown": 1},
        {"id": "file-locator", "description": "two\nlines"}, "text", {}, None, {"id": "../x"},
    ],
)  # fmt: skip
def test_what_cannot_be_taken_is_left_out_with_a_warning_and_the_rest_holds(
    registry: PromptRegistry, project: Path, said: Any
) -> None:
    layer(project, said, {"id": "file-reader", "title": "Read"})
    merged = registry.load()
    assert merged.prompts["file-locator"].layer == "global"
    assert merged.prompts["file-reader"].title == "Read"
    assert [each.code for each in merged.cautions] == ["prompt_invalid", "core_override"]


@pytest.mark.promise("prompts.layers")
def test_a_damaged_layer_warns_and_is_never_written_over(registry: PromptRegistry, project: Path, user: Path) -> None:
    layer(user, {"id": "file-reader", "title": "Read"})
    layer(project)
    project.write_text("{")
    merged = registry.load()
    assert [each.code for each in merged.cautions] == ["core_override", "registry_damaged"]
    assert merged.prompts["file-reader"].title == "Read"
    with pytest.raises(ConfigError) as refused:
        registry.set("file-reader", {"title": "x"})
    assert refused.value.code == "prompts_damaged"
    assert project.read_text() == "{"


@pytest.mark.promise("prompts.layers")
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["id", "example", "tool", "args", "title"]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_no_layer_takes_the_core_tools_away(tmp_path_factory: pytest.TempPathFactory, said: Any) -> None:
    work = tmp_path_factory.mktemp("layer")
    layer(work / ".control-room/prompts/prompts.json", said)
    merged = PromptRegistry(work, user_file=None, cards=tuple).load()
    assert merged.prompts.keys() >= CORE
    for prompt in merged.prompts.values():
        assert prompt.example is None or (prompt.example["nonce"], prompt.example["tool"]) == (NONCE, prompt.tool)


@pytest.mark.promise("prompts.examples")
def test_an_example_in_a_file_that_its_tool_refuses_is_left_out_with_a_warning(
    registry: PromptRegistry, project: Path, user: Path
) -> None:
    good = registry.load().prompts["file-locator"].example
    bad = {"id": "file-locator", "title": "Look", "example": {**EXAMPLE, "args": {"serch": "storm"}}}
    layer(project, bad)
    merged = registry.load()
    assert (merged.prompts["file-locator"].example, merged.prompts["file-locator"].layer) == (good, "global")
    (caution,) = merged.cautions
    assert (caution.code, caution.layer, caution.id) == ("prompt_invalid", "project", "file-locator")
    assert caution.message.startswith("/prompts/0: The example's arguments do not fit file_locator: ")
    assert caution.message.endswith("It is left out.")
    assert code(registry.set("file-locator", {"example": bad["example"]})) == "prompt_invalid"
    # What a tool that is not there takes, nobody can say.
    layer(project, {**bad, "id": "mail-sender", "example": {**EXAMPLE, "tool": "mail_sender", "args": {"a": 1}}})
    assert registry.load().prompts["mail-sender"].example is not None


@pytest.mark.promise("prompts.layers")
def test_setting_and_clearing_the_project_s_words(registry: PromptRegistry) -> None:
    done = registry.set("file-locator", {"description": "Look here first.", "example": EXAMPLE})
    assert isinstance(done, Prompt)
    assert done.layer == "project"
    before = done.digest
    assert code(registry.set("file-locator", {"example": {**EXAMPLE, "nonce": "x"}})) == "prompt_invalid"
    assert registry.load().prompts["file-locator"].digest == before
    assert registry.clear("file-locator") is None
    assert code(registry.clear("file-locator")) == "prompt_unknown"
    assert registry.load().prompts["file-locator"].layer == "global"


@pytest.fixture
def proposals(tmp_path: Path, registry: PromptRegistry) -> Proposals:
    return Proposals(tmp_path / "work", registry, now=ticking(), new_id=counted())


def proposed(proposals: Proposals, **said: Any) -> Proposal:
    made = proposals.propose("file-locator", {"description": "Better words.", **said}, by="critic", reason="clearer")
    assert isinstance(made, Proposal), made
    return made


@pytest.mark.promise("prompts.proposals")
def test_a_proposal_changes_nothing_until_a_person_accepts_it_once(
    proposals: Proposals, registry: PromptRegistry
) -> None:
    made = proposed(proposals)
    assert registry.load().prompts["file-locator"].layer == "global"
    accepted = proposals.accept(made.proposal_id, person="ada")
    assert isinstance(accepted, Proposal)
    assert (accepted.state, accepted.decided_by) == ("accepted", "ada")
    assert registry.load().prompts["file-locator"].description == "Better words."
    for again in (proposals.accept, proposals.reject):
        assert code(again(made.proposal_id, person="ada")) == "proposal_decided"
        assert code(again("prop_none", person="ada")) == "proposal_unknown"
    assert proposals.get(made.proposal_id) == accepted
    assert proposals.list(state="pending") == ()


@pytest.mark.promise("prompts.proposals")
def test_a_rejected_proposal_leaves_everything_as_it_is(proposals: Proposals, registry: PromptRegistry) -> None:
    made = proposed(proposals)
    rejected = proposals.reject(made.proposal_id, person="ada")
    assert isinstance(rejected, Proposal)
    assert rejected.state == "rejected"
    assert registry.load().prompts["file-locator"].layer == "global"


@pytest.mark.promise("prompts.proposals")
def test_a_proposal_over_a_prompt_that_has_changed_is_not_accepted(
    proposals: Proposals, registry: PromptRegistry
) -> None:
    made = proposed(proposals)
    registry.set("file-locator", {"description": "A person's words."})
    assert code(proposals.accept(made.proposal_id, person="ada")) == "changed_meanwhile"
    assert registry.load().prompts["file-locator"].description == "A person's words."
    found = proposals.get(made.proposal_id)
    assert found is not None
    assert found.state == "pending"


@pytest.mark.promise("prompts.proposals")
def test_proposals_are_checked_and_bounded(proposals: Proposals) -> None:
    came = proposals.propose("file-locator", {"example": {**EXAMPLE, "nonce": "x"}}, by="critic", reason="")
    assert code(came) == "prompt_invalid"
    for _ in range(100):
        proposed(proposals)
    assert code(proposals.propose("file-locator", {"title": "x"}, by="critic", reason="")) == "proposals_too_many"
    proposals._file.path.write_text('{"version":1,"proposals":[{"state":"accepted"}]}')
    with pytest.raises(ConfigError) as refused:
        proposals.list()
    assert refused.value.code == "proposals_damaged"


@pytest.mark.promise("prompts.catalogue")
def test_a_turn_s_catalogue_speaks_as_the_registry_does(tmp_path: Path) -> None:
    with open_gate(tmp_path) as gate:
        lines = _catalogue(gate)
        assert lines["search_issues"]["example"]["tags"]
        assert "example" not in lines["mem.search"]
        own = lines["file_locator"]["description"]
        assert not isinstance(
            PromptRegistry(tmp_path, user_file=None, cards=tuple).set("file-locator", {"description": "Look here."}),
            Problem,
        )
        after = _catalogue(gate)
        assert (own, after["file_locator"]["description"]) != ("Look here.", own)
        assert after["file_locator"]["description"] == "Look here."
        # What it takes is the card's to say.
        assert after["file_locator"]["args"] == lines["file_locator"]["args"]
        turn = gate.turn()
        offers = {offer.name: offer for offer in offers_of(turn.tools(), turn.wordings)}
        assert offers["file_locator"].description == "Look here."


def _catalogue(gate: Gate) -> dict[str, Any]:
    turn = gate.turn()
    lines = catalogue_section(turn.tools(), turn.wordings).splitlines()[1:]
    cards = [json.loads(line) for line in lines]
    turn.close()
    return {card["name"]: card for card in cards}


@pytest.mark.promise("prompts.catalogue")
def test_without_a_wording_a_card_speaks_for_itself(tmp_path: Path) -> None:
    with open_gate(tmp_path) as gate:
        entries = tuple(gate.turn().tools())
        plain = catalogue_section(entries)
        assert "example" not in {key for line in plain.splitlines()[1:] for key in json.loads(line)}
        assert catalogue_section(entries, {"file_locator": ToolPrompt()}) == plain


@pytest.mark.promise("prompts.catalogue")
def test_a_call_written_as_the_example_shows_is_admitted(tmp_path: Path) -> None:
    with open_gate(tmp_path) as gate:
        turn = gate.turn()
        example = turn.wordings["search_issues"].example
        assert example is not None
        text = json.dumps(dict(example)).replace(NONCE, turn.nonce or "")
        assert asyncio.run(turn.submit(text)).ok
