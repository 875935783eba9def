"""Check the actions claimed in a reply: each needs the receipt of a matching call that succeeded.

A verb matches a call if it occurs in the tool's name, arguments or result, or if the tool's name contains a verb of the
same family, a group of synonyms such as `send`, `mail` and `notify`. `data/actions.json` lists the families.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import orjson

from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.readings import Reading, read
from tallystick.records import record
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

_ADVERBS = r"((?:\w+ly\s+|(?:also|just|already|then|now|since|(?:gone|went)\s+ahead\s+and)\s+){0,2})"
_FIRST_PERSON = re.compile(
    r"(?:^|[,;:—–-]\s*|\b(?:and|but|then|so|that|which|because)\s+)(?:I|we)(?:['’]ve|['’]d| have| had)?\s+"  # noqa: RUF001
    rf"{_ADVERBS}(\w+)",
    re.IGNORECASE,
)
_AND_VERB = re.compile(rf"(?:,|\band\b|\bthen\b)\s+{_ADVERBS}(\w+ed|sent|made|put|set|ran|found|wrote|told)\b")
_PASSIVE = re.compile(
    r"\b(?:has|have|had)\s+(?:\w+ly\s+|already\s+|just\s+|now\s+|also\s+)?been\s+(?:\w+ly\s+)?(\w+)"
    r"|\b(?:is|are|was|were|got)\s+(?:\w+ly\s+|now\s+|already\s+)?(\w+ed|sent|made|put|set)\b"
    r"|^(?:\w+\s+){0,3}(\w+ed)\b[.!]?$",
    re.IGNORECASE,
)
_NOT_DONE = frozenset(
    [
        "think",
        "believe",
        "know",
        "see",
        "hope",
        "guess",
        "understand",
        "assume",
        "feel",
        "mean",
        "need",
        "want",
        "wonder",
        "am",
        "was",
        "were",
        "is",
        "are",
        "be",
        "can",
        "could",
        "will",
        "would",
        "do",
        "did",
        "don't",
        "didn't",
        "may",
        "might",
        "must",
        "should",
        "shall",
        "like",
        "love",
        "prefer",
        "hear",
        "got",
        "appreciate",
        "apologize",
        "apologise",
        "recommend",
        "suggest",
        "advise",
        "agree",
        "tried",
        "expect",
    ]
)
_PRESENT = re.compile(r"(?:s|ing|y|e)$")
"""Endings of verbs that are not in the past tense."""
_LIGHT = frozenset({"use", "run", "do", "try", "call"})
"""Verbs too general to compare: they match any call, so only the other words of the claim are checked."""
_SAME = frozenset(["put", "set", "cut", "read", "run"])


@record
class RecordedCall:
    """The parts of a recorded call that are compared with a claimed action."""

    tool: str
    words: frozenset[str]
    """Stems of the words in its tool name, arguments and result."""
    ok: bool
    text: str = ""
    """Arguments and result as case-folded JSON, in which ids are looked up."""
    receipt_id: str = ""


def call_of(tool: str, args: Any, result: Any, *, ok: bool, receipt_id: str = "") -> RecordedCall:
    """Build the record of a call."""
    text = orjson.dumps([args, result], default=str).decode()[:20_000]
    words = frozenset(map(stem, identifier_words(tool))) | read(text.replace('"', " ").replace("_", " ")).stems
    return RecordedCall(
        tool=tool,
        words=words | frozenset(map(stem, identifier_words(text))),
        ok=ok,
        text=text.casefold(),
        receipt_id=receipt_id,
    )


@cache
def _families() -> Mapping[str, frozenset[str]]:
    listed = orjson.loads(files("tallystick.gate.reply.support").joinpath("data/actions.json").read_bytes())
    found: dict[str, set[str]] = {}
    for family, verbs in listed.items():
        for verb in verbs:
            found.setdefault(stem(verb), set()).add(family)
    return {verb: frozenset(families) for verb, families in found.items()}


def verbs_done(text: str) -> list[str]:
    """Return the past-tense verbs of first-person actions in a sentence (`I sent`, `we have updated`)."""
    found = list(_FIRST_PERSON.finditer(text))
    verbs = [match[2].lower() for match in found if _is_done(match[2].lower())]
    if verbs:
        verbs += [match[2].lower() for match in _AND_VERB.finditer(text, found[0].end())]
    return verbs


def verbs_passive(text: str, *, every: bool = False) -> list[str]:
    """Return the verbs of passive statements (`was sent`); only verbs of a known family, unless `every` is set."""
    found = ((match[1] or match[2] or match[3] or "").lower() for match in _PASSIVE.finditer(text))
    return [verb for verb in found if verb and (every or stem(verb) in _families())]


def does(verb: str, tool: str) -> bool:
    """Whether a tool's name suggests that it performs the action of a verb.

    The families of looking up and running are not used here, because these actions change nothing.
    """
    roots = {stem(verb), stem(verb.removeprefix("re"))}
    named = identifier_words(tool)
    if roots & {stem(word) for word in named}:
        return True
    families = frozenset(family for root in roots for family in _families().get(root, frozenset())) - {"look", "run"}
    return bool(families & _families_of(named[0])) if named else False


def _is_done(verb: str) -> bool:
    if verb in _NOT_DONE:
        return False
    return verb.endswith("ed") or (stem(verb) != verb and _PRESENT.search(verb) is None) or verb in _SAME


def fits(verb: str, call: RecordedCall) -> bool:
    """Whether a verb can describe a call."""
    root = stem(verb)
    if root in call.words:
        return True
    families = _families().get(root, frozenset())
    return root in _LIGHT or any(families & _families_of(word) for word in identifier_words(call.tool))


def _families_of(word: str) -> frozenset[str]:
    """Return the verb families of a word in a tool's name; agent nouns count too (`reader` for `read`)."""
    roots = (stem(word), stem(word.removesuffix("er")), stem(word.removesuffix("or")))
    return frozenset(family for root in roots for family in _families().get(root, frozenset()))


def action_missing(claim: Reading, calls: Sequence[RecordedCall]) -> Doubt | None:
    """Return a doubt if a sentence claims an action without a matching, successful call; else None."""
    for verb in verbs_done(claim.text):
        if not any(fits(verb, call) for call in calls):
            return Doubt(
                code="action_without_receipt",
                reason=f'The reply says "{verb}", but cites no matching call; add the receipt of the call that did it.',
            )
    return action_failed(claim, calls, [*verbs_done(claim.text), *verbs_passive(claim.text)])


def action_failed(claim: Reading, calls: Sequence[RecordedCall], verbs: Iterable[str]) -> Doubt | None:
    """Return a doubt if a sentence claims an action although every matching call failed; else None."""
    if claim.negations or claim.has("soft_negation") or "tri" in claim.words:
        return None
    for verb in verbs:
        fitting = [call for call in calls if fits(verb, call)]
        if fitting and not any(call.ok for call in fitting):
            return Doubt(code="action_failed", reason="The call that is cited failed or was refused; say so.")
    return None
