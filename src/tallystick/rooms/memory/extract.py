"""From a conversation or a document to claims that may be proposed. Rules only: no model, no guess.

A claim is taken only from a plain statement: not from a question, a condition, a hedge or somebody else's reported
words. Its quote is the sentence, word for word, so the gate can check it. A sentence of several clauses states several
things. What is missed can be proposed by hand or by
a model; what is taken wrongly would have to be contradicted. So the rules rather miss than guess.
"""

import re
from collections.abc import Iterable, Iterator, Mapping

from tallystick.records import record
from tallystick.rooms.memory.clauses import Joint, joints
from tallystick.rooms.memory.extract_rules import LONGEST, RULES, TAIL, Rule
from tallystick.rooms.memory.naming import possessed

MAX_PASSAGE = 4_000
"""Characters of one observation: a few paragraphs, so that a quote is easily found in it."""
MAX_CLAIMS = 64
"""Of one passage; a text with more is a list, and lists are for a tool that knows their form."""
_TURN = re.compile(r"^\s{0,3}(?:\[(?P<when>[^\]\n]{4,40})\]\s*)?(?P<who>[^\W\d_][\w .'-]{0,38}?)\s*:\s+(?P<said>\S.*)$")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_UNSURE = re.compile(
    r"\b(?:if|whether|unless|maybe|perhaps|possibly|probably|might|may|could|would|should|seems?|apparently|allegedly"
    r"|reportedly|i (?:think|guess|believe|suppose|doubt|hope|wish|wonder)|not sure|rumou?r|says? that|said that"
    r"|told me|claims? that|imagine|pretend|suppose|joking|ignore (?:all|previous))\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(r"\b(?:moved (?:back )?to|relocated to|now|as of today|from now on)\b", re.IGNORECASE)
_FIRST = frozenset({"i", "my", "we", "our", "me"})
_POINTING = frozenset(
    {"it", "that", "this", "these", "those", "him", "her", "them", "me", "us", "you", "there", "here"}
)
"""Words that name nothing by themselves."""


@record
class Claim:
    """Something a passage states."""

    subject: str
    predicate: str
    object: str
    quote: str
    negated: bool = False
    """It says that this is not so, or no longer."""
    begins: bool = False
    """It says that this is so from now on, in place of what was."""
    volatility: str = "medium"


@record
class Passage:
    """One observation to be, with what it states."""

    text: str
    speaker: str | None = None
    """Who said it, in a conversation."""
    claims: tuple[Claim, ...] = ()


def extract_conversation(text: str, *, speaker: str | None = None) -> list[Passage]:
    """The turns of a conversation (`Name: words`), each with its claims. Text without names is the speaker's own."""
    return [
        Passage(text=part, speaker=who, claims=claims_in(part, speaker=who))
        for who, said in _turns(text, speaker)
        for part in _parts(said)
    ]


def extract_document(text: str) -> list[Passage]:
    """The paragraphs of a document, joined to passages, each with its claims. It has no speaker: «I» is nobody."""
    return [Passage(text=part, claims=claims_in(part, speaker=None)) for part in _parts(text)]


def claims_in(text: str, *, speaker: str | None) -> tuple[Claim, ...]:
    """What a text states plainly.

    Args:
        text: The passage.
        speaker: Who «I» is; None: nobody, and such sentences are passed over.
    """
    found: dict[tuple[str, str, str, bool], Claim] = {}
    for sentence in _statements(text):
        for claim in _read(sentence, speaker):
            key = (claim.subject.casefold(), claim.predicate, claim.object.casefold(), claim.negated)
            found.setdefault(key, claim)
    return tuple(found.values())[:MAX_CLAIMS]


def _statements(text: str) -> Iterator[str]:
    for match in _SENTENCE.finditer(text):
        sentence = match.group().strip()
        if sentence and not sentence.endswith("?") and _UNSURE.search(sentence) is None:
            yield sentence


def _read(sentence: str, speaker: str | None) -> Iterator[Claim]:
    """What its clauses state, one thing each, up to the first that states nothing: what follows may hang on that."""
    rest = sentence
    while rest:
        clause, joint = _first_clause(rest)
        found = _stated(clause, speaker, sentence)
        if found is None:
            return
        claim, subject = found
        if joint is not None and joint.goes_on and joint.adds and claim.negated:
            # «I don't live in Rome and work for Acme»: nobody can say how far the denial reaches.
            return
        yield claim
        rest = "" if joint is None else f"{subject} {joint.after}" if joint.goes_on else joint.after


def _first_clause(words: str) -> tuple[str, Joint | None]:
    """Up to the first joint before which there is a statement; all of it if there is none."""
    for joint in joints(words):
        if any(rule.pattern.search(joint.before) for rule in RULES):
            return joint.before, joint
    return words, None


def _stated(clause: str, speaker: str | None, sentence: str) -> tuple[Claim, str] | None:
    """By the first rule that fits; also its subject in the words of the clause."""
    for rule in RULES:
        match = rule.pattern.search(clause)
        claim = None if match is None else _claim(rule, match, speaker, sentence)
        if match is not None and claim is not None:
            groups = match.groupdict()
            said = f"my {groups['mine']}" if groups.get("mine") else groups.get("subject") or "I"
            return claim, said
    return None


def _claim(rule: Rule, match: re.Match[str], speaker: str | None, sentence: str) -> Claim | None:
    groups = match.groupdict()
    subject = _subject(groups, speaker)
    predicate = rule.predicate or (groups.get("predicate") or "").strip().casefold()
    thing = TAIL.sub("", (groups.get("object") or "").strip(" ,;.!\"'"))
    if not subject or not predicate or not thing or thing.casefold() in _POINTING:
        return None
    if max(len(thing), len(subject)) > LONGEST:
        return None
    return Claim(
        subject=subject, predicate=predicate, object=thing, quote=sentence,
        negated=bool(groups.get("no")), begins=_BEGINS.search(match.string) is not None, volatility=rule.volatility,
    )  # fmt: skip


def _subject(groups: Mapping[str, str | None], speaker: str | None) -> str | None:
    """Whom it is about; None: the speaker, or something of his, and nobody knows who speaks."""
    named = (groups.get("subject") or "").strip(" ,;")
    whose = named if named and named.casefold() not in _FIRST else speaker
    thing = groups.get("mine") or groups.get("theirs")
    return whose if whose is None or thing is None else possessed(whose, thing)


def _turns(text: str, speaker: str | None) -> Iterator[tuple[str | None, str]]:
    who, lines = speaker, list[str]()
    for line in text.splitlines():
        turn = _TURN.match(line)
        if turn is not None:
            yield from _spoken(who, lines)
            who, lines = turn["who"].strip(), [turn["said"].strip()]
        elif line.strip():
            lines.append(line.strip())
        else:
            yield from _spoken(who, lines)
            lines = []
    yield from _spoken(who, lines)


def _spoken(who: str | None, lines: Iterable[str]) -> Iterator[tuple[str | None, str]]:
    said = "\n".join(lines)
    if said:
        yield who, said


def _parts(text: str) -> Iterator[str]:
    """Paragraphs, joined while they are short, cut where one is too long."""
    held = ""
    for paragraph in re.split(r"\n\s*\n", text):
        piece = paragraph.strip()
        if held and len(held) + len(piece) > MAX_PASSAGE:
            yield held
            held = ""
        held = f"{held}\n\n{piece}" if held and piece else held or piece
        while len(held) > MAX_PASSAGE:
            cut = max(held.rfind(". ", 0, MAX_PASSAGE) + 1, held.rfind("\n", 0, MAX_PASSAGE)) or MAX_PASSAGE
            yield held[:cut].strip()
            held = held[cut:].strip()
    if held:
        yield held
