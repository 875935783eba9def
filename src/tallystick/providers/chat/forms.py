"""How an endpoint is made to keep to a schema: the forms of `response_format`, best first.

    strict       json_schema in the strict form; the server promises to keep to it
    schema       json_schema as it is
    object       json_object with the schema beside it; llama-cpp-python's server takes only this
    grammar      a GBNF grammar beside the request; older llama.cpp
    json         json_object without a schema
    plain        nothing: the text protocol alone

Whatever the form, the gate reads the answer as strictly: a form saves refused calls, it admits none.
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
    "openrouter": _HOSTED,
    # The others pass over a field they do not know, and a grammar that is passed over looks like one that works.
    "llamacpp": ("schema", "object", "grammar", "json", "plain"),
}


@record
class Shaped:
    """What is added to a request so that its answer fits, and how the answer is read back."""

    form: Form
    fields: Mapping[str, Any]
    """For the body of the request."""
    strict: Strict | None = None

    def restored(self, text: str) -> str:
        """The answer without what only the form made the model write."""
        return text if self.strict is None else self.strict.restored(text)


def ladder(provider: str) -> tuple[Form, ...]:
    """The forms to try with a provider, best first."""
    return _LADDERS.get(provider, _OWN)


def shaped(schema: Mapping[str, Any] | None, form: Form) -> Shaped | None:
    """A request's additions in one form; None where this schema cannot be told in it."""
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
    # Asking again after a refusal or a failure is asking with the same schema.
    return strict_form(orjson.loads(schema))


def _json_schema(schema: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "step", "schema": schema, "strict": strict}}
