"""What tickets say about something: how many mention it, with which other words, and in whose words."""

from collections import Counter
from collections.abc import Callable, Sequence
from math import log

from tallystick.errors import ToolError
from tallystick.rooms.insight.analysis.desk import Desk
from tallystick.rooms.insight.analysis.sentence import Sentence, listed, name, say
from tallystick.rooms.insight.analysis.volume import cannot, how_many
from tallystick.rooms.insight.figures.book import Figure
from tallystick.rooms.insight.figures.query import chosen
from tallystick.rooms.insight.figures.selecting import select
from tallystick.rooms.insight.figures.words import STOP, stem, stems_of, words_of
from tallystick.rooms.insight.pii import PLACEHOLDER

Find = Callable[[str, int], Sequence[int]]
"""(question, how many) → tickets that are nearest to it in meaning, the nearest first."""
MOST_READ = 4_000
"""Tickets whose words are counted; more say the same."""
_FEWEST = 3
_BESIDE = 4
_SHORTEST = 3
_LONG_ENOUGH = 6
"""Words of a ticket that is worth quoting."""
_NEAR = 50


def about(desk: Desk, find: Find | None) -> list[Sentence]:
    """Everything that the tickets say about the words of the question."""
    if desk.nothing_heard:
        total = desk.count(desk.whole)
        nothing = "tickets mention nothing of what is asked about"
        return [] if total is None else [cannot(total, nothing), *not_mentioned(desk)]
    return [*not_mentioned(desk), *how_many(desk), *_beside(desk), *_quoted(desk, find)]


def not_mentioned(desk: Desk) -> list[Sentence]:
    """Words that no ticket holds: an answer too, and one that can be counted."""
    said: list[Sentence] = []
    for term in desk.unheard():
        none, total = desk.count(desk.whole, chosen(says=term)), desk.count(desk.whole)
        if none is not None and total is not None:
            said.append(say(none, " of the ", total, f" tickets mention {name(term)}."))
    return said


def _beside(desk: Desk) -> list[Sentence]:
    """Words that stand in these tickets far oftener than in all."""
    parts: list[list[str | Figure]] = []
    words = telling_words(desk)
    desk.facts.look_for(tuple(words))
    for word in words:
        counted = desk.count(desk.base, {"says": chosen(says=word)["says"]})
        if counted is not None and counted.value >= _FEWEST and len(parts) < _BESIDE:
            parts.append([f"{word} in ", counted])
    if not parts:
        return []
    return [say("Words that stand in them more often than elsewhere: ", *listed([list(part) for part in parts]), ".")]


def telling_words(desk: Desk) -> list[str]:
    """The words that tell the chosen tickets from all, the most telling first."""
    if "says" in desk.base:
        return []
    chosen_ids = [int(one) for one in desk.facts.ids[select(desk.facts, desk.base)][:MOST_READ]]
    step = max(1, len(desk.facts) // MOST_READ)
    inside, shown = _spread(desk, chosen_ids)
    outside, _ = _spread(desk, [int(one) for one in desk.facts.ids[::step]])
    n, m = max(1, len(chosen_ids)), max(1, len(desk.facts.ids[::step]))
    asked = {stem for term in desk.asked.topics for stem in stems_of(term)}

    def weight(each: str) -> float:
        return inside[each] * log((inside[each] / n) / ((outside[each] + 1) / (m + 1)))

    usual = [each for each in inside if inside[each] >= _FEWEST and each not in asked and weight(each) > 0]
    return [shown[each] for each in sorted(usual, key=lambda each: (-weight(each), each))[: _BESIDE * 2]]


def _spread(desk: Desk, ids: list[int]) -> tuple[Counter[str], dict[str, str]]:
    """Stem → in how many tickets it stands; stem → the word it mostly is."""
    many: Counter[str] = Counter()
    forms: dict[str, Counter[str]] = {}
    for ticket in desk.tickets(ids):
        words = {
            word
            for word in words_of(PLACEHOLDER.sub(" ", ticket.said.text))
            if word not in STOP and len(word) >= _SHORTEST and not word[0].isdigit()
        }
        many.update({stem(word) for word in words})
        for word in words:
            forms.setdefault(stem(word), Counter())[word] += 1
    return many, {each: min(found, key=lambda word: (-found[word], word)) for each, found in forms.items()}


def _quoted(desk: Desk, find: Find | None) -> list[Sentence]:
    """In the customers' own words: the nearest in meaning where that is known, else the shortest that say it."""
    mask = select(desk.facts, desk.base)
    allowed = {int(one) for one in desk.facts.ids[mask]}
    near = [one for one in _near(desk, find) if one in allowed]
    order = sorted(range(len(desk.facts)), key=lambda at: (int(desk.facts.words[at]), int(desk.facts.ids[at])))
    plain = [int(desk.facts.ids[at]) for at in order if mask[at] and desk.facts.words[at] >= _LONG_ENOUGH]
    ids = list(dict.fromkeys([*near, *desk.drawn_of(desk.base), *plain]))[:24]
    quotes = desk.quotes(ids, wanted=desk.asked.topics)
    return [say("One ticket says ", quote, ".") for quote in quotes]


def _near(desk: Desk, find: Find | None) -> Sequence[int]:
    """The nearest in meaning; where a model for that is missing, words alone are enough."""
    try:
        return find(desk.asked.text, _NEAR) if find is not None else ()
    except ToolError:
        return ()
