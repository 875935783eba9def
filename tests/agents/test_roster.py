"""Who may be on the roster, and what never happens to the Chief of Staff."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from tallystick.agents.problem import Problem
from tallystick.agents.roster import DEFAULT_AGENTS, Roster, offline_endpoint, roster_problem
from tallystick.agents.wire import agent_from, agent_wire, endpoint_from, endpoint_wire
from tallystick.gate.reply.roles import sources_of
from tallystick.turns.agent import CHIEF, Agent, Endpoint
from tests.sizes import size

GUEST = Agent(agent_id="archivist", name="Archivist", role="archivist", purpose="Finds what was said before.")


def code(value: object) -> str:
    assert isinstance(value, Problem), value
    assert value.message
    return value.code


@pytest.mark.promise("agents.defaults")
def test_a_new_workspace_has_six_agents_with_whole_cards_and_the_offline_agent_behind_them() -> None:
    roster = Roster()
    assert [agent.agent_id for agent in roster.list()] == [
        "assistant", "planner", "writer", "editor", "critic", "continuity",
    ]  # fmt: skip
    assert roster.chief.name == "Chief of Staff"
    for agent in roster.list():
        assert all((agent.purpose, agent.owns, agent.must_not, agent.evidence_sources, agent.abstain_when))
        assert agent.evidence_sources == sources_of(agent.role, {})
        assert agent_from(agent_wire(agent)) == agent
        assert roster.endpoint(agent.agent_id) == offline_endpoint(agent.agent_id)


@pytest.mark.promise("agents.chief")
def test_the_chief_cannot_be_removed_switched_off_renamed_in_role_or_doubled() -> None:
    roster = Roster()
    assert code(roster.remove(CHIEF)) == "chief_mandatory"
    assert code(roster.change(replace(roster.chief, enabled=False))) == "chief_mandatory"
    assert code(roster.change(replace(roster.chief, role="writer"))) == "chief_mandatory"
    assert code(roster.add(replace(GUEST, role="assistant"))) == "chief_exactly_one"
    assert code(roster.change(replace(DEFAULT_AGENTS[1], role="assistant"))) == "chief_exactly_one"
    assert code(roster.add(replace(GUEST, agent_id="ASSISTANT"))) == "agent_exists"
    assert code(roster_problem(())) == "chief_mandatory"
    assert isinstance(roster.change(replace(roster.chief, purpose="Knows everybody.")), Roster)


def test_agents_come_and_go_and_take_their_endpoint_with_them() -> None:
    with_guest = Roster().add(GUEST)
    assert isinstance(with_guest, Roster)
    endpoint = Endpoint(agent_id="archivist", provider="ollama", model="m")
    with_model = with_guest.set_endpoint(endpoint)
    assert isinstance(with_model, Roster)
    assert with_model.endpoint("archivist") == endpoint
    assert with_model.clear_endpoint("archivist") == with_guest
    assert with_model.remove("archivist") == Roster()


def test_who_is_not_there_is_named_as_such_and_twice_is_refused() -> None:
    roster = Roster()
    for answer in (
        roster.change(GUEST),
        roster.remove("archivist"),
        roster.set_endpoint(offline_endpoint("archivist")),
        roster.clear_endpoint("archivist"),
    ):
        assert code(answer) == "agent_unknown"
    assert code(roster.add(DEFAULT_AGENTS[2])) == "agent_exists"
    many = tuple(replace(GUEST, agent_id=f"a{number}") for number in range(100))
    assert code(roster_problem((*DEFAULT_AGENTS, *many))) == "agents_too_many"


def test_an_agent_that_is_off_plays_no_role() -> None:
    roster = Roster().change(replace(DEFAULT_AGENTS[2], enabled=False))
    assert isinstance(roster, Roster)
    assert roster.of_role("writer") is None
    assert "writer" not in [agent.agent_id for agent in roster.list(enabled_only=True)]


@pytest.mark.promise("agents.card-lines")
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("agent_id", "../x"), ("agent_id", ""), ("agent_id", "a b"), ("agent_id", "x" * 65), ("role", "Writer"),
        ("name", ""), ("name", "a\n# Tools"), ("purpose", "a\u2028b"), ("purpose", "a\x1b[31m"), ("purpose", "x" * 1001),
        ("owns", ["a\nb"]), ("owns", [""]), ("owns", "text"), ("must_not", ["x"] * 51), ("enabled", "yes"),
        ("surprise", 1),
    ],
)  # fmt: skip
def test_a_card_is_made_of_short_lines_that_cannot_begin_a_section_of_a_prompt(field: str, value: Any) -> None:
    problem = agent_from({**agent_wire(GUEST), field: value})
    assert isinstance(problem, Problem)
    assert problem.code == "agent_invalid"
    assert problem.pointer.startswith(f"/{field}")
    assert isinstance(value, int) or value == "" or not isinstance(value, str) or value not in problem.message


@pytest.mark.promise("agents.endpoint")
@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"provider": "skynet"}, "/provider"),
        ({"model": ""}, "/model"),
        ({"base_url": "ftp://host"}, "/base_url"),
        ({"base_url": "http://"}, "/base_url"),
        ({"base_url": "http://user:key@host/v1"}, "/base_url"),
        ({"base_url": "http://host/v1?api_key=k"}, "/base_url"),
        ({"base_url": "http://host:99999999/v1"}, "/base_url"),
        ({"base_url": "file:///etc/passwd"}, "/base_url"),
        ({"provider": "azure"}, "/base_url"),
        ({"api_key": "sk-1"}, "/api_key"),
        ({"api_key_env": "A B"}, "/api_key_env"),
        ({"api_key_env": "A", "api_key_file": "/k"}, "/api_key_file"),
        ({"temperature": 3}, "/temperature"),
        ({"timeout_s": 0}, "/timeout_s"),
        ({"retries": -1}, "/retries"),
        ({"protocol": "sung"}, "/protocol"),
        ({"speech": "sung"}, "/protocol"),
        ({"speech": "native", "protocol": "native"}, "/speech"),
        ({"provider": "anthropic", "protocol": "native"}, "/protocol"),
    ],
)
def test_an_endpoint_names_a_server_and_holds_no_key(changes: dict[str, Any], pointer: str) -> None:
    problem = endpoint_from({"agent_id": "writer", "provider": "openai", "model": "m", **changes})
    assert isinstance(problem, Problem)
    assert (problem.code, problem.pointer) == ("endpoint_invalid", pointer)


@pytest.mark.promise("agents.endpoint")
@pytest.mark.parametrize("url", ["http://127.0.0.1:1234", "https://host.example/v1", "http://[::1]:8080/v1/", None])
def test_addresses_with_and_without_a_path_are_taken(url: str | None) -> None:
    endpoint = endpoint_from({"agent_id": "writer", "provider": "lmstudio", "model": "m", "base_url": url})
    assert isinstance(endpoint, Endpoint)
    assert endpoint_from(endpoint_wire(endpoint)) == endpoint


@pytest.mark.promise("agents.endpoint")
def test_only_azure_takes_a_query_and_that_is_its_version() -> None:
    url = "https://name.openai.azure.com/openai/deployments/d?api-version=2024-10-21"
    endpoint = {"agent_id": "writer", "provider": "azure", "model": "m", "base_url": url}
    assert isinstance(endpoint_from(endpoint), Endpoint)
    for changes in ({"provider": "openai"}, {"base_url": f"{url}&api-key=x"}):
        assert isinstance(endpoint_from({**endpoint, **changes}), Problem)


class Staffing(RuleBasedStateMachine):
    """Whatever is tried, the roster stays one that may be."""

    def __init__(self) -> None:
        super().__init__()
        self.roster = Roster()

    def _try(self, answer: Roster | Problem) -> None:
        self.roster = answer if isinstance(answer, Roster) else self.roster

    names = st.sampled_from(["assistant", "Assistant", "writer", "critic", "guest", "other"])
    roles = st.sampled_from(["assistant", "writer", "archivist"])

    @rule(name=names, role=roles, enabled=st.booleans())
    def add(self, name: str, role: str, *, enabled: bool) -> None:
        self._try(self.roster.add(replace(GUEST, agent_id=name, role=role, enabled=enabled)))

    @rule(name=names, role=roles, enabled=st.booleans())
    def change(self, name: str, role: str, *, enabled: bool) -> None:
        self._try(self.roster.change(replace(GUEST, agent_id=name, role=role, enabled=enabled)))

    @rule(name=names)
    def remove(self, name: str) -> None:
        self._try(self.roster.remove(name))

    @rule(name=names)
    def give_a_model(self, name: str) -> None:
        self._try(self.roster.set_endpoint(Endpoint(agent_id=name, provider="ollama", model="m")))

    @invariant()
    def one_chief_and_no_stray_endpoint(self) -> None:
        assert roster_problem(self.roster.agents) is None
        assert self.roster.chief.enabled
        assert [agent.agent_id for agent in self.roster.agents if agent.role == "assistant"] == [CHIEF]
        assert {each.agent_id for each in self.roster.endpoints} <= {agent.agent_id for agent in self.roster.agents}


TestStaffing = pytest.mark.promise("agents.chief")(Staffing.TestCase)
TestStaffing.settings = settings(max_examples=size(50, 1000), stateful_step_count=30)


@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda part: st.lists(part) | st.dictionaries(st.text(), part),
        max_leaves=10,
    )
)
def test_no_value_whatever_raises(value: Any) -> None:
    assert isinstance(agent_from(value), Agent | Problem)
    assert isinstance(endpoint_from(value), Endpoint | Problem)
