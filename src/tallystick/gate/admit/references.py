"""Checks the references of a schema before a validator compiles it.

A validator follows references during compilation, over the network if necessary, and some references never end: they
form a cycle that consumes no data, or expand into too many branches to evaluate. The steps, in this order:

1. index every subschema under its base URI, with its anchors;
2. every `$ref` must point into the schema itself or to a metaschema bundled with the validator;
3. a reference cycle must pass through a property or an item, so that each iteration consumes some of the data;
4. count the subschema evaluations that a validator would make.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import unquote, urldefrag, urljoin

from tallystick.errors import RegistrationError
from tallystick.gate.admit.subschemas import Node, at_pointer, subschemas, walk

MAX_WAYS = 10_000
"""Maximum number of subschema evaluations for one value and the objects that contain it; that many take about a
millisecond. Legitimate schemas need far fewer."""
MAX_CHAIN = 200
"""Maximum length of a chain of subschemas, since validators recurse along it."""

BUNDLED = ("http://json-schema.org/draft-", "https://json-schema.org/draft/")
"""URI prefixes of the metaschemas bundled with the validator; a reference to one fetches nothing."""

# Keywords whose subschemas apply to the same value as the schema that contains them.
_IN_PLACE = frozenset({"not", "if", "then", "else", "allOf", "anyOf", "oneOf", "dependentSchemas", "dependencies"})
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
_ASKED_AGAIN = 3
"""Cost factor: `unevaluated…` keywords make the validator evaluate their siblings again (measured: 2.9 times)."""
# Containers for reference targets; they apply to no value by themselves.
_STORES = frozenset({"$defs", "definitions"})
# The target of a reference to `true` or `false`: it has no subschemas.
_ANYTHING: Node = {}
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True)
class _Index:
    """Index of reference targets and base URIs."""

    id_keyword: str
    """`id` in draft 4, `$id` in later drafts."""
    ref_hides: bool
    """Whether `$ref` disables its sibling keywords, including the id (up to draft 7)."""
    resources: dict[str, Node] = field(default_factory=dict[str, Node])
    """Schemas with their own URI; the root is under its id and under the empty string."""
    anchors: dict[tuple[str, str], Node] = field(default_factory=dict[tuple[str, str], Node])
    """(Base URI, anchor name) → subschema: an anchor name is unique within its resource."""
    dynamic: dict[str, list[Node]] = field(default_factory=dict[str, list[Node]])
    bases: dict[int, str] = field(default_factory=dict[int, str])
    """`id()` of a subschema → its base URI."""


def check_references(schema: Node) -> None:
    """Reject a schema with references that are external, dangling or endless.

    Args:
        schema: A private copy in which no object occurs twice, since subschemas are identified by `id()`.

    Raises:
        RegistrationError: The code names the violated rule.
    """
    draft = str(schema.get("$schema", ""))
    index = _Index("id" if "draft-04" in draft else "$id", ref_hides="/draft-0" in draft)
    index.resources[""] = schema
    _read_in(index, schema, "")
    edges = _resolve_all(index)
    # Start from every subschema, since a cycle may be unreachable from the root.
    circles = _Circles(edges)
    for resource in list(index.resources.values()):
        for node in walk(resource):
            circles.visit(node)
    _Scale(edges).weigh(schema)


def _read_in(index: _Index, node: Node, base: str) -> None:
    """Step 1: index base URIs and anchors."""
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
    """Index the anchors of a subschema; a dynamic one is indexed twice, since any resource can refer to it."""
    for keyword in ("$anchor", "$dynamicAnchor"):
        if isinstance(node.get(keyword), str):
            index.anchors[base, node[keyword]] = node
    if isinstance(node.get("$dynamicAnchor"), str):
        index.dynamic.setdefault(node["$dynamicAnchor"], []).append(node)
    # Draft 2019-09 has one dynamic anchor, without a name.
    if node.get("$recursiveAnchor") is True:
        index.dynamic.setdefault("", []).append(node)


def _resolve_all(index: _Index) -> dict[int, list[Node]]:
    """Step 2: resolve all references; return `id()` of each subschema → targets of its references."""
    edges: dict[int, list[Node]] = {}
    # Include unreferenced parts, since the validator may compile them too.
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
                # A JSON pointer may target an object that is not under a schema keyword; treat it as a subschema.
                waiting.extend(target for target in targets if id(target) not in seen)
    return edges


def _targets(index: _Index, node: Node) -> Iterator[Node]:
    """Yield the possible targets of a subschema's references."""
    for keyword in _REFERENCES:
        reference = node.get(keyword)
        if not isinstance(reference, str):
            continue
        target = _resolve(index, reference, index.bases[id(node)])
        if target is not None:
            yield target
        if keyword != "$ref":
            # The actual target depends on the evaluation path, so include every candidate.
            yield from index.dynamic.get(reference.partition("#")[2], [])


def _resolve(index: _Index, reference: str, base: str) -> Node | None:
    """Return the target of a reference; None for a bundled metaschema."""
    uri, _, fragment = reference.partition("#")
    uri = _join(base, uri)
    root = index.resources.get(uri)
    # The validator would fetch a URI that is not in the index: over the network or from local files.
    if root is None:
        if uri.startswith(BUNDLED):
            return None
        raise RegistrationError(
            "the schema refers to something outside itself; put what it needs under $defs", code="schema_remote_ref"
        )
    # A fragment is a percent-encoded JSON pointer or an anchor name.
    fragment = unquote(fragment)
    target: Any = index.anchors.get((uri, fragment)) if fragment[:1] not in {"", "/"} else at_pointer(root, fragment)
    if isinstance(target, dict):
        _read_in(index, target, uri)
        return target
    if isinstance(target, bool):
        return _ANYTHING
    raise RegistrationError("a $ref of the schema has no target; check the name after '#'", code="schema_dangling_ref")


def _join(base: str, reference: str) -> str:
    """Make a reference absolute; an invalid one is returned unchanged and will not be found in the index."""
    if not reference:
        return base
    if ":" in reference.partition("/")[0]:
        return reference
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference


class _Circles:
    """Step 3: rejects cycles in which a subschema leads back to itself for the same value."""

    def __init__(self, edges: dict[int, list[Node]]) -> None:
        self._edges = edges
        self._done: set[int] = set()
        self._open: set[int] = set()

    def visit(self, node: Node) -> None:
        """Depth-first search along subschemas that apply to the same value; reaching an open node is a cycle."""
        key = id(node)
        if key in self._done:
            return
        if key in self._open:
            raise RegistrationError(
                "the schema has a cycle of references that never reaches another value; "
                "put a recursive $ref inside a property or an item",
                code="schema_ref_cycle",
            )
        # Check before descending, since this search recurses too.
        if len(self._open) >= MAX_CHAIN:
            raise _too_complex()
        self._open.add(key)
        in_place = [child for keyword, _, child in subschemas(node) if keyword in _IN_PLACE]
        for child in in_place + self._edges.get(key, []):
            self.visit(child)
        self._open.discard(key)
        self._done.add(key)


class _Weight(NamedTuple):
    """The cost of a subschema: evaluations and longest chain below it."""

    ways: int
    chain: int


class _Scale:
    """Step 4: counts the subschema evaluations; a cycle is counted once."""

    def __init__(self, edges: dict[int, list[Node]]) -> None:
        self._edges = edges
        self._done: dict[int, _Weight] = {}
        self._open: set[int] = set()

    def weigh(self, node: Node) -> _Weight:
        """Return the cost of a subschema; cached."""
        key = id(node)
        if key in self._open:
            # Measured: validators cache their result for a value here, so a cycle costs no more than one step. Only
            # parts that are referenced repeatedly without recursion are expensive.
            return _Weight(1, 0)
        if key not in self._done:
            if len(self._open) >= MAX_CHAIN:
                raise _too_complex()
            self._open.add(key)
            self._done[key] = self._add_up(node)
            self._open.discard(key)
        return self._done[key]

    def _add_up(self, node: Node) -> _Weight:
        """Compute the cost: sum the branches for the same value; of `properties`, only one applies to each value."""
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
    """Build the error of steps 3 and 4.

    A schema that comes from another server (MCP) must be simplified there, or its tool must not be registered.
    """
    return RegistrationError(
        f"the schema needs more than {MAX_WAYS} evaluations for one value or nests more than {MAX_CHAIN} subschemas; "
        "refer to shared definitions less often",
        code="schema_too_complex",
    )
