"""Check that a claim repeats the qualification of its quote.

A quoted sentence is qualified if it is a question, states a condition or a possibility, reports what somebody said or
thought, or describes something imagined or disputed (`as if`, `would have`, `true that`).
"""

from collections.abc import Sequence

from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, form_stems, has_phrase, pieces_before, read
from tallystick.text.stems import stem

_CONDITIONS = frozenset(map(stem, ("if", "unless", "provided")))
_WEAKENED = frozenset(map(stem, ("can", "should", "expect", "plan", "need", "must", "want", "open", "tri")))
_BEGIN = 24
_NEAR = 4
_SHOWN = {
    "negation": "negates what is quoted",
    "question": "is a question",
    "as_if": "describes something imagined or disputed (`as if`, `would have`, `true that`)",
    "condition": "states a condition",
    "possibility": "states a possibility",
    "report": "reports what somebody said or thought",
}


def out_of_context(claim: Reading, grounds: Sequence[Ground]) -> Doubt | None:
    """Return a doubt if the quoted sentence is qualified and the claim omits the qualification; else None."""
    for ground in grounds:
        quote = read(ground.quote)
        if not claim.stems & quote.stems:
            continue
        hedge = _hedge_of(claim, quote, ground)
        if hedge is not None and not _says(hedge, claim, quote):
            reason = f"The quoted sentence {_SHOWN[hedge]}; the claim must say so."
            return Doubt(code="out_of_context", reason=reason)
    return None


def _hedge_of(claim: Reading, quote: Reading, ground: Ground) -> str | None:
    whole = read(ground.sentence or ground.quote)
    if whole.text.rstrip("'\" ").endswith("?"):
        return "question"
    if has_phrase("as_if", whole.text):
        return "as_if"
    if whole.words & _CONDITIONS:
        return "condition"
    if not quote.negations and _before(ground) & form_stems("negation"):
        return "negation"
    before = pieces_before(whole, claim.stems)
    return next((form for form in ("possibility", "report") if before & form_stems(form)), None)


def _before(ground: Ground) -> frozenset[str]:
    """Return the stems of the few words before the quote in its sentence."""
    begin = ground.quote.lstrip("…. ")[:_BEGIN].casefold()
    before, found, _ = ground.sentence.casefold().partition(begin)
    return frozenset(stem(word) for word in before.split()[-_NEAR:]) if found else frozenset()


def _says(hedge: str, claim: Reading, quote: Reading) -> bool:
    # A word that the quote has as well does not repeat what was left out of it.
    own = claim.words - quote.words
    possible = bool(own & form_stems("possibility"))
    if hedge == "negation":
        return bool(claim.negations)
    if hedge == "question":
        return claim.text.endswith("?") or claim.has("report") or claim.has("condition")
    if hedge == "as_if":
        return has_phrase("as_if", claim.text) or claim.has("possibility") or bool(claim.negations)
    if hedge in {"condition", "possibility"}:
        return claim.has("condition") or claim.has("occasion") or possible or bool(own & _WEAKENED)
    return claim.has("report") or claim.has("possibility")
