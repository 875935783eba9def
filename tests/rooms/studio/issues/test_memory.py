"""What agents remember of issues, and for how long."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.rooms.studio.issues.levels import BOUNDS
from tallystick.rooms.studio.issues.memory_file import View
from tallystick.rooms.studio.issues.tracker import IssueTracker
from tests.rooms.studio.issues.trackers import code, matters, opened, told
from tests.sizes import size


def view(came: View | Problem) -> View:
    assert isinstance(came, View), came
    return came


def words(here: IssueTracker, agent: str = "critic", name: str = "1") -> dict[str, object]:
    found = here.memory.words(agent, name)
    assert isinstance(found, dict), found
    return found


@pytest.mark.promise("issues.memory")
def test_what_an_agent_keeps_gets_shorter_as_it_works_on_other_things(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here, body="The compass is silver. " * 200, links=("rcpt_1",))
    assert view(here.memory.remember("critic", "1", interest=5)).interest == 5
    assert words(here)["receipts"] == ["rcpt_1"]
    lengths = [len(str(words(here)["text"]))]
    for times, level in ((30, 4), (30, 3), (60, 2), (80, 1)):
        here.memory.activated("critic", times - 1)
        assert words(here)["level"] == level + 1
        here.memory.activated("critic")
        assert (words(here)["level"], words(here)["made_by"]) == (level, "rules")
        lengths.append(len(str(words(here)["text"])))
    assert lengths == sorted(lengths, reverse=True)
    assert here.memory.activations("critic") == 200
    # It comes back to it: nothing was lost.
    view(here.memory.remember("critic", "1", interest=5))
    assert len(str(words(here)["text"])) == lengths[0]


@pytest.mark.promise("issues.memory")
def test_touching_an_issue_stops_the_decay_where_it_is(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here)
    here.memory.remember("critic", "1", interest=5)
    here.memory.activated("critic", 70)
    assert view(here.memory.touch("critic", "1")).interest == 3
    here.memory.activated("critic", 70)
    assert here.memory.views("critic")[str(words(here)["issue_id"])].interest == 3
    assert code(here.memory.touch("editor", "1")) == "memory_unknown"


@pytest.mark.promise("issues.memory")
def test_each_agent_has_a_memory_of_its_own(tmp_path: Path) -> None:
    here = matters(tmp_path)
    made = opened(here)
    here.memory.remember("critic", "1", interest=4, personal_tags=("Mine", "to do"))
    here.memory.activated("editor", 500)
    assert here.memory.views("critic")[made.issue_id].interest == 4
    assert here.memory.views("critic")[made.issue_id].personal_tags == ("mine", "to-do")
    assert here.memory.views("editor") == {}
    # Interest alone leaves the tags; given ones are in the place of the old.
    view(here.memory.remember("critic", "1", interest=2))
    assert here.memory.views("critic")[made.issue_id].personal_tags == ("mine", "to-do")
    view(here.memory.remember("critic", "1", interest=2, personal_tags=()))
    assert here.memory.views("critic")[made.issue_id].personal_tags == ()
    assert (tmp_path / ".control-room/memory/critic" / f"{made.issue_id}.json").exists()


@pytest.mark.promise("issues.decay")
def test_tags_of_the_issue_and_of_the_agent_give_floors(tmp_path: Path) -> None:
    here = matters(tmp_path, floors={"canon": 3, "keep": 4})
    first, second, third = opened(here, tags=("canon",)), opened(here), opened(here)
    for issue, tags in ((first, ()), (second, ("keep",)), (third, ())):
        here.memory.remember("critic", issue.issue_id, interest=5, personal_tags=tags)
    here.memory.activated("critic", 1_000)
    left = {name: each.interest for name, each in here.memory.views("critic").items()}
    assert left == {first.issue_id: 3, second.issue_id: 4, third.issue_id: 1}


@pytest.mark.promise("issues.deferred")
def test_a_deferred_issue_wakes_after_its_activations_with_its_interest(tmp_path: Path) -> None:
    here = matters(tmp_path)
    made = opened(here)
    here.memory.remember("critic", "1", interest=5)
    put_off = view(here.memory.defer("critic", "1", after=250, reason="wait for the second draft"))
    assert (put_off.deferred, put_off.wake_in) == (True, 250)
    assert "deferred" in told(tmp_path)[0]
    assert here.memory.activated("critic", 249) == ()
    assert here.memory.views("critic")[made.issue_id].wake_in == 1
    (woken,) = here.memory.activated("critic")
    assert (woken.issue_id, woken.interest, woken.deferred) == (made.issue_id, 5, False)
    assert "due again" in told(tmp_path)[0]
    assert here.memory.activated("critic") == ()


@pytest.mark.promise("issues.deferred")
def test_a_deferred_issue_wakes_at_its_time(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here)
    view(here.memory.defer("critic", "1", until="2026-01-01T01:00:20+01:00"))
    assert here.memory.activated("critic", 500) == ()
    while not (woken := here.memory.activated("critic")):
        assert here.issues._now() < "2026-01-01T00:00:21.000Z"
    assert woken[0].interest == 3
    assert here.issues._now() > "2026-01-01T00:00:20.000Z"


@pytest.mark.promise("issues.bad-input")
def test_what_cannot_be_remembered_is_refused(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here)
    for interest in (0, 6, True, 2.0):
        assert code(here.memory.remember("critic", "1", interest=interest)) == "interest_invalid"  # type: ignore[arg-type]
    assert code(here.memory.remember("critic", "1", interest=1, personal_tags=("",))) == "issue_invalid"
    assert code(here.memory.remember("critic", "2", interest=1)) == "issue_unknown"
    assert code(here.memory.remember("../critic", "1", interest=1)) == "agent_invalid"
    for wake in (
        {},
        {"after": 0},
        {"after": 10_001},
        {"until": "soon"},
        {"until": "2026-01-01T00:00:00"},
        {"after": 1, "until": "2030-01-01T00:00:00Z"},
        {"until": "2020-01-01T00:00:00Z"},
        {"until": "9999-12-31T23:59:59-23:59"},
        {"until": "0001-01-01T00:00:00+23:59"},
    ):
        refused = here.memory.defer("critic", "1", **wake)
        assert code(refused) == "wake_invalid"
        assert isinstance(refused, Problem)
        assert refused.pointer == ("/until" if wake.keys() == {"until"} else "/after")
    assert code(here.memory.words("critic", "1")) == "memory_unknown"
    assert code(here.memory.words("critic", "2")) == "issue_unknown"
    assert here.memory.activated("../critic") == ()
    assert here.memory.views("../critic") == {}
    assert list((tmp_path / ".control-room").rglob("critic")) == [] or here.memory.views("critic") == {}


@pytest.mark.promise("issues.reworded")
def test_a_model_s_words_are_kept_within_the_bound_and_without_thinking(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here, body="The compass is silver. " * 100)
    here.memory.remember("critic", "1", interest=2)
    kept = here.memory.keep_words("critic", "1", "<think>short, short</think>Silver or brass? " + "Open. " * 500)
    assert isinstance(kept, dict)
    assert kept["made_by"] == "model"
    assert kept["text"].startswith("Silver or brass?")
    assert len(kept["text"]) <= (BOUNDS[2] or 0)
    for nothing in ("", "  ", "<think>only thoughts</think>", "\n"):
        assert code(here.memory.keep_words("critic", "1", nothing)) == "words_invalid"
    assert words(here)["text"] == kept["text"]
    assert code(here.memory.keep_words("editor", "1", "x")) == "memory_unknown"
    # The whole transcript is nobody's to word.
    here.memory.remember("critic", "1", interest=5)
    here.memory.keep_words("critic", "1", "All of it in a word.")
    assert words(here)["made_by"] == "rules"


@pytest.mark.promise("issues.damaged")
def test_a_damaged_mind_is_named_and_left_as_it_is(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here)
    here.memory.remember("critic", "1", interest=3)
    file = tmp_path / ".control-room/memory/critic/interests.json"
    for text in (
        "{",
        '{"version":1}',
        '{"version":1,"activations":-1,"issues":[]}',
        '{"version":1,"activations":1,"issues":[{}]}',
    ):
        file.write_text(text)
        with pytest.raises(ConfigError) as refused:
            here.memory.activated("critic")
        assert refused.value.code == "memory_damaged"
        assert file.read_text() == text


@pytest.mark.promise("issues.decay")
@given(st.lists(st.tuples(st.sampled_from(["work", "touch", "care"]), st.integers(1, 80)), max_size=12))
@settings(max_examples=size(25, 200))
def test_however_an_agent_works_the_form_it_keeps_is_that_of_its_interest(
    tmp_path_factory: pytest.TempPathFactory, acts: list[tuple[str, int]]
) -> None:
    here = matters(tmp_path_factory.mktemp("mind"))
    made = opened(here)
    before = view(here.memory.remember("critic", "1", interest=5)).interest
    for act, number in acts:
        if act == "work":
            here.memory.activated("critic", number)
        elif act == "touch":
            here.memory.touch("critic", "1")
        else:
            here.memory.remember("critic", "1", interest=1 + number % 5)
        now = here.memory.views("critic")[made.issue_id]
        assert now.level == now.interest == words(here)["level"]
        assert act == "care" or now.interest <= before
        before = now.interest
    stored = json.loads((here.memory._folder / "critic" / "interests.json").read_text())
    assert stored["activations"] == sum(number for act, number in acts if act == "work")
