"""The room's rule: decides about every `tastings.add` before it runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import BAD_ARGS, DENIED, HELD
from tallystick.gate.decide.verdict import Decision


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """Everything the rule reads besides the call."""

    scale: int
    most: int
    logged: Mapping[str, str]
    """The wine of every tasting, by its id."""


def check(proposal: Proposal, snapshot: Snapshot) -> Decision:
    """Refuse scores above the scale, empty names and wines that are logged too often; ask about a score of zero."""
    score, wine = proposal.args["score"], " ".join(proposal.args["wine"].split())
    if score > snapshot.scale:
        return Decision(verdict="deny", fault=DENIED, reason="the score is above the scale", pointer="/score")
    if not wine:
        return Decision(verdict="deny", fault=BAD_ARGS, reason="the name is empty", pointer="/wine")
    others = [one for one, logged in snapshot.logged.items() if logged == wine and one != proposal.args.get("key")]
    if len(others) >= snapshot.most:
        return Decision(verdict="deny", fault=DENIED, reason="the wine is logged as often as allowed", pointer="/wine")
    tidied = None if wine == proposal.args["wine"] else {**proposal.args, "wine": wine}
    if score == 0:
        return Decision(verdict="ask", fault=HELD, reason="a score of zero is unusual", pointer="/score", args=tidied)
    return Decision(verdict="allow", reason="white space collapsed" if tidied else "", args=tidied)
