"""Contradictions with the cards that a model proposes and code checks: `tally studio check --model AGENT`.

    plan      which paragraphs are read against which card lines, the likeliest first, at most so many
    propose   the model names a card line and words of the paragraph that cannot both be true
    verify    the words stand in the paragraph, outside of speech, and the line holds in that scene
    confirm   a second question: does the narration tell this as a fact of that moment?

Answers are kept by what was asked, so a check that is broken off goes on where it stopped. What the model says is never
shown: a finding is two quotes that stand in the author's files.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Any, Protocol

import orjson

from tallystick.gate.admit.schema import compile_schema
from tallystick.records import record
from tallystick.rooms.studio.continuity.book_check import BookReading
from tallystick.rooms.studio.continuity.card_lines import CardLine
from tallystick.rooms.studio.continuity.findings import Finding, cite
from tallystick.rooms.studio.continuity.mentions import ParsedPassage
from tallystick.rooms.studio.continuity.rules import BY_MODEL, RULES
from tallystick.rooms.studio.model_answers import AskModel, ModelUnavailable, object_in
from tallystick.text.bm25 import idf_of
from tallystick.text.folding import straighten
from tallystick.text.stems import stems

MOST_CALLS = 150
"""Model calls for one book: some 27 seconds each with a small local model on one core."""
LINES_AT_ONCE = 6
"""Card lines in one question; a small model overlooks more."""
LONGEST = 2_400
"""Characters of a paragraph that a question shows: some 600 tokens."""
MAX_ANSWER = 16_000
_PROPOSED = compile_schema(
    {
        "type": "object",
        "properties": {
            "conflicts": {
                "type": "array",
                "maxItems": 8,
                "items": {
                    "type": "object",
                    "properties": {"quote": {"type": "string", "minLength": 1}, "fact": {"type": "integer"}},
                    "required": ["quote", "fact"],
                },
            }
        },
        "required": ["conflicts"],
    },
    closed=False,
)
_CONFIRMED = compile_schema(
    {
        "type": "object",
        "properties": {"told_as": {"type": "string"}, "both_can_be_true": {"type": "boolean"}},
        "required": ["told_as", "both_can_be_true"],
    },
    closed=False,
)


class KeptAnswers(Protocol):
    """Where answers are kept between checks."""

    def get(self, key: str) -> str | None:
        """Return the answer to a question asked before."""
        ...

    def keep(self, key: str, answer: str) -> None:
        """Keep an answer."""
        ...


@record
class Reading:
    """One paragraph, and the card lines it is read against."""

    passage: ParsedPassage
    lines: tuple[CardLine, ...]
    weight: float


@record
class ModelFindings:
    """The result of a check by a model."""

    findings: tuple[Finding, ...]
    planned: int
    """Paragraphs that cards speak of."""
    read: int
    """Paragraphs that were read within the limit of calls."""
    calls: int
    """Questions sent to the model; kept answers are not asked again."""
    unreadable: int
    """Answers that were not the JSON asked for."""
    unverified: int
    """Proposals whose words or scene did not hold, or that the second question turned down."""
    stopped: str | None = None
    """Why the model was not asked further."""


def plan(reading: BookReading) -> list[Reading]:
    """Pair paragraphs with the lines of the cards they speak of; the most telling words in common come first."""
    lines: dict[str, list[tuple[CardLine, frozenset[str]]]] = {}
    for each in reading.card_lines:
        line = each.line
        if line.key not in {"name", "aliases", "alias", "type", "kind", "hardness", "waive"}:
            lines.setdefault(line.card.path, []).append((line, frozenset(stems(f"{line.key} {line.text}"))))
    spoken_of = [(passage, frozenset(stems(passage.passage.narration))) for passage in reading.parsed]
    weights = idf_of(found for _, found in spoken_of)
    planned = [
        one for passage, found in spoken_of if (one := _pair(reading, passage, found, lines, weights)) is not None
    ]
    return sorted(planned, key=lambda one: -one.weight)


def _pair(
    reading: BookReading,
    passage: ParsedPassage,
    found: frozenset[str],
    lines: dict[str, list[tuple[CardLine, frozenset[str]]]],
    weights: dict[str, float],
) -> Reading | None:
    order = passage.passage.scene.order
    cards = {mention.person.card for mention in passage.mentions if mention.person.card and mention.sure}
    scored = sorted(
        (
            (sum(weights.get(each, 0.0) for each in held & found - _names(reading, card)), line)
            for card in cards
            for line, held in lines.get(card, ())
            if line.first_scene <= order <= line.last_scene
        ),
        key=lambda one: (-one[0], one[1].card.path, one[1].line),
    )[:LINES_AT_ONCE]
    if not scored or not found:
        return None
    return Reading(passage=passage, lines=tuple(line for _, line in scored), weight=sum(score for score, _ in scored))


def _names(reading: BookReading, card: str) -> frozenset[str]:
    """Names occur in every paragraph about a person, so they do not indicate its topic."""
    known = next(one for one in reading.book.cards if one.path == card)
    return frozenset(stems(" ".join((known.name, *known.aliases))))


class ModelCheck:
    """Reads a book with a model."""

    def __init__(self, reading: BookReading, ask: AskModel, kept: KeptAnswers, *, model: str) -> None:
        """Prepare a check.

        Args:
            reading: The book as it was read.
            ask: Sends a bare prompt to the model.
            kept: Where answers are kept.
            model: What answers; kept answers of another model do not count.
        """
        self._reading, self._ask, self._kept, self._model = reading, ask, kept, model
        self._calls = self._unreadable = self._unverified = 0
        self._stopped: str | None = None

    def run(self, *, most: int = MOST_CALLS, tell: Callable[[int, int], None] | None = None) -> ModelFindings:
        """Read the likeliest paragraphs until so many questions were sent.

        Args:
            most: Model calls.
            tell: Is told after every paragraph: how many are read, and how many there are.
        """
        planned = plan(self._reading)
        found: list[Finding] = []
        read = 0
        for one in planned:
            if self._stopped is not None or self._calls >= most:
                break
            found += self._findings(one, most)
            read += self._stopped is None
            if tell is not None:
                tell(read, len(planned))
        return ModelFindings(
            findings=tuple(found),
            planned=len(planned),
            read=read,
            calls=self._calls,
            unreadable=self._unreadable,
            unverified=self._unverified,
            stopped=self._stopped,
        )

    def _findings(self, one: Reading, most: int) -> Iterator[Finding]:
        answer = self._answer(proposal_prompt(one))
        if answer is None or (said := self._read(answer, _PROPOSED)) is None:
            return
        for each in said["conflicts"]:
            finding = _verified(one, each["quote"], each["fact"])
            if finding is None:
                self._unverified += 1
            elif self._calls < most and self._confirmed(one, finding):
                yield finding

    def _confirmed(self, one: Reading, finding: Finding) -> bool:
        answer = self._answer(confirmation_prompt(one, finding))
        said = None if answer is None else self._read(answer, _CONFIRMED)
        if said is not None and said["told_as"] == "fact" and not said["both_can_be_true"]:
            return True
        self._unverified += said is not None
        return False

    def _answer(self, prompt: str) -> str | None:
        key = sha256(f"{self._model}\n{prompt}".encode()).hexdigest()
        held = self._kept.get(key)
        if held is not None:
            return held
        self._calls += 1
        answer = self._ask(prompt)
        if isinstance(answer, ModelUnavailable):
            self._stopped = answer.code
            return None
        self._kept.keep(key, answer)
        return answer

    def _read(self, answer: str, schema: Any) -> dict[str, Any] | None:
        found = object_in(answer, MAX_ANSWER)
        if found is not None and schema.accepts(found):
            return dict(found)
        self._unreadable += 1
        return None


def _verified(one: Reading, quote: str, fact: int) -> Finding | None:
    """A finding whose quote is in the paragraph's narration and whose line was shown to the model."""
    passage = one.passage.passage
    at = _place_of(quote, passage.text)
    if not 0 < fact <= len(one.lines) or at < 0 or passage.is_spoken(at):
        return None
    line = one.lines[fact - 1]
    first = cite(line.card.source, line.line, line.written)
    second = cite(passage.scene.source, passage.line_at(at), quote)
    if first is None or second is None:
        return None
    return Finding(
        rule=BY_MODEL,
        severity=RULES[BY_MODEL].severity,
        subject=line.card.name,
        message="Possible contradiction with the card, proposed by a model.",
        first=first,
        second=second,
        from_card=True,
        hard=line.hard,
        confidence="low",
    )


def _place_of(quote: str, text: str) -> int:
    """The position of a quote in a text, regardless of quote-mark and dash styles; -1 if not found."""
    at = straighten(text).find(straighten(quote))
    return at if at < 0 else bisect_left(range(len(text)), at, key=lambda end: len(straighten(text[:end])))


def proposal_prompt(one: Reading) -> str:
    """The question about one paragraph; the quote comes first in the answer, since small models choose it well."""
    facts = "\n".join(f"{number}. {line.card.name}: {line.written}" for number, line in enumerate(one.lines, 1))
    return (
        "Facts of a novel's cards, numbered:\n"
        f"{facts}\n\nA paragraph of the novel:\n{_shown(one)}\n\n"
        "Which words of the paragraph state something that cannot be true if a fact is true (another colour, number, "
        "age, day, relative, trade, owner, place)? What the facts do not mention is no conflict. What characters say, "
        "dream, suppose or compare is none.\n"
        "Answer with one JSON object and nothing else: "
        '{"conflicts": [{"quote": "words of the paragraph, exactly as written", "fact": the number}]}. '
        'Without a conflict: {"conflicts": []}.\n'
    )


def confirmation_prompt(one: Reading, finding: Finding) -> str:
    """The second question, about one proposed contradiction."""
    return (
        f"A paragraph of a novel:\n{_shown(one)}\n\n"
        f"Words of it: {orjson.dumps(finding.second.quote).decode()}\n"
        f"A fact of the novel's cards about {finding.subject}: {orjson.dumps(finding.first.quote).decode()}\n\n"
        "How does the paragraph tell these words: as a fact of that moment, or as speech, thought, dream, rumour, "
        "lie, memory, comparison, condition, or a change that the story tells? Can both be true, the words and the "
        "fact?\n"
        'Answer with one JSON object and nothing else: {"told_as": "fact", "speech", "thought", "dream", "rumour", '
        '"lie", "memory", "comparison", "condition" or "change", "both_can_be_true": true or false}.\n'
    )


def _shown(one: Reading) -> str:
    return one.passage.passage.text[:LONGEST]


def merged(by_rules: Sequence[dict[str, Any]], by_model: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings of both, without a model's where a rule found something on the same line."""
    known = {(one["scene"]["path"], one["scene"]["line"]) for one in by_rules}
    once: dict[tuple[str, int], dict[str, Any]] = {}
    for one in by_model:
        place = (one["scene"]["path"], one["scene"]["line"])
        if place not in known:
            once.setdefault(place, one)
    return [*by_rules, *once.values()]
