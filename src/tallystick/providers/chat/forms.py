"""How an endpoint is made to keep to a schema: the forms of `response_format`, best first.

    strict       json_schema in strict mode; the server guarantees the schema
    schema       json_schema unchanged
    object       json_object with the schema next to it; the only form for llama-cpp-python's server
    grammar      a GBNF grammar in the request; older llama.cpp
    json         json_object without a schema
    plain        nothing: the text protocol alone

The gate parses the response equally strictly in every form: a form avoids refused calls, it never admits one.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Literal

import orjson

from tallystick.providers.chat.grammar import grammar_of
from tallystick.providers.chat.strict import Strict, strict_form
from tallystick.records import record

Form = Literal["strict", "schema", "object", "grammar", "json", "plain"]

_HOSTED: tuple[Form, ...] = ("strict", "schema", "object", "json", "plain")
_OWN: tuple[Form, ...] = ("schema", "object", "json", "plain")
_LADDERS: dict[str, tuple[Form, ...]] = {
    "openai": _HOSTED,
    "azure": _HOSTED,
    "gemini": _HOSTED,
    "openrouter": _HOSTED,
    # The messages API has no other forms.
    "anthropic": ("strict", "schema", "plain"),
    # Other servers ignore unknown fields, so an ignored grammar would look as if it worked.
    "llamacpp": ("schema", "object", "grammar", "json", "plain"),
}


@record
class Shaped:
    """The fields that a form adds to a request, and how to convert the response back."""

    form: Form
    fields: Mapping[str, Any]
    """Fields for the request body."""
    strict: Strict | None = None

    def restored(self, text: str) -> str:
        """Remove from the response what only the form required."""
        return text if self.strict is None else self.strict.restored(text)


def ladder(provider: str) -> tuple[Form, ...]:
    """Return the forms to try with a provider, best first."""
    return _LADDERS.get(provider, _OWN)


def shaped(schema: Mapping[str, Any] | None, form: Form) -> Shaped | None:
    """Return the request fields of one form; None if the form cannot express this schema."""
    if schema is None or form == "plain":
        return Shaped(form="plain", fields={})
    if form == "strict":
        strict = _strict_form(orjson.dumps(dict(schema)))
        return None if strict is None else Shaped(form=form, fields=_FIELDS["strict"](strict.schema), strict=strict)
    fields = _FIELDS[form](dict(schema))
    return None if None in fields.values() else Shaped(form=form, fields=fields)


_FIELDS: dict[Form, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "strict": lambda schema: {"response_format": _json_schema(schema, strict=True)},
    "schema": lambda schema: {"response_format": _json_schema(schema, strict=False)},
    "object": lambda schema: {"response_format": {"type": "json_object", "schema": schema}},
    "grammar": lambda schema: {"grammar": grammar_of(schema)},
    "json": lambda _: {"response_format": {"type": "json_object"}},
}


@lru_cache(maxsize=8)
def _strict_form(schema: bytes) -> Strict | None:
    # Retries use the same schema.
    return strict_form(orjson.loads(schema))


def _json_schema(schema: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "step", "schema": schema, "strict": strict}}
