"""A state as one canonical JSON document (RFC 8785), streamed: the same bytes for the same log, on any machine."""

from collections.abc import Iterable, Iterator
from hashlib import sha256

from tallystick.rooms.memory.state import State


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


def export_bytes(state: State) -> bytes:
    """The whole document."""
    return b"".join(export(state))


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
