"""The arguments of a call: found in the request and the workspace, one rule for each kind of parameter of a card."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tallystick.reading.agent.argument_forms import assignee_in, line_in, most_in, tags_in
from tallystick.reading.agent.intents import RequestIntent
from tallystick.reading.agent.names import Mention, NamedFile
from tallystick.records import record
from tallystick.text.stems import stem, stem_all
from tallystick.text.words import QUERY_STOP_WORDS, identifier_words, word_spans

MAX_FILES = 10
_QUOTED = re.compile(r"[\"“”]([^\"“”]{2,200})[\"“”]")
CARDS = frozenset({"card", "person"})
_SCENE_FIRST = ("scene", "outline", "file", "card", "person")
_CARD_FIRST = ("card", "person", "scene", "outline", "file")
_WHOLE_REQUEST = ("user_request", "request", "message", "task", "question")
QUERY = ("search_criteria", "query", "q", "terms", "words", "text", "pattern")


@record
class Subject:
    """What a request is about."""

    request: str
    mentions: Sequence[Mention]
    workspace: Sequence[NamedFile]


def fill_arguments(schema: Mapping[str, Any], intent: RequestIntent, subject: Subject) -> dict[str, Any] | None:
    """Return the arguments of a call; None: a required one is neither in the request nor in the workspace.

    Args:
        schema: Of the tool's arguments.
        intent: What is asked for; its arguments count where the tool has them.
        subject: The request.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    args = {name: value for name, value in intent.args.items() if name in properties}
    for name, property_schema in properties.items():
        if name in args:
            # A value in the request itself takes precedence over that of the nearest example.
            said = _said_by_word(property_schema, identifier_words(name), subject)
            args[name] = args[name] if said is None else said
            continue
        value = _value(name, property_schema, intent, subject)
        if value is not None:
            args[name] = value
    args = {name: value for name, value in args.items() if value != properties[name].get("default", ...)}
    required = schema.get("required", [])
    return args if all(name in args or "default" in properties.get(name, {}) for name in required) else None


def _value(name: str, schema: Mapping[str, Any], intent: RequestIntent, subject: Subject) -> Any:
    parts = identifier_words(name)
    kind = schema.get("type")
    if parts[-1] in {"path", "file", "paths", "files"}:
        paths = _paths(parts, subject)
        if kind == "array":
            least = schema.get("minItems", 0)
            return paths if paths and len(paths) >= least else None
        return paths[0] if paths else None
    if parts == ["tags"]:
        return tags_in(subject.request)
    if kind == "integer":
        return _integer(parts, subject.request)
    if kind == "string" and "enum" not in schema:
        return _text(name, parts, intent, subject)
    return _said_by_word(schema, parts, subject)


def _integer(parts: Sequence[str], request: str) -> int | None:
    if parts[0] == "max":
        return most_in(request)
    return line_in(request, starts=parts[0] in {"start", "first", "from"}) if "line" in parts else None


def _text(name: str, parts: Sequence[str], intent: RequestIntent, subject: Subject) -> str | None:
    if name in _WHOLE_REQUEST:
        return subject.request
    if parts[0] in {"assigned", "assignee"}:
        return assignee_in(subject.request)
    return _matter(intent, subject) if name in QUERY else None


def _said_by_word(schema: Mapping[str, Any], parts: Sequence[str], subject: Subject) -> Any:
    """Return the value of a closed parameter that the request names by its own word."""
    held = set(stem_all([each.folded for each in word_spans(subject.request)]))
    if schema.get("type") == "boolean":
        own = [stem(part) for part in parts if part not in {"include", "with", "use", "is"}]
        said = len(own) == 2 and stem("line") in own and bool(held & {stem("numbered")})  # noqa: PLR2004
        return True if said else None
    if "enum" in schema:
        default = schema.get("default")
        found = [
            each for each in schema["enum"] if isinstance(each, str) and each != default and stem(each.lower()) in held
        ]
        return found[0] if len(found) == 1 else None
    return None


def _paths(parts: Sequence[str], subject: Subject) -> list[str]:
    """Return the files that a request names and that a parameter of this name takes."""
    first = parts[0]
    wanted = {"scene": {"scene"}, "canon": CARDS, "card": CARDS, "outline": {"outline"}}.get(first)
    found = [each for each in subject.mentions if wanted is None or each.file.kind in wanted]
    if wanted is not None:
        # A scene called after a place: the place's card is not meant.
        taken = {(each.start, each.end) for each in subject.mentions if each.file.kind == "scene"}
        meant = [each for each in found if first == "scene" or (each.start, each.end) not in taken]
        return list(dict.fromkeys(each.file.path for each in meant))[:MAX_FILES]
    if parts[-1] in {"paths", "files"}:
        named = list(dict.fromkeys(each.file.path for each in _one_each(subject)))
        return named[:MAX_FILES] if len(named) > 1 else _with_cards(named, subject)
    best = _one_each(subject)
    outline = [each.path for each in subject.workspace if each.kind == "outline"]
    if not best and outline and "outline" in subject.request.lower():
        return outline
    return list(dict.fromkeys(each.file.path for each in best))


def _with_cards(named: list[str], subject: Subject) -> list[str]:
    """Return the scenes, and the card that is named, where a request does not say which files to compare."""
    scenes = [each.path for each in subject.workspace if each.kind == "scene"]
    cards = [each.path for each in subject.workspace if each.kind in CARDS]
    return list(dict.fromkeys([*named, *scenes, *cards]))[:MAX_FILES]


def _one_each(subject: Subject) -> list[Mention]:
    """Return one file for each place of a request that names any: a scene before a card, unless a card is asked for."""
    by_place: dict[tuple[int, int], list[Mention]] = {}
    for each in subject.mentions:
        by_place.setdefault((each.start, each.end), []).append(each)
    found: list[Mention] = []
    for (start, end), candidates in by_place.items():
        near = subject.request[max(0, start - 12) : end + 24].lower()
        wants_card = re.search(r"\b(?:card|character|location|glossary)\b", near) is not None
        order = (
            ("card", "person", "scene", "outline", "file")
            if wants_card
            else ("scene", "outline", "file", "card", "person")
        )
        if len({each.file.path for each in candidates if each.exact and each.file.kind == "scene"}) > 1:
            found += candidates
            continue
        found.append(min(candidates, key=lambda each: (order.index(each.file.kind), not each.exact)))
    scenes = [each for each in found if each.file.kind not in CARDS]
    people_only = [each for each in found if each.file.kind in CARDS and not each.exact]
    return [each for each in found if each not in people_only] if scenes and people_only else found


def _matter(intent: RequestIntent, subject: Subject) -> str | None:
    """Return the words that a request is about: what is quoted; else what is not said by the examples of the intent."""
    quoted = [f'"{each}"' for each in _QUOTED.findall(subject.request)]
    if quoted:
        return " ".join(quoted)
    words = [
        each for each in word_spans(subject.request) if each.folded not in QUERY_STOP_WORDS and len(each.folded) > 1
    ]
    telling = [
        each.written.removesuffix("'s") for each in words if not intent.carriers.issuperset(stem_all([each.folded]))
    ]
    return " ".join(telling or [each.written for each in words]) or None
