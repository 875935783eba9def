"""What our own worker asks of each search tool, and what of the answers is evidence."""

from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.quotes import find_quote, fold_text
from tallystick.rooms.desk.gather.search import EvidenceSearch, log_queries, worded
from tallystick.rooms.desk.model import Ticket
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.trial import DeskRunner, TrialResult
from tests.gates import open_gate, outcomes
from tests.rooms.desk.desk_yard import SURE

GUARANTEE = "The guarantee of the Kestrel kettle lasts two years from delivery."
LOG = (
    "2026-01-05T10:00:00Z ERROR payment for order QB-48213 was declined: the card has expired\n"
    "2026-01-05T10:01:00Z INFO order QB-99999 was shipped\n"
)


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    workspace = tmp_path / "work"
    (workspace / "logs").mkdir(parents=True)
    (workspace / "logs" / "shop.log").write_text(LOG, encoding="utf-8")
    with open_gate(
        workspace, plugins=True, rooms={"desk": {"logs": ["logs/*.log"], "verdict": {"threshold": SURE}}}
    ) as opened:
        yield opened


def remember(gate: Gate, text: str, source: str = "handbook", kind: str = "document") -> str:
    given = {"text": text, "source": {"id": source, "class": kind}, "observed_at": "2026-01-01T00:00:00Z"}
    observation: str = gate.call_sync("record_observation", given).unwrap()["observation_id"]
    return observation


def ingest(gate: Gate, rows: str) -> None:
    (gate.workspace / "tickets.csv").write_text(f"Description,Department,Product,Resolution\n{rows}", encoding="utf-8")
    taken = gate.call_sync("tool.ingest.upload", {"file_path": "tickets.csv"}).unwrap()
    gate.call_sync("tool.embed.run", {"dataset_id": taken["dataset_id"]}).unwrap()


def asked(gate: Gate, question: str, run: str = "r1") -> TrialResult:
    tried = DeskRunner(gate).attempt(question, run=run)
    assert isinstance(tried, TrialResult), tried
    return tried


def context(gate: Gate) -> Mapping[str, Any]:
    """The evidence package of the TOOL ticket."""
    (tool,) = DeskRunner(gate).service.tickets.list(kind="TOOL")[0]
    found: Mapping[str, Any] = tool["metadata"]["final_outputs"]["tool_context"]
    return found


@pytest.mark.promise("desk.rooms-evidence", "desk.shown-results")
def test_what_memory_holds_is_shown_to_a_person_and_names_its_record(gate: Gate) -> None:
    observation = remember(gate, GUARANTEE)
    tried = asked(gate, "How long is the guarantee of the Kestrel kettle?")
    assert tried.verdict is not None
    assert (tried.verdict.rule_id, tried.sent) == ("defer.source-not-trusted", "")
    (piece,) = tried.evidence
    assert (piece["source"], piece["place"], piece["quote_ok"]) == (observation, "handbook", True)
    assert (piece["author"], piece["counts"]) == ("memory", False)
    (node,) = context(gate)["graph_nodes"]
    assert (node["observation_id"], node["text"]) == (observation, GUARANTEE)


@pytest.mark.promise("desk.rooms-evidence")
def test_a_fact_that_memory_accepts_is_shown_as_a_sentence_and_no_other_is(gate: Gate) -> None:
    weighed = [remember(gate, f"On the scale of {who}: 1300 grams.", who, "human") for who in ("Ada", "Ben", "Cleo")]
    fact = {"subject": "Kestrel kettle", "predicate": "has_weight", "object": "1300 grams", "volatility": "static"}
    gate.call_sync("propose_proposition", {**fact, "observation_ids": weighed}).unwrap()
    question = "What weight has the Kestrel kettle?"
    tried = asked(gate, question)
    assert tried.verdict is not None
    assert (tried.verdict.rule_id, tried.sent, tried.draft) == ("defer.source-not-trusted", "", "")
    (known,) = gate.call_sync("mem.search", {"query": question}).unwrap()["facts"]
    shown = [(piece["source"], piece["snippet"], piece["counts"]) for piece in tried.evidence]
    assert (known["id"], "Kestrel kettle has weight 1300 grams", False) in shown
    for result, many in (
        ({"facts": [known], "passages": [], "doubt": None}, 1),
        ({"facts": [{**known, "status": "contested"}], "passages": [], "doubt": None}, 0),
        ({"facts": [known], "passages": [], "doubt": "said_of_another"}, 0),
    ):
        assert len(gathered(tool_ticket(question), result)["evidence"]) == many


@pytest.mark.promise("desk.rooms-evidence")
def test_earlier_tickets_and_how_they_ended_are_shown_and_answer_nobody(gate: Gate) -> None:
    ingest(
        gate,
        "The filter of the Kestrel kettle is changed every three months.,Care,Kettle,\n"
        "My grinder is loud,Care,Grinder,Descale the grinder with citric acid once a month.\n"
        "How often must the toaster be emptied?,Care,Toaster,\n",
    )
    filters = asked(gate, "How often is the filter of the Kestrel kettle changed?")
    assert filters.verdict is not None
    assert (filters.verdict.rule_id, filters.evidence[0]["source"]) == ("defer.source-not-trusted", "ticket:1")
    assert "every three months" in filters.evidence[0]["snippet"]
    grinder = asked(gate, "How often should one descale the grinder?", run="r2")
    assert "Descale the grinder with citric acid once a month." in [piece["snippet"] for piece in grinder.evidence]
    assert (filters.sent, grinder.sent) == ("", "")
    toaster = asked(gate, "How often must the toaster be emptied?", run="r3")
    assert (toaster.status, toaster.sent) == ("review", "")
    for shown in DeskRunner(gate).room.reviews.queue()[0]:
        assert all(
            (piece["holds"], piece["counts"], piece["author"]) == (True, False, "customer") for piece in shown.evidence
        )


@pytest.mark.promise("desk.rooms-evidence", "desk.shown-results")
def test_logs_are_asked_for_ids_and_codes_and_what_they_say_is_shown(gate: Gate) -> None:
    tried = asked(gate, "Why was the payment for order QB-48213 declined?")
    (query,) = [one.inputs["args"]["query"] for one in outcomes(gate) if one.header["tool_id"] == "logs.search"]
    assert query == "QB-48213"
    assert [piece["source"] for piece in tried.evidence] == ["logs/shop.log"]
    assert tried.verdict is not None
    assert (tried.verdict.rule_id, tried.sent) == ("defer.source-not-trusted", "")
    package = context(gate)
    (hit,) = package["logs_hits"]
    assert "the card has expired" in hit["text"]
    (traced,) = [one for one in package["tool_trace"] if one["tool_name"] == "logs.search"]
    assert traced["result"]["found"] == 1
    assert find_quote(traced["result"]["results"][0]["snippet"], fold_text(LOG)) is not None
    assert package["graph_nodes"] == package["web_summaries"] == []


@pytest.mark.parametrize(
    ("question", "message", "first"),
    [
        ("Why did order 4711 fail?", "", ["4711"]),
        ("Why does it fail?", "Order #QB-48213, error ERR_TIMEOUT.", ["QB-48213", "ERR_TIMEOUT"]),
        ("Why was the payment declined?", "", ["payment declin"]),
        ("WHY WAS MY PAYMENT DECLINED", "", ["payment declin"]),
        ("Is it 3 or 30 days?", "", []),
        ("Why?", "", []),
    ],
)
def test_log_queries_are_what_may_stand_in_one_entry(question: str, message: str, first: list[str]) -> None:
    assert list(islice(log_queries(question, message), len(first))) == first
    assert question not in log_queries(question, message)


def tool_ticket(question: str, **policy: Any) -> Ticket:
    given = {"triage": {"information_needs": [{"question": question}]}, "tool_policy": policy}
    return Ticket(body={"id": "t", "event": {"content": question}, "metadata": {"kind": "TOOL", "tool_input": given}})


def gathered(ticket: Ticket, result: Any, called: list[tuple[str, str]] | None = None) -> dict[str, Any]:
    """What is gathered where every search gives this."""

    def call(tool: str, args: Mapping[str, Any], _: str) -> Outcome:
        if called is not None:
            called.append((tool, args["query"]))
        return Outcome(status="accepted", tool=tool, args=dict(args), result=result, receipt_id="rcpt_1")

    known = frozenset({"kb.search", "mem.search", "insight.search"})
    context: dict[str, Any] = EvidenceSearch(ticket, call, known, lambda: "now", VerdictPolicy()).run()["tool_context"]
    return context


@pytest.mark.promise("desk.policy-binds")
@pytest.mark.parametrize(
    ("strategy", "budget", "turns", "calls"),
    [
        ("focused", 40, 20, 3),
        ("broad", 40, 20, 9),
        ("exhaustive", 40, 20, 40),
        ("exhaustive", 7, 20, 7),
        ("exhaustive", 40, 2, 6),
        ("broad", 4, 20, 4),
        ("exhaustive", 0, 20, 0),
        ("focused", 5, 0, 0),
    ],
)
def test_every_search_tool_is_asked_as_the_strategy_says_and_no_more_than_the_budget_allows(
    strategy: str, budget: int, turns: int, calls: int
) -> None:
    called: list[tuple[str, str]] = []
    question = "Which returned trombones may be exchanged against blue giraffes in Ghent?"
    ticket = tool_ticket(question, web_search_strategy=strategy, web_search_budget=budget, max_turns=turns)
    found = gathered(ticket, {"passages": []}, called)
    assert len(called) == len(set(called)) == calls
    assert found["turn_control"]["turns_used"] <= turns
    if calls >= 3:
        assert {tool for tool, _ in called} == {"kb.search", "mem.search", "insight.search"}


@pytest.mark.promise("desk.policy-binds")
def test_a_search_ends_with_what_it_finds_unless_it_is_exhaustive() -> None:
    question = "How long is the guarantee?"
    result = {"passages": [{"doc": "a.md", "snippet": "The guarantee lasts two years."}]}
    for strategy, many in (("focused", 1), ("broad", 1), ("exhaustive", 5)):
        called: list[tuple[str, str]] = []
        ticket = tool_ticket(question, web_search_strategy=strategy, web_search_budget=5, max_turns=20)
        found = gathered(ticket, result, called)
        assert (len(called), len(found["evidence"]), found["truncated"]) == (many, 1, False)


def test_queries_begin_with_the_question_and_never_repeat() -> None:
    made = list(worded("Which trombones suit giraffes?"))
    assert made[0] == "Which trombones suit giraffes?"
    assert len(made) == len(set(made)) > 4
    assert list(worded("")) == []
