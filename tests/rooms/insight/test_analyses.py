"""Analyses, prompts, history and reports through the gate: schemas, roles, audit, budgets, categories."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from tallystick import Caller, Gate
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.role_names import EVERY_ROLE
from tallystick.rooms.insight.prompts import BUILT_IN
from tallystick.rooms.insight.prompts import filled as filled_in
from tallystick.rooms.insight.room import Insight
from tests.gates import every_byte, open_gate, outcomes
from tests.rooms.insight.company import fill, group, tickets

ANALYST = Caller(subject="ana", roles=frozenset({"analyst"}))
ADMIN = Caller(subject="ada", roles=frozenset({"admin"}))
VIEWER = Caller(subject="vic", roles=frozenset({"viewer"}))
VECTORS = Path(__file__).parents[2] / "vectors" / "insight_schemas.json"


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(tmp_path / "work", plugins=True) as opened:
        yield opened


def room(gate: Gate) -> Insight:
    found = gate.room("insight")
    assert isinstance(found, Insight)
    return found


def filled(gate: Gate) -> int:
    store = room(gate).store
    dataset_id = fill(store, tickets())
    group(store, dataset_id)
    return dataset_id


def call(gate: Gate, tool: str, caller: Caller = ADMIN, **args: Any) -> Outcome:
    return asyncio.run(gate.call(tool, args, caller=caller))


def category(outcome: Outcome) -> str | None:
    found: str | None = outcome.problem()["error"]["category"]
    return found


@pytest.mark.promise("insight.analysis.tools")
def test_the_tools_have_the_schemas_roles_and_audit_they_must_have(gate: Gate) -> None:
    cards = {card.name: card for card in gate.tools()}
    listed = orjson.loads(VECTORS.read_bytes())
    assert len(listed) == 10
    for name, wanted in listed.items():
        card = cards[name]
        assert dict(card.input_schema) == wanted["input"], name
        assert card.output_schema is not None
        assert dict(card.output_schema) == wanted["output"], name
        assert (sorted(card.roles), card.audited) == (wanted["roles"] or sorted(EVERY_ROLE), wanted["audited"]), name


@pytest.mark.promise("insight.analysis.tools", "insight.history")
def test_a_question_is_answered_kept_and_listed(gate: Gate) -> None:
    dataset_id = filled(gate)
    question = "Compare the number of Login tickets in February and March"
    made = call(gate, "tool.analysis.run", ANALYST, dataset_id=dataset_id, question=question).unwrap()
    assert made["ticket_count"] == 50
    kept = room(gate).analyses.one(made["analysis_id"])
    assert kept.answer["backend"] == "offline"
    assert kept.answer["refused"] == []
    assert "The share went from 10.00 % to 38.06 %" in kept.answer["text"]
    listed = call(gate, "tool.history.list", VIEWER, limit=10, offset=0).unwrap()
    assert (listed["total"], listed["items"][0]["question"]) == (1, question)
    report = call(gate, "tool.reports.get", VIEWER, dataset_id=dataset_id).unwrap()
    assert report["analysis_count"] == 1
    assert room(gate).analyses.recheck(report["report_markdown"]).ok
    again = call(gate, "tool.analysis.run", ANALYST, dataset_id=dataset_id, question=question).unwrap()
    assert room(gate).analyses.one(again["analysis_id"]).answer == kept.answer


@pytest.mark.promise("insight.query.tool")
def test_a_typed_query_runs_through_the_gate_and_can_be_cited(gate: Gate) -> None:
    dataset_id = filled(gate)
    asked = {"dataset_id": dataset_id, "by": [{"column": "category"}], "order": "highest", "limit": 1}
    outcome = call(gate, "tool.analysis.query", VIEWER, **asked)
    found = outcome.unwrap()
    [row] = found["rows"]
    assert outcome.receipt_id
    assert found["reading"] == "Number of tickets, by category, the highest one"
    said = f"{row['key'][0]} has {row['value']:.0f} tickets [figure {row['value']:.0f} = {row['reference']}]."
    assert gate.check_reply(said, form="per-sentence").ok
    assert gate.check_reply(said.replace(f"figure {row['value']:.0f}", "figure 7"), form="per-sentence").fault
    refused = call(gate, "tool.analysis.query", VIEWER, dataset_id=dataset_id, by=[{"column": "colour"}])
    assert category(refused) == "validation_error"
    assert "category" in str(refused.problem())


@pytest.mark.promise("insight.history")
def test_history_is_filtered_and_paged(gate: Gate) -> None:
    store = room(gate).store
    one, other = fill(store, tickets(many=20)), fill(store, tickets(many=20), file_hash="b" * 64)
    for number in range(5):
        store.add_analysis(one, "v1" if number % 2 else "v2", f"q{number}", 1, {}, 1_700_000_000 + number)
    store.add_analysis(other, "v1", "other", 1, {}, 1_700_000_100)

    def asked(**args: Any) -> tuple[int, list[str]]:
        found = call(gate, "tool.history.list", VIEWER, **{"limit": 50, "offset": 0, **args}).unwrap()
        return found["total"], [item["question"] for item in found["items"]]

    assert asked(dataset_id=one) == (5, ["q4", "q3", "q2", "q1", "q0"])
    assert asked(dataset_id=one, limit=2, offset=3) == (5, ["q1", "q0"])
    assert asked(prompt_version="v2") == (3, ["q4", "q2", "q0"])
    assert asked(date_from="2023-11-14T22:13:23Z", date_to="2023-11-14T22:13:24+00:00") == (2, ["q4", "q3"])
    assert category(call(gate, "tool.history.list", VIEWER, limit=501, offset=0)) == "validation_error"
    assert category(call(gate, "tool.history.list", VIEWER, limit=1, offset=0, date_from="soon")) == "validation_error"


@pytest.mark.promise("insight.analysis.tools")
@pytest.mark.parametrize(
    ("tool", "args", "caller"),
    [
        ("tool.analysis.run", {"dataset_id": 1, "question": "?"}, VIEWER),
        ("tool.history.list", {"limit": 1, "offset": 0}, ANALYST),
        ("tool.prompts.save", {"version": "v2", "template": "{question}"}, ANALYST),
    ],
)
def test_whoever_lacks_the_role_is_refused(gate: Gate, tool: str, args: dict[str, Any], caller: Caller) -> None:
    refused = call(gate, tool, caller, **args)
    assert (category(refused), refused.http) == ("rbac_denied", 403)


@pytest.mark.promise("insight.analysis.tools")
def test_analyses_and_saved_prompts_stand_in_the_audit_records_without_text(gate: Gate) -> None:
    dataset_id = filled(gate)
    call(gate, "tool.analysis.run", ANALYST, dataset_id=dataset_id, question="How many?").unwrap()
    call(gate, "tool.prompts.save", ADMIN, version="v7", template="{question}", metadata={"by": "ada"}).unwrap()
    audits = [found.header["audit"] for found in outcomes(gate) if found.header.get("audit")]
    assert [(a["subject"], a["action"], a["resource"]) for a in audits] == [
        ("ana", "analysis.run", f"dataset:{dataset_id}"),
        ("ada", "prompts.save", "prompt:v7"),
    ]
    assert audits[0]["metadata"] == {"analysis_id": 1, "prompt_version": "v1"}
    assert audits[1]["metadata"] == {"version": "v7", "metadata": "by"}
    assert "How many" not in str(audits)


@pytest.mark.promise("insight.prompts")
def test_prompts_have_versions_and_the_first_is_always_there(gate: Gate) -> None:
    assert call(gate, "tool.prompts.list").unwrap() == {"versions": ["v1"]}
    assert call(gate, "tool.prompts.load", version="v1").unwrap()["template"] == BUILT_IN
    assert call(
        gate, "tool.prompts.save", version="v2", template="Say: {question}", metadata={"note": "x"}
    ).unwrap() == {"ok": True}
    call(gate, "tool.prompts.save", version="v2", template="Tell: {question}").unwrap()
    loaded = call(gate, "tool.prompts.load", version="v2").unwrap()
    assert loaded == {"version": "v2", "template": "Tell: {question}", "metadata": {}}
    assert call(gate, "tool.prompts.list").unwrap() == {"versions": ["v1", "v2"]}
    missing = call(gate, "tool.prompts.load", version="v9")
    assert (category(missing), missing.http) == ("downstream_error", 404)


@pytest.mark.promise("insight.prompts")
@pytest.mark.parametrize("template", ["{question} and {nonsense}", "{question}" + "x" * 20_001])
def test_a_template_that_cannot_be_filled_is_refused(gate: Gate, template: str) -> None:
    assert category(call(gate, "tool.prompts.save", version="v2", template=template)) == "validation_error"
    assert call(gate, "tool.prompts.list").unwrap() == {"versions": ["v1"]}


@pytest.mark.promise("insight.prompts")
def test_a_template_without_a_place_for_the_question_has_it_behind_it(gate: Gate) -> None:
    call(gate, "tool.prompts.save", version="v2", template="Be short.").unwrap()
    template = call(gate, "tool.prompts.load", version="v2").unwrap()["template"]
    assert template == "Be short."
    assert filled_in(template, {"question": "Why?"}).split() == ["Be", "short.", "Why?"]
    assert filled_in("Say: {question}", {"question": "Why?"}) == "Say: Why?"


@pytest.mark.promise("insight.analysis.budget")
def test_a_token_budget_truncates_and_one_that_holds_no_ticket_fails(gate: Gate) -> None:
    dataset_id = filled(gate)
    made = call(gate, "tool.analysis.run", dataset_id=dataset_id, question="Overview", token_budget=100).unwrap()
    kept = room(gate).analyses.one(made["analysis_id"])
    assert 0 < made["ticket_count"] < 50
    # The numbers count every ticket; only the sample is cut.
    assert (kept.answer["truncated"], kept.answer["sample_truncated"]) == (False, True)
    failed = call(gate, "tool.analysis.run", dataset_id=dataset_id, question="Overview", token_budget=1)
    assert (category(failed), failed.http) == ("budget_exceeded", 429)
    assert room(gate).analyses.history()[1] == 1


@pytest.mark.promise("insight.analysis.tools")
@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ({"dataset_id": 99}, ("downstream_error", 404)),
        ({"compare_dataset_id": 99}, ("downstream_error", 404)),
        ({"compare_dataset_id": 1}, ("validation_error", 400)),
        ({"prompt_version": "v9"}, ("downstream_error", 404)),
        ({"question": "   "}, ("validation_error", 400)),
        ({"question": "x" * 5_000}, ("validation_error", 400)),
        ({"question": ""}, ("validation_error", 400)),
        ({"analyzer_backend": "oracle"}, ("validation_error", 400)),
        ({"colour": "red"}, ("validation_error", 400)),
        ({"question": "How\0 many?"}, ("validation_error", 400)),
        ({"prompt_version": "v\0"}, ("validation_error", 400)),
        ({"analyzer_backend": "openai"}, ("tool_unavailable", 422)),
    ],
)
def test_bad_input_gets_its_category_and_nothing_is_stored(
    gate: Gate, args: dict[str, Any], wanted: tuple[str, int]
) -> None:
    dataset_id = fill(room(gate).store, tickets(many=20))
    failed = call(gate, "tool.analysis.run", **{"dataset_id": dataset_id, "question": "How many?", **args})
    assert (category(failed), failed.http) == wanted
    assert room(gate).analyses.history()[1] == 0


@pytest.mark.promise("insight.analysis.pii")
def test_personal_data_in_a_question_or_template_is_not_stored(gate: Gate) -> None:
    dataset_id = filled(gate)
    question = "How many tickets did anna.meier@example.org write from 203.0.113.77?"
    room(gate).analyses.run(dataset_id, question)
    room(gate).analyses.save_prompt("v2", "Ask anna.meier@example.org: {question}", {})
    kept, _ = room(gate).analyses.history()
    assert "[email:" in kept[0].question
    assert "[email:" in room(gate).analyses.load_prompt("v2").template
    report = room(gate).analyses.report(dataset_id).markdown()
    for found in (report.encode(), every_byte(gate.workspace)):
        assert b"anna.meier" not in found
        assert b"203.0.113.77" not in found


@pytest.mark.promise("insight.evidence")
def test_replies_may_cite_tickets_and_figures(gate: Gate) -> None:
    dataset_id = filled(gate)
    first = next(iter(room(gate).store.tickets(dataset_id)))
    words = " ".join(first.said.text.split()[:6])
    good = f'There are 600 tickets [figure 600 = tickets?dataset={dataset_id}]. One says so [ticket:{first.ticket_id} "{words}"].'
    assert gate.check_reply(good, form="per-sentence").ok
    for bad, fault in (
        (good.replace("600 =", "601 ="), "figure_differs"),
        (good.replace("tickets?", "marbles?"), "query_unknown"),
        (good.replace(f"ticket:{first.ticket_id}", "ticket:999999"), "record_unknown"),
        (good.replace(words, "these are not its words"), "quote_not_found"),
        ("Everybody is happy.", "sentence_without_reference"),
    ):
        assert gate.check_reply(bad, form="per-sentence").fault == fault
    line = f"Evidence: figure 600 = tickets?dataset={dataset_id}"
    assert gate.check_reply(f"Yes.\n{line}").ok
    assert gate.check_reply(f"There are 600 tickets.\n{line}").ok
    assert gate.check_reply(f"There are 700 tickets.\n{line}").fault == "number_unsupported"
    assert gate.check_reply(f"There are {dataset_id} tickets.\n{line}").fault == "number_unsupported"
    assert gate.check_reply(f'It says "{words}".\nEvidence: ticket:{first.ticket_id} "{words}"').ok
