"""What a search asks for: the words that count, phrases in quote marks, and patterns of names."""

import re

from tallystick.records import record

MAX_TERMS = 24
"""Words and phrases of one search; more would only say less."""
_PHRASE = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,200})[\"”“»]")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")  # noqa: RUF001
_GLOB = re.compile(r"(?<!\S)[^\s*?]*+[*?]\S*+")
_EMPTY = frozenset({
    "a", "about", "above", "after", "again", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be",
    "because", "been", "before", "being", "below", "between", "both", "but", "by", "can", "could", "did", "do",
    "does", "doing", "down", "during", "each", "etc", "few", "find", "for", "from", "further", "get", "give", "had",
    "has", "have", "having", "he", "her", "here", "hers", "him", "his", "how", "i", "if", "in", "into", "is", "it",
    "its", "just", "like", "locate", "look", "me", "more", "most", "my", "no", "nor", "not", "of", "off", "on",
    "once", "only", "or", "other", "our", "out", "over", "own", "please", "s", "same", "search", "she", "should",
    "show", "so", "some", "such", "t", "tell", "than", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "we", "were",
    "what", "when", "where", "which", "while", "who", "whom", "whose", "why", "will", "with", "would", "you",
    "your", "file", "files", "folder", "document", "documents",
})  # fmt: skip
"""Words that stand in every text or every question, and so find nothing."""
_ENDINGS = ("'s", "ingly", "edly", "ing", "ies", "ied", "es", "ed", "ly", "s", "y", "e")
_SHORTEST_STEM = 3


@record
class Term:
    """One thing to look for."""

    text: str
    """As it was written, in small letters."""
    stem: str
    """What the words that count as the same begin with."""
    is_phrase: bool = False


@record
class Criteria:
    """A search, read once."""

    written: str
    terms: tuple[Term, ...]
    globs: tuple[str, ...] = ()


def read_criteria(written: str, *, globs: bool) -> Criteria:
    """Read the criteria of a search.

    Args:
        written: As the caller gave them: words, a question, a path, phrases in quote marks.
        globs: Whether `*` and `?` make a pattern of names; else they are ordinary text.
    """
    patterns = tuple(_GLOB.findall(written)) if globs else ()
    rest = _GLOB.sub(" ", written) if globs else written
    terms: dict[str, Term] = {}
    for phrase in _PHRASE.findall(rest):
        plain = " ".join(phrase.lower().split())
        terms.setdefault(plain, Term(text=plain, stem=plain, is_phrase=" " in plain))
    for word in _WORD.findall(_PHRASE.sub(" ", rest)):
        plain = word.lower().replace("’", "'")  # noqa: RUF001
        if plain not in _EMPTY and (len(plain) > 1 or not plain.isascii() or plain.isdigit()):
            terms.setdefault(plain, Term(text=plain, stem=stem(plain)))
    kept = tuple(terms.values())[:MAX_TERMS]
    return Criteria(written=written, terms=kept or _every_word(rest), globs=patterns)


def stem(word: str) -> str:
    """What a word shares with its other forms: `walked`, `walking`, `walks` → `walk`. Only ever a beginning of it."""
    for ending in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word[: -len(ending)]
    return word


def _every_word(text: str) -> tuple[Term, ...]:
    """A search of empty words only (`The Who`) is taken at its word."""
    words = dict.fromkeys(word.lower() for word in _WORD.findall(text))
    return tuple(Term(text=word, stem=word) for word in list(words)[:MAX_TERMS])
