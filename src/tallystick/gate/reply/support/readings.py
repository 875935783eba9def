"""Parse a text into parts that can be compared: words, names, ids, amounts, negations, quantifiers."""

import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib.resources import files

import orjson

from tallystick.gate.reply.support.amounts import Amount, Piece, amounts, pieces
from tallystick.records import record
from tallystick.text.calendar_names import MONTH_NUMBERS, WEEKDAY_NUMBERS
from tallystick.text.number_words import NUMBER_WORDS
from tallystick.text.stems import stem
from tallystick.text.words import STOP_WORDS

_CLAUSE = re.compile(
    r"[;:!?\n]\s*|\s[–—-]{1,2}\s|—|(?<![\d,])\.\s|,\s|\s\(|\)\s?"  # noqa: RUF001
    r"|\s(?:and|but|because|which|while|though|whereas|so|since)\s",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r",\s(?:Mr|Mrs|Ms|Miss|Dr|Prof)\b\.?(?:\s[A-Z][\w'-]+){1,3}(?=[!:?]|\.?$)")
_LEAD_IN = re.compile(r"([^:;,\n–—]{2,60}?)(?::\s|\s[–—-]{1,2}\s)")  # noqa: RUF001
_FEWEST = 2
"""Content words that must remain after a lead-in."""
_EMPHASIS = re.compile(r"(?<![\w*`])[*_`]{1,3}(?=\w)|(?<=\S)[*_`]{1,3}(?!\w)|`")
_STARTS = frozenset('.:!?\n(–—"“-*•')  # noqa: RUF001
_PARTS = re.compile(r"[_/.@#&-]")
_MIN_SHARED = 4
_SCOPE = 2
"""Number of content words after a negation that it applies to."""
_STOP = re.compile(r"[;:,\n]\s|\.\s|\s[–—]\s")  # noqa: RUF001
_SPARED = re.compile(
    r"\b(?:no|not) (?:less|fewer|more|later|earlier) than\b|\bnot only\b|\bnot [^.;,]{0,40}?\buntil\b", re.IGNORECASE
)
"""Phrases with a negation word that do not negate (`no less than`, `not only`, `not due until`)."""


@cache
def forms() -> dict[str, tuple[str, ...]]:
    """Return the fixed word lists: form (negation, possibility, report, …) → its words and phrases."""
    listed = orjson.loads(files("tallystick.gate.reply.support").joinpath("data/forms.json").read_bytes())
    return {name: tuple(entries) for name, entries in listed.items()}


@cache
def form_stems(name: str) -> frozenset[str]:
    """Return the stems of the single words in one list of `forms`."""
    return frozenset(stem(word) for word in forms()[name] if " " not in word)


@cache
def _phrases(name: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(map(re.escape, forms()[name])) + r")\b", re.IGNORECASE)


def has_phrase(name: str, text: str) -> bool:
    """Whether a text contains a phrase of one list of `forms`."""
    return _phrases(name).search(text) is not None


@record
class Term:
    """One content word: not a function word and not part of an amount."""

    stem: str
    folded: str
    written: str
    start: int
    is_name: bool = False
    is_code: bool = False
    opens: bool = False
    """Whether it begins a sentence, where a capital letter does not indicate a name."""


@record
class Reading:
    """A parsed text."""

    text: str
    terms: tuple[Term, ...]
    amounts: tuple[Amount, ...]
    words: frozenset[str]
    """Stems of all words, function words included."""
    stems: frozenset[str]
    """Stems of the content words."""
    negated: tuple[frozenset[str], ...]
    """For each negation, the stems of the words it applies to."""
    quantifiers: frozenset[str]

    @property
    def negations(self) -> int:
        """The number of negations in the text."""
        return len(self.negated)

    def has(self, form: str) -> bool:
        """Whether the text contains a word of one list of `forms`."""
        return not self.words.isdisjoint(form_stems(form))


@lru_cache(maxsize=8_192)
def read(text: str) -> Reading:
    """Parse a text."""
    text = _EMPHASIS.sub("", text)
    tokens = pieces(text)
    found = amounts(text)
    taken = {at for amount in found if not amount.weak for at in range(amount.at, amount.end)}
    terms: list[Term] = []
    for at, token in enumerate(tokens):
        if at not in taken:
            terms += _terms(text, token)
    words = frozenset(
        stem(part)
        for at, token in enumerate(tokens)
        if at not in taken
        for part in (*token.folded.replace("’", "'").split("-"), token.folded)  # noqa: RUF001
    )
    return Reading(
        text=text,
        terms=tuple(terms),
        amounts=found,
        words=words,
        stems=frozenset(word for term in terms for word in _stems(term)),
        negated=_negated(text, tokens, terms),
        quantifiers=_quantifiers(text, words),
    )


def _stems(term: Term) -> Iterator[str]:
    yield term.stem
    if term.is_code:
        yield from (stem(part) for part in _PARTS.split(term.folded) if len(part) > 2 and part.isalpha())  # noqa: PLR2004


def clauses(text: str) -> list[str]:
    """Split a sentence into the parts that each make a claim."""
    parts = [part.strip(" ,.;:-–—*") for part in _CLAUSE.split(text)]  # noqa: RUF001
    return [part for part in parts if any(map(str.isalnum, part))]


@lru_cache(maxsize=4_096)
def without_asides(text: str) -> str:
    """Return a sentence without its lead-in (`Good news - …`, `You asked about the loan: …`) and without an address.

    A lead-in has no number, name or negation and stands before a colon or a dash; an address is a title and a name at
    the end of a clause (`…, Ms Adeyemi: …`). Both are said to the reader and claim nothing.
    """
    text = _ADDRESS.sub("", text)
    lead = _LEAD_IN.match(text)
    if lead is None:
        return text
    said, rest = read(lead[1]), text[lead.end() :]
    named = any(term.is_name or term.is_code for term in said.terms)
    if said.amounts or said.negated or said.quantifiers or named or len(read(rest).terms) < _FEWEST:
        return text
    return rest


def _terms(text: str, token: Piece) -> list[Term]:
    if token.kind == "code":
        folded = token.folded.strip(".")
        parts = [part for part in _PARTS.split(folded) if part]
        coded = any(map(str.isdigit, folded)) or "@" in folded or "_" in folded or "/" in folded
        whole = Term(stem=folded, folded=folded, written=token.written, start=token.start, is_code=coded)
        return [whole] if coded else [_word(text, token, part) for part in parts if _says(part)]
    if token.kind != "word":
        return []
    bare = token.folded.removesuffix("'s")
    return [_word(text, token, part) for part in bare.split("-") if _says(part)]


def _says(word: str) -> bool:
    return word not in STOP_WORDS and len(word) > 1 and word not in NUMBER_WORDS and word != "ok"


def _word(text: str, token: Piece, part: str) -> Term:
    opens = _opens(text, token.start)
    calendar = part in MONTH_NUMBERS or part in WEEKDAY_NUMBERS
    named = token.written[:1].isupper() and not opens and not calendar
    return Term(stem=stem(part), folded=part, written=token.written, start=token.start, is_name=named, opens=opens)


def _opens(text: str, at: int) -> bool:
    before = text[max(0, at - 4) : at].rstrip()
    return not before or before[-1] in _STARTS or text[:at].strip().isdigit()


def _negated(text: str, tokens: list[Piece], terms: list[Term]) -> tuple[frozenset[str], ...]:
    listed = form_stems("negation")
    spared = [found.span() for found in _SPARED.finditer(text)]
    found: list[frozenset[str]] = []
    for token in tokens:
        is_zero = token.kind == "number" and token.written == "0"
        if not (is_zero or stem(token.folded) in listed or token.folded.endswith(("n't", "n’t"))):  # noqa: RUF001
            continue
        if any(start <= token.start < end for start, end in spared):
            continue
        found.append(frozenset(_governed(text, token.end, terms)))
    return tuple(found)


def _governed(text: str, at: int, terms: list[Term]) -> list[str]:
    """Return the stems that a negation ending at `at` applies to: the next `_SCOPE` content words of its clause."""
    end = next((found.start() for found in _STOP.finditer(text, at)), len(text))
    return [term.stem for term in terms if at <= term.start < end][:_SCOPE]


def _quantifiers(text: str, words: frozenset[str]) -> frozenset[str]:
    found = {name for name in ("every", "only", "most", "part") if not words.isdisjoint(form_stems(name))}
    return frozenset(found | {name for name in ("at_least", "at_most") if has_phrase(name, text)})


def akin(one: str, other: str) -> bool:
    """Whether two stems are probably related because they share a long prefix (`renew`, `renewal`)."""
    shorter, longer = (one, other) if len(one) <= len(other) else (other, one)
    if len(shorter) < _MIN_SHARED or shorter[0] != longer[0]:
        return False
    if longer.startswith(shorter):
        return True
    shared = next((at for at, (a, b) in enumerate(zip(shorter, longer, strict=False)) if a != b), len(shorter))
    return shared >= max(_MIN_SHARED, len(longer) - 3)


def pieces_before(reading: Reading, wanted: frozenset[str]) -> frozenset[str]:
    """Return the stems of the words before the first wanted word, or of all words if none occurs."""
    places = [term.start for term in reading.terms if term.stem in wanted]
    first = places[0] if places else len(reading.text)
    return read(reading.text[:first]).words
