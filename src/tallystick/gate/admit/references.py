"""References of a schema, checked before any validator sees it.

A validator follows references as it compiles, over the network if it must, and some references lead nowhere: round
in a circle without looking at any data, or into more branches than can ever be tried. So, in this order:

1. every subschema is indexed under its base URI, with its anchors;
2. every `$ref` must point into the schema itself or to a metaschema that ships with the validator;
3. a circle of references must pass through a property or an item, so that each round eats some of the data;
4. the ways through it are counted as a validator would walk them.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from tallystick.errors import RegistrationError
from tallystick.gate.admit.subschemas import Node, at_pointer, subschemas, walk

MAX_WAYS = 10_000
"""Subschemas tried on one value and what leads to it, at the most: about a millisecond, far above honest schemas."""
MAX_CHAIN = 200
"""Subschemas that lead to each other in a row: validators walk them by recursion."""

BUNDLED = ("http://json-schema.org/draft-", "https://json-schema.org/draft/")
"""Metaschemas that ship with the validator; a reference to one fetches nothing."""

# Keywords whose subschemas look at the same value as the schema they stand in.
_IN_PLACE = frozenset({"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"})
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_ASKED_AGAIN = 3
"""What is left unevaluated is found by asking all that stands beside it again (measured: 2.9 times)."""
# Kept for others to refer to; by themselves they look at nothing.
_STORES = frozenset({"$defs", "definitions"})
# What a reference to `true` or `false` leads to: nothing further to look at.
_ANYTHING: Node = {}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True)
class _Index:
    """What can be referred to, and from where."""

    id_keyword: str
    """`id` in draft 4, `$id` since."""
    ref_hides: bool
    """Up to draft 7 a reference hides everything beside it, an id too."""
    resources: dict[str, Node] = field(default_factory=dict[str, Node])
    """Schemas with a URI of their own; the whole stands under its id and under no name."""
    anchors: dict[tuple[str, str], Node] = field(default_factory=dict[tuple[str, str], Node])
    """By base URI and name: one name may stand once in each resource."""
    dynamic: dict[str, list[Node]] = field(default_factory=dict[str, list[Node]])
    bases: dict[int, str] = field(default_factory=dict[int, str])
    """Base URI of each subschema, by identity."""


def check_references(schema: Node) -> None:
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
    # From every part, since a circle may lie where no way from the top leads.
    circles = _Circles(edges)
    for resource in list(index.resources.values()):
        for node in walk(resource):
            circles.visit(node)
    _Scale(edges).weigh(schema)


def _read_in(index: _Index, node: Node, base: str) -> None:
    """Step 1: bases and anchors."""
    if id(node) in index.bases:
        return
    own = node.get(index.id_keyword)
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
    """Names for a subschema. A dynamic one is noted twice, since it can be meant from anywhere."""
    for keyword in ("$anchor", "$dynamicAnchor"):
        if isinstance(node.get(keyword), str):
            index.anchors[base, node[keyword]] = node
    if isinstance(node.get("$dynamicAnchor"), str):
        index.dynamic.setdefault(node["$dynamicAnchor"], []).append(node)
    # Draft 2019-09 had one dynamic anchor, without a name.
    if node.get("$recursiveAnchor") is True:
        index.dynamic.setdefault("", []).append(node)


def _resolve_all(index: _Index) -> dict[int, list[Node]]:
    """Step 2: the targets of each subschema's references, by identity."""
    edges: dict[int, list[Node]] = {}
    # The unused parts too: what nobody refers to today may be compiled all the same.
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
    """What the references of one subschema can mean."""
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
    # What is not in the index would be fetched: over the network, or from this machine's files.
    if root is None:
        if uri.startswith(BUNDLED):
            return None
        raise RegistrationError(
            "the schema refers to something outside itself; put what it needs under $defs", code="schema_remote_ref"
        )
    # A fragment is a JSON pointer, percent-encoded as part of a URI, or the name of an anchor.
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
    """A reference made absolute. What cannot be is left as it is, and then found nowhere."""
    if not reference:
        return base
    if ":" in reference.partition("/")[0]:
        return reference
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


class _Circles:
    """Step 3: no subschema may lead back to itself while the same value is looked at."""

    def __init__(self, edges: dict[int, list[Node]]) -> None:
        self._edges = edges
        self._done: set[int] = set()
        self._open: set[int] = set()

    def visit(self, node: Node) -> None:
        """Go down without leaving the value; who comes back to where it is open goes in a circle."""
        key = id(node)
        if key in self._done:
            return
        if key in self._open:
            raise RegistrationError(
                "references of the schema go round in a circle without looking at any data; "
                "let the circle pass through a property or an item",
                code="schema_ref_cycle",
            )
        # Counted before going deeper: this walk is a recursion, too.
        if len(self._open) >= MAX_CHAIN:
            raise _too_complex()
        self._open.add(key)
        in_place = [child for keyword, _, child in subschemas(node) if keyword in _IN_PLACE]
        for child in in_place + self._edges.get(key, []):
            self.visit(child)
        self._open.discard(key)
        self._done.add(key)


class _Weight(NamedTuple):
    """What lies below a subschema."""

    ways: int
    chain: int


class _Scale:
    """Step 4: each way through the schema; a circle ends where it meets itself."""

    def __init__(self, edges: dict[int, list[Node]]) -> None:
        self._edges = edges
        self._done: dict[int, _Weight] = {}
        self._open: set[int] = set()

    def weigh(self, node: Node) -> _Weight:
        """What lies below a subschema, each worked out once."""
        key = id(node)
        if key in self._open:
            # Measured: recursion is no problem, only parts that are named again and again without it.
            # Validators remember what they know about a value here, so a circle costs no more than a step.
            return _Weight(1, 0)
        if key not in self._done:
            if len(self._open) >= MAX_CHAIN:
                raise _too_complex()
            self._open.add(key)
            self._done[key] = self._add_up(node)
            self._open.discard(key)
        return self._done[key]

    def _add_up(self, node: Node) -> _Weight:
        """Branches that look at the same value add up; of the properties, each value meets only one."""
        targets = self._edges.get(id(node), [])
        below = [(keyword, self.weigh(child)) for keyword, _, child in subschemas(node) if keyword not in _STORES]
        below += [("$ref", self.weigh(target)) for target in targets]
        in_place = sum(weight.ways for keyword, weight in below if keyword in _IN_PLACE or keyword == "$ref")
        named = max((weight.ways for keyword, weight in below if keyword == "properties"), default=0)
        others = sum(weight.ways for keyword, weight in below if keyword not in _IN_PLACE | {"$ref", "properties"})
        weight = _Weight(
            ways=1 + in_place * (_ASKED_AGAIN if node.keys() & _UNEVALUATED else 1) + named + others,
            chain=max((1 + weight.chain for _, weight in below), default=0),
        )
        if weight.ways > MAX_WAYS or weight.chain > MAX_CHAIN:
            raise _too_complex()
        return weight


def _too_complex() -> RegistrationError:
    """The error of steps 3 and 4; an upstream server can be told to, or be left out."""
    return RegistrationError(
        f"the schema tries more than {MAX_WAYS} parts on one value or chains more than {MAX_CHAIN}; "
        "name shared parts less often",
        code="schema_too_complex",
    )
