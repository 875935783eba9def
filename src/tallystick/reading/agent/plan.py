"""What is done for a request: the calls to make, and the kind of reply."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tallystick.providers.offline.citing import fits_role
from tallystick.providers.offline.kinds import line_keys, takes_path
from tallystick.providers.offline.prompt import PromptReading, ToolLine
from tallystick.reading.agent.arguments import QUERY, Subject, fill_arguments
from tallystick.reading.agent.library import Library
from tallystick.reading.agent.names import Mention, NamedFile, find_mentions, masked
from tallystick.reading.answers import Candidate, rank_sentences
from tallystick.records import record
from tallystick.text.words import QUERY_STOP_WORDS, word_spans

PASSAGES = 8
"""Passages that are read for an answer."""
STATED = 0.3
"""Probability from which a sentence is given as the answer."""
ALSO = 0.5
"""A second sentence is shown if it is this nearly as probable as the first."""
MAX_SHOWN = 3
_UNUSED = 0.15
"""What a scene that the request names and a call does not take costs the call."""
_AROUND = 6
MAX_CANDIDATES = 6
PRESENCE_WORDS = frozenset(
    {"appear", "book", "story", "scene", "mentioned", "occur", "novel", "anywhere", "text", "manuscript", "is", "does"}
)
PLAIN = ("answer", "summary", "presence", "none")


@record
class PlannedRead:
    """A call to make."""

    tool: str
    args: Mapping[str, Any]


@record
class Plan:
    """What is done for a request."""

    kind: str
    """`tool`, or one of the kinds that no tool serves."""
    calls: tuple[PlannedRead, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """Sentences that may answer, most probable first."""
    answers: tuple[Candidate, ...] = ()
    """The candidates that are shown as the answer."""
    files: tuple[NamedFile, ...] = ()
    """Scenes that the request names."""
    people: tuple[NamedFile, ...] = ()
    term: str = ""
    """What is looked for, where a request asks whether it is there."""


def plan_for(reading: PromptReading, library: Library) -> Plan:
    """Return what is done for the request of a prompt."""
    workspace = library.named_files()
    mentions = find_mentions(reading.request, workspace)
    subject = Subject(request=reading.request, mentions=mentions, workspace=workspace)
    tools = {tool.name: tool for tool in reading.tools}
    kind, call = choose(library, subject, tools)
    cards = {(each.start, each.end) for each in mentions if each.file.kind == "card"}
    scenes = tuple(
        each.file
        for each in mentions
        if each.file.kind == "scene"
        and each.exact
        and ((each.start, each.end) not in cards or is_called_scene(each, reading))
    )
    people = tuple(each.file for each in mentions if each.file.kind in {"person", "card"})
    if call is not None:
        return Plan(kind="tool", calls=(call,), files=scenes, people=people)
    if kind == "none":
        return Plan(kind=kind)
    if kind == "presence":
        term = term_of(reading.request, mentions)
        calls = tuple(filter(None, [_search(reading.tools, term, library)])) if term else ()
        return Plan(kind=kind, calls=calls, files=scenes, people=people, term=term)
    if kind == "summary" and scenes:
        reads = tuple(_read(reading.tools, scene.path, 1, None) for scene in scenes[:1])
        return Plan(kind=kind, calls=tuple(filter(None, reads)), files=scenes, people=people)
    candidates = tuple(find_candidates(reading, library, scenes))
    plan = Plan(kind="answer", candidates=candidates, files=scenes, people=people)
    return answered_by(plan, stated_among(candidates), reading)


def answered_by(plan: Plan, answers: Sequence[Candidate], reading: PromptReading) -> Plan:
    """Return the plan that shows these sentences, with the calls to read them."""
    reads = (_read(reading.tools, each.passage.name, each.line - _AROUND, each.line + _AROUND) for each in answers)
    once = {each.args["file_path"] if "file_path" in each.args else str(each.args): each for each in reads if each}
    return replace(plan, calls=tuple(once.values()), answers=tuple(answers))


def is_called_scene(mention: Mention, reading: PromptReading) -> bool:
    """Return whether the request says that it means the scene: `the … scene`."""
    return re.match(r"\W{0,2}(?:scene|chapter)\b", reading.request[mention.end :], re.IGNORECASE) is not None


def choose(library: Library, subject: Subject, tools: Mapping[str, ToolLine]) -> tuple[str, PlannedRead | None]:
    """Return the kind of request and, if a tool serves it, the call."""
    ranked = library.intents.rank(masked(subject.request, subject.mentions), list(tools))
    named = {each.file.path for each in subject.mentions if each.exact and each.file.kind == "scene"}
    found: list[tuple[float, str, PlannedRead | None]] = []
    for intent in ranked[:MAX_CANDIDATES]:
        if intent.name in PLAIN:
            found.append((intent.score, intent.name, None))
            continue
        args = fill_arguments(tools[intent.name].schema, intent, subject)
        if args is not None:
            call = PlannedRead(tool=intent.name, args=args)
            found.append((intent.score - _UNUSED * _unused(args, named), "tool", call))
    best = max(found, key=lambda each: each[0], default=(0.0, "answer", None))
    return best[1], best[2]


def _unused(args: Mapping[str, Any], named: set[str]) -> int:
    if any(isinstance(value, str) and len(value.split()) > 2 for value in args.values()):  # noqa: PLR2004
        # The whole request is passed as an argument.
        return 0
    used = {each for value in args.values() for each in (value if isinstance(value, list) else [value])}
    return len(named - used)


def find_candidates(reading: PromptReading, library: Library, scenes: Sequence[NamedFile] = ()) -> Sequence[Candidate]:
    """Return the sentences that may answer a question, most probable first.

    Args:
        reading: The prompt; an agent with sources of its own reads only those.
        library: The workspace.
        scenes: Scenes that the question names; if one of their sentences answers, only they are read.
    """
    sources = reading.persona.sources
    allowed = [file.path for file in library.named_files() if fits_role(file.path, sources)] if sources else None
    within = [scene.path for scene in scenes] or allowed
    ranked = _ranked(reading.request, library, within)
    if scenes and (not ranked or ranked[0].confidence < STATED):
        ranked = _ranked(reading.request, library, allowed)
    return ranked


def stated_among(ranked: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """Return the sentences confident enough to be the answer; possibly none."""
    if not ranked or ranked[0].confidence < STATED:
        return ()
    shown = [ranked[0]]
    for each in ranked[1:]:
        enough = each.confidence >= ALSO * ranked[0].confidence
        if enough and len(shown) < MAX_SHOWN and all(each.text != other.text for other in shown):
            shown.append(each)
    return tuple(shown)


def _ranked(question: str, library: Library, within: Sequence[str] | None) -> list[Candidate]:
    passages = library.search(question, PASSAGES, within=within)
    return rank_sentences(question, passages, library.embedder)


def term_of(request: str, mentions: Sequence[Mention]) -> str:
    """Return what a request asks the presence of: a name as it is written, else its telling words."""
    named = [each for each in mentions if each.file.kind in {"person", "card"}]
    if named:
        return request[named[0].start : named[0].end]
    left = request
    for each in mentions:
        left = left.replace(request[each.start : each.end], " ")
    written = [each for each in word_spans(left) if each.folded not in QUERY_STOP_WORDS | PRESENCE_WORDS]
    capitals = [each.written for each in written if each.written[0].isupper()]
    return " ".join(capitals or [each.written for each in written])


def _search(tools: Sequence[ToolLine], term: str, library: Library) -> PlannedRead | None:
    """Return the call that searches for words; None if no such tool is offered."""
    for tool in tools:
        required = tool.schema.get("required", [])
        if tool.effect == "read" and len(required) == 1 and required[0] in QUERY:
            return PlannedRead(tool=tool.name, args={**library.intents.usual_args(tool.name), required[0]: f'"{term}"'})
    return None


def _read(tools: Sequence[ToolLine], path: str, first: int, last: int | None) -> PlannedRead | None:
    """Return the call that reads lines of a file; None if no such tool is offered."""
    for tool in tools:
        keys = line_keys(tool)
        name = takes_path(tool)
        if name is not None and keys is not None and tool.effect == "read":
            lines = {} if last is None else {keys[0]: max(1, first), keys[1]: last}
            return PlannedRead(tool=tool.name, args={name: path, **lines})
    return None
