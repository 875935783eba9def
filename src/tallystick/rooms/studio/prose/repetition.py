"""Words and phrases repeated more often than usual for this author.

A word is marked when the scene uses it far more than the rest of the book does (log-likelihood ratio), or when it
comes three times within a few lines. Names are left out: they come again because people do.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

from tallystick.records import record
from tallystick.rooms.studio.prose.findings import Finding, Focus, around, places_of
from tallystick.rooms.studio.prose.paragraphs import COMMON_WORDS, Paragraph, Prose, Sentence, plain_form, words_of

FOCUS: Focus = "voice"
LIKELIHOOD = 15.13
"""A ratio this large is chance once in ten thousand words."""
FEWEST = 4
ECHO_WITHIN = 60
"""Words between the first and the third use of an echo."""
ECHO_LETTERS = 5
PHRASE_SIZES = (6, 5, 4, 3)
PHRASE_FEWEST = 3
SHOWN = 6
_TITLES = ("Mr.", "Mrs.", "Ms.", "Dr.", "St.", "Rev.", "Prof.")


@record
class Use:
    """One use of a word."""

    at: int
    """Words before it in the scene."""
    paragraph: Paragraph
    start: int
    end: int


def repetition_findings(prose: Prose, names: frozenset[str], rest: Mapping[str, int]) -> Iterator[Finding]:
    """Repeated words, echoes and phrases.

    Args:
        prose: The scene.
        names: Words of names.
        rest: How often the rest of the book has each word; empty without a rest.
    """
    uses = _uses(prose)
    kept = {
        word: held
        for word, held in uses.items()
        if word not in COMMON_WORDS and word not in names and not _is_name(held)
    }
    marked = _unusual(kept, sum(map(len, uses.values())), rest)
    for word in marked:
        told = " against the rest of the book" if rest else ""
        yield _of_word(prose, "repeated_word", f"“{word}” comes {len(kept[word])} times{told}.", kept[word])
    for word, held in _echoes(kept):
        if word not in marked:
            yield _of_word(prose, "echo", f"“{word}” comes three times within {ECHO_WITHIN} words.", held)
    yield from _phrases(prose, names | frozenset(word for word, held in uses.items() if _is_name(held)))


def _uses(prose: Prose) -> dict[str, list[Use]]:
    uses: dict[str, list[Use]] = defaultdict(list)
    at = 0
    for paragraph in prose.paragraphs:
        place = 0
        for word in words_of(paragraph.text):
            place = paragraph.text.index(word, place)
            uses[plain_form(word)].append(Use(at=at, paragraph=paragraph, start=place, end=place + len(word)))
            place += len(word)
            at += 1
    return uses


def _is_name(uses: Sequence[Use]) -> bool:
    """Written with a capital inside sentences, as names are."""
    capital = 0
    inside = 0
    for use in uses:
        before = use.paragraph.text[: use.start].rstrip(" \n“\"‘'*_")  # noqa: RUF001
        if before and (before[-1] not in ".!?…:" or before.endswith(_TITLES)):
            inside += 1
            capital += use.paragraph.text[use.start].isupper()
    return inside > 0 and capital * 2 > inside


def _unusual(uses: Mapping[str, Sequence[Use]], total: int, rest: Mapping[str, int]) -> list[str]:
    rest_total = sum(rest.values())
    scored: list[tuple[float, str]] = []
    for word, held in uses.items():
        if len(held) < FEWEST or len(word) <= 2:  # noqa: PLR2004 - no word of two letters stands out
            continue
        if not rest_total:
            scored.append((float(len(held)), word))
            continue
        ratio = _likelihood(len(held), total, rest.get(word, 0), rest_total)
        if ratio >= LIKELIHOOD:
            scored.append((ratio, word))
    return [word for _, word in sorted(scored, key=lambda one: (-one[0], one[1]))[:SHOWN]]


def _likelihood(here: int, total: int, there: int, rest: int) -> float:
    """Dunning's ratio; 0 where the word is not more frequent here."""
    expected_here = total * (here + there) / (total + rest)
    expected_there = rest * (here + there) / (total + rest)
    if here <= expected_here:
        return 0.0
    ratio = here * math.log(here / expected_here)
    return 2 * (ratio + (there * math.log(there / expected_there) if there else 0.0))


def _echoes(uses: Mapping[str, Sequence[Use]]) -> list[tuple[str, list[Use]]]:
    found: list[tuple[int, str, list[Use]]] = []
    for word, held in uses.items():
        if len(word) < ECHO_LETTERS:
            continue
        for first, third in zip(held, held[2:], strict=False):
            if third.at - first.at <= ECHO_WITHIN:
                near = [use for use in held if first.at <= use.at <= first.at + ECHO_WITHIN]
                found.append((first.at, word, near))
                break
    return [(word, near) for _, word, near in sorted(found, key=lambda one: one[:2])[:SHOWN]]


def _of_word(prose: Prose, kind: str, message: str, uses: Sequence[Use]) -> Finding:
    marks = [_mark(use.paragraph, use.start, use.end) for use in uses]
    return Finding(kind=kind, focus=FOCUS, message=message, count=len(uses), places=places_of(prose.source, marks))


def _mark(paragraph: Paragraph, start: int, end: int) -> tuple[int, str]:
    first, text = around(paragraph.text, start, end)
    return paragraph.line_at(first), text


def _phrases(prose: Prose, names: frozenset[str]) -> Iterator[Finding]:
    counted: Counter[tuple[str, ...]] = Counter()
    where: dict[tuple[str, ...], list[Sentence]] = defaultdict(list)
    for sentence in prose.sentences:
        words = tuple(plain_form(word) for word in sentence.words)
        for size in PHRASE_SIZES:
            for start in range(len(words) - size + 1):
                phrase = words[start : start + size]
                counted[phrase] += 1
                where[phrase].append(sentence)
    chosen: list[tuple[str, ...]] = []
    for phrase, count in sorted(counted.items(), key=lambda one: (-len(one[0]), -one[1], one[0])):
        if count >= PHRASE_FEWEST and _tells(phrase, names) and not any(_holds(longer, phrase) for longer in chosen):
            chosen.append(phrase)
    for phrase in sorted(chosen, key=lambda one: (-counted[one] * len(one), one))[:SHOWN]:
        message = f"“{' '.join(phrase)}” comes {counted[phrase]} times."
        places = places_of(prose.source, (_in_sentence(sentence, phrase) for sentence in where[phrase]))
        yield Finding(kind="repeated_phrase", focus=FOCUS, message=message, count=counted[phrase], places=places)


def _in_sentence(sentence: Sentence, phrase: Sequence[str]) -> tuple[int, str]:
    """The phrase with a few words around it, as the sentence has it."""
    pattern = r"[\W_]+(?:s\b[\W_]+)?".join(re.escape(word).replace("'", "['’]") for word in phrase)  # noqa: RUF001
    found = re.search(pattern, sentence.text, re.IGNORECASE)
    return (sentence.line, around(sentence.text, *found.span())[1] if found else sentence.text)


def _tells(phrase: Sequence[str], names: frozenset[str]) -> bool:
    """Whether a phrase is more than grammar and names: `out of the` is not."""
    return sum(word not in COMMON_WORDS and word not in names for word in phrase) >= (1 if len(phrase) > 3 else 2)  # noqa: PLR2004


def _holds(longer: tuple[str, ...], phrase: tuple[str, ...]) -> bool:
    return any(longer[at : at + len(phrase)] == phrase for at in range(len(longer) - len(phrase) + 1))
