"""Memory's nouns as readers see them: one form wherever they are read, with times in RFC 3339."""

from typing import Any

from tallystick.rooms.memory.as_json import as_dict
from tallystick.rooms.memory.explain import MAX_TEXT, proposition_dict
from tallystick.rooms.memory.nouns import Entity, Episode, Observation, Proposition, Source, Trial
from tallystick.rooms.memory.standing import standing
from tallystick.rooms.memory.state import State
from tallystick.rooms.memory.times import stamp_of

_TIMES = frozenset({"at", "observed_at", "opened_at", "closed_at"})


def proposition(state: State, one: Proposition, now: int) -> dict[str, Any]:
    """A proposition with how it stands now, and how it stood when it was last weighed."""
    stands = standing(state, one, now)
    return {
        **proposition_dict(one),
        **stands.as_dict(),
        "belief": stands.figures.belief,
        "rivals": list(stands.rivals),
        "supersedes": list(one.supersedes),
        "superseded_by": stands.superseded_by,
        "canonical_id": one.canonical_id,
        "archived": one.archived,
        "last_weighed": {"status": one.status, "at": stamp_of(one.scored_at)},
    }


def observation(seen: Observation, *, whole: bool = False) -> dict[str, Any]:
    """An observation; in lists a long text is cut."""
    text = seen.text if whole else seen.text[:MAX_TEXT]
    return {
        "id": seen.id,
        "text": text,
        "truncated": len(text) < len(seen.text),
        "source_id": seen.source_id,
        "claimed_class": seen.claimed,
        "weighed_as": seen.weighed_as,
        "groups": list(seen.groups),
        "observed_at": stamp_of(seen.observed_at),
        "derived_from": list(seen.derived_from),
        "episode_id": seen.episode_id,
        "agent": seen.agent,
        "receipt_id": seen.receipt_id,
        "seq": seen.seq,
        "at": stamp_of(seen.at),
    }


def thing(noun: Source | Entity | Episode | Trial) -> dict[str, Any]:
    """Anything else."""
    return {
        name: stamp_of(value) if name in _TIMES and value is not None else value
        for name, value in as_dict(noun).items()
    }
