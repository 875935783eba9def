"""A key or a token in what is proposed: the rest is remembered, the secret is not, and memory stays usable."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tallystick.gate.decide.verdict import Decision
from tallystick.gate.execute.outcome import Outcome
from tallystick.rooms.memory import room
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.room import _properties, hidden_names
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot
from tallystick.settings import RedactSettings
from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Remembering
from tests.rooms.memory.test_replay import from_nothing
from tests.sizes import size

SOURCE = {"id": "letters", "class": "human", "group": "letters"}
SECRETS = (
    "sk-" + "a1B2" * 10,
    "ghp_" + "Ab1" * 12,
    "Bearer " + "0123456789abcdef" * 2,
    "AKIA" + "ABCDEFGH12345678",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl",
)


@pytest.mark.promise("memory.secrets")
@pytest.mark.parametrize("secret", SECRETS)
def test_a_text_with_a_secret_is_kept_without_it(memory: Remembering, secret: str) -> None:
    seen = memory.observe(f"Ada lives in Lisbon. Her key is {secret} since May.")
    text = memory.projection.ask(lambda state: getattr(state.observations.get(seen), "text", ""))
    assert text.startswith("Ada lives in Lisbon.")
    assert text.endswith("since May.")
    name = memory.propose(seen, quotes=[{"observation_id": seen, "quote": f"Her key is {secret}"}])
    assert memory.status(name) is not None
    before = memory.bytes()
    assert secret.encode() not in before
    memory.projection.rebuild()
    assert memory.bytes() == before
    assert memory.gate.verify(memory.workspace).ok
    written = [one for one in memory.workspace.rglob("*") if one.is_file() and secret.encode() in one.read_bytes()]
    assert written == []


@pytest.mark.promise("memory.secrets", "memory.bad-input")
@pytest.mark.parametrize("secret", SECRETS)
def test_a_name_that_is_a_secret_is_refused(memory: Remembering, secret: str) -> None:
    seen = memory.observe()
    source = {"id": secret, "class": "document", "group": "letters"}
    refused = memory.code("record_observation", text="x", source=source, observed_at="2024-01-01T00:00:00Z")
    assert refused == "INVALID_PAYLOAD"
    given = {"subject": "Ada", "predicate": "has_key", "object": secret, "observation_ids": [seen]}
    assert memory.code("propose_proposition", **given) == "INVALID_PAYLOAD"
    assert memory.code("create_or_link_entity_candidate", name="Ada", kind="person", aliases=[secret]) is not None
    assert secret.encode() not in memory.bytes()


@pytest.mark.promise("memory.secrets")
def test_what_an_older_log_keeps_as_a_digest_is_read_as_a_gap(
    open_memory: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which names are secret is a setting: then the ledger has no text at all."""
    monkeypatch.setattr(room, "hidden_names", lambda *_: frozenset())
    memory = open_memory(ledger={"durability": "os"}, redact={"keys": ["text"]})
    memory.observe("Ada lives in Lisbon.")
    before = memory.bytes()
    assert b"[redacted]" in before
    assert b"Lisbon" not in before
    memory.projection.rebuild()
    assert memory.bytes() == before


def propose_all(memory: Remembering) -> list[Outcome]:
    """All nine proposals with all their arguments, each made of what the ones before gave."""
    given: dict[str, Any] = {}
    made: list[Outcome] = []

    def propose(tool: str, **args: Any) -> None:
        made.append(memory.call(tool, **args))
        given.update(made[-1].result or {})

    seen = {"observed_at": "2024-01-01", "episode_id": "a trip"}
    propose("record_observation", text="Ada was in Rome.", source=SOURCE, **seen)
    first = given.setdefault("observation_id", "obs_none")
    propose("record_observation", text="In Rome, Ada.", source=SOURCE, **seen, derived_from=[first])
    propose("record_observation", text="Ada was in Rome.", source=SOURCE, **seen, duplicate_of=first)
    fact = {"subject": "Ada", "predicate": "was_in", "observation_ids": [first], "volatility": "high"}
    quotes = [{"observation_id": first, "quote": "in Rome"}]
    propose("propose_proposition", **fact, object="Oslo", valid_from="2020-01-01", valid_to="2021-01-01")
    older = [given.setdefault("proposition_id", "prop_none")]
    propose("propose_proposition", **fact, object="Rome", quotes=quotes, supersedes=older, **{"class": "descriptive"})
    about = {"proposition_id": given["proposition_id"]}
    propose("attach_support", **about, observation_id=given["observation_id"], quote="Ada")
    propose("attach_contradiction", **about, observation_id=given["observation_id"], quote="Ada")
    propose("propose_test", **about, method="look", expectation="seen", discriminating=True)
    propose("execute_test_result_ingest", test_id=given.get("test_id", "t"), result="passed", report="Seen.", **seen)
    named = {"kind": "person", "aliases": ["A."], "observation_ids": [first]}
    propose("create_or_link_entity_candidate", name="Ada", **named)
    propose("create_or_link_entity_candidate", name="Ida", **named, possible_same_as=[given.get("entity_id", "e")])
    propose("request_consolidation", episode_id="a trip")
    propose("archive_episode", episode_id="a trip")
    return made


def arguments() -> set[str]:
    """The names of all arguments, at any depth."""
    allow = Decision(verdict="allow")
    snapshot = Snapshot(digest="", policy=Policy(), ask=lambda _question: allow, now=int)
    cards = [made(snapshot).card for made in room.PROPOSALS]
    every = {name for card in cards for name in _properties(card.input_schema)}
    assert hidden_names(cards, every) == every
    assert not hidden_names(cards, RedactSettings().keys)
    return every


@pytest.mark.promise("memory.hidden")
@pytest.mark.parametrize("name", sorted(arguments()))
def test_what_the_settings_keep_out_of_the_ledger_is_refused_and_the_rest_goes_on(open_memory: Open, name: str) -> None:
    memory = open_memory(redact={"keys": [name.replace("_", "-").upper()]})
    done = propose_all(memory)
    sent = [one for one in memory.gate.ledger.read() if one.header["kind"] == "outcome"]
    assert len(sent) == len(done)
    refused = [one.rejection for one in done if one.rejection is not None and "redact.keys" in one.rejection.reason]
    assert refused
    for one in refused:
        assert (str(one.code), (one.pointer or "").rpartition("/")[2]) == ("POLICY_VIOLATION", name)
    for one in done:
        # Nothing is taken of which memory would not find again what it is told.
        if one.ok and "observation_id" in one.result:
            told = one.result["observation_id"]
            assert memory.projection.ask(lambda state, told=told: state.observations.get(told)) is not None
    before = memory.bytes()
    assert b"[redacted]" not in before
    assert before == from_nothing(memory)
    memory.close()
    assert open_memory().bytes() == before


@pytest.mark.promise("memory.hidden", "memory.replay")
@pytest.mark.parametrize("name", sorted(arguments()))
def test_a_log_of_which_something_was_kept_out_can_be_folded(
    open_memory: Open, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(room, "hidden_names", lambda *_: frozenset())
        memory = open_memory(redact={"keys": [name]})
        propose_all(memory)
    before = memory.bytes()
    assert before == from_nothing(memory)
    memory.close()
    again = open_memory()
    assert again.bytes() == before
    assert again.status(again.propose(again.observe("Ben is here.", "letters"), fact="Ben is_in Rome")) is not None


@pytest.mark.promise("memory.secrets")
@settings(max_examples=size(15, 2_000), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(parts=st.lists(st.one_of(st.sampled_from(SECRETS), st.text(max_size=12)), min_size=1, max_size=6))
def test_no_text_makes_memory_unusable(tmp_path_factory: pytest.TempPathFactory, parts: list[str]) -> None:
    folder: Path = tmp_path_factory.mktemp("any")
    memory = Remembering(folder / "work")
    try:
        memory.code("record_observation", text=" ".join(parts), source=SOURCE, observed_at="2024-01-01")
        before = memory.bytes()
        memory.projection.rebuild()
        assert memory.bytes() == before
        assert not any(secret.encode() in before for secret in SECRETS)
    finally:
        memory.close()
