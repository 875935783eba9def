"""The sentences of what was read that share most with the request."""

import re
from collections.abc import Iterable, Iterator, Sequence

from tallystick.providers.offline.results import Excerpt
from tallystick.providers.offline.wish import Wish
from tallystick.providers.offline.words import ASKING, HOW, STOP, answered_stems
from tallystick.records import record
from tallystick.text.bm25 import idf_of
from tallystick.text.sentences import sentence_spans
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

MAX_SENTENCE = 420
"""Characters of a sentence that are shown; longer ones are cut between words."""
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_UNITS = r"(?:scene|chapter|act|part|beat|step|section|item|entry)"
_WHICH = re.compile(
    rf"\b({'|'.join(_ORDINALS)}|\d{{1,3}}(?=st|nd|rd|th))(?:st|nd|rd|th)?[ ]{_UNITS}|\b{_UNITS}[ ](\d{{1,4}})\b",
    re.IGNORECASE,
)
_ENTRY = re.compile(rf"(?:#{{1,6}} )?(?:\W{{0,3}}{_UNITS} )?(\d{{1,4}})\b", re.IGNORECASE)
_NUMBERED = 4.0
"""For the numbered entry that a request asks for: its words need not be the request's."""
_NAMED = 2.0
_NEAR = 0.35
"""What the sentences beside one count: an answer often stands next to the words it is found by."""
_LEAST_WORDS = 3
_NAME_ALONE, _OWN_CARD = 0.3, 1.25
"""For a line of a card that only gives the name, and for one that says what is asked of whom the card is about."""
_ENTRY_LINE = re.compile(r"[ ]{0,4}(?:- )?[^\W\d_][\w '/-]{0,40}:(?:[ \t].*)?")
"""`Eyes: grey`: a line of a card or of front matter, which says something by itself."""
_RULE = re.compile(r"-{3,}[ \t]*")


@record
class OfflinePassage:
    """A sentence, where it stands, and how well it fits."""

    excerpt: Excerpt
    text: str
    """As it stands there, line breaks included."""
    line: int
    score: float
    covered: frozenset[str]
    """The stems of the request that it, or a sentence beside it, holds."""
    numbered: bool = False
    """It is the numbered entry that the request asks for."""


def rank_passages(excerpts: Sequence[Excerpt], wish: Wish) -> list[OfflinePassage]:
    """Every sentence that shares something with the request, the best first."""
    wanted = wanted_stems(wish)
    named = {stem(word) for name in wish.names for word in identifier_words(name)}
    ordinal = _ordinal(wish)
    sentences = [(excerpt, start, text) for excerpt in excerpts for start, text in _sentences(excerpt.text)]
    held = [frozenset(_stems(text)) for _, _, text in sentences]
    held = [stems | answered_stems(wanted, stems) for stems in held]
    rare = idf_of(held)
    # A name is what a question is about; other words only say what of it.
    worth = {one: rare.get(one, 0.0) * (_NAMED if one in named else 1) for one in wanted}
    own = [sum(worth[one] for one in sorted(stems & wanted)) for stems in held]
    passages: list[OfflinePassage] = []
    for at, (excerpt, start, text) in enumerate(sentences):
        beside = [near for near in (at - 1, at + 1) if 0 <= near < len(held) and sentences[near][0] is excerpt]
        score = own[at] + _NEAR * sum(own[near] for near in beside) + _phrases(text, wish) + _place(text, ordinal)
        if score <= 0 or len(identifier_words(text)) < _LEAST_WORDS:
            continue
        in_path = wanted & set(_stems(_spaced(excerpt.path)))
        if own[at] and _ENTRY_LINE.match(text):
            # A card does not say on each line whom it is about: its name does. The line that says only that is none.
            says = wanted <= named or not (held[at] & wanted) <= in_path | named
            about = sum(worth[one] for one in sorted(in_path - held[at]))
            score = (score + about) * (_OWN_CARD if about else 1.0) if says else score * _NAME_ALONE
        covered = (held[at] & wanted).union(in_path, *(held[near] & wanted for near in beside))
        line = excerpt.first_line + excerpt.text.count("\n", 0, start)
        numbered = _place(text, ordinal) > 0
        passages.append(
            OfflinePassage(excerpt=excerpt, text=text, line=line, score=score, covered=covered, numbered=numbered)
        )
    return sorted(passages, key=lambda one: (-round(one.score, 6), one.excerpt.path, one.line))


def wanted_stems(wish: Wish) -> frozenset[str]:
    """What a passage should hold."""
    return frozenset(stem(word) for word in search_words(wish))


def search_words(wish: Wish) -> list[str]:
    """The words of a request that name its matter: without paths, line numbers and the words that only ask.

    A request that only names a file (`summarize notes.md`) has none: then the file itself is the matter.
    """
    in_paths = {word for path in wish.paths for word in identifier_words(path)}
    in_lines = set() if wish.lines is None else {str(line) for line in wish.lines}
    words = [word for word in wish.terms if word not in in_paths | in_lines]
    matter = [word for word in words if word not in ASKING and word not in HOW]
    return matter if matter or wish.paths else words


def coverage(passages: Sequence[OfflinePassage], wish: Wish, absent: Iterable[str] = ()) -> float:
    """The share of the request's words that the best passage holds.

    Args:
        passages: The best first.
        wish: The request.
        absent: Words that stand in no file; no passage can hold them.
    """
    wanted = wanted_stems(wish) - {stem(word) for word in absent}
    return len(passages[0].covered) / len(wanted) if passages and wanted else 0.0


def shared_stems(passage: OfflinePassage, wanted: frozenset[str]) -> frozenset[str]:
    """What of the request a passage holds itself; what stands beside it, or in its file's name, says nothing of it."""
    held = answered_stems(wanted, frozenset(_stems(passage.text)))
    return held.difference(_stems(_spaced(passage.excerpt.path)))


def shown(passage: OfflinePassage) -> str:
    """The sentence on one line, cut between words where it is long."""
    text = " ".join(passage.text.split())
    if len(text) <= MAX_SENTENCE:
        return text
    return text[:MAX_SENTENCE].rpartition(" ")[0] or text[:MAX_SENTENCE]


def opening(excerpt: Excerpt, sentences: int) -> list[OfflinePassage]:
    """The first sentences of an excerpt: what can be shown of a file that is asked for as a whole."""
    found: list[OfflinePassage] = []
    for start, text in _sentences(excerpt.text):
        if (
            len(identifier_words(text)) >= _LEAST_WORDS
            and not text.startswith(("#", "---"))
            and not _ENTRY_LINE.match(text)
        ):
            line = excerpt.first_line + excerpt.text.count("\n", 0, start)
            found.append(OfflinePassage(excerpt=excerpt, text=text, line=line, score=1.0, covered=frozenset()))
        if len(found) == sentences:
            break
    return found


def is_about(excerpt: Excerpt, wish: Wish) -> bool:
    """Whether a request asks for nobody but whom a file is called after: `Who is Ruth Lufkin?` and her card."""
    wanted = wanted_stems(wish)
    named = {stem(word) for name in wish.names for word in identifier_words(name)}
    return bool(wanted) and wanted <= named and wanted <= set(_stems(_spaced(excerpt.path.rpartition("/")[2])))


def _ordinal(wish: Wish) -> str | None:
    """`the second scene`, `chapter 2`: which of several is meant."""
    found = _WHICH.search(wish.text)
    if found is None:
        return None
    word = (found.group(1) or found.group(2)).lower()
    return str(_ORDINALS.index(word) + 1) if word in _ORDINALS else word


def _place(text: str, ordinal: str | None) -> float:
    if ordinal is None:
        return 0.0
    numbered = _ENTRY.match(text)
    return _NUMBERED if numbered is not None and numbered.group(1).lstrip("0") == ordinal else 0.0


def _spaced(path: str) -> str:
    return path.replace("/", " ").replace("-", " ").replace("_", " ").replace(".", " ")


def _phrases(text: str, wish: Wish) -> float:
    plain = " ".join(text.lower().split())
    return sum(2.0 for phrase in wish.quoted if " ".join(phrase.lower().split()) in plain)


def _stems(text: str) -> list[str]:
    return [stem(word) for word in identifier_words(text) if word not in STOP]


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Where each sentence begins, and its text. A very short one (`Eyes: grey.`) goes with the next on its line."""
    spans = sentence_spans(text)
    start: int | None = None
    for at, span in enumerate(spans):
        start = span.start if start is None else start
        following = spans[at + 1].start if at + 1 < len(spans) else len(text)
        short = len(identifier_words(text[start : span.end])) <= _LEAST_WORDS
        if not short or at + 1 == len(spans) or "\n" in text[span.end : following]:
            yield from _trimmed(text, start, span.end)
            start = None


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    piece = text[start:end]
    bare = piece.strip()
    if not bare:
        return
    begin = start + len(piece) - len(piece.lstrip())
    lines = bare.split("\n")
    if len(lines) > 1 and all(_ENTRY_LINE.fullmatch(line) or _RULE.fullmatch(line) for line in lines):
        yield from _entries(lines, begin)
    else:
        yield begin, bare


def _entries(lines: Sequence[str], begin: int) -> Iterator[tuple[int, str]]:
    """Each line for itself; one that is too short to be quoted takes the next with it."""
    held: list[str] = []
    start = begin
    for line in lines:
        if _RULE.fullmatch(line):
            begin += len(line) + 1
            continue
        start = begin if not held else start
        held.append(line)
        begin += len(line) + 1
        if len(identifier_words(" ".join(held))) >= _LEAST_WORDS:
            yield start, "\n".join(held)
            held = []
    if held:
        yield start, "\n".join(held)
