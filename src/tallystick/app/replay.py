"""Replay the decisions of recorded calls, under their original policy or another one.

The ledger stores the inputs of each decision (arguments, counters, roles). Every policy and tool definition that was
ever in force is stored beside it under its digest. So a decision can be repeated exactly, and a new policy can be
tested on old traffic. No tool runs.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from tallystick.errors import ConfigError
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.replay import DecisionSummary, Recorded, Replay, redecide, summary_of_outcome, was_decided
from tallystick.gate.record.receipt import Receipt
from tallystick.storage.kept import kept_card

REMEMBERED = 256
"""Cache size for policies and for tool definitions; a log has many calls but few of these."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Replayed:
    """The replayed decision of one recorded call."""

    receipt_id: str
    tool: str
    result: Replay
    was: DecisionSummary
    now: DecisionSummary | None = None
    """None if the decision cannot be repeated."""
    why: str = ""
    """If undecidable: redacted, room_rule, erased, unknown_outcome, tool_not_kept or policy_not_kept."""

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        wire: dict[str, Any] = {"receipt_id": self.receipt_id, "tool": self.tool, "result": self.result}
        wire["was"] = _answer(self.was)
        if self.now is not None:
            wire["now"] = _answer(self.now)
        return {**wire, "why": self.why} if self.why else wire


class Replayer:
    """Replays the decisions of one workspace."""

    def __init__(self, kept: Callable[[str, str], bytes | None]) -> None:
        """Create a replayer; `kept` reads stored definitions by kind and name: `Ledger.kept`."""
        self._read = kept
        self._policy = lru_cache(maxsize=REMEMBERED)(self._kept_policy)
        self._card = lru_cache(maxsize=REMEMBERED)(partial(kept_card, kept))

    def replay(self, receipts: Iterable[Receipt], *, policy: Policy | None = None) -> Iterator[Replayed]:
        """Replay the decision of every receipt that has one.

        Args:
            receipts: Receipts of any kind; those without a decision are skipped.
            policy: The policy to apply; if not given, the original policy of each call.
        """
        for receipt in receipts:
            outcome = receipt.header.get("outcome") or {}
            if receipt.header["kind"] == "outcome" and "tool_version" in receipt.header and was_decided(outcome):
                yield self._again(receipt, policy)

    def _again(self, receipt: Receipt, policy: Policy | None) -> Replayed:
        header = receipt.header
        receipt_id, tool, was = receipt.receipt_id, str(header.get("tool_id")), summary_of_outcome(header["outcome"])
        card = self._card(str(header.get("tool_version")))
        chosen = policy or self._policy(str(header.get("policy_digest")))
        inputs = receipt.inputs
        if card is None or chosen is None or not isinstance(inputs, dict):
            why = "tool_not_kept" if card is None else "policy_not_kept" if chosen is None else "erased"
            if header["outcome"].get("status") == "unknown":
                why = "unknown_outcome"  # closed by recovery, which knows only that the call had started
            return Replayed(receipt_id=receipt_id, tool=tool, result="undecidable", was=was, why=why)
        args = inputs.get("normalised", inputs)["args"]
        # If the context records no roles, the caller's own applied.
        context = {"roles": header["caller"]["roles"], **header.get("context", {})}
        recorded = Recorded(card=card, args=args, context=context, outcome=header["outcome"])
        again = redecide(recorded, chosen)
        return Replayed(
            receipt_id=receipt_id, tool=tool, result=again.result, was=again.was, now=again.now, why=again.why
        )

    def _kept_policy(self, digest: str) -> Policy | None:
        data = self._kept("policies", f"{digest}.toml")
        try:
            policy = None if data is None else Policy.from_text(data.decode(), source=f"{digest}.toml")
        except (ConfigError, UnicodeDecodeError):
            return None
        # Trust the stored policy only if its digest matches its file name.
        return policy if policy is not None and policy.digest == digest else None

    def _kept(self, kind: str, name: str) -> bytes | None:
        return self._read(kind, name) if "/" not in name else None


def _answer(answer: DecisionSummary) -> dict[str, str]:
    wire = {"verdict": str(answer.verdict)}
    if answer.reason:
        wire["reason"] = answer.reason
    if answer.would is not None:
        wire["would"] = answer.would
    return wire
