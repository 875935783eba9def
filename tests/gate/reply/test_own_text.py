"""What agents wrote, as the ledger has it: who counts as the author, what is bounded, and how fast it is."""

import asyncio
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, Tool, tool
from tallystick.gate.reply import writings
from tallystick.gate.reply.own_text import Author, words_of
from tallystick.gate.reply.writings import LedgerWritings
from tallystick.gate.session import OWNER_ROLE, Caller, Session
from tallystick.settings import parse_settings
from tests.gate.stopwatch import cpu_seconds
from tests.sizes import size

pytestmark = pytest.mark.promise("reply.own-text")
CLAIM = "the sky is made of brass plates"


def tools() -> list[Tool]:
    @tool(effect="write")
    def save(text: str) -> str:
        """Save a text."""
        return "saved"

    @tool(effect="read")
    def look(text: str) -> str:
        """Look something up."""
        return f"Somebody wrote that {text[::-1]}."

    return [save, look]


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    settings = parse_settings(
        {
            "ledger": {"durability": "os"},
            "policy": {"model_write": "allow"},
            "storage": {"state_dir": str(tmp_path / "state")},
            "limits": {},
        }
    )
    with Gate.open(tmp_path / "work", settings=settings, plugins=False) as opened:
        opened.register(*tools())
        yield opened


def written(gate: Gate) -> LedgerWritings:
    return LedgerWritings(gate.ledger, may_write=lambda _: True, room_texts=lambda _agent, _tool: iter(()))


def save(gate: Gate, text: str, session: str = "s1", agent: str | None = "critic", **caller: Any) -> str:
    where = Session(
        session_id=session, agent_id=agent, caller=Caller(subject="local", roles=frozenset({OWNER_ROLE}), **caller)
    )
    outcome = gate.call_sync("save", {"text": text}, session=where)
    assert outcome.ok, outcome
    assert outcome.receipt_id is not None
    return outcome.receipt_id


@pytest.mark.parametrize(
    ("written_as", "quoted_as"),
    [
        ("The SKY is  made\nof brass-plates", CLAIM),
        ("The sky, “is made” of *brass* plates!", CLAIM),
        (r"the sky\nis \u006dade of\tbrass plates", CLAIM),
        ("the s\u200bky is made of bra\u00adss plates", CLAIM),
        ("cafe\u0301 ﬁre", "CAFÉ FIRE"),
        ("天空由黄铜板制成", "黄铜板"),
    ],
)
def test_no_spelling_makes_own_words_somebody_elses(written_as: str, quoted_as: str) -> None:
    assert words_of(quoted_as) in words_of(written_as)


def test_whole_words_are_compared() -> None:
    assert words_of("rain") not in words_of("the brainstorm")
    assert words_of(" — … ") == ""


def test_an_author_is_the_agent_or_else_the_session_or_the_client(gate: Gate) -> None:
    save(gate, CLAIM)
    save(gate, CLAIM, session="s2", agent="editor")
    save(gate, CLAIM, session="s3", agent=None, channel="mcp")
    found = written(gate)
    for author, count in [
        (Author(session_id="s9", agent="critic"), 1),
        (Author(session_id="s9", agent="planner"), 0),
        (Author(session_id="s2"), 1),
        (Author(session_id="s9"), 0),
        (Author(session_id="s9", subject="local"), 1),
        (Author(session_id="s9", agent="someone", subject="local"), 1),
        (Author(session_id="s9", subject="else"), 0),
    ]:
        assert len(found.holding(author, words_of(CLAIM))) == count, author


def test_what_is_written_later_or_erased_counts_at_the_next_look(gate: Gate) -> None:
    author, words, found = Author(session_id="s1", agent="critic"), words_of(CLAIM), written(gate)
    assert found.holding(author, words) == []
    receipt = save(gate, CLAIM)
    assert len(found.holding(author, words)) == 1
    gate.ledger.erase(receipt, session=Session(session_id="s1"), reason="asked for")
    assert found.holding(author, words) == []


def test_only_so_much_is_held(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writings, "MAX_CHARS", 400)
    monkeypatch.setattr(writings, "LOOK_BACK", 30)
    monkeypatch.setattr(writings, "MAX_AUTHORS", 2)
    found, author = written(gate), Author(session_id="s1", agent="critic")
    found.holding(author, words_of(CLAIM))
    for number in range(40):
        save(gate, f"{CLAIM} number {number}")
    kept = found.holding(author, words_of(CLAIM))
    assert 0 < len(kept) < 12
    assert kept[-1].words == words_of(f"{CLAIM} number 39")
    for name in "abc":
        found.holding(Author(session_id="s1", agent=name), words_of(CLAIM))
    assert len(found._authors) == 2
    assert len(written(gate).holding(author, words_of(CLAIM))) <= 15


@pytest.mark.promise("reply.fast")
def test_a_check_against_much_of_ones_own_is_fast_after_the_first_look(gate: Gate) -> None:
    author, found = Author(session_id="s1", agent="critic"), written(gate)

    async def write() -> None:
        where = Session(session_id="s1", agent_id="critic")
        for number in range(size(600, 20_000)):
            await gate.call("save", {"text": f"I note that the keeper of lamp {number} went to sea."}, session=where)

    asyncio.run(write())
    found.holding(author, words_of(CLAIM))

    def p99() -> float:
        looks = [words_of(f"the keeper of lamp {number} had gone down") for number in range(300)]
        times = sorted(cpu_seconds(partial(found.holding, author, words)) for words in looks)
        return times[len(times) * 99 // 100]

    # Other programs share this machine; the best of three runs is the one they disturbed least.
    assert min(p99() for _ in range(3)) < 0.0005
    # Words that all of them hold cost more, and still little.
    common = partial(found.holding, author, words_of("I note that the keeper of lamp"))
    assert min(cpu_seconds(common) for _ in range(5)) < 0.01
