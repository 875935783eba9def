"""From a conversation or a document to passages and the claims they state.

A claim is taken only from a plain statement, as an attribute of the ontology (`statements.py`); its quote is the
sentence, word for word, so the gate can check it. Without the grammar (the extra `parser`) passages are
recorded and state nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from tallystick.reading.parser import ParsedText, Parser
from tallystick.records import record
from tallystick.rooms.memory.ids import name_key, predicate_key
from tallystick.rooms.memory.model import Volatility
from tallystick.rooms.memory.ontology.attributes import default_ontology
from tallystick.rooms.memory.ontology.lexicon import Lexicon
from tallystick.rooms.memory.propose.statements import Statement, StatementReader
from tallystick.text.sentences import sentence_spans

MAX_PASSAGE = 4_000
"""Characters of one observation: a few paragraphs, so that a quote is easily found in it."""
_TURN = re.compile(r"^\s{0,3}(?:\[(?P<when>[^\]\n]{4,40})\]\s*)?(?P<who>[^\W\d_][\w .'-]{0,38}?)\s*:\s+(?P<said>\S.*)$")

_APOSTROPHES = str.maketrans("’ʼ", "''")  # noqa: RUF001 - the grammar knows one kind


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
    ends_in: tuple[str, ...] = ()
    """Attributes of which one is ended, if the subject has one with this object."""
    volatility: Volatility = "medium"

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


class ClaimReader:
    """Cuts texts into passages and reads what they state."""

    def __init__(self, parser: Parser | None, lexicon: Lexicon | None = None) -> None:
        """Join the parts.

        Args:
            parser: The grammar; None: passages state nothing.
            lexicon: Where nouns are looked up; by default the ontology that comes with the room.
        """
        self._parser = parser
        self._lexicon = lexicon or Lexicon(default_ontology())

    @property
    def has_grammar(self) -> bool:
        """Whether it can read what texts state."""
        return self._parser is not None

    def conversation(self, text: str, *, speaker: str | None = None) -> list[Passage]:
        """Return the turns of a conversation (`Name: words`). Text without names is the speaker's own."""
        return self._passages([(who, part) for who, said in _turns(text, speaker) for part in _parts(said)])

    def document(self, text: str) -> list[Passage]:
        """Return the paragraphs of a document, joined to passages. It has no speaker: «I» is nobody."""
        return self._passages([(None, part) for part in _parts(text)])

    def claims_in(self, text: str, *, speaker: str | None) -> tuple[Claim, ...]:
        """Return what a text states plainly; without a speaker, sentences about «I» are passed over."""
        (passage,) = self._passages([(speaker, text)])
        return passage.claims

    def _passages(self, spoken: Sequence[tuple[str | None, str]]) -> list[Passage]:
        if self._parser is None:
            return [Passage(text=text, speaker=who) for who, text in spoken]
        cut = [[text[start:end] for start, end in sentence_spans(text, wrapped=False)] for _, text in spoken]
        parsed = self._parser.parse(one.translate(_APOSTROPHES) for one in chain.from_iterable(cut))
        return [
            Passage(text=text, speaker=who, claims=tuple(self._read(sentences, parsed, who)))
            for (who, text), sentences in zip(spoken, cut, strict=True)
        ]

    def _read(self, sentences: Sequence[str], parsed: Iterator[ParsedText], speaker: str | None) -> Iterator[Claim]:
        reader, heard = StatementReader(self._lexicon, speaker), ClaimFilter()
        for quote in sentences:
            for one in reader.read(next(parsed)):
                claim = self._claim(one, quote)
                if heard.new(claim):
                    yield claim

    def _claim(self, one: Statement, quote: str) -> Claim:
        attribute = self._lexicon.ontology.get(one.predicate)
        return Claim(
            subject=one.subject,
            predicate=one.predicate,
            object=one.object,
            quote=quote,
            negated=one.negated,
            begins=one.begins,
            ends_in=one.ends_in,
            volatility="medium" if attribute is None else attribute.volatility,
        )


class ClaimFilter:
    """Remembers what was said so far, so that nothing is taken twice from one text."""

    def __init__(self) -> None:
        self._said: dict[tuple[str, str], set[tuple[str, bool]]] = {}

    def new(self, claim: Claim) -> bool:
        """Return whether this was not said yet, or something said since makes it news."""
        said = self._said.setdefault(claim.about, set())
        key = (name_key(claim.object), claim.negated)
        if key in said:
            return False
        if claim.begins or claim.negated:
            said.clear()
        said.add(key)
        return True


def _turns(text: str, speaker: str | None) -> Iterator[tuple[str | None, str]]:
    who, lines = speaker, list[str]()
    for line in text.splitlines():
        turn = _TURN.match(line)
        if turn is not None and _is_speaker(turn["who"]):
            yield from _spoken(who, lines)
            who, lines = turn["who"].strip(), [turn["said"].strip()]
        elif line.strip():
            lines.append(line.strip())
        else:
            yield from _spoken(who, lines)
            lines = []
    yield from _spoken(who, lines)


def _is_speaker(name: str) -> bool:
    """Return whether words before a colon name a speaker: not «We have three children: …»."""
    words = name.split()
    return len(words) == 1 or all(word[0].isupper() or word[0].isdigit() for word in words)


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
