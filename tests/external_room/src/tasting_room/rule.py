"""The room's rule: decides about every `tastings.add` before it runs."""

from dataclasses import dataclass

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import BAD_ARGS, DENIED
from tallystick.gate.decide.verdict import Decision


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything the rule reads besides the call."""

    scale: int


def check(proposal: Proposal, snapshot: Snapshot) -> Decision:
    """Refuse scores above the scale and empty names; collapse white space in names."""
    if proposal.args["score"] > snapshot.scale:
        return Decision(verdict="deny", fault=DENIED, reason="the score is above the scale", pointer="/score")
    wine = " ".join(proposal.args["wine"].split())
    if not wine:
        return Decision(verdict="deny", fault=BAD_ARGS, reason="the name is empty", pointer="/wine")
    if wine != proposal.args["wine"]:
        return Decision(verdict="allow", reason="white space collapsed", args={**proposal.args, "wine": wine})
    return Decision(verdict="allow")
