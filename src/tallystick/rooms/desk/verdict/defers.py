"""DEFER rules: each names something that only a person can settle."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.desk.gather.limits import SEARCHES, Limits
from tallystick.rooms.desk.options import DOCUMENT_TOOLS, VerdictPolicy
from tallystick.rooms.desk.triage.categories import PERSON
from tallystick.rooms.desk.verdict.blocks import Rule
from tallystick.rooms.desk.verdict.case import WORTH, Case

SHOWN = 160
"""Characters of a need in a reason."""
_BUDGET_FAULTS = frozenset({"budget", "output_budget", "rate", "spent"})


def forged_trace(case: Case, _policy: VerdictPolicy) -> str | None:
    """The worker's trace names calls without receipts."""
    mine = {receipt.receipt_id: receipt for receipt in case.outcomes()}
    for place, told in enumerate(case.trace):
        receipt = mine.get(str(told.get("receipt_id")))
        if receipt is None:
            return f"call {place + 1} of the trace has no receipt of this ticket"
        if told.get("tool_name") != receipt.header.get("tool_id"):
            return f"call {place + 1} of the trace is told as another tool's"
    return None


def no_evidence(case: Case, _policy: VerdictPolicy) -> str | None:
    """No verified evidence answers the message."""
    if any(one.relevance >= WORTH for one in case.counted):
        return None
    claimed = len(case.claimed)
    return (
        f"{claimed} pieces were claimed, none checks out and speaks to a need" if claimed else "no evidence was found"
    )


def source_not_trusted(case: Case, policy: VerdictPolicy) -> str | None:
    """The evidence for a need was written by an agent, a customer, a program or an unknown author."""
    speaking = [one for one in case.shown if one.relevance >= policy.threshold]
    covered = {one.need for one in speaking if one.counts}
    for one in speaking:
        if one.need not in covered and case.needs:
            return f"only {one.tool} answers it, which is no answer source: {case.needs[one.need].question}"
    return None


def need_uncovered(case: Case, policy: VerdictPolicy) -> str | None:
    """No verified evidence answers a need with the probability that is asked for."""
    covered = {one.need for one in case.counted if one.relevance >= policy.threshold}
    missing = [place for place in range(len(case.needs)) if place not in covered]
    if not missing:
        return None
    best = max((one.relevance for one in case.counted if one.need == missing[0]), default=0.0)
    question = case.needs[missing[0]].question[:SHOWN]
    return f"answered with a probability of {best:.0%}, where {policy.threshold:.0%} are asked for: {question}"


def contradiction(case: Case, _policy: VerdictPolicy) -> str | None:
    """Passages about the same thing give different figures, by the signed result of the search."""
    for outputs in _searches(case):
        found = outputs.get("disagreements")
        for one in found if isinstance(found, list) else []:
            docs, values = one["docs"], one["values"]
            return f"{docs[0]} and {docs[1]} disagree: {values[0]} against {values[1]}"
    return None


def _searches(case: Case) -> Iterator[Mapping[str, Any]]:
    """The signed results of searches of the documents."""
    for receipt in case.ran():
        if receipt.header.get("tool_id") in DOCUMENT_TOOLS and isinstance(receipt.outputs, Mapping):
            yield receipt.outputs


def truncated(case: Case, _policy: VerdictPolicy) -> str | None:
    """Something was cut off, so something may have been missed."""
    return "the evidence was cut off" if case.context.get("truncated") else None


def budget_spent(case: Case, _policy: VerdictPolicy) -> str | None:
    """The search stopped because it had to, not because it was done."""
    for receipt in case.outcomes():
        fault = str((receipt.header.get("outcome") or {}).get("fault", ""))
        if fault in _BUDGET_FAULTS:
            return f"a call was refused because the budget was spent ({receipt.receipt_id})"
    return None


def over_budget(case: Case, _policy: VerdictPolicy) -> str | None:
    """An external worker made more calls than the ticket allows; the built-in worker counts its own."""
    ticket = case.ticket
    if ticket.holder is None:
        return None
    limits = Limits.of(ticket)
    made = [one.header.get("tool_id") for one in case.ran() if _made_ms(one) >= ticket.held_from]
    searches, most = sum(name in SEARCHES for name in made), limits.most_searches(len(case.needs))
    if len(made) > limits.max_turns:
        return f"{len(made)} calls were made, the ticket allows {limits.max_turns} turns"
    return f"{searches} searches were made, the ticket allows {most}" if searches > most else None


def delicate_category(case: Case, policy: VerdictPolicy) -> str | None:
    """Matters of these categories are decided by people."""
    named = case.triage.get("category")
    found = {*case.categories, *([named] if isinstance(named, str) else [])} & set(policy.defer_categories)
    return f"a {min(found)} matter is decided by a person" if found else None


def wants_person(case: Case, _policy: VerdictPolicy) -> str | None:
    """The customer asks for a person."""
    return "the customer asks for a person" if PERSON in case.categories else None


def language_unknown(case: Case, _policy: VerdictPolicy) -> str | None:
    """The message is in a language that no document is written in."""
    for outputs in _searches(case):
        language, known = outputs.get("language"), outputs.get("languages")
        if isinstance(language, str) and isinstance(known, list) and known and language not in known:
            return f"the message is in '{language}', the documents are in {', '.join(map(str, known))}"
    return None


def triage_defers(case: Case, _policy: VerdictPolicy) -> str | None:
    """Triage left it to a person."""
    return "triage left it to a person" if case.triage.get("decision") == "DEFER" else None


def worker_stricter(case: Case, _policy: VerdictPolicy) -> str | None:
    """The worker's verdict can make it stricter, up to DEFER: a worker's BLOCK does not block."""
    status = case.proposed.get("status")
    return f"the worker says {status}" if status in {"DEFER", "BLOCK"} else None


RULES: tuple[tuple[str, Rule], ...] = (
    ("defer.trace-unproved", forged_trace),
    ("defer.person-wanted", wants_person),
    ("defer.category", delicate_category),
    ("defer.language", language_unknown),
    ("defer.triage", triage_defers),
    ("defer.over-budget", over_budget),
    ("defer.budget-spent", budget_spent),
    ("defer.truncated", truncated),
    ("defer.source-not-trusted", source_not_trusted),
    ("defer.no-evidence", no_evidence),
    ("defer.need-uncovered", need_uncovered),
    ("defer.contradiction", contradiction),
    ("defer.worker", worker_stricter),
)


def _made_ms(receipt: Receipt) -> int:
    return round(datetime.fromisoformat(receipt.header["timestamp"]).timestamp() * 1_000)
