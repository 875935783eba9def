"""`search_issues` through the gate."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import Gate
from tallystick.gate.session import Session
from tallystick.rooms.studio.issues.memory_file import View
from tallystick.rooms.studio.issues.model import PRIORITIES, Issue, IssueFilter, NewIssue
from tallystick.rooms.studio.room import Studio
from tallystick.rooms.studio.tools.search_issues import PersonalFilter, search
from tests.gates import open_gate
from tests.offline_turns import ask, tools_of
from tests.rooms.studio.issues.test_levels import issue as plain_issue

TITLES = ("Compass", "Ferry", "Letter", "Window")


@pytest.fixture
def gate(tmp_path: Path) -> Any:
    with open_gate(tmp_path) as opened:
        room = opened.room("studio")
        assert isinstance(room, Studio)
        for title, tags, priority, who in zip(
            TITLES, (("canon", "props"), ("canon",), ("plot",), ()), ("normal", "urgent", "low", "normal"),
            ("critic", None, "critic", "editor"), strict=True,
        ):  # fmt: skip
            made = room.tracker.issues.create(
                NewIssue(
                    title=title,
                    body=f"About the {title}.",
                    opened_by="ada",
                    tags=tags,
                    priority=priority,
                    assigned_to=who,
                )  # type: ignore[arg-type]
            )
            assert isinstance(made, Issue)
        room.tracker.issues.close("4", author="ada")
        room.tracker.memory.remember("critic", "1", interest=5, personal_tags=("mine", "soon"))
        room.tracker.memory.remember("critic", "2", interest=2, personal_tags=("later",))
        room.tracker.memory.remember("editor", "3", interest=4, personal_tags=("mine",))
        yield opened


def found(gate: Gate, *, agent: str | None = None, **args: Any) -> list[str]:
    where = Session(session_id="s1", agent_id=agent)
    outcome = gate.call_sync("search_issues", args, session=where)
    assert outcome.ok, outcome.as_dict()
    assert outcome.result["found"] == len(outcome.result["issues"])
    assert outcome.result["searched"] == 4
    return [each["title"] for each in outcome.result["issues"]]


@pytest.mark.promise("issues.search")
@pytest.mark.parametrize(
    ("args", "titles"),
    [
        ({}, ["Ferry", "Window", "Compass", "Letter"]),
        ({"tags": ["canon"]}, ["Ferry", "Compass"]),
        ({"tags": ["Canon", "props"]}, ["Compass"]),
        ({"assignedTo": "critic"}, ["Compass", "Letter"]),
        ({"status": "open"}, ["Ferry", "Compass", "Letter"]),
        ({"status": "closed"}, ["Window"]),
        ({"status": "all", "priority": "normal"}, ["Window", "Compass"]),
        ({"personalAgent": "critic", "personalTags": ["mine"]}, ["Compass"]),
        ({"personalAgent": "critic", "personalTags": ["mine", "later"]}, []),
        ({"personalAgent": "editor", "personalTags": ["mine"]}, ["Letter"]),
        ({"personalAgent": "critic", "excludePersonalTags": ["mine"]}, ["Ferry", "Window", "Letter"]),
        ({"personalAgent": "critic", "minInterestLevel": 2}, ["Ferry", "Compass"]),
        ({"personalAgent": "critic", "minInterestLevel": 3, "status": "open"}, ["Compass"]),
        ({"personalAgent": "nobody", "minInterestLevel": 1}, []),
        ({"tags": ["canon"], "status": "open", "priority": "normal"}, ["Compass"]),
    ],
)
def test_every_argument_of_the_contract_narrows(gate: Gate, args: dict[str, Any], titles: list[str]) -> None:
    assert found(gate, **args) == titles


@pytest.mark.promise("issues.search")
def test_the_calling_agent_s_own_tags_count_where_none_is_named(gate: Gate) -> None:
    assert found(gate, agent="critic", personalTags=["mine"]) == ["Compass"]
    assert found(gate, agent="editor", minInterestLevel=4) == ["Letter"]
    # Whom the agent cares for most comes first among equals.
    assert found(gate, agent="critic", priority="normal") == ["Compass", "Window"]
    nobody = gate.call_sync("search_issues", {"personalTags": ["mine"]}, session="s1")
    assert not nobody.ok
    assert nobody.http == 404


@pytest.mark.promise("issues.search")
def test_results_say_what_an_issue_is_about_and_what_the_agent_makes_of_it(gate: Gate) -> None:
    first = gate.call_sync("search_issues", {"tags": ["props"], "personalAgent": "critic"}).result["issues"][0]
    assert (first["summary"], first["interest"], first["personalTags"]) == ("About the Compass.", 5, ["mine", "soon"])
    assert (first["status"], first["priority"], first["number"]) == ("open", "normal", 1)


@pytest.mark.promise("issues.search")
@pytest.mark.parametrize(
    "args",
    [
        {"status": "half"}, {"priority": "now"}, {"minInterestLevel": 0}, {"minInterestLevel": 6}, {"tags": "canon"},
        {"query": "x"}, {"dry_run": True}, {"minInterestLevel": "3"}, {"tags": [1]},
    ],
)  # fmt: skip
def test_nothing_else_is_taken(gate: Gate, args: dict[str, Any]) -> None:
    outcome = gate.call_sync("search_issues", args)
    assert outcome.status == "rejected"


@pytest.mark.promise("offline.cards")
@pytest.mark.parametrize("request_", ["Search for the silver compass", "Find the ferry", "When did the window open?"])
def test_a_request_that_speaks_of_no_issue_does_not_search_them(gate: Gate, request_: str) -> None:
    assert "search_issues" not in tools_of(ask(gate, request_))
    assert tools_of(ask(gate, "Which issues are open?")) == ["search_issues"]


@pytest.mark.promise("issues.search")
def test_a_damaged_file_fails_the_call_and_says_so(gate: Gate) -> None:
    (gate.workspace / ".control-room/issues/issues.json").write_text("{")
    outcome = gate.call_sync("search_issues", {})
    assert not outcome.ok
    assert outcome.http == 502


@pytest.mark.promise("issues.search")
@given(
    st.lists(st.tuples(st.sampled_from(PRIORITIES), st.integers(0, 5), st.sets(st.sampled_from("xyz"))), max_size=12),
    st.integers(1, 5), st.sets(st.sampled_from("xyz")), st.sets(st.sampled_from("xyz")),
)  # fmt: skip
def test_what_is_found_is_exactly_what_fits(
    made: list[tuple[str, int, set[str]]], least: int, tags: set[str], without: set[str]
) -> None:
    headings, views = [], {}
    for number, (priority, interest, own) in enumerate(made, start=1):
        base = plain_issue("x").heading
        values = {name: getattr(base, name) for name in base.__dataclass_fields__}
        headings.append(type(base)(**{**values, "issue_id": f"i{number}", "number": number, "priority": priority}))
        if interest:
            views[f"i{number}"] = View(
                agent_id="a", issue_id=f"i{number}", interest=interest, level=interest, personal_tags=tuple(sorted(own)),
                deferred=False, wake_in=None, wake_time=None, reason="",
            )  # fmt: skip
    personal = PersonalFilter(agent_id="a", views=views, tags=tuple(tags), without=tuple(without), min_interest=least)
    got = {each.issue_id for each in search(headings, IssueFilter(), personal)}
    expected = {
        f"i{number}"
        for number, (_, interest, own) in enumerate(made, start=1)
        if interest >= least and tags <= own and not without & own
    }
    assert got == expected
