"""A JSON Schema, compiled once at registration, asked at every call.

What could hurt later is refused at registration, with a code: a reference that leaves the schema, a circle, a
pattern that the linear engine cannot run, a draft nobody knows. At call time only two questions are left, and both
are answered without fetching, without backtracking and without echoing a value: does it fit, and if not, where.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import jsonschema_rs
import orjson

from tallystick.errors import RegistrationError
from tallystick.gate.admit.misfits import SOME_RULE, Misfit, Misfits, as_pointer
from tallystick.gate.admit.references import check_references
from tallystick.gate.admit.subschemas import Node, located, walk

MAX_SCHEMA_BYTES = 512 * 1024
"""Five times the largest published tool schema seen."""
MAX_SCHEMA_DEPTH = 128

# Without scheme: both spellings are in use.
_DRAFTS: dict[str, type[jsonschema_rs.Validator]] = {
    "json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
}
_DEFAULT_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_KNOWS_UNEVALUATED = (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft201909Validator)
# The regex crate: linear time, no look-around. Nothing is ever fetched: references were checked before, and offline
# holds if one was missed.
_OPTIONS: dict[str, Any] = {
    "validate_formats": True,
    "pattern_options": jsonschema_rs.RegexOptions(),
    "offline": True,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CompiledSchema:
    """A schema that was taken."""

    schema: Node
    """As compiled: a private copy, closed or with patterns left out where `flags` says so."""
    flags: tuple[str, ...] = ()
    """What was left out, e.g. `pattern left out at /properties/name`."""
    accepts: Callable[[Any], bool]
    """Whether a value fits; the validator's own method, since every call asks. The value must be plain JSON."""
    _misfits: Misfits = field(repr=False)

    def explain(self, value: Any) -> tuple[str, str]:
        """Where a value does not fit (JSON pointer) and which rule says so; never what the value was."""
        for path, rule in self._misfits.find(value):
            return as_pointer(path), rule
        return "", SOME_RULE

    def misfits(self, value: Any) -> Iterator[Misfit]:
        """Each place where a value does not fit (as a path), with its rule."""
        return self._misfits.find(value)


def compile_schema(schema: Mapping[str, Any], *, closed: bool, strict: bool = True) -> CompiledSchema:
    """Compile a schema, or say why it cannot be taken.

    Args:
        schema: The schema as published; the draft is the one its `$schema` names, 2020-12 if it names none.
        closed: Refuse properties that the schema does not name (at the top; nested ones stay as written).
        strict: Refuse a pattern the linear engine cannot run; otherwise leave it out and flag it.

    Raises:
        RegistrationError: The code says which rule is broken.
    """
    # The order matters: references are checked on exactly what is compiled, and before it is.
    private = _private_copy(schema)
    draft = _settle_draft(private)
    flags = _check_patterns(private, strict=strict)
    check_references(private)
    if closed:
        _close(private, draft)
    validator = _compile(private, draft)
    misfits = Misfits(private, draft, _OPTIONS, validator)
    return CompiledSchema(schema=private, flags=flags, accepts=validator.is_valid, _misfits=misfits)


def _private_copy(schema: Mapping[str, Any]) -> Node:
    """A copy that nobody else holds: what was checked is what is compiled."""
    if not isinstance(schema, Mapping):
        raise RegistrationError("a schema is a JSON object; write true as {}", code="schema_invalid")
    # Through bytes and back: what is not JSON is found, and no two places share one object.
    try:
        text = orjson.dumps(dict(schema))
    except (TypeError, ValueError) as error:
        raise RegistrationError(
            "the schema is not plain JSON, holds a number beyond 64 bits or nests too deep", code="schema_invalid"
        ) from error
    if len(text) > MAX_SCHEMA_BYTES:
        raise RegistrationError(f"the schema is larger than {MAX_SCHEMA_BYTES} bytes", code="schema_too_large")
    private: Node = orjson.loads(text)
    if _depth(private) > MAX_SCHEMA_DEPTH:
        raise RegistrationError(f"the schema nests deeper than {MAX_SCHEMA_DEPTH}", code="schema_too_deep")
    return private


def _depth(value: Any) -> int:
    """Levels of objects and arrays; the writer above has bounded them already."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def _settle_draft(schema: Node) -> type[jsonschema_rs.Validator]:
    """The draft each `$schema` names; one nobody knows would have to be fetched."""
    for node in walk(schema):
        if "$schema" not in node:
            continue
        plain = str(node["$schema"]).rstrip("#").partition("://")[2]
        # Embedded resources may name a draft of their own; each must be known.
        if plain not in _DRAFTS:
            raise RegistrationError(
                "the schema names a draft we do not know; use https://json-schema.org/draft/2020-12/schema",
                code="schema_draft",
            )
        # http and https are mixed up in the wild; the validator knows one spelling.
        node["$schema"] = f"{'https' if plain.startswith('json-schema.org/draft/') else 'http'}://{plain}"
    return _DRAFTS[str(schema.get("$schema", _DEFAULT_DRAFT)).partition("://")[2]]


def _check_patterns(schema: Node, *, strict: bool) -> tuple[str, ...]:
    """Find the patterns the linear engine cannot run: look-around and back-references."""
    flags: list[str] = []
    for pointer, node in located(schema):
        pattern = node.get("pattern")
        if isinstance(pattern, str) and not _runs(pattern):
            # The flag names the place; the pattern itself is an outsider's text.
            flags.append(f"pattern left out at {pointer or '/'}")
            del node["pattern"]
        by_pattern = node.get("patternProperties")
        for name in list(by_pattern) if isinstance(by_pattern, dict) else ():
            if not _runs(name):
                flags.append(f"patternProperties entry left out at {pointer or '/'}")
                del node["patternProperties"][name]
    if flags and strict:
        raise RegistrationError(
            "a pattern of the schema cannot run in linear time; write it without look-around and back-references",
            code="schema_pattern",
        )
    return tuple(flags)


@lru_cache(maxsize=1024)
def _runs(pattern: str) -> bool:
    """Whether the linear engine takes a pattern; too large a one it refuses as well."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, **_OPTIONS)
    except ValueError:
        return False
    return True


def _close(schema: Node, draft: type[jsonschema_rs.Validator]) -> None:
    """Refuse, at the top, properties that the schema does not name."""
    # Older drafts ignore the keyword, and an ignored lock is worse than none.
    if draft not in _KNOWS_UNEVALUATED:
        raise RegistrationError(
            "a schema of our own is written for draft 2020-12; older drafts cannot be closed", code="schema_draft"
        )
    # Said aloud or not, open is open: `additionalProperties: true` would count every name as evaluated.
    if _is_open(schema.get("additionalProperties")):
        del schema["additionalProperties"]
    # A schema for further properties stays: it is the author's own way of closing.
    if schema.get("additionalProperties") is not False and _is_open(schema.get("unevaluatedProperties", True)):
        schema["unevaluatedProperties"] = False


def _is_open(schema: Any) -> bool:
    # By identity: 1 equals True, but is no schema and must not be taken out unseen.
    return schema is True or schema == {}


def _compile(schema: Node, draft: type[jsonschema_rs.Validator]) -> jsonschema_rs.Validator:
    """Compile, which also checks the schema against its metaschema."""
    try:
        return draft(schema, **_OPTIONS)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        # The message may quote the schema; where it is wrong is enough.
        where = as_pointer(error.instance_path) if isinstance(error, jsonschema_rs.ValidationError) else ""
        raise RegistrationError(
            f"the schema is not valid JSON Schema at {where or '/'}; check it against its draft", code="schema_invalid"
        ) from error
