"""From a conversation or a document to claims that may be proposed. Rules only: no model, no guess.

A claim is taken only from a plain statement: not from a question, a condition, a hedge or somebody else's reported
words. Its quote is the sentence, word for word, so the gate can check it. A sentence of several clauses states several
things. What is missed can be proposed by hand or by
a model; what is taken wrongly would have to be contradicted. So the rules rather miss than guess.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.memory.clauses import Joint, joints, states
from tallystick.rooms.memory.extract_rules import DENIALS, RULES, Rule, may_be_named, may_be_noun, without_lead
from tallystick.rooms.memory.naming import name_key, possessed, predicate_key
from tallystick.rooms.memory.punctuation import hide, shown
from tallystick.rooms.memory.things import LONGEST, Kind, is_named, items_of, thing_in

MAX_PASSAGE = 4_000
"""Characters of one observation: a few paragraphs, so that a quote is easily found in it."""
_TURN = re.compile(r"^\s{0,3}(?:\[(?P<when>[^\]\n]{4,40})\]\s*)?(?P<who>[^\W\d_][\w .'-]{0,38}?)\s*:\s+(?P<said>\S.*)$")
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_UNSURE = re.compile(
    # «May» is a month where it is written large or a day stands beside it.
    r"\b(?:if|whether|unless|maybe|perhaps|possibly|probably|might|(?<!\d )(?-i:may)(?! \d)|could|would|should|seems?"
    r"|apparently|allegedly|reportedly|hopefully|supposedly|presumably"
    r"|i (?:think|guess|believe|suppose|doubt|hope|wish|wonder)|not sure|rumou?r|says? that|said that"
    r"|told me|claims? that|imagine|pretend|suppose|joking|ignore (?:all|previous))\b",
    re.IGNORECASE,
)
_BEGINS = re.compile(
    r"\b(?:moved (?:back )?to|relocated to|now|as of today|from now on|changed my name)\b", re.IGNORECASE
)
_SHORTENED = re.compile(r"\b(I|we)['’](m|ve|re)\b", re.IGNORECASE)  # noqa: RUF001 - both kinds stand in texts
_WHOLE = {"m": "am", "ve": "have", "re": "are"}
_PRESENT = re.compile(r"(?P<new>(?:brand[ -])?new (?!year))|(?:current|present) ")
_SPELLING = re.compile(r"\b(fav|col)or(?=ite\b|\b)")
_SHORT_END = re.compile(r"(?:^|\s)(?:[A-Za-z]\.)+[A-Za-z]$")


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
    alone: bool = False
    """It says so of the only one there is: whatever its speaker named before is that no longer."""
    volatility: str = "medium"

    @property
    def about(self) -> tuple[str, str]:
        """Its subject and predicate, as they are compared."""
        return name_key(self.subject), predicate_key(self.predicate)


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
    heard = Heard()
    return tuple(
        claim for sentence, quote in _statements(text) for claim in _read(sentence, speaker, quote) if heard.new(claim)
    )


class Heard:
    """What was said so far, so that nothing is taken twice from one text."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], set[tuple[str, bool]]] = {}

    def new(self, claim: Claim) -> bool:
        """Whether this was not said yet, or something was said since that it is not the same after."""
        said = self._said.setdefault(claim.about, set())
        key = (name_key(claim.object), claim.negated)
        if key in said:
            return False
        if claim.begins or claim.negated:
            said.clear()
        said.add(key)
        return True


def _statements(text: str) -> Iterator[tuple[str, str]]:
    """The sentences that state something, as they are read and as they stand in the text."""
    hidden = hide(text, lambda before, after: states(before) and states(after))
    for match in _SENTENCE.finditer(hidden):
        sentence = match.group().strip()
        if sentence and not sentence.endswith("?") and _UNSURE.search(sentence) is None:
            whole = _SHORTENED.sub(lambda found: f"{found[1]} {_WHOLE[found[2].lower()]}", sentence)
            yield whole, text[match.start() : match.end()].strip()


def _read(sentence: str, speaker: str | None, quote: str) -> Iterator[Claim]:
    """What its clauses state, up to the first that states nothing: what follows may hang on that."""
    rest = sentence
    while rest:
        clause, joint = _first_clause(rest)
        found = _stated(clause, speaker, quote)
        if found is None:
            return
        claims, subject, left = found
        if joint is not None and joint.goes_on and joint.adds and claims[0].negated:
            # «I don't live in Rome and work for Acme»: nobody can say how far the denial reaches.
            return
        yield from claims
        rest = _rest(joint, claims[0], subject, left)


def _rest(joint: Joint | None, claim: Claim, subject: str, left: str) -> str:
    """The words that are still to be read, with a subject."""
    if left and claim.predicate.startswith("born"):
        return f"{subject} was born {left}" if joint is None else f"{subject} was born {left}, and {joint.after}"
    if joint is None or (joint.of_last and (claim.predicate != "name" or subject == "I")):
        return ""
    return f"{subject} {joint.after}" if joint.goes_on else joint.after


def _first_clause(words: str) -> tuple[str, Joint | None]:
    """Up to the first joint before which there is a statement; all of it if there is none."""
    for joint in joints(words):
        if states(joint.before):
            return joint.before, joint
    return words, None


def _stated(clause: str, speaker: str | None, quote: str) -> tuple[list[Claim], str, str] | None:
    """By the first rule that fits; also its subject in the words of the clause, and words that follow its object."""
    plain = without_lead(clause)
    begins = _BEGINS.search(clause) is not None
    for rule in RULES:
        match = rule.pattern.match(plain)
        found = None if match is None else _claim(rule, match, speaker, quote, begins=begins)
        if match is not None and found is not None:
            claims = _listed(rule, match, found[0])
            return (claims, _in_words(match.groupdict()), found[1]) if claims else None
    return None


def _in_words(groups: Mapping[str, str | None]) -> str:
    """Whom what follows is about: of `My boss is Bo and lives in Rome` it is the boss."""
    whose = groups.get("subject")
    thing = groups.get("mine") or groups.get("theirs") or groups.get("predicate")
    if thing is None:
        return whose or "I"
    return f"my {thing}" if whose is None else possessed(whose, thing)


def _listed(rule: Rule, match: re.Match[str], claim: Claim) -> list[Claim]:
    """One claim for each thing of a list."""
    if not rule.many and rule.kind is not Kind.FIRM and match.groupdict().get("be") != "are":
        return [claim]
    rest = match.string[match.end("object") :]
    items = items_of(claim.object, rest, rule.kind, denied=claim.negated)
    return [replace(claim, object=shown(item)) for item in items]


def _claim(
    rule: Rule, match: re.Match[str], speaker: str | None, quote: str, *, begins: bool
) -> tuple[Claim, str] | None:
    groups = match.groupdict()
    subject = _subject(groups, speaker)
    predicate, new = _predicate(rule, groups)
    kind = Kind.NAME if predicate == "name" else rule.kind
    found = thing_in(groups["object"], kind, cased=quote != quote.lower())
    if not subject or not predicate or not may_be_noun(groups.get("predicate") or "") or found is None:
        return None
    thing = shown(found[0])
    if _SHORT_END.search(thing):
        thing += "."
    if max(len(thing), len(subject)) > LONGEST:
        return None
    begins = begins or new
    claim = Claim(
        subject=shown(subject), predicate=shown(predicate), object=thing, quote=quote,
        negated=any(groups.get(name) for name in DENIALS), begins=begins,
        alone=begins and groups.get("be") == "is" and (predicate.startswith("favourite") or is_named(thing)),
        volatility=rule.volatility,
    )  # fmt: skip
    return claim, found[1]


def _predicate(rule: Rule, groups: Mapping[str, str | None]) -> tuple[str, bool]:
    """What is said of the subject, and whether it is said to be new."""
    if rule.predicate:
        return rule.predicate, False
    said = (groups.get("predicate") or "").strip().casefold()
    said = _SPELLING.sub(r"\1our", said)
    found = _PRESENT.match(said)
    return (said, False) if found is None else (said[found.end() :], found["new"] is not None)


def _subject(groups: Mapping[str, str | None], speaker: str | None) -> str | None:
    """Whom it is about; None: nobody knows who speaks, or it is no name of anybody or anything."""
    named = (groups.get("subject") or "").strip(" ,;")
    whose = named or speaker
    thing = groups.get("mine") or groups.get("theirs")
    if (named and not may_be_named(named)) or not may_be_noun(thing or ""):
        return None
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
