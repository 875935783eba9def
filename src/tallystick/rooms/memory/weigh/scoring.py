"""How much evidence weighs: integers only, the same on every machine.

A `Side` holds the evidence for (or against) one proposition and keeps only what the weight depends on, so that one
more observation costs the same whether it is the third or the ten-thousandth. Its `mass` is

    per group    best (reliability times freshness) times saturation by root observations with distinct content
    groups       those that are independent (`independence.py`), combined by noisy-or, capped
    derived      a summary stands for the group and the text it goes back to, and adds to neither; one that goes back
                 to several groups stands for all of them at once
    model        inference is never a group, and adds no more than `model_cap` in all

Every step is a floor of something that more evidence can only raise and age only lower. So is the whole.
"""

from collections.abc import Iterable, Iterator

from tallystick.records import record
from tallystick.rooms.memory.model import FULL, Observation, SourceClass
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.weigh.independence import (
    WEIGHED,
    Group,
    GroupRanks,
    Newest,
    Unit,
    by_strength,
    independent,
)

MODEL: SourceClass = "model_inference"
MODEL_GROUPS = 8
"""The freshest model groups that are weighed: the cap is reached with three."""
NEVER = -(1 << 62)
"""Before all times."""
HALVINGS = 14
"""After so many half-lives nothing is left of 10,000."""


def freshness(age: int, half_life: int | None) -> int:
    """Return the freshness of evidence: 10,000 at once, half after each half-life, linear in between."""
    if half_life is None or age <= 0:
        return FULL
    halvings, rest = divmod(age, half_life)
    if halvings >= HALVINGS:
        return 0
    value = FULL >> halvings
    return value - (value - (value >> 1)) * rest // half_life


def noisy_or(strengths: Iterable[int], cap: int = FULL) -> int:
    """Return the probability that at least one holds, rounded down once, at the end."""
    doubt = scale = 1
    total = 0
    # The strongest are enough: with so many, only what is nearly gone is left out.
    for strength in sorted(strengths, reverse=True)[:WEIGHED]:
        doubt *= FULL - strength
        scale *= FULL
        total = FULL + -doubt * FULL // scale
        if total >= cap:
            return cap
    return total


def dempster(support: int, contradiction: int) -> tuple[int, int, int]:
    """Return belief, disbelief and conflict of a mass for and a mass against (Dempster's rule)."""
    clash = support * contradiction
    left = FULL * FULL - clash
    if left <= 0:
        return 0, 0, FULL
    belief = support * (FULL - contradiction) * FULL // left
    disbelief = contradiction * (FULL - support) * FULL // left
    return belief, disbelief, clash // FULL


@record
class Mass:
    """What one side amounts to."""

    value: int
    groups: int
    best_class: int
    freshness: int
    evidence_ids: tuple[str, ...]
    """The observations that made it, strongest group first."""


NOTHING = Mass(value=0, groups=0, best_class=0, freshness=0, evidence_ids=())
SHOWN_IDS = 20
"""Evidence ids that a transition lists; the edges have all of them."""


class Side:
    """The evidence for, or against, one proposition."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._groups: dict[str, Group] = {}
        self._joint: dict[tuple[tuple[str, ...], tuple[str, ...]], Newest] = {}
        """What goes back to several groups at once: groups and root texts → when it was observed."""
        self._holders: dict[str, str] = {}
        """Root text → a group that has it."""
        self._copied = False
        """Some text stands in two groups."""
        self._ranks: GroupRanks | None = None
        """Where there are more groups than are weighed."""
        self._newest: Newest = {}
        """Everything except model inference."""
        self._model: dict[str, tuple[int, str]] = {}
        """The freshest groups of models."""
        self._not_by_agents: Newest = {}
        self.owner_at = (NEVER, NEVER)
        """When the owner last spoke on this side, and at which place of the log: that orders what one second holds."""

    def add(self, seen: Observation, *, by_agent: bool = False) -> None:
        """Add an observation; adding it again changes nothing."""
        if seen.owner:
            self.owner_at = max(self.owner_at, (seen.observed_at, seen.seq))
        when = (seen.observed_at, seen.id)
        if not by_agent:
            _note(self._not_by_agents, seen.weighed_as, when)
        off = self._policy.off
        if seen.weighed_as == MODEL and "model_cap" not in off:
            self._add_model(seen.groups[0], when)
            return
        _note(self._newest, seen.weighed_as, when)
        if "independence" in off:
            self._add(seen.id, (seen.id,), seen, root=True)
        elif len(seen.groups) > 1:
            _note(self._joint.setdefault((seen.groups, seen.contents), {}), seen.weighed_as, when)
        else:
            contents = (seen.id,) if "copies" in off else seen.contents
            self._add(seen.groups[0], contents, seen, root=not seen.derived_from or "lineage" in off)

    def _add_model(self, name: str, when: tuple[int, str]) -> None:
        """Keep the freshest few; one that was dropped returns only with something fresher."""
        self._model[name] = max(self._model.get(name, when), when)
        if len(self._model) > MODEL_GROUPS:
            del self._model[min(self._model, key=lambda each: (self._model[each], each))]

    def _add(self, name: str, contents: tuple[str, ...], seen: Observation, *, root: bool) -> None:
        group = self._groups.get(name)
        if group is None:
            group = self._groups[name] = Group()
        elif self._ranks is not None:
            self._ranks.take_out(name, group)
        _note(group.newest, seen.weighed_as, (seen.observed_at, seen.id))
        if root:
            group.roots.update(contents)
        for content in contents:
            if content not in group.texts:
                group.texts.add(content)
                if self._holders.setdefault(content, name) != name:
                    self._copied = True
        self._rank(name, group)

    def _rank(self, name: str, group: Group) -> None:
        if self._ranks is not None:
            self._ranks.put(name, group)
        elif len(self._groups) > WEIGHED:
            self._ranks = GroupRanks()
            for other, each in self._groups.items():
                self._ranks.put(other, each)

    def _ranked(self, now: int, half_life: int | None) -> Iterator[Unit]:
        """Yield the units of one group each that weigh anything, the strongest first."""
        if self._ranks is None:
            units = (self._unit(name, group, now, half_life) for name, group in self._groups.items())
            yield from sorted((unit for unit in units if unit.strength), key=by_strength)
            return
        worth = self._policy.reliability_of

        def strength(kind: str, level: int, when: int) -> int:
            return worth[kind] * freshness(now - when, half_life) // FULL * self._saturation(level) // FULL

        for name in self._ranks.strongest(strength):
            yield self._unit(name, self._groups[name], now, half_life)

    def _unit(self, name: str, group: Group, now: int, half_life: int | None) -> Unit:
        strength, seen = self._strongest(group.newest, now, half_life, len(group.roots))
        return Unit(groups=(name,), texts=group.texts, strength=strength, observation_id=seen)

    def mass(self, now: int, half_life: int | None) -> Mass:
        """Return what it amounts to at a moment."""
        if not (self._groups or self._joint or self._model):
            return NOTHING
        if len(self._groups) == 1 and not (self._joint or self._model):
            return self._single(now, half_life)
        joint = [
            Unit(groups=groups, texts=set(texts), strength=strength, observation_id=seen)
            for (groups, texts), newest in self._joint.items()
            for strength, seen in (self._strongest(newest, now, half_life, 1),)
        ]
        chosen, number = independent(
            lambda: self._ranked(now, half_life),
            joint,
            texts=len(self._holders),
            copied=self._copied,
            cap=self._policy.cap,
        )
        value = noisy_or((unit.strength for unit in chosen), self._policy.cap)
        model, model_ids = self._model_mass(now, half_life)
        ids = [unit.observation_id for unit in chosen] + model_ids
        top, fresh = self._best_and_freshest(now, half_life)
        return Mass(
            value=noisy_or((value, model), self._policy.cap),
            groups=number,
            best_class=top,
            freshness=fresh,
            evidence_ids=tuple(ids[:SHOWN_IDS]),
        )

    def _single(self, now: int, half_life: int | None) -> Mass:
        """Return the mass of a single group: most propositions have no more, and there is nothing to combine."""
        (group,) = self._groups.values()
        strength, seen = self._strongest(group.newest, now, half_life, len(group.roots))
        top, fresh = self._best_and_freshest(now, half_life)
        there = strength > 0
        return Mass(
            value=min(strength, self._policy.cap),
            groups=int(there),
            best_class=top,
            freshness=fresh,
            evidence_ids=(seen,) if there else (),
        )

    def last_words(self) -> dict[str, int]:
        """Return when each group last spoke on this side; model inference is no group."""
        alone = {name: _last(group.newest) for name, group in self._groups.items()}
        for (groups, _), newest in self._joint.items():
            for name in groups:
                alone[name] = max(alone.get(name, NEVER), _last(newest))
        return alone

    def _strongest(self, newest: Newest, now: int, half_life: int | None, roots: int) -> tuple[int, str]:
        worth = self._policy.reliability_of
        best, seen = max(
            (worth[kind] * freshness(now - when, half_life) // FULL, seen) for kind, (when, seen) in newest.items()
        )
        return best * self._saturation(roots) // FULL, seen

    def _saturation(self, roots: int) -> int:
        return FULL if "saturation" in self._policy.off else self._policy.saturation[min(max(roots, 1), 3) - 1]

    def _model_mass(self, now: int, half_life: int | None) -> tuple[int, list[str]]:
        if not self._model:
            return 0, []
        base = self._policy.reliability_of[MODEL] * self._policy.saturation[0] // FULL
        newest = sorted(self._model.values(), reverse=True)
        strengths = [base * freshness(now - when, half_life) // FULL for when, _ in newest]
        return noisy_or(strengths, self._policy.model_cap), [seen for _, seen in newest]

    def best_but_agents(self, now: int, half_life: int | None) -> int:
        """Return the best fresh class among what no agent attached."""
        stale = self._policy.states.deprecated_freshness
        fresh = (kind for kind, (when, _) in self._not_by_agents.items() if freshness(now - when, half_life) >= stale)
        return max((self._policy.reliability_of[kind] for kind in fresh), default=0)

    def _best_and_freshest(self, now: int, half_life: int | None) -> tuple[int, int]:
        """Return the best fresh class and the highest freshness, models aside."""
        stale, top, most = self._policy.states.deprecated_freshness, 0, 0
        for kind, (when, _) in self._newest.items():
            fresh = freshness(now - when, half_life)
            most = max(most, fresh)
            if fresh >= stale:
                top = max(top, self._policy.reliability_of[kind])
        if not most and self._model:
            most = max(freshness(now - when, half_life) for when, _ in self._model.values())
        return top, most


def _note(newest: Newest, kind: str, when: tuple[int, str]) -> None:
    known = newest.get(kind)
    if known is None or when > known:
        newest[kind] = when


def _last(newest: Newest) -> int:
    return max(when for when, _ in newest.values())
