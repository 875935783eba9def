"""The YAML of a front matter: fields without anchors, types, times and old-style numbers, bounded in depth."""

import re
from collections.abc import Iterator
from typing import Any

import yaml

from tallystick.records import record

MAX_DEPTH = 12
"""Lists in lists. Hand-written fields have two or three."""


@record
class Unreadable:
    """Why a block cannot be read as YAML."""

    problem: str
    line: int
    """In the block, from 0."""


def read_fields(text: str) -> dict[Any, Any] | Unreadable:
    """Read a block as the fields it holds."""
    try:
        found: dict[Any, Any] = yaml.load(text, Loader=_Loader)  # noqa: S506 - a SafeLoader that knows even less
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it is no YAML"
        return Unreadable(problem=problem, line=0 if mark is None else mark.line)
    return found


class _Loader(yaml.SafeLoader):
    """YAML without anchors, tags of types, times and old-style numbers; bounded in depth."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - the library's own way

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        """Compose one node, and refuse what only an attack or an accident writes."""
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _problem("it refers to an anchor", event.start_mark)
        if self._depth >= MAX_DEPTH:
            raise _problem("its lists are nested too deep", event.start_mark)
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node

    def get_single_node(self) -> Any:
        """The one document, which must be fields."""
        node = super().get_single_node()
        if node is None:
            return yaml.MappingNode(tag="tag:yaml.org,2002:map", value=[])
        if not isinstance(node, yaml.MappingNode):
            raise _problem("it holds no `name: value` lines", node.start_mark)
        return node

    def construct_mapping(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - the library's
        """One dictionary; a name that is given twice is an error, not a choice."""
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(getattr(key, "value", "")).lower()
            if name in seen:
                raise _problem(f"`{name[:40]}` is given twice", key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def _problem(problem: str, mark: Any) -> yaml.MarkedYAMLError:
    return yaml.constructor.ConstructorError(None, None, problem, mark)


def _resolvers() -> Iterator[tuple[str, re.Pattern[str], list[str]]]:
    yield "tag:yaml.org,2002:bool", re.compile(r"true|True|TRUE|false|False|FALSE"), list("tTfF")
    yield "tag:yaml.org,2002:null", re.compile(r"null|Null|NULL|~|"), ["n", "N", "~", ""]
    yield "tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})"), list("-+0123456789")
    yield "tag:yaml.org,2002:float", re.compile(r"[-+]?(?:0|[1-9][0-9]{0,14})\.[0-9]{1,15}"), list("-+0123456789")


for _tag, _pattern, _first in _resolvers():
    _Loader.add_implicit_resolver(_tag, re.compile(rf"(?:{_pattern.pattern})\Z"), _first)
