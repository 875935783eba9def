"""The judge: applies all rules to one ticket, the strictest first; each has an id that users see."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.desk.derivation import draft_of, event_of
from tallystick.rooms.desk.model import Judgement, Ticket, Verdict, session_of
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.ports import CheckedReply
from tallystick.rooms.desk.triage.categories import MessageClassifier
from tallystick.rooms.desk.verdict import blocks, defers
from tallystick.rooms.desk.verdict.case import Case, Effect, case_of, source_uses
from tallystick.rooms.desk.verdict.draft_rules import (
    Unsupported,
    cited_pieces,
    evidence_texts,
    others_data,
    statements_in,
    text_of,
    unsupported,
)
from tallystick.rooms.desk.verdict.unasked import waits_for_person

Session = Callable[[str], Iterable[Receipt]]
"""A session's id → its receipts that verify, in order."""


class ServerJudge:
    """Computes verdicts from the ledger and the ticket; it has no side effects, so equal input gives equal verdicts."""

    def __init__(
        self, policy: VerdictPolicy, receipts: Session, effect: Effect, classifier: MessageClassifier | None = None
    ) -> None:
        """Join what is read.

        Args:
            policy: The bounds.
            receipts: The ledger.
            effect: What each tool does.
            classifier: Finds the categories of messages.
        """
        self.classifier = classifier or MessageClassifier()
        self.policy = policy
        self._receipts = receipts
        self._effect = effect

    def verdict(self, ticket: Ticket) -> Judgement:
        """See `Judge`."""
        return judge(self.case(ticket), self.policy)

    def reply(self, ticket: Ticket, tool: Ticket) -> CheckedReply:
        """See `Judge`."""
        draft = draft_of(ticket.final_outputs)
        case = self.case(tool)
        again = judge(case, self.policy)
        if again.status != "PROCEED":
            # The evidence of the draft is no longer valid.
            return CheckedReply(judgement=again, text="")
        wrong = tuple(unsupported(draft, evidence_texts(case.counted)))
        return CheckedReply(
            judgement=replace(
                _of_draft(case, draft, wrong, self.policy), sources=source_uses(cited_pieces(case, draft))
            ),
            text=text_of(draft),
            sentences=statements_in(draft),
            unsupported=len(wrong),
            waits=waits_for_person(case, draft, self.policy),
        )

    def categories(self, content: str) -> tuple[str, ...]:
        """See `Judge`."""
        return self.classifier.categories(content)

    def case(self, ticket: Ticket) -> Case:
        """A TOOL ticket with what the ledger knows of it."""
        return case_of(ticket, self._receipts(session_of(ticket.ticket_id)), self._effect, self.policy, self.classifier)


def judge(case: Case, policy: VerdictPolicy) -> Judgement:
    """The verdict on a case, with the sources that counted and those that did not."""
    return replace(_decided(case, policy), sources=source_uses(case.shown))


def _decided(case: Case, policy: VerdictPolicy) -> Judgement:
    for status, rules in (("BLOCK", blocks.RULES), ("DEFER", defers.RULES)):
        found = [(name, reason) for name, rule in rules if (reason := rule(case, policy)) is not None]
        if found:
            verdict: Verdict = "BLOCK" if status == "BLOCK" else "DEFER"
            return Judgement(status=verdict, rule_id=found[0][0], reason=found[0][1], others=tuple(found[1:]))
    return Judgement(status="PROCEED", rule_id="proceed.covered", reason="every need is covered by evidence that holds")


def _of_draft(case: Case, draft: str, wrong: Sequence[Unsupported], policy: VerdictPolicy) -> Judgement:
    leaving = others_data(text_of(draft), event_of(case.ticket), policy)
    if leaving is not None:
        return Judgement(status="BLOCK", rule_id="block.personal-data", reason="the draft holds somebody's data")
    if not statements_in(draft):
        return Judgement(status="DEFER", rule_id="defer.not-answered", reason="the draft says nothing but courtesies")
    if wrong:
        reason = f"{wrong[0].why}: {wrong[0].sentence[:120]}"
        return Judgement(status="DEFER", rule_id="defer.unsupported-sentence", reason=reason)
    return Judgement(
        status="PROCEED", rule_id="proceed.supported", reason="every sentence rests on evidence that holds"
    )
