"""Memory as a document: canonical JSON (RFC 8785), and JSON-LD with evidence in terms of PROV-O.

Both are streamed, since a million observations do not fit in memory. The canonical document has the same bytes for the
same log on any machine. The JSON-LD context is part of the document, so nothing has to be fetched to understand it.
"""

from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from tallystick.gate.record.canonical import canonical
from tallystick.rooms.memory.model import Canonical, Entity, Observation, Proposition, Source
from tallystick.rooms.memory.times import stamp_of
from tallystick.rooms.memory.weigh.assessment import assess
from tallystick.rooms.memory.weigh.state import State


def export(state: State) -> Iterator[bytes]:
    """The document in pieces. Its keys are in canonical order, and each list is ordered by id."""
    yield b'{"canonicals":['
    yield from _listed(state.canonicals.bodies())
    yield b'],"edges":['
    yield from _listed(state.edge_bodies())
    yield b'],"entities":['
    yield from _listed(state.entities.bodies())
    yield b'],"episodes":['
    yield from _listed(state.episodes.bodies())
    yield b'],"now":%d,"observations":[' % state.now
    yield from _listed(state.observations.bodies())
    yield b'],"policy":"%b","propositions":[' % state.policy.digest.encode()
    yield from _listed(state.propositions.bodies())
    yield b'],"seq":%d,"since_consolidation":%d,"sources":[' % (state.seq, state.since_consolidation)
    yield from _listed(state.sources.bodies())
    yield b'],"tests":['
    yield from _listed(state.trials.bodies())
    yield b'],"transitions":['
    yield from _listed(state.transition_bodies())
    yield b"]}"


def digest(state: State) -> str:
    """SHA-256 of the document: what two machines compare."""
    total = sha256()
    for piece in export(state):
        total.update(piece)
    return total.hexdigest()


def _listed(bodies: Iterable[bytes]) -> Iterator[bytes]:
    first = True
    for body in bodies:
        yield body if first else b"," + body
        first = False


CONTEXT: Mapping[str, Any] = {
    "@version": 1.1,
    "@vocab": "urn:tallystick:memory#",
    "prov": "http://www.w3.org/ns/prov#",
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "id": "@id",
    "type": "@type",
    "subject": "rdf:subject",
    "predicate": "rdf:predicate",
    "object": "rdf:object",
    "observedAt": {"@id": "prov:generatedAtTime", "@type": "xsd:dateTime"},
    "derivedFrom": {"@id": "prov:wasDerivedFrom", "@type": "@id"},
    "source": {"@id": "prov:wasAttributedTo", "@type": "@id"},
    "receipt": {"@id": "prov:wasGeneratedBy", "@type": "@id"},
    "supportedBy": {"@type": "@id"},
    "contradictedBy": {"@type": "@id"},
    "possibleSameAs": {"@type": "@id"},
    "promotes": {"@type": "@id"},
    "supersedes": {"@type": "@id"},
    "supersededBy": {"@type": "@id"},
    "validFrom": {"@type": "xsd:dateTime"},
    "validTo": {"@type": "xsd:dateTime"},
}


def json_ld(state: State, *, now: int) -> Iterator[bytes]:
    """The document in pieces; its status fields are those of the moment asked for."""
    yield b'{"@context":' + canonical(dict(CONTEXT)) + b',"@graph":['
    first = True
    for node in _nodes(state, now):
        yield canonical(node) if first else b"," + canonical(node)
        first = False
    yield b"]}"


def _nodes(state: State, now: int) -> Iterator[dict[str, Any]]:
    yield from map(_source_node, state.sources.ordered())
    yield from map(_observation_node, state.observations.ordered())
    yield from (_statement(state, one, now) for one in state.propositions.ordered())
    yield from map(_entity_node, state.entities.ordered())
    yield from map(_canonical_node, state.canonicals.ordered())


def _source_node(source: Source) -> dict[str, Any]:
    return {"id": _urn("source", source.id), "type": "prov:Agent", "name": source.id, "class": list(source.classes)}


def _observation_node(seen: Observation) -> dict[str, Any]:
    return {
        "id": _urn("", seen.id),
        "type": ["Observation", "prov:Entity"],
        "prov:value": seen.text,
        "source": _urn("source", seen.source_id),
        "weighedAs": seen.weighed_as,
        "group": list(seen.groups),
        "observedAt": stamp_of(seen.observed_at),
        "derivedFrom": _urns(seen.derived_from),
        "receipt": _urn("receipt", seen.receipt_id),
    }


def _statement(state: State, one: Proposition, now: int) -> dict[str, Any]:
    edges = state.edges_of(one.id)
    present = assess(state, one, now)
    node: dict[str, Any] = {
        "id": _urn("", one.id),
        "type": ["Proposition", "rdf:Statement"],
        "subject": one.subject,
        "predicate": one.predicate,
        "object": one.object,
        "status": present.status,
        "rule": present.rule,
        "reason": present.words,
        "supportedBy": _urns(sorted(edge.observation_id for edge in edges if edge.stance == "support")),
        "contradictedBy": _urns(sorted(edge.observation_id for edge in edges if edge.stance == "contradiction")),
        "quote": [edge.quote for edge in edges if edge.quote is not None],
        "receipt": _urn("receipt", one.receipt_id),
    }
    if present.superseded_by is not None:
        node["supersededBy"] = _urn("", present.superseded_by)
    for name, moment in (("validFrom", one.valid_from), ("validTo", one.valid_to)):
        if moment is not None:
            node[name] = stamp_of(moment)
    return node


def _entity_node(entity: Entity) -> dict[str, Any]:
    return {
        "id": _urn("", entity.id),
        "type": ["Entity", "prov:Entity"],
        "name": entity.name,
        "kind": entity.kind,
        "alias": list(entity.aliases),
        "possibleSameAs": _urns(entity.possible_same_as),
    }


def _canonical_node(record: Canonical) -> dict[str, Any]:
    return {
        "id": _urn("", record.id),
        "type": "CanonicalRecord",
        "promotes": _urn("", record.proposition_id),
        "promotedAt": stamp_of(record.promoted_at),
        "retiredAt": None if record.retired_at is None else stamp_of(record.retired_at),
        "retiredWhy": record.retired_why,
        "supersedes": _urns(record.supersedes),
        "policy": record.policy,
    }


def _urns(names: Iterable[str]) -> list[str]:
    return [_urn("", name) for name in names]


def _urn(kind: str, name: str) -> str:
    # Our ids are plain; a source's id is whatever somebody called it.
    safe = quote(name, safe="")
    return f"urn:tallystick:{kind}:{safe}" if kind else f"urn:tallystick:{safe}"
