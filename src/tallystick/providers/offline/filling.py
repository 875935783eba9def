"""Arguments from a schema: what each one asks for, and where the request names it.

An argument is filled only from what the user named, from the schema's own default, or, for tools that only read, from
a typed field of a result (an id under the same name, a path). Free text of a result fills nothing. What cannot be
found stays out; a required one that cannot be found is reported, never made up.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson

from tallystick.errors import RegistrationError
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.providers.offline.kinds import (
    ID_KEYS,
    REQUEST_KEYS,
    kind_of,
    mapping,
    properties_of,
    required_of,
    spaced,
)
from tallystick.providers.offline.prompt import ToolLine
from tallystick.providers.offline.wish import Wish
from tallystick.providers.offline.words import stems_of
from tallystick.records import record
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

MAX_QUERY = 600
"""Characters of a search that is made from a request."""
_MISSING = object()
_DIGITS = r"[-+]?\d[\d,]{0,18}(?:\.\d{1,9})?"
_DEEP = frozenset({"deep", "full", "all", "content", "contents", "thorough"})


@record
class Filled:
    """Arguments for a call, or what is missing for one."""

    args: dict[str, Any]
    missing: tuple[str, ...] = ()

    @property
    def key(self) -> bytes:
        """The arguments as bytes, to see whether a call was made already."""
        return orjson.dumps(self.args, option=orjson.OPT_SORT_KEYS)


@record
class Needs:
    """What a call can be filled from."""

    wish: Wish
    fields: Mapping[str, tuple[str, ...]]
    """Typed fields of results, by name; empty for tools that do more than read."""
    used: frozenset[str] = frozenset()
    """Values that this tool was called with already: the next of several is wanted."""
    query: str = ""
    """What to search for."""


def fill(tool: ToolLine, needs: Needs) -> Filled:
    """Fill a tool's arguments as far as they can be filled."""
    properties = properties_of(tool)
    required = required_of(tool)
    args: dict[str, Any] = {}
    missing: list[str] = []
    for name, schema in properties.items():
        value = _value(name, schema, needs, required=name in required)
        if value is not _MISSING:
            args[name] = value
        elif name in required:
            missing.append(name)
    missing += [name for name in required if name not in properties]
    filled = Filled(args=_not_twice(args, required), missing=tuple(missing))
    return filled if missing else _fitting(tool, filled, required)


def _not_twice(args: dict[str, Any], required: Iterable[str]) -> dict[str, Any]:
    """Without optional paths that a required argument has already: a scene is not checked against itself."""
    taken = {args[name] for name in required if isinstance(args.get(name), str) and {"/", "."} & set(args[name])}
    kept: dict[str, Any] = {}
    for name, value in args.items():
        rest = [one for one in value if one not in taken] if isinstance(value, list) and name not in required else value
        if rest != [] and not (name not in required and isinstance(value, str) and value in taken):
            kept[name] = rest
    return kept


def admits(tool: ToolLine, args: Mapping[str, Any]) -> bool:
    """Whether the tool's schema takes these arguments."""
    check = _compiled(orjson.dumps(tool.schema))
    return check is None or check.accepts(dict(args))


def _value(name: str, schema: Mapping[str, Any], needs: Needs, *, required: bool) -> Any:
    kind = kind_of(name, schema)
    if kind == "enum":
        found = _enum(name, schema, needs.wish)
    elif kind == "boolean":
        found = _boolean(name, needs.wish, required=required and "default" not in schema)
    elif kind in {"integer", "number"}:
        found = _number(name, needs.wish, whole=kind == "integer", required=required)
    elif kind == "array":
        found = _array(name, schema, needs, required=required)
    elif kind == "object":
        found = _object(schema, needs) if required else _MISSING
    else:
        found = _text(name, kind, schema, needs, required=required)
    if found is _MISSING and required and "default" in schema:
        return schema["default"]
    return found


def _enum(name: str, schema: Mapping[str, Any], wish: Wish) -> Any:
    values = list(schema.get("enum") or ([schema["const"]] if "const" in schema else ()))
    stems = set(stems_of(wish.text))
    fitting = [
        value for value in values if isinstance(value, str) and set(map(stem, identifier_words(spaced(value)))) & stems
    ]
    if fitting:
        return fitting[0]
    # A request names what it is after, not how hard to look; without a path, the text itself has to be searched.
    scanning = {"scan", "mode", "depth"} & set(identifier_words(spaced(name)))
    deep = [value for value in values if isinstance(value, str) and _DEEP & set(identifier_words(spaced(value)))]
    if scanning and deep and not wish.globs:
        return deep[0]
    return values[0] if len(values) == 1 else _MISSING


def _boolean(name: str, wish: Wish, *, required: bool) -> Any:
    words = identifier_words(spaced(name))
    if words == ["dry", "run"]:
        return True if wish.dry_run else False if required else _MISSING
    if "glob" in " ".join(words):
        return True if wish.globs else False if required else _MISSING
    asked = set(stems_of(wish.text))
    if words and all(stem(word) in asked for word in words):
        return True
    return False if required else _MISSING


def _number(name: str, wish: Wish, *, whole: bool, required: bool) -> Any:
    words = identifier_words(spaced(name))
    if wish.lines is not None and "line" in words:
        return wish.lines["end" in words or "to" in words or "last" in words]
    nouns = [word for word in words if word not in ID_KEYS]
    named = _after_key(words, wish.text, _DIGITS) or (_after_key(nouns, wish.text, _DIGITS) if nouns != words else None)
    # A number that stands beside no name may be anything's; what is optional, or one thing's own, is not made of it.
    is_own = nouns != words and bool(nouns)
    if named is None and required and not is_own and "line" not in words and not _is_setting(words):
        named = next((number for number in wish.numbers if not (whole and "." in number)), None)
    if named is None:
        return _MISSING
    plain = named.replace(",", "")
    return int(plain) if "." not in plain else _MISSING if whole else float(plain)


def _is_setting(words: Iterable[str]) -> bool:
    """`max_results`, `page_size`: how a tool works, not what it works on."""
    return bool({"max", "min", "limit", "size", "page", "offset", "top", "k", "timeout", "depth", "count"} & set(words))


def _array(name: str, schema: Mapping[str, Any], needs: Needs, *, required: bool) -> Any:
    items = mapping(schema.get("items"))
    kind = kind_of(name.removesuffix("s"), items)
    if kind == "enum":
        one = _enum(name, items, needs.wish)
        return _MISSING if one is _MISSING else [one]
    if kind in {"integer", "number"}:
        numbers = [float(number) if "." in number else int(number) for number in needs.wish.numbers]
        return numbers if numbers and required else _MISSING
    # What a result names may be looked at; it narrows no check that the user left open.
    named = needs if required else replace(needs, fields={})
    values = _candidates(name, kind, named) if required or kind in {"path", "id", "email"} else []
    most = schema.get("maxItems")
    return values[: most if isinstance(most, int) else None] or _MISSING


def _object(schema: Mapping[str, Any], needs: Needs) -> Any:
    inner = fill(ToolLine(name="", description="", effect="read", schema=dict(schema)), needs)
    return _MISSING if inner.missing else inner.args


def _text(name: str, kind: str, schema: Mapping[str, Any], needs: Needs, *, required: bool) -> Any:
    pattern = schema.get("pattern")
    if isinstance(pattern, str):
        fitting = [token for token in _tokens(needs.wish) if _fits(pattern, token) and token not in needs.used]
        return fitting[0] if fitting else _MISSING
    if not required and kind in {"query", "name"}:
        # What is optional must be named: `subject`, `name` could otherwise be anything.
        named = _after_key(identifier_words(spaced(name)), needs.wish.text, None)
        return _MISSING if named is None else named
    values = [value for value in _candidates(name, kind, needs) if value not in needs.used]
    if not required and kind in {"text", "date", "id"}:
        return (
            _MISSING if (named := _after_key(identifier_words(spaced(name)), needs.wish.text, None)) is None else named
        )
    return values[0] if values else _MISSING


def _candidates(name: str, kind: str, needs: Needs) -> list[str]:
    """Everything that could be meant, the likeliest first."""
    wish, words = needs.wish, identifier_words(spaced(name))
    if kind == "query":
        return [wish.text.strip()[:MAX_QUERY]] if REQUEST_KEYS & set(words) else [needs.query] if needs.query else []
    found = {
        "path": wish.paths,
        "email": wish.emails,
        "uri": wish.urls,
        "date": wish.dates,
        "id": (),
        "name": (*_named_by_key(words, wish), *wish.names, *wish.quoted),
        "text": (*_named_by_key(words, wish), *wish.quoted),
    }[kind]
    if kind == "id":
        near, others = _ids(words, wish)
        # An id that stands beside another noun is that one's; a result may hold the right one under its name.
        return list(dict.fromkeys([*near, *needs.fields.get(name, ()), *others]))
    return list(dict.fromkeys([*found, *(needs.fields.get("path", ()) if kind == "path" else ())]))


def _ids(words: list[str], wish: Wish) -> tuple[list[str], list[str]]:
    """Ids that stand beside the argument's noun (`order A-17` for `order_id`), and all others."""
    nouns = [word for word in words if word not in ID_KEYS]
    near = _after_key(nouns, wish.text, r"#?[\w-]{0,60}\d[\w-]{0,60}") if nouns else None
    others = wish.ids or wish.numbers
    return [near.removeprefix("#")] if near else [], [one.removeprefix("#") for one in others]


def _named_by_key(words: list[str], wish: Wish) -> list[str]:
    named = _after_key([word for word in words if word not in {"name", "text", "value"}] or words, wish.text, None)
    return [] if named is None else [named]


def _after_key(words: list[str], text: str, value: str | None) -> str | None:
    """What stands after an argument's name in the request: `subject: "Hello"`, `order A-17`, `priority is high`."""
    if not words:
        return None
    key = r"[ _-]?".join(map(re.escape, words))
    ending = r"(?:id|number|no\.?|#)?"
    wanted = value or r"(?:\"[^\"\n]{1,300}\"|“[^”\n]{1,300}”|'[^'\n]{1,300}'|[\w@.+/-]{1,120})"
    joint = r"[ ]?(?:=|:|\bis\b|\bto\b|\bof\b)[ ]?" if value is None else r"[ ]?(?:=|:|\bis\b|\bto\b|\bof\b)?[ ]?"
    found = re.search(rf"\b{key}s?\b[ ]?{ending}{joint}({wanted})", text, re.IGNORECASE)
    quoted = None
    if found is None and value is None:
        quoted = re.search(rf"\b{key}\b[ ]?[\"“']([^\"”'\n]{{1,300}})[\"”']", text, re.IGNORECASE)
    match = found or quoted
    return match.group(1).strip("\"“”'").rstrip(".,;") or None if match else None


def _tokens(wish: Wish) -> list[str]:
    bare = [token.strip("\"'`“”()[]{}<>,;:!?.") for token in wish.text.split()]
    return [*wish.quoted, *wish.ids, *(token for token in bare if token)]


def _fits(pattern: str, token: str) -> bool:
    # Through the schema engine, which no pattern makes slow.
    check = _compiled(orjson.dumps({"type": "object", "properties": {"v": {"pattern": pattern}}}))
    return check is not None and check.accepts({"v": token})


def _fitting(tool: ToolLine, filled: Filled, required: list[str]) -> Filled:
    """The arguments if the schema admits them; else without the optional ones; else what was asked for is missing."""
    if admits(tool, filled.args):
        return filled
    bare = Filled(args={name: filled.args[name] for name in required if name in filled.args})
    return bare if admits(tool, bare.args) else Filled(args=bare.args, missing=tuple(required) or ("arguments",))


@lru_cache(maxsize=256)
def _compiled(schema: bytes) -> CompiledSchema | None:
    try:
        return compile_schema(orjson.loads(schema), closed=False, strict=False)
    except RegistrationError:
        return None
