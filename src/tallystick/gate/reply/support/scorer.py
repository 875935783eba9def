"""The port of a support scorer: a model that judges whether a source supports a sentence.

It is asked only about claims that every rule accepted. So it can refuse more, but never accept what a rule refused.
"""

from collections.abc import Sequence
from typing import Any, Literal, Protocol

from tallystick.gate.reply.support.grounds import Ground
from tallystick.records import record

Verdict = Literal["supported", "contradicted", "unsure"]
_TITLES = 80
_TEXT = 400
_SOURCE = 900
"""Characters of the titles, of one quoted sentence, and of the whole source that a scorer reads."""


@record
class Judged:
    """The verdict on one claim, as it is recorded in the receipt."""

    claim: str
    source: str
    """The text that the claim was compared with."""
    verdict: Verdict
    model: str
    margin: int | None = None
    """How much likelier `supported` was than its opposite, in thousandths of a natural logarithm; None: no answer."""

    def as_dict(self) -> dict[str, Any]:
        """Return the wire form."""
        wire = {"claim": self.claim, "source": self.source, "verdict": self.verdict, "model": self.model}
        return wire if self.margin is None else {**wire, "margin": self.margin}


class SupportScorer(Protocol):
    """Judges pairs of claim and source."""

    def judge(self, claim: str, source: str) -> Judged:
        """Return the verdict on one pair; `unsure` if there is no answer. Blocks while the model reads."""
        ...


def source_of(grounds: Sequence[Ground]) -> str:
    """Return the text that a scorer compares a claim with: the quoted sentences with the end of their titles."""
    lines: list[str] = []
    for ground in grounds:
        titles = (ground.titles or ground.context).strip(" .")[-_TITLES:]
        whole = ground.sentence if ground.quote and ground.sentence and len(ground.sentence) < _TEXT else ground.quote
        lines.append(f"[{titles}] {(whole or ground.context)[:_TEXT]}".strip())
    return "\n".join(dict.fromkeys(lines))[:_SOURCE]
