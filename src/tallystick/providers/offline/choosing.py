"""Which tool a request asks for: by its name, by what its card shares with the request, by what it can be given."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from tallystick.providers.offline.kinds import given_kind, kind_of, properties_of, required_of, spaced, takes_query
from tallystick.providers.offline.prompt import ToolLine
from tallystick.providers.offline.wish import Wish
from tallystick.providers.offline.words import ASKING_STEMS, HOW_STEMS, doing_of, stems_of, with_doings
from tallystick.records import record
from tallystick.text.bm25 import idf_of
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

FITS = 1.5
"""A card that scores less shares too little with the request to be chosen by it."""
_IN_NAME, _IN_TEXT, _IN_ARGUMENTS = 3.0, 1.0, 0.5
_GIVEN = 1.5
"""For each argument of a telling kind that the request names a value of."""
_ORDERED = 3.0
"""For a tool whose name says what the request orders."""
_SHORTEST_DOER, _SHORTEST_CUT = 5, 3
_LONG = 40
"""Words of a description from which on each counts less: a long card is not a better one."""
_ROUTES = frozenset({"route", "router", "routing", "triage", "dispatcher", "classifier"})


@record
class Choice:
    """A tool, and how well it fits."""

    tool: ToolLine
    score: float
    named: bool = False
    """The request says its name."""
    by_chance: bool = False
    """What it shares with the request, much else shares too."""
    speaks_of: bool = False
    """It shares a word that says what the request is about."""


def rank(tools: Sequence[ToolLine], wish: Wish) -> list[Choice]:
    """All tools, the fittest first; equal ones by name."""
    cards = [_card(tool) for tool in tools]
    rare = idf_of([card.keys() for card in cards])
    # What a path is called says nothing about what is to be done with it.
    asked = set(with_doings(stems_of(without_paths(wish)))) - HOW_STEMS
    done = {stem(word) for word in wish.orders}
    about = {word for word in asked if doing_of(word) is None and not word.startswith("doing:")} - ASKING_STEMS
    choices = [
        Choice(
            tool=tool,
            score=sum(rare[word] * card[word] for word in sorted(asked) if word in card)
            + _given(tool, wish)
            + _ORDERED * asks_to_do(tool, wish),
            named=_is_named(tool.name, wish.text),
            by_chance=_is_by_chance(tool, card, asked, done) and not _is_given(tool, wish),
            speaks_of=not about.isdisjoint(card),
        )
        for tool, card in zip(tools, cards, strict=True)
    ]
    return sorted(choices, key=lambda choice: (not choice.named, -choice.score, choice.tool.name))


def is_fit(choice: Choice, wish: Wish) -> bool:
    """Whether a tool may be called for this request. What does more than read must be asked for by its doing."""
    if choice.named:
        return True
    if choice.score < FITS or _lists_others(choice.tool, wish):
        return False
    if choice.tool.effect != "read":
        return asks_to_do(choice.tool, wish)
    # Many tools search or check; what is to be searched or checked must be said too, by a word or by its path.
    said = choice.speaks_of or _is_all_given(choice.tool, wish)
    return not choice.by_chance or (said and asks_to_do(choice.tool, wish))


def search_tool(tools: Sequence[ToolLine], wish: Wish) -> ToolLine | None:
    """The tool that looks things up from words alone, if there is one.

    Where several do, each through things of its own, it is the one whose things the request speaks of; if it speaks of
    none, the one that looks through the files.
    """
    found = [tool for tool in tools if tool.effect == "read" and takes_query(tool) and not routes(tool)]
    choices = {choice.tool.name: choice for choice in rank(found, wish)}

    def fitness(tool: ToolLine) -> tuple[bool, bool, bool, float, int]:
        choice, searches = choices[tool.name], _searches(tool)
        spoken_of = choice.score >= FITS and not choice.by_chance
        return searches > 0, choice.named, is_of_files(tool) or spoken_of, choice.score, searches

    return max(found, key=fitness, default=None)


def is_of_files(tool: ToolLine) -> bool:
    """Whether a tool's card speaks of files."""
    return stem("file") in stems_of(f"{spaced(tool.name)} {tool.description}")


def is_called_by(tool: ToolLine, word: str) -> bool:
    """Whether a word of a request says which things to look through, and not what for: `search memory for …`."""
    return not is_of_files(tool) and stem(word) in stems_of(f"{spaced(tool.name)} {tool.description}")


def routes(tool: ToolLine) -> bool:
    """Whether a tool says who should do something, instead of doing it."""
    return is_router(tool.name)


def is_router(name: str) -> bool:
    """Whether a tool of this name says who should do something: in a conference no card stands beside a result."""
    return bool(_ROUTES & set(identifier_words(spaced(name))))


def is_reader(tool: ToolLine) -> bool:
    """Whether a tool's name says that it reads: `read_file`, `file_reader`, `viewer`."""
    return any(doing_of(stem(word.removesuffix("er"))) == "doing:read" for word in identifier_words(spaced(tool.name)))


def _lists_others(tool: ToolLine, wish: Wish) -> bool:
    """Whether a tool looks through things of a kind (`search_issues`) that the request does not speak of.

    It needs nothing, not even words to look for, so to a request that only says `find` it has no answer.
    """
    named = stems_of(spaced(tool.name))
    kinds = {word for word in named if doing_of(word) is None}
    if "doing:search" not in with_doings(named) or required_of(tool) or not kinds:
        return False
    asks_words = any(kind_of(name, schema) == "query" for name, schema in properties_of(tool).items())
    return not asks_words and kinds.isdisjoint(stems_of(wish.matter))


def _searches(tool: ToolLine) -> int:
    doings = with_doings(stems_of(f"{spaced(tool.name)} {tool.description}"))
    return doings.count("doing:search")


def _card(tool: ToolLine) -> dict[str, float]:
    """Every stem of a card → what sharing it is worth."""
    described = with_doings(stems_of(tool.description))
    share = _IN_TEXT * min(1.0, _LONG / max(1, len(described)))
    worth = dict.fromkeys(
        with_doings(
            stems_of(" ".join(f"{spaced(name)} {_values(schema)}" for name, schema in properties_of(tool).items()))
        ),
        _IN_ARGUMENTS,
    )
    worth |= dict.fromkeys(described, share)
    called = identifier_words(spaced(tool.name))
    # A name is often cut short, and the description spells it out: `mem.search` asks memory.
    long = [word for word in described if any(len(cut) >= _SHORTEST_CUT and word.startswith(cut) for cut in called)]
    return worth | dict.fromkeys([*with_doings(stems_of(spaced(tool.name))), *long], _IN_NAME)


def _values(schema: object) -> str:
    values = schema.get("enum") if isinstance(schema, dict) else None
    return " ".join(str(value) for value in values) if isinstance(values, list) else ""


def _given(tool: ToolLine, wish: Wish) -> float:
    held = _held(wish)
    return _GIVEN * sum(bool(held.get(given_kind(tool, name))) for name in required_of(tool))


def _held(wish: Wish) -> dict[str, tuple[str, ...]]:
    return {"path": wish.paths, "id": wish.ids, "email": wish.emails, "uri": wish.urls, "date": wish.dates}


def _is_by_chance(tool: ToolLine, card: Mapping[str, float], asked: Set[str], done: Set[str]) -> bool:
    """Whether a tool shares one word of its description, or names a matter without saying what it does with it.

    What is only done (`find`, `check`) is no matter. `outline_analyzer` needs nothing, so it could always be called;
    who asks what stands in the outline wants it read.
    """
    shared = {word for word in asked & card.keys() if not word.startswith("doing:")}
    matter = {word for word in shared if doing_of(word) is None or word not in done}
    if sum(card[word] for word in matter) <= _IN_TEXT:
        return True
    name = set(stems_of(spaced(tool.name)))
    special = {word for word in name - shared if doing_of(word) is None}
    return len(asked & card.keys()) == 1 and bool(special) and not required_of(tool)


def _is_given(tool: ToolLine, wish: Wish) -> bool:
    """Whether the request names something that only a tool like this takes; a path counts for one that reads."""
    kinds = {given_kind(tool, name) for name in required_of(tool)}
    held = _held(wish)
    if any(held[kind] for kind in kinds & held.keys() - {"path"}):
        return True
    return "path" in kinds and bool(wish.paths) and is_reader(tool)


def _is_all_given(tool: ToolLine, wish: Wish) -> bool:
    """Whether the request names all that the tool needs, and that is something."""
    held = _held(wish)
    kinds = [given_kind(tool, name) for name in required_of(tool)]
    return bool(kinds) and all(held.get(kind) for kind in kinds)


def without_paths(wish: Wish) -> str:
    """What is asked, without the names of files."""
    text = wish.matter
    for path in wish.paths:
        text = text.replace(path, " ")
    return text


def _is_named(name: str, text: str) -> bool:
    plain = f" {' '.join(identifier_words(spaced(name)))} "
    # A name of one ordinary word (`search`) is said without being meant.
    return plain.count(" ") > 2 and plain in f" {' '.join(identifier_words(spaced(text)))} "  # noqa: PLR2004


def asks_to_do(tool: ToolLine, wish: Wish) -> bool:
    """Whether the request orders what the tool's name says it does."""
    named = said_by_name(tool.name)
    doings = {doing for word in named if (doing := doing_of(stem(word))) is not None}
    # An order is the bare word (`store`); by its stem a `story` would be one too.
    return not wish.orders.isdisjoint(named) or any(doing_of(stem(word)) in doings for word in wish.orders)


def orders_left(wish: Wish, done_by: Sequence[ToolLine]) -> Wish:
    """The request without the orders that these tools carry out."""
    left = [
        word
        for word in wish.orders
        if not any(asks_to_do(tool, replace(wish, orders=frozenset({word}))) for tool in done_by)
    ]
    return replace(wish, orders=frozenset(left))


def said_by_name(name: str) -> list[str]:
    """The words of a tool's name, and what it does: a `checker` is who checks, a `locator` who locates."""
    plain = identifier_words(spaced(name))
    doers = [word for word in plain if len(word) > _SHORTEST_DOER]
    return [*plain, *(word.removesuffix("er").removesuffix("or") for word in doers)]
