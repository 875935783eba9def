"""Check that a claim of absence is backed by a verified search for the term in all files that the claim covers."""

import re
from collections.abc import Sequence

from tallystick.gate.reply.sources import Sources
from tallystick.gate.reply.support.coverage import covers
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.readings import Reading, read
from tallystick.gate.reply.surroundings import Checked

_EVERYWHERE = re.compile(
    r"\b(?:anywhere|nowhere)\b(?! (?:in|else|on)\b)|\b(?:any|all|every|no) (?:of the |of our |single |other )?"
    r"(?:\d+ |\w+ )?(?:files?|documents?)\b|\b(?:whole|entire) (?:project|workspace)\b|\bin (?:our|the|these) files\b",
    re.IGNORECASE,
)
_SOME_FILES = re.compile(r"\b(\w+) (?:files?|documents?)\b", re.IGNORECASE)
_MISSING = Doubt(
    code="absence_missing",
    reason='A quote or a line does not show that something is missing; cite a search: checked path/*.md for "term".',
)


def absence_missing(
    claim: Reading, checked: Sequence[Checked], sources: Sources, content: Doubt | None
) -> Doubt | None:
    """Return why a claim of absence is not supported, or None.

    Args:
        claim: The sentence.
        checked: The verified items.
        sources: All files, for a claim about all of them.
        content: The result of checking the same claim against the quotes (None: supported); used if no search is cited
            but the evidence quotes a negative result such as `0 matches`.
    """
    searches = [one for one in checked if one.item.kind == "absence"]
    if not searches:
        quoted = any(ground.quote and ground.kind != "structural" for one in checked for ground in one.grounds)
        negated = any(read(ground.quote).negations for one in checked for ground in one.grounds)
        return content if quoted and negated else _MISSING
    terms = [read(one.term or "") for one in searches]
    if not any(_speaks_of(claim, term) for term in terms):
        return Doubt(
            code="absence_unsupported", reason="The search was for a different term than the one in the claim."
        )
    return _scope_smaller(claim, searches, sources)


def _speaks_of(claim: Reading, term: Reading) -> bool:
    wanted = term.stems or term.words
    return all(covers(word, claim.stems | claim.words) for word in wanted)


def _scope_smaller(claim: Reading, searches: Sequence[Checked], sources: Sources) -> Doubt | None:
    found = _EVERYWHERE.search(claim.text)
    if found is None:
        return None
    looked = {path for one in searches for path in one.paths}
    kinds = {word for path in looked for word in read(path.replace("/", " ").replace("-", " ")).stems}
    named = _SOME_FILES.search(found.group())
    if named is not None and covers(next(iter(read(named[1]).stems), "none"), frozenset(kinds)):
        return None
    if len(looked) < len(sources.expand("**/*")):
        return Doubt(code="absence_unsupported", reason="The claim covers all files, but not all were searched.")
    return None
