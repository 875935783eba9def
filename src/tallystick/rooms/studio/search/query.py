"""A search query: the significant words, quoted phrases, and file name patterns."""

import re

from tallystick.records import record
from tallystick.text.stems import stem
from tallystick.text.words import QUERY_STOP_WORDS, fold_word

MAX_TERMS = 24
"""Words and phrases of one query; more would not narrow the search."""
_FILE_WORDS = frozenset({"document", "documents", "file", "files", "folder"})
"""What a search in files says without saying what to find."""
_PHRASE = re.compile(r"[\"“„«]([^\"“”„«»\n]{2,200})[\"”“»]")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")  # noqa: RUF001 - the apostrophe of books
_GLOB = re.compile(r"(?<!\S)[^\s*?]*+[*?]\S*+")


@record
class Term:
    """One word or phrase to find."""

    text: str
    """As written, in lower case."""
    stem: str | None = None
    """What the inflected forms of a word share; None: only the text itself is searched for."""
    is_phrase: bool = False


@record
class Query:
    """A parsed query."""

    written: str
    terms: tuple[Term, ...]
    globs: tuple[str, ...] = ()


def parse_query(written: str, *, globs: bool) -> Query:
    """Parse a query.

    Args:
        written: As the caller wrote it: words, a question, a path, phrases in quotation marks.
        globs: Whether `*` and `?` make a file name pattern; otherwise they are ordinary text.
    """
    patterns = tuple(_GLOB.findall(written)) if globs else ()
    rest = _GLOB.sub(" ", written) if globs else written
    terms: dict[str, Term] = {}
    for phrase in _PHRASE.findall(rest):
        plain = " ".join(fold_word(phrase).split())
        terms.setdefault(plain, Term(text=plain, is_phrase=" " in plain))
    for word in _WORD.findall(_PHRASE.sub(" ", rest)):
        plain = fold_word(word)
        if not _is_empty(plain):
            terms.setdefault(plain, _term(plain))
    kept = tuple(terms.values())[:MAX_TERMS]
    return Query(written=written, terms=kept or _every_word(rest), globs=patterns)


def _term(word: str) -> Term:
    # A word with a hyphen or a point in it, such as a file name, has no stem.
    return Term(text=word, stem=None if set(word) & {"-", "."} else stem(word))


def _is_empty(word: str) -> bool:
    if word in QUERY_STOP_WORDS or word in _FILE_WORDS:
        return True
    return len(word) == 1 and word.isascii() and not word.isdigit()


def _every_word(text: str) -> tuple[Term, ...]:
    """The words of a query that consists of stop words only, such as `The Who`, searched for as they are."""
    words = dict.fromkeys(fold_word(word) for word in _WORD.findall(text))
    return tuple(Term(text=word) for word in list(words)[:MAX_TERMS])
