"""Validate a section of the configuration, and say whether a wrong value came from the file or the environment."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tallystick.errors import ConfigError

M = TypeVar("M", bound=BaseModel)
_JSON_STARTS = ("[", "{")


class EnvironmentText(str):
    """A value from the environment, with its variable."""

    __slots__ = ("variable",)
    variable: str

    def __new__(cls, text: str, variable: str) -> "EnvironmentText":
        """Make it of the variable's text and name."""
        made = super().__new__(cls, text)
        made.variable = variable
        return made


def read_section(model: type[M], raw: Mapping[str, Any], *, source: str, key: str = "", strict: bool = False) -> M:
    """Validate plain data by a model.

    Values of a file are read as they are written if `strict` is set (`"3"` is no number). Values from the environment
    are always text: they are converted, and a list or table may be written as JSON.

    Args:
        model: The model of the section.
        raw: The data.
        source: The name of the file.
        key: The section's own key, such as `rooms.desk`; empty for the whole configuration.
        strict: Whether to convert no value of the file.

    Raises:
        ConfigError: A key is unknown or a value is invalid; the message names it and where it comes from.
    """
    if strict:
        try:
            exact = model.model_validate_json(json.dumps(raw, default=_plain), strict=True)
        except ValidationError as error:
            wrong = [each for each in _errors(error) if variable_at(raw, each["loc"]) is None]
            if wrong:
                raise _refusal(wrong[0], raw, source, key) from None
        else:
            return exact
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        wrong = _errors(error)
    try:
        return model.model_validate(_with_json(raw, [each["loc"] for each in wrong]))
    except ValidationError as error:
        raise _refusal(_errors(error)[0], raw, source, key) from None


def variable_at(raw: Any, place: Sequence[str | int]) -> str | None:
    """Return the environment variable that set the value at a place; None if the file set it or a part of it."""
    for part in place:
        if isinstance(raw, EnvironmentText):
            return raw.variable
        raw = raw.get(part) if isinstance(raw, Mapping) else None
    variables = list(_variables(raw))
    return variables[0] if variables and None not in variables else None


def _variables(value: Any) -> Iterator[str | None]:
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _variables(inner)
    else:
        yield value.variable if isinstance(value, EnvironmentText) else None


def _with_json(value: Any, places: Sequence[Sequence[str | int]]) -> Any:
    """Return the data with the JSON texts of the environment parsed at these places."""
    if isinstance(value, Mapping):
        below = {name: [place[1:] for place in places if place[:1] == (name,)] for name in value}
        return {name: _with_json(inner, below[name]) for name, inner in value.items()}
    if places and isinstance(value, EnvironmentText) and value.lstrip().startswith(_JSON_STARTS):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def _refusal(wrong: Mapping[str, Any], raw: Mapping[str, Any], source: str, key: str) -> ConfigError:
    variable = variable_at(raw, wrong["loc"])
    where = source if variable is None else f"the environment variable {variable}"
    name = ".".join(filter(None, (key, *(str(part) for part in wrong["loc"]))))
    if wrong["type"] == "extra_forbidden":
        message = f"{where}: unknown key '{name}'. Remove it, or check its spelling."
        return ConfigError(message, code="config_unknown_key")
    advice = " Write a list or a table as JSON." if variable is not None and _is_container(wrong["type"]) else ""
    return ConfigError(f"{where}: '{name}': {wrong['msg']}.{advice}", code="config_bad_value")


def _is_container(kind: str) -> bool:
    return kind in {"tuple_type", "list_type", "set_type", "frozen_set_type", "dict_type", "model_type"}


def _errors(error: ValidationError) -> list[Any]:
    return list(error.errors(include_input=False, include_url=False))


def _plain(value: Any) -> Any:
    return sorted(value) if isinstance(value, set | frozenset) else str(value)
