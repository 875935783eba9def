"""The rules that put a ticket before a person. None is an accusation: each says what a machine cannot settle."""

from collections.abc import Iterator
from datetime import datetime

from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.desk.judging.asking import Spoken, speaks
from tallystick.rooms.desk.judging.blocks import Rule
from tallystick.rooms.desk.judging.case import Case, Shown
from tallystick.rooms.desk.judging.choosing import Choice, choose
from tallystick.rooms.desk.judging.contradicting import asks_yes_or_no, contradict
from tallystick.rooms.desk.judging.signs import asks_for_person, categories_of
from tallystick.rooms.desk.judging.telling import Telling, tellings
from tallystick.rooms.desk.limits import SEARCHES, Limits
from tallystick.rooms.desk.options import VerdictPolicy

_BUDGET_FAULTS = frozenset({"budget", "output_budget", "rate", "spent"})


def forged_trace(case: Case, _policy: VerdictPolicy) -> str | None:
    """The worker tells of calls that this ticket's receipts do not show."""
    mine = {receipt.receipt_id: receipt for receipt in case.outcomes()}
    for place, told in enumerate(case.trace):
        receipt = mine.get(str(told.get("receipt_id")))
        if receipt is None:
            return f"call {place + 1} of the trace has no receipt of this ticket"
        if told.get("tool_name") != receipt.header.get("tool_id"):
            return f"call {place + 1} of the trace is told as another tool's"
    return None


def no_evidence(case: Case, policy: VerdictPolicy) -> str | None:
    """Nothing that checks out speaks to the matter."""
    if any(one.relevance >= policy.threshold for one in case.counted):
        return None
    claimed = len(case.claimed)
    return (
        f"{claimed} pieces were claimed, none checks out and speaks to a need" if claimed else "no evidence was found"
    )


def source_not_trusted(case: Case, policy: VerdictPolicy) -> str | None:
    """What answers a need was written by an agent, a customer or a program, or nobody knows by whom."""
    speaking = [one for one in case.shown if one.relevance >= policy.threshold]
    covered = {one.need for one in speaking if one.counts}
    for one in speaking:
        if one.need not in covered and case.needs:
            return f"only {one.tool} answers it, which is no answer source: {case.needs[one.need].question}"
    return None


def need_uncovered(case: Case, policy: VerdictPolicy) -> str | None:
    """A need has no verified snippet over the threshold."""
    covered = {one.need for one in case.counted if one.relevance >= policy.threshold}
    missing = [need.question for place, need in enumerate(case.needs) if place not in covered]
    return f"nothing answers: {missing[0]}" if missing else None


def contradiction(case: Case, policy: VerdictPolicy) -> str | None:
    """Two sources say different things about one need."""
    for place, need in enumerate(case.needs):
        for one, other in _pairs([each for each in case.counted if each.need == place]):
            if one.source == other.source or min(one.relevance, other.relevance) < policy.threshold:
                continue
            told = contradict(
                _told_by(one, need.question),
                _told_by(other, need.question),
                yes_or_no=asks_yes_or_no(need.question),
            )
            if told is not None:
                return f"{one.source} and {other.source} disagree: {told}"
    return None


def _told_by(piece: Shown, question: str) -> tuple[Telling, ...]:
    """The sentences of a piece that speak of what is asked: what others say differently does not matter here."""
    said = tuple(tellings(question, piece.snippet, piece.about))
    return tuple(
        one for one in said if speaks(question, one.sentence, Spoken.of([piece.about], [(one.sentence, one.under)]))
    )


def not_answered(case: Case, policy: VerdictPolicy) -> str | None:
    """What was found is about the matter, and no sentence of it speaks of what the question turns on."""
    for question, choice in _choices(case, policy):
        if choice.lacks is not None:
            return f"of what was found, {choice.lacks}: {question}"
    return None


def ambiguous(case: Case, policy: VerdictPolicy) -> str | None:
    """Two documents answer about as well, each with its own words: which one is meant is a guess."""
    for question, choice in _choices(case, policy):
        if choice.rivals is not None:
            return f"{' and '.join(choice.rivals)} would each answer it, and differently: {question}"
    return None


def _choices(case: Case, policy: VerdictPolicy) -> Iterator[tuple[str, Choice]]:
    for place, need in enumerate(case.needs):
        pieces = [one for one in case.counted if one.need == place and one.relevance >= policy.threshold]
        yield need.question, choose(need.question, pieces, policy.threshold)


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
    """A worker outside has made more calls than the ticket allows; those of our own are counted where they are made."""
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
    """Refunds, legal and security matters are decided by people."""
    named = case.triage.get("category")
    found = {*categories_of(case.content), *([named] if isinstance(named, str) else [])} & set(policy.defer_categories)
    return f"a {min(found)} matter is decided by a person" if found else None


def wants_person(case: Case, _policy: VerdictPolicy) -> str | None:
    """The customer asks for a person."""
    return "the customer asks for a person" if asks_for_person(case.content) else None


def triage_defers(case: Case, _policy: VerdictPolicy) -> str | None:
    """Triage left it to a person."""
    return "triage left it to a person" if case.triage.get("decision") == "DEFER" else None


def worker_stricter(case: Case, _policy: VerdictPolicy) -> str | None:
    """The worker's own word can make it stricter, up to a person: a BLOCK of its own silences nobody."""
    status = case.proposed.get("status")
    return f"the worker says {status}" if status in {"DEFER", "BLOCK"} else None


RULES: tuple[tuple[str, Rule], ...] = (
    ("defer.trace-unproved", forged_trace),
    ("defer.person-wanted", wants_person),
    ("defer.category", delicate_category),
    ("defer.triage", triage_defers),
    ("defer.over-budget", over_budget),
    ("defer.budget-spent", budget_spent),
    ("defer.truncated", truncated),
    ("defer.source-not-trusted", source_not_trusted),
    ("defer.no-evidence", no_evidence),
    ("defer.need-uncovered", need_uncovered),
    ("defer.contradiction", contradiction),
    ("defer.not-answered", not_answered),
    ("defer.ambiguous", ambiguous),
    ("defer.worker", worker_stricter),
)


def _made_ms(receipt: Receipt) -> int:
    return round(datetime.fromisoformat(receipt.header["timestamp"]).timestamp() * 1_000)


def _pairs(found: list[Shown]) -> Iterator[tuple[Shown, Shown]]:
    for place, one in enumerate(found):
        for other in found[place + 1 :]:
            yield one, other
