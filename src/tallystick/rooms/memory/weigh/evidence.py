"""All evidence on one proposition: both sides, the tests, and what they amount to."""

from dataclasses import replace

from tallystick.records import record
from tallystick.rooms.memory.model import Edge, Figures, Observation, Trial
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.weigh.scoring import MODEL, NEVER, SHOWN_IDS, Side, dempster, freshness


class Evidence:
    """All evidence on one proposition: both sides, and the tests."""

    def __init__(self, policy: Policy) -> None:
        self.support = Side(policy)
        self.contradiction = Side(policy)
        self.known: dict[str, tuple[str, bool]] = {}
        """Observation → its stance, and whether only an agent says so."""
        self.trials: dict[str, Trial] = {}
        self._policy = policy

    def takes(self, observation_id: str, *, by_agent: bool) -> bool:
        """Return whether an observation may be attached: once, though anybody else may overrule an agent."""
        known = self.known.get(observation_id)
        return known is None or (known[1] and not by_agent)

    def take(self, seen: Observation, edge: Edge) -> None:
        """Add the observation of an edge."""
        self.add(seen, edge.stance, backed=edge.backed, by_agent=edge.by_agent)

    def add(self, seen: Observation, stance: str, *, backed: bool = True, by_agent: bool = False) -> None:
        """Add an observation; if only an agent claims that it is relevant, it counts as that agent's inference."""
        counted = seen if backed else replace(seen, weighed_as=MODEL, owner=False)
        (self.support if stance == "support" else self.contradiction).add(counted, by_agent=by_agent)
        self.known[seen.id] = (stance, by_agent)

    def taken_back(self) -> bool:
        """Return whether all sources that supported it have contradicted it since."""
        denied = self.contradiction.last_words()
        said = self.support.last_words() if denied else {}
        return bool(said) and all(denied.get(name, NEVER) >= when for name, when in said.items())

    def weigh(self, volatility: str, now: int, *, owner_predicate: bool = False) -> "WeighedEvidence":
        """Return all figures at a moment."""
        half_life = self._policy.half_life_s[volatility]
        pro = self.support.mass(now, half_life)
        con = self.contradiction.mass(now, half_life)
        belief, disbelief, conflict = dempster(pro.value, con.value)
        stale = pro.freshness < self._policy.states.deprecated_freshness
        owners_to_say = owner_predicate and "owner" not in self._policy.off
        figures = Figures(
            support=pro.value,
            contradiction=con.value,
            belief=belief,
            disbelief=disbelief,
            conflict=conflict,
            support_groups=pro.groups,
            contradiction_groups=con.groups,
            best_class=pro.best_class,
            against_class=self.contradiction.best_but_agents(now, half_life),
            freshness=pro.freshness,
            # Computed only if everything is stale; a second weighing would double the cost of every event.
            once=self.support.mass(now, None).value if stale and half_life is not None else pro.value,
            failed_test=self._failed(now, half_life),
            # The owner's last statement counts.
            owner=owners_to_say and self.support.owner_at > self.contradiction.owner_at,
            owner_denies=owners_to_say and self.contradiction.owner_at > self.support.owner_at,
        )
        return WeighedEvidence(figures=figures, evidence_ids=(*pro.evidence_ids, *con.evidence_ids)[: 2 * SHOWN_IDS])

    def _failed(self, now: int, half_life: int | None) -> bool:
        """Return whether a discriminating test has failed recently enough to count."""
        stale = self._policy.states.deprecated_freshness
        return any(
            trial.discriminating
            and trial.decisive
            and trial.result == "failed"
            and freshness(now - (trial.observed_at or 0), half_life) >= stale
            for trial in self.trials.values()
        )


@record
class WeighedEvidence:
    """Figures, and the evidence that made them."""

    figures: Figures
    evidence_ids: tuple[str, ...]
