"""What a question turns on, so that an answer which only sounds like one can be told: the word beyond its subject.

    Is the Wren grinder dishwasher safe?        yes or no: every word of it
    How do I descale the kettle?                what is to be done
    How loud is the grinder?                    the property
    What is the voltage of the kettle?          what is asked for
    Which colours does the scale come in?       something beside the subject
    How much does it cost?                      a sum of money

By the forms that English questions have. A message in no such form turns on nothing in particular here; how much of it
is spoken of is counted all the same (`telling.py`).
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from tallystick.records import record
from tallystick.rooms.desk.judging.contradicting import asks_yes_or_no
from tallystick.rooms.desk.judging.matching import numbers_in
from tallystick.rooms.desk.kb.words import EMPTY, asked, names_in, relatives, single_names_in, stem, stems

_DESIRE = r"want|wanna|need|like|love|wish|hope|try|trying|help|help me|assistance|able|unable|possible|way|ways|how"
_TO_DO = re.compile(
    rf"\b(?:how (?:do|can|could|should|would|must|may)(?: (?:i|we|you|one|people|customers))?|(?:{_DESIRE}) to)\s+"
)
_DEGREE = re.compile(r"\bhow (?P<word>[^\W\d_]{3,}) (?:is|are|was|were|does|do|will|can)\b")
_ASKED_FOR = re.compile(
    r"\b(?:what|which|who)(?:'s|’s|\s+(?:is|are|was|were))\s+(?P<words>.+?)"  # noqa: RUF001
    r"(?=\s(?:of|for|in|on|with|to|at|by|when|if|from|after|before|per|under|that|which)\b|[,;.?!]|$)"
)
_SORT = re.compile(
    r"\b(?:what|which) (?P<words>(?:[^\W\d_]+ ){1,3}?)"
    r"(?:do|does|did|is|are|can|could|will|would|must|should|has|have)\b"
)
_PLAIN = re.compile(
    r"(?:^\W*|[,.!]\s)(?:what|when|where|why|who|whom)\s(?:do|does|did|is|are|was|were|can|could|will|would|must|should)\b"
)
_EMBEDDED = re.compile(r"\b(?:know|tell me|wonder|wondering|ask|asking|sure|see|check|confirm)\s+(?:if|whether)\s+")
_REQUEST = re.compile(
    r"^\W*(?:have|has|had)\s+(?:a|an|to|got|been|some|problems?|issues?|questions?|trouble)\b|"
    r"^\W*(?:can|could|would|will|may|do|are|is)\s+(?:you|u|ya|someone|somebody|anyone|i|there)\s+(?:please\s+)?"
    r"(?:help|assist|tell|explain|show|give|let|mind|inform|guide|provide|know|a way|ask|get (?:help|assistance|info))"
)
_PRONOUN = re.compile(r"^\W*(?:how|what|when|where|why|is|are|does|do|can|will)\b[^,]{0,20}\b(?:it|they|this|that)\b")
_CLAUSE = re.compile(r",?\s(?:after|when|once|because|since|while|so that)\s.*")
_MONEY_ASKED = re.compile(
    r"\bhow much\b.*\b(?:cost|costs|pay|charge|charged|charges|price|fee)\b|\bwhat does\b.*\bcost\b"
)
_NUMBER_ASKED = re.compile(r"\bhow (?P<what>much|many|long|often|soon|far|old)\b")
_MONEY = re.compile(
    r"[€$£¥]|\b(?:euros?|dollars?|pounds?|cents?|francs?|eur|usd|gbp|chf)\b|%|\bper ?cent\b|"
    r"\b(?:free|no (?:extra |additional )?(?:fees?|charges?|costs?)|nothing|included)\b",
    re.IGNORECASE,
)
_NONE = r"no|not|none|never|nothing|free|any|all|every|unlimited|without"
_TIME = r"always|until|while|lifetime|forever|immediately|instantly|at once|same day|as (?:long|soon) as"
_NO_NUMBER = {
    "much": _NONE, "many": _NONE, "far": _NONE, "old": _NONE, "long": f"{_NONE}|{_TIME}", "soon": f"{_NONE}|{_TIME}",
    "often": rf"{_NONE}|{_TIME}|once|twice|(?:dai|week|month|year|annual)ly|as often as",
}  # fmt: skip
"""What may stand for a number, by what is asked."""
_CARRIERS = """
do make have take give go come use put set start begin keep bring become happen work mean exist hold stand
get obtain receive retrieve acquire look view access ask tell inform notify report submit send say speak talk
handle deal solve resolve sort manage proceed perform carry long much many soon often far old available allowed
current currently actually exactly also still already ever really again now today process procedure step
instruction detail company service support sell offer provide there thing kind type sort different various
method option section new another own policy rule term condition official
"""
_LIGHT = frozenset(stem(word) for word in _CARRIERS.split())
"""Words that carry a question and are not what it is about."""
_MEASURES = "fee price cost charge limit rate amount minimum maximum number period percentage"
_MEASURED = frozenset(stem(word) for word in _MEASURES.split())
"""What is answered with a number."""
OPENS = 3
"""Words within which a sentence that explains something names it."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")  # noqa: RUF001


@record
class Turning:
    """What an answer to a question must speak of."""

    words: tuple[str, ...]
    """Each of these."""
    any_of: tuple[str, ...]
    """One of these at least; none: it does not matter."""
    strict: bool
    """Whether a word must stand in the sentences or right above them; a document's title is not enough."""
    names: frozenset[str]
    """What the question calls by a name: what it is about, and not what it asks."""
    money: bool
    """Whether a sum is asked for."""
    number: str | None
    """What answers in place of a number, where a number is asked for: a pattern."""
    vague: bool
    """Whether it is about something that it does not name: `How much does it cost?`"""
    defined: str | None
    """What the question asks to have explained; the sentence begins with it."""


@record
class Spoken:
    """Sentences that are to answer a question together."""

    sentences: tuple[str, ...]
    above: tuple[str, ...] = ()
    """What stands right above them: headings of their sections, what leads into their lines."""
    titles: tuple[str, ...] = ()
    """Of their documents."""

    @classmethod
    def of(cls, about: Sequence[Sequence[str]], said: Sequence[tuple[str, str]]) -> "Spoken":
        """Put together.

        Args:
            about: Headings that the sentences stand under, of each passage: title, section with those above it.
            said: Each sentence, with what leads into it.
        """
        titles = tuple(dict.fromkeys(headings[0] for headings in about if headings))
        parts = (part for headings in about for heading in headings[1:] for part in heading.split(" > "))
        above = (*(part for part in parts if part not in titles), *(under for _, under in said if under))
        return cls(sentences=tuple(one for one, _ in said), above=tuple(dict.fromkeys(above)), titles=titles)


def unanswered(question: str, said: Spoken) -> str | None:
    """What an answer lacks, in words; None: one of its sentences speaks of what the question turns on."""
    turning = turning_of(question)
    if turning.vague:
        return "nothing tells what the question is about"
    lacking = [_unspoken(turning, question, one, said) for one in said.sentences]
    if all(lacking):
        return f"nothing speaks of “{lacking[0]}”"
    text = " ".join(said.sentences)
    if turning.money and not _MONEY.search(text):
        return "no sum of money is given"
    if turning.number and not numbers_in(text) and not re.search(rf"\b(?:{turning.number})\b", text, re.IGNORECASE):
        return "no number is given"
    if turning.defined and not any(turning.defined in list(stems(one))[:OPENS] for one in said.sentences):
        return f"no sentence says what “{_as_written(turning.defined, question)}” is"
    return None


def speaks(question: str, sentence: str, said: Spoken) -> bool:
    """Whether one sentence, with what stands above it, speaks of every word that a question turns on."""
    return _unspoken(turning_of(question), question, sentence, said) is None


def is_beside(question: str, sentence: str, said: Spoken) -> bool:
    """Whether a sentence passes by a question of yes or no: true as it may be, it would be taken for an answer."""
    return turning_of(question).strict and not speaks(question, sentence, said)


def _unspoken(turning: Turning, question: str, sentence: str, said: Spoken) -> str | None:
    """The first word that a sentence, with what stands above it, does not speak of; None: there is no such word."""
    here, title = _stems_in((sentence, *said.above)), _stems_in(said.titles)
    # A document that is about what is named is about it with all its title: `Wren coffee grinder, manual`.
    subject = title if any(name in title for name in turning.names) else frozenset[str]()
    wide = here | (subject if turning.strict else title)
    large = _names_in((sentence, *said.above, *said.titles))
    for word in turning.words:
        # A name is one there too: Windows are not windows.
        if not _is_held(word, wide) or (word in turning.names and word in wide and word not in large):
            return _as_written(word, question)
    beside = [word for word in turning.any_of if not _is_held(word, subject)]
    return _as_written(beside[0], question) if beside and not any(_is_held(word, here) for word in beside) else None


@lru_cache(maxsize=1024)
def turning_of(question: str) -> Turning:
    """What a question turns on."""
    plain = " ".join(question.split()).lower().replace("’", "'")  # noqa: RUF001
    several = frozenset(word for name in names_in(question) for word in name)
    form = _form(plain)
    money = _MONEY_ASKED.search(plain) is not None
    return Turning(
        words=form.words, any_of=tuple(word for word in form.any_of if word not in several), strict=form.strict,
        names=several | single_names_in(question), money=money, number=None if money else _number_for(plain, form),
        vague=_PRONOUN.search(plain) is not None and len(_content(plain)) <= 1,
        defined=form.words[0] if form.defines and form.words else None,
    )  # fmt: skip


@record
class _Form:
    words: tuple[str, ...] = ()
    any_of: tuple[str, ...] = ()
    strict: bool = False
    defines: bool = False
    asked_for: bool = False


def _form(plain: str) -> _Form:
    embedded = _EMBEDDED.search(plain)
    if embedded is not None or (asks_yes_or_no(plain) and not _REQUEST.match(plain)):
        return _Form(words=_main(plain[embedded.end() :] if embedded else plain), strict=True)
    if degree := _DEGREE.search(plain):
        return _Form(words=_content(degree["word"]))
    if to_do := _TO_DO.search(plain):
        verb, _, others = plain[to_do.end() :].partition(" ")
        return _Form(words=_content(verb), any_of=_content(others))
    if asked_for := _ASKED_FOR.search(plain):
        words = _content(asked_for["words"])
        alone = len(words) == 1 and not plain[asked_for.end() :].strip(" ?.!")
        return _Form(words=words, asked_for=True, defines=alone and asked_for["words"].startswith(("a ", "an ")))
    if sort := _SORT.search(plain):
        return _Form(any_of=tuple(dict.fromkeys((*_content(sort["words"]), *_content(plain)))))
    return _Form(words=_main(plain)) if _PLAIN.search(plain) else _Form()


def _main(clause: str) -> tuple[str, ...]:
    """The words of a question without those that only say when or why it arose."""
    shorter = _content(_CLAUSE.sub("", clause))
    return shorter if len(shorter) > 1 else _content(clause)


def _number_for(plain: str, form: _Form) -> str | None:
    if found := _NUMBER_ASKED.search(plain):
        return _NO_NUMBER[found["what"]]
    return _NONE if form.asked_for and not _MEASURED.isdisjoint(form.words) else None


def _content(text: str) -> tuple[str, ...]:
    return tuple(word for word in asked(text) if word not in _LIGHT and word not in EMPTY)


def _stems_in(texts: Sequence[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in stems(text))


def _names_in(texts: Sequence[str]) -> frozenset[str]:
    """The words that are written large somewhere; a number is never written otherwise."""
    words = (found.group() for text in texts for found in _WORD.finditer(text))
    return frozenset(stem(word.lower()) for word in words if word[0].isupper() or word[0].isdigit())


def _is_held(word: str, here: frozenset[str]) -> bool:
    return word in here or not here.isdisjoint(relatives(word))


def _as_written(word: str, question: str) -> str:
    return next((found.group() for found in _WORD.finditer(question) if stem(found.group().lower()) == word), word)
