"""A key or a token in what is proposed: the rest is remembered, the secret is not, and memory stays usable."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.rooms.memory.conftest import Open
from tests.rooms.memory.remembering import Remembering
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
def test_what_an_older_log_keeps_as_a_digest_is_read_as_a_gap(open_memory: Open) -> None:
    """Which names are secret is a setting: then the ledger has no text at all."""
    memory = open_memory(ledger={"durability": "os"}, redact={"keys": ["text"]})
    memory.observe("Ada lives in Lisbon.")
    before = memory.bytes()
    assert b"[redacted]" in before
    assert b"Lisbon" not in before
    memory.projection.rebuild()
    assert memory.bytes() == before


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
