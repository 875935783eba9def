"""The next step: a call, or enough.

    nothing yet        the tool whose card fits the request, if it can be filled; else the one that searches
    a search result    the best place it names is read; then the next one, as long as too little is found
    nothing found      the search is made once more with fewer words
    no such file       it is searched for by its name
    the file goes on   its next lines are read
    several named      the same tool for the next of them; another fitting tool that a result's ids can fill

Which tool comes next is decided by the request and the cards. A result only says where to look.
"""

from collections.abc import Iterator

from tallystick.providers.offline.choosing import Choice, asks_to_do, is_called_by, is_fit, orders_left, rank, routes
from tallystick.providers.offline.cited import cited_in, reports_none
from tallystick.providers.offline.citing import fits_role
from tallystick.providers.offline.filling import Filled, Needs, admits, fill
from tallystick.providers.offline.kinds import kind_of, properties_of, required_of, takes_path
from tallystick.providers.offline.looking import named_file, reading_on, reading_places, second_opinion
from tallystick.providers.offline.passages import coverage, rank_passages, search_words
from tallystick.providers.offline.prompt import ToolLine
from tallystick.providers.offline.results import OfflineResult, absence_in, fields_of, holds_records
from tallystick.providers.offline.situation import PlannedCall, Situation
from tallystick.providers.offline.wish import Wish
from tallystick.providers.offline.words import stems_of
from tallystick.records import record

MAX_CALLS = 5
"""Calls of one turn: a search, a second one, and what is read of their results."""
ENOUGH = 0.75
"""Share of the request's words that a passage holds when no other is looked for."""
MAX_READINGS = 2
"""Places that are read as long as something was found; a third only if nothing was."""
_MAX_QUERY = 400
CHIEFS = frozenset({"", "assistant", "chief"})
"""Roles whose work is to give work to others; without a role, as in a conference's tool phase, it is the chief."""


@record
class Lacking:
    """A tool was asked for and cannot be called: these arguments are not in the request."""

    tool: str
    arguments: tuple[str, ...]


def next_call(now: Situation) -> PlannedCall | None:
    """The next call, or None when there is enough or nothing more to try."""
    if len(now.results) >= MAX_CALLS:
        return None
    made = {(one.seen.tool, Filled(args=one.seen.args or {}).key) for one in now.results}
    steps = _after(now) if now.results else _first(now)
    tools = {tool.name: tool for tool in now.reading.tools}
    for call in steps:
        # A place that a result names may be no argument at all.
        if (call.tool, call.filled.key) not in made and admits(tools[call.tool], call.filled.args):
            return call
    return None


def lacking(now: Situation) -> Lacking | None:
    """What is missing for the tool that the request asks for, if that is why nothing is called."""
    for choice in rank(now.reading.tools, now.wish):
        if not is_fit(choice, now.wish):
            continue
        filled = fill(choice.tool, _needs(now, choice.tool))
        if filled.missing and (choice.named or choice.tool.effect != "read"):
            return Lacking(tool=choice.tool.name, arguments=filled.missing)
        if not filled.missing:
            return None
    return None


def _first(now: Situation) -> Iterator[PlannedCall]:
    if lacking(now) is not None and not now.reading.required:
        return
    yield from _routing(now)
    for choice in rank(now.reading.tools, now.wish):
        if not is_fit(choice, now.wish) or not _is_for(choice, now):
            continue
        filled = fill(choice.tool, _needs(now, choice.tool))
        if not filled.missing:
            yield PlannedCall(tool=choice.tool.name, filled=filled)
    if now.wish.says_something:
        yield from _searching(now)
    yield from _any(now)


def _after(now: Situation) -> Iterator[PlannedCall]:
    yield from _next_of_several(now)
    yield from _chained(now)
    if any(_settles(now, result) for result in now.results):
        return
    passages = rank_passages([one.excerpt for one in now.results if one.excerpt is not None], now.wish)
    fitting = [passage for passage in passages if fits_role(passage.excerpt.path, now.wanted)]
    absent = [term for one in now.results if (gone := absence_in(one)) is not None for term in gone.terms]
    covered = coverage(fitting, now.wish, absent)
    readings = sum(one.excerpt is not None for one in now.results)
    if covered >= ENOUGH or (fitting and fitting[0].numbered):
        if readings < MAX_READINGS:
            yield from second_opinion(now, absent)
        return
    if now.results[-1].failed and now.wish.paths:
        yield from _searching(now, now.wish.paths[0].rpartition("/")[2])
    if not search_words(now.wish):
        # The file is the matter; nothing else can stand for it.
        yield from named_file(now) if not readings else ()
        return
    if readings < MAX_READINGS or not covered:
        yield from reading_on(now)
        yield from reading_places(now)
    yield from _searching(now)
    if not any(result.places for result in now.results):
        yield from _searching(now, _fewer_words(now.wish))


def _routing(now: Situation) -> Iterator[PlannedCall]:
    """The chief routes what begins with a doing that a router's card names (`plan …`, `check …`)."""
    opens = stems_of(now.wish.matter)[:1]
    for tool in now.reading.tools:
        if now.reading.persona.role in CHIEFS and routes(tool) and opens and opens[0] in stems_of(tool.description):
            filled = fill(tool, _needs(now, tool))
            if not filled.missing:
                yield PlannedCall(tool=tool.name, filled=filled)


def _is_for(choice: Choice, now: Situation) -> bool:
    """Work is routed where it is somebody's to route; a mere question is looked up."""
    return choice.named or not routes(choice.tool) or now.reading.persona.role in CHIEFS


def _settles(now: Situation, result: OfflineResult) -> bool:
    """Whether a tool of another kind has answered: then no file needs to be searched as well."""
    tool = now.tool_of(result)
    if tool is None:
        # Brought by somebody else: a report of what was looked for, or that there is none, answers too.
        return bool(cited_in(result)) or reports_none(result) is not None
    if result.failed or routes(tool):
        return False
    if tool in (now.search, now.reader):
        # Records of another kind are no files that could be read further.
        return holds_records(result)
    return result.value not in (None, "", [], {})


def _any(now: Situation) -> Iterator[PlannedCall]:
    """Where a call is required or nothing fits: whatever can be filled and only reads, a router first."""
    if not now.reading.required and not any(map(routes, now.reading.tools)):
        return
    for tool in sorted(now.reading.tools, key=lambda tool: (not routes(tool), tool.name)):
        filled = fill(tool, _needs(now, tool))
        if tool.effect == "read" and not filled.missing:
            yield PlannedCall(tool=tool.name, filled=filled)


def _searching(now: Situation, query: str | None = None) -> Iterator[PlannedCall]:
    tool = now.search
    query = _query(now.wish, tool) if query is None else query
    if tool is not None and query.strip():
        filled = fill(tool, _needs(now, tool, query=query))
        if not filled.missing:
            yield PlannedCall(tool=tool.name, filled=filled)


def _next_of_several(now: Situation) -> Iterator[PlannedCall]:
    """`compare A-17 and A-18`: the tool that took the first takes the next."""
    for tool in now.reading.tools:
        kinds = {kind_of(name, properties_of(tool).get(name, {})) for name in required_of(tool)}
        if kinds & {"path", "id"} and tool.effect == "read" and _worked(tool, now):
            needs = _needs(now, tool, only_user=True)
            filled = fill(tool, needs)
            if not filled.missing and needs.used:
                yield PlannedCall(tool=tool.name, filled=filled)


def _chained(now: Situation) -> Iterator[PlannedCall]:
    """Another tool that the request asks for and that the results' ids now fill."""
    ranked = rank(now.reading.tools, now.wish)
    told = [choice.tool for choice in ranked if choice.named]
    left = orders_left(now.wish, told)
    for choice in ranked:
        tool = choice.tool
        if told and not choice.named and not asks_to_do(tool, left):
            # Who says which tool to use has chosen; another must be ordered besides.
            continue
        if not is_fit(choice, now.wish) or tool in (now.search, now.reader) or routes(tool) or _was_called(tool, now):
            continue
        if not (choice.named or asks_to_do(tool, now.wish)) and takes_path(tool):
            # Any file would do for it; an id leads on to one thing.
            continue
        filled = fill(tool, _needs(now, tool))
        if not filled.missing:
            yield PlannedCall(tool=tool.name, filled=filled)


def _needs(now: Situation, tool: ToolLine, *, query: str = "", only_user: bool = False) -> Needs:
    reads = tool.effect == "read" and not only_user
    calls = [one.seen.args or {} for one in now.results if one.seen.tool == tool.name]
    return Needs(
        wish=now.wish,
        fields=fields_of(now.results) if reads else {},
        used=frozenset(value for args in calls for value in args.values() if isinstance(value, str)),
        query=query or _query(now.wish, tool),
    )


def _query(wish: Wish, tool: ToolLine | None = None) -> str:
    phrases = [f'"{phrase}"' for phrase in wish.quoted if phrase not in wish.paths]
    quoted = {word for phrase in wish.quoted for word in phrase.lower().split()}
    words = [word for word in search_words(wish) if word not in quoted]
    if tool is not None:
        words = [word for word in words if not is_called_by(tool, word)] or words
    return " ".join([*wish.globs, *phrases, *words])[:_MAX_QUERY]


def _fewer_words(wish: Wish) -> str:
    """Names stand in a text as they are; of other words the longest say most."""
    named = [name for name in wish.names if name.lower() in {word.lower() for word in wish.terms}]
    return " ".join(named[:2]) or " ".join(sorted(search_words(wish), key=lambda word: (-len(word), word))[:1])


def _was_called(tool: ToolLine, now: Situation) -> bool:
    return any(result.seen.tool == tool.name for result in now.results)


def _worked(tool: ToolLine, now: Situation) -> bool:
    return any(result.seen.tool == tool.name and not result.failed for result in now.results)
