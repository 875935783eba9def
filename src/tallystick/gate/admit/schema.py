"""JSON Schemas, compiled once at registration and used to validate every call.

Registration rejects unsafe schemas with a code: external references, endless reference cycles, patterns that the
linear-time regex engine does not support, unknown drafts. A call then only checks whether a value is valid and, if not,
where the violation is; both checks fetch nothing, do not backtrack and never include the value in their result.
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
"""Five times the size of the largest published tool schema seen."""
MAX_SCHEMA_DEPTH = 128

# Without the URI scheme, since both http and https are in use.
_DRAFTS: dict[str, type[jsonschema_rs.Validator]] = {
    "json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
}
_DEFAULT_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_KNOWS_UNEVALUATED = (jsonschema_rs.Draft202012Validator, jsonschema_rs.Draft201909Validator)
# `RegexOptions` selects the linear-time Rust regex crate (no look-around). `offline` blocks fetching even if the
# reference check missed a reference.
_OPTIONS: dict[str, Any] = {
    "validate_formats": True,
    "pattern_options": jsonschema_rs.RegexOptions(),
    "offline": True,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class CompiledSchema:
    """A schema that passed the registration checks, with its validator."""

    schema: Node
    """The schema as compiled: a private copy, possibly closed, and without the patterns that `flags` lists."""
    flags: tuple[str, ...] = ()
    """The parts that were left out, e.g. `pattern left out at /properties/name`."""
    accepts: Callable[[Any], bool]
    """Whether a value, which must be plain JSON, is valid; the validator's own method, for speed."""
    _misfits: Misfits = field(repr=False)

    def explain(self, value: Any) -> tuple[str, str]:
        """Return the JSON pointer and the rule of the first violation; never the value itself."""
        for path, rule in self._misfits.find(value):
            return as_pointer(path), rule
        return "", SOME_RULE

    def misfits(self, value: Any) -> Iterator[Misfit]:
        """Yield the path and the rule of each violation."""
        return self._misfits.find(value)


def compile_schema(schema: Mapping[str, Any], *, closed: bool, strict: bool = True) -> CompiledSchema:
    """Compile a schema after checking that it is safe.

    Args:
        schema: The schema as published; its draft is the one named by `$schema`, 2020-12 by default.
        closed: Reject properties that the schema does not name (at the top level; nested ones stay as written).
        strict: Reject a pattern that the linear-time engine does not support; otherwise leave it out and flag it.

    Raises:
        RegistrationError: The code names the violated rule.
    """
    # The order matters: references must be checked after patterns are removed, and before the schema is compiled.
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
    """Return a private copy, so that the schema cannot change between check and compilation."""
    if not isinstance(schema, Mapping):
        raise RegistrationError(
            "a schema must be a JSON object; use {} instead of the boolean schema true", code="schema_invalid"
        )
    # A round trip through bytes detects non-JSON values and duplicates objects that occur in two places.
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
    """Return the nesting depth of objects and arrays; serialization has already bounded the recursion."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, list):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)


def _settle_draft(schema: Node) -> type[jsonschema_rs.Validator]:
    """Normalise every `$schema` and return the validator class of the root; reject unknown drafts.

    The validator would have to fetch an unknown draft.
    """
    for node in walk(schema):
        if "$schema" not in node:
            continue
        plain = str(node["$schema"]).rstrip("#").partition("://")[2]
        # Embedded resources may name their own draft; each must be known.
        if plain not in _DRAFTS:
            raise RegistrationError(
                "the schema names a draft we do not know; use https://json-schema.org/draft/2020-12/schema",
                code="schema_draft",
            )
        # Published schemas confuse http and https; the validator accepts only one of them for each draft.
        node["$schema"] = f"{'https' if plain.startswith('json-schema.org/draft/') else 'http'}://{plain}"
    return _DRAFTS[str(schema.get("$schema", _DEFAULT_DRAFT)).partition("://")[2]]


def _check_patterns(schema: Node, *, strict: bool) -> tuple[str, ...]:
    """Remove and flag patterns that the linear-time engine does not support (look-around, back-references).

    With `strict`, reject the schema instead.
    """
    flags: list[str] = []
    for pointer, node in located(schema):
        pattern = node.get("pattern")
        if isinstance(pattern, str) and not _runs(pattern):
            # The flag contains only the location; the pattern is untrusted text.
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
    """Whether the linear-time engine accepts a pattern; it also rejects patterns that are too large."""
    try:
        jsonschema_rs.Draft202012Validator({"pattern": pattern}, **_OPTIONS)
    except ValueError:
        return False
    return True


def _close(schema: Node, draft: type[jsonschema_rs.Validator]) -> None:
    """Make the schema reject properties that it does not name, at the top level."""
    # Older drafts would silently ignore `unevaluatedProperties`.
    if draft not in _KNOWS_UNEVALUATED:
        raise RegistrationError(
            "a local tool's schema must use draft 2019-09 or 2020-12; older drafts cannot reject unknown properties",
            code="schema_draft",
        )
    # Remove an explicit `additionalProperties: true`: it would mark every name as evaluated.
    if _is_open(schema.get("additionalProperties")):
        del schema["additionalProperties"]
    # Keep a schema for additional properties: the author uses it to restrict them.
    if schema.get("additionalProperties") is not False and _is_open(schema.get("unevaluatedProperties", True)):
        schema["unevaluatedProperties"] = False


def _is_open(schema: Any) -> bool:
    # By identity: 1 equals True but is not a schema, and must not be removed before the metaschema check.
    return schema is True or schema == {}


def _compile(schema: Node, draft: type[jsonschema_rs.Validator]) -> jsonschema_rs.Validator:
    """Compile the schema, which also validates it against its metaschema."""
    try:
        return draft(schema, **_OPTIONS)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        # The validator's message may quote the schema, so report only the location.
        where = as_pointer(error.instance_path) if isinstance(error, jsonschema_rs.ValidationError) else ""
        raise RegistrationError(
            f"the schema is not valid JSON Schema at {where or '/'}; check it against its draft", code="schema_invalid"
        ) from error
