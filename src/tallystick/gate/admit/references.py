"""References of a schema, checked before any validator sees it.

A validator follows references as it compiles, over the network if it must, and some references lead nowhere: round
in a circle without looking at any data, or into more branches than can ever be tried. So, in this order:

1. every subschema is indexed under its base URI, with its anchors;
2. every `$ref` must point into the schema itself or to a metaschema that ships with the validator;
3. a circle of references must pass through a property or an item, so that each round eats some of the data;
4. the branches are counted as a validator would walk them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from tallystick.errors import RegistrationError
from tallystick.gate.admit.subschemas import Node, at_pointer, subschemas, walk

MAX_BRANCHES = 100_000
"""Subschemas tried for one value at the most: about 2 ms of work, and far above any honest schema."""

MAX_CHAIN = 200
"""Subschemas that lead to each other in a row: validators walk them by recursion."""

BUNDLED = ("http://json-schema.org/draft-", "https://json-schema.org/draft/")
"""Metaschemas that ship with the validator; a reference to one fetches nothing."""

_IN_PLACE = frozenset({"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"})
_STORES = frozenset({"$defs", "definitions"})
_ANYTHING: Node = {}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """What a schema costs to walk."""

    recursive: bool
    """It refers to itself, or to a metaschema."""
    branches: int


@dataclass(frozen=True, slots=True)
class _Index:
    id_keyword: str
    ref_hides: bool
    resources: dict[str, Node] = field(default_factory=dict[str, Node])
    anchors: dict[tuple[str, str], Node] = field(default_factory=dict[tuple[str, str], Node])
    dynamic: dict[str, list[Node]] = field(default_factory=dict[str, list[Node]])
    bases: dict[int, str] = field(default_factory=dict[int, str])
    """Base URI of each subschema, by identity."""


def check_references(schema: Node) -> Shape:
    """Refuse a schema whose references leave it, lead nowhere, or never end.

    Args:
        schema: A private copy, in which no two places share one object.

    Raises:
        RegistrationError: The code says which rule is broken.
    """
    draft = str(schema.get("$schema", ""))
    index = _Index("id" if "draft-04" in draft else "$id", ref_hides="/draft-0" in draft)
    index.resources[""] = schema
    _read_in(index, schema, "")
    edges = _resolve_all(index)
    circles = _Circles(edges)
    for resource in list(index.resources.values()):
        for node in walk(resource):
            circles.visit(node)
    counter = _Counter(edges)
    branches, _ = counter.count(schema)
    return Shape(recursive=counter.recursive, branches=branches)


def _read_in(index: _Index, node: Node, base: str) -> None:
    """Step 1: bases and anchors."""
    if id(node) in index.bases:
        return
    own = node.get(index.id_keyword)
    # Up to draft 7 a reference hides everything beside it.
    if isinstance(own, str) and not (index.ref_hides and "$ref" in node):
        uri, anchor = urldefrag(own)
        base = _join(base, uri)
        index.resources.setdefault(base, node)
        if anchor:
            index.anchors[base, anchor] = node
    index.bases[id(node)] = base
    _read_anchors(index, node, base)
    for _, _, child in subschemas(node):
        _read_in(index, child, base)


def _read_anchors(index: _Index, node: Node, base: str) -> None:
    for keyword in ("$anchor", "$dynamicAnchor"):
        if isinstance(node.get(keyword), str):
            index.anchors[base, node[keyword]] = node
    if isinstance(node.get("$dynamicAnchor"), str):
        index.dynamic.setdefault(node["$dynamicAnchor"], []).append(node)
    if node.get("$recursiveAnchor") is True:
        index.dynamic.setdefault("", []).append(node)


def _resolve_all(index: _Index) -> dict[int, list[Node]]:
    """Step 2: the targets of each subschema's references, by identity."""
    edges: dict[int, list[Node]] = {}
    waiting = list(index.resources.values())
    seen: set[int] = set()
    while waiting:
        for node in walk(waiting.pop()):
            if id(node) in seen:
                continue
            seen.add(id(node))
            targets = list(_targets(index, node))
            if targets:
                edges[id(node)] = targets
                # A pointer may lead into a place that is no subschema by itself; then it is one now.
                waiting.extend(target for target in targets if id(target) not in seen)
    return edges


def _targets(index: _Index, node: Node) -> Iterator[Node]:
    for keyword in _REFERENCES:
        reference = node.get(keyword)
        if not isinstance(reference, str):
            continue
        target = _resolve(index, reference, index.bases[id(node)])
        if target is not None:
            yield target
        if keyword != "$ref":
            # Which one is meant depends on the way taken, so each one that could be is looked at.
            yield from index.dynamic.get(reference.partition("#")[2], [])


def _resolve(index: _Index, reference: str, base: str) -> Node | None:
    """The subschema a reference means; None for a bundled metaschema."""
    uri, _, fragment = reference.partition("#")
    uri = _join(base, uri)
    root = index.resources.get(uri)
    if root is None:
        if uri.startswith(BUNDLED):
            return None
        raise RegistrationError(
            "the schema refers to something outside itself; put what it needs under $defs", code="schema_remote_ref"
        )
    fragment = unquote(fragment)
    target: Any = index.anchors.get((uri, fragment)) if fragment[:1] not in {"", "/"} else at_pointer(root, fragment)
    if isinstance(target, dict):
        _read_in(index, target, uri)
        return target
    if isinstance(target, bool):
        return _ANYTHING
    raise RegistrationError(
        "a reference of the schema leads nowhere; check the name after '#'", code="schema_dangling_ref"
    )


def _join(base: str, reference: str) -> str:
    if not reference:
        return base
    return reference if ":" in reference.partition("/")[0] else urljoin(base, reference)


class _Circles:
    """Step 3: no subschema may lead back to itself while the same value is looked at."""

    def __init__(self, edges: dict[int, list[Node]]) -> None:
        self._edges = edges
        self._done: set[int] = set()
        self._open: set[int] = set()

    def visit(self, node: Node) -> None:
        key = id(node)
        if key in self._done:
            return
        if key in self._open:
            raise RegistrationError(
                "references of the schema go round in a circle without looking at any data; "
                "let the circle pass through a property or an item",
                code="schema_ref_cycle",
            )
        if len(self._open) >= MAX_CHAIN:
            raise _too_complex()
        self._open.add(key)
        in_place = [child for keyword, _, child in subschemas(node) if keyword in _IN_PLACE]
        for child in in_place + self._edges.get(key, []):
            self.visit(child)
        self._open.discard(key)
        self._done.add(key)


class _Counter:
    """Step 4: each way through the schema; a circle ends where it meets itself."""

    def __init__(self, edges: dict[int, list[Node]]) -> None:
        self._edges = edges
        self._done: dict[int, tuple[int, int]] = {}
        self._open: set[int] = set()
        self.recursive = False

    def count(self, node: Node) -> tuple[int, int]:
        """Branches and the longest chain below a subschema."""
        key = id(node)
        if key in self._open:
            self.recursive = True
            return 1, 0
        if key not in self._done:
            if len(self._open) >= MAX_CHAIN:
                raise _too_complex()
            self._open.add(key)
            self._done[key] = self._count_below(node)
            self._open.discard(key)
        return self._done[key]

    def _count_below(self, node: Node) -> tuple[int, int]:
        branches, chain = 1, 0
        targets = self._edges.get(id(node), [])
        # A reference without a target of ours is one to a metaschema, and those refer to themselves.
        self.recursive |= not targets and any(isinstance(node.get(keyword), str) for keyword in _REFERENCES)
        below = [child for keyword, _, child in subschemas(node) if keyword not in _STORES]
        for child in below + targets:
            more, longer = self.count(child)
            branches, chain = branches + more, max(chain, longer + 1)
        if branches > MAX_BRANCHES or chain > MAX_CHAIN:
            raise _too_complex()
        return branches, chain


def _too_complex() -> RegistrationError:
    return RegistrationError(
        f"the schema branches into more than {MAX_BRANCHES} ways or chains more than {MAX_CHAIN} parts; "
        "name shared parts less often",
        code="schema_too_complex",
    )
