"""Check that quantifiers of a claim (`all`, `only`, `most`, `at least`, `at most`) agree with the quote."""

import re
from collections.abc import Sequence

from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.readings import Reading, clauses, read

_ALL = re.compile(r"^(?:none|no|all|every|each)\b", re.IGNORECASE)
_OTHERS = re.compile(r"\b(?:others?|the rest|remaining)\b", re.IGNORECASE)
_ALL_OF = re.compile(r"\b(?:all|every|each)(?: of)?(?: the| these| those| our| your)? (\S+)", re.IGNORECASE)
_EXCEPT = re.compile(r"\b(?:except\w*|excluding|other than|apart from|but(?: for)?|save)\b", re.IGNORECASE)
_A = re.compile(r"\W*(?:an?|any) (\w+)", re.IGNORECASE)
_OF = re.compile(r"\b(\d+) of (?:the )?(\d+)\b")


def quantifier_missing(claim: Reading, grounds: Sequence[Ground]) -> Doubt | None:
    """Return a doubt if the quotes do not support a quantifier of the claim; else None."""
    shown = [read(ground.quote) for ground in grounds]
    held = {name for each in shown for name in each.quantifiers}
    if len(claim.terms) == 1 and not claim.amounts:
        # `All sorted!` counts nothing.
        return None
    if "every" in claim.quantifiers and (_said_of_most(claim, shown) or _drops_exception(claim, shown)):
        return Doubt(code="quantifier_unsupported", reason="The quote says this of most or some, or with an exception.")
    for name, follows in (("every", _every), ("only", _only), ("most", _most)):
        if name in claim.quantifiers and name not in held and not follows(claim, shown):
            return Doubt(code="quantifier_unsupported", reason=f"The quoted text does not say {name!r}.")
    if _ALL.search(claim.text) and not _OTHERS.search(claim.text) and any(_OTHERS.search(each.text) for each in shown):
        return Doubt(code="quantifier_unsupported", reason="The quote is only about the others, not about all.")
    bounds = (("at_least", "at_most"), ("at_most", "at_least"))
    if any(bound in claim.quantifiers and other in held and bound not in held for bound, other in bounds):
        reason = "The claim says at least where the quote says at most, or the reverse."
        return Doubt(code="quantifier_unsupported", reason=reason)
    return None


def _drops_exception(claim: Reading, shown: Sequence[Reading]) -> bool:
    """Whether the quote says `every … except` and the claim says `every` alone."""
    excepted = any("every" in each.quantifiers and _EXCEPT.search(each.text) for each in shown)
    return excepted and not (_EXCEPT.search(claim.text) or claim.negations)


def _said_of_most(claim: Reading, shown: Sequence[Reading]) -> bool:
    """Whether the quoted clause nearest to `every guest` is about `most guests`, whatever another one says."""
    quoted = [part for each in shown for part in map(read, clauses(each.text))]
    for part in (part for part in map(read, clauses(claim.text)) if "every" in part.quantifiers):
        best = max(quoted, key=lambda each: len(part.stems & each.stems), default=part)
        if part.stems & best.stems and best.quantifiers & {"most", "part"} and "every" not in best.quantifiers:
            return "except" not in best.words
    return False


def _generic(claim: Reading, shown: Sequence[Reading]) -> bool:
    """Whether the quote is about a thing in general: `every lamp has` follows from `A lamp has`."""
    kinds = {found[1].lower() for found in _ALL_OF.finditer(claim.text)}
    return any(found is not None and found[1].lower() in kinds for each in shown if (found := _A.match(each.text)))


def _every(claim: Reading, shown: Sequence[Reading]) -> bool:
    """Whether `all six scenes` follows from `6 scenes`, `every one but` from `except`, `all` from `4 of 4`."""
    if _generic(claim, shown):
        return True
    if any("part" in each.quantifiers or "most" in each.quantifiers for each in shown):
        return any("except" in each.words for each in shown)
    if any(found[1] == found[2] for each in shown for found in _OF.finditer(each.text)):
        return True
    counted = {amount.value for each in shown for amount in each.amounts}
    followed = [read(found[1]).amounts for found in _ALL_OF.finditer(claim.text)]
    if followed and all(amounts and amounts[0].value in counted for amounts in followed):
        return True
    if "both" in claim.words and "all" not in claim.words and "every" not in claim.words:
        return len(shown) > 1 or any("and" in each.words for each in shown)
    parts = [part for part in map(read, clauses(claim.text)) if "every" in part.quantifiers]
    return all(part.negations for part in parts) and any(each.negations for each in shown)


def _only(_claim: Reading, shown: Sequence[Reading]) -> bool:
    return any(not each.words.isdisjoint({"else", "except", "just", "singl"}) for each in shown)


def _most(_claim: Reading, shown: Sequence[Reading]) -> bool:
    """Whether the quoted numbers give a share above one half: `39 of 41`."""
    return any(int(found[1]) * 2 > int(found[2]) for each in shown for found in _OF.finditer(each.text))
