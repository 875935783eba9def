"""What memory speaks of. Every noun is plain JSON: text, integers, booleans, None and tuples of these.

Times are whole seconds since 1970 (UTC), weights are basis points (10,000 is certainty). Ids are hashes of content, so
that the same thing proposed twice, by whomever, is one thing.
"""

from collections.abc import Mapping
from typing import Any, Literal

from tallystick.records import record
from tallystick.rooms.memory.speakers import Speaker

FULL = 10_000
"""Basis points of certainty."""

SourceClass = Literal["test_result", "human", "tool_internal", "document", "tool_external", "model_inference"]
Kind = Literal["descriptive", "predictive", "causal", "procedural"]
Volatility = Literal["static", "low", "medium", "high"]
Status = Literal["rejected", "contested", "accepted", "deprecated", "provisional", "tentative"]
Stance = Literal["support", "contradiction"]
Result = Literal["passed", "failed", "inconclusive"]

CLASSES: tuple[SourceClass, ...] = (
    "test_result", "human", "tool_internal", "document", "tool_external", "model_inference",
)  # fmt: skip
"""Best first."""
KINDS: tuple[Kind, ...] = ("descriptive", "predictive", "causal", "procedural")
VOLATILITIES: tuple[Volatility, ...] = ("static", "low", "medium", "high")
RESULTS: tuple[Result, ...] = ("passed", "failed", "inconclusive")
DEFAULT_EPISODE = "default"
"""Where observations belong that name no episode."""


@record
class Event:
    """One accepted proposal as the ledger keeps it: all that `fold` reads."""

    seq: int
    receipt_id: str
    at: int
    """Log time: what the proposal says (`at`), else when its receipt was written."""
    tool: str
    args: Mapping[str, Any]
    agent: str | None = None
    """The agent in whose turn it was proposed; what an agent says of its sources is believed only so far."""
    by_owner: bool = False
    """The owner of this workspace proposed it."""
    subject: str = "anonymous"
    """Who proposed it, where it was not the owner."""
    is_person: bool = False
    """That caller's token stands for one human being."""

    @property
    def by(self) -> Speaker:
        """Whose word it is."""
        if self.by_owner:
            return Speaker(agent=self.agent)
        return Speaker(agent=self.agent, subject=self.subject, is_person=self.is_person)


@record
class Source:
    """Where observations come from."""

    id: str
    classes: tuple[str, ...]
    """All that were claimed for it."""
    since: tuple[int, ...]
    """For each class, the event that first claimed it."""
    groups: tuple[str, ...]
    first_seq: int


@record
class Observation:
    """One input, as it came in. It never makes an accepted belief by itself."""

    id: str
    text: str
    source_id: str
    claimed: SourceClass
    """The class that was claimed."""
    weighed_as: SourceClass
    """The class that counts: the lowest of its lineage, and no higher than whoever reports it may claim."""
    groups: tuple[str, ...]
    """Independence groups; those of all its parents when it is derived, and that of whoever reports it."""
    contents: tuple[str, ...]
    """Keys of the root texts it goes back to; two observations with the same key are copies of one another."""
    observed_at: int
    derived_from: tuple[str, ...]
    episode_id: str
    seq: int
    receipt_id: str
    at: int
    agent: str | None = None
    owner: bool = False
    """The owner's own words."""


@record
class Edge:
    """One observation for or against one proposition."""

    proposition_id: str
    observation_id: str
    stance: Stance
    quote: str | None
    """What in the observation says so; None: all of it."""
    seq: int
    receipt_id: str
    at: int
    backed: bool = True
    """False: only a caller who does not answer for the words says that this bears on it, the words do not. It then
    weighs no more than an inference."""
    by_agent: bool = False
    """An agent, or a caller who is not known to be a person, attached it."""
    earlier: tuple[str, ...] = ()
    """Receipts of those whose word on this observation it takes the place of."""
    overruled: bool = False
    """Somebody else's word on this observation counts instead, and says the opposite."""


@record
class Figures:
    """What the evidence comes to at one moment, in basis points."""

    support: int = 0
    contradiction: int = 0
    belief: int = 0
    disbelief: int = 0
    conflict: int = 0
    support_groups: int = 0
    contradiction_groups: int = 0
    best_class: int = 0
    """Reliability of the best class among the support that is not stale."""
    against_class: int = 0
    """Reliability of the best class among what speaks against it, is not stale and was not attached by an agent."""
    freshness: int = 0
    """Of the freshest support."""
    once: int = 0
    """Support as it would be had nothing aged."""
    failed_test: bool = False
    """The result that counts of a discriminating test is a failure."""
    owner: bool = False
    """The owner said so, and the predicate is the owner's to say."""


@record
class Proposition:
    """Something that may be so. Its status is derived, never said."""

    id: str
    subject: str
    predicate: str
    object: str
    kind: Kind
    volatility: Volatility
    valid_from: int | None
    valid_to: int | None
    episode_id: str
    observation_ids: tuple[str, ...]
    """The observations it was first proposed from; erased ones keep their place by id."""
    supersedes: tuple[str, ...]
    status: Status
    evidence_status: Status
    """What its own evidence comes to, before rivals are looked at."""
    rule: str
    """Id of the row in `states.py` that decided."""
    figures: Figures
    rivals: tuple[str, ...]
    superseded_by: str | None
    canonical_id: str | None
    """The record it was promoted to, while that holds."""
    archived: str | None
    """Why it was put aside; None: it was not."""
    due_at: int | None
    """When age may have changed it; None: age cannot."""
    pending: bool
    """Accepted, and not yet looked at by a consolidation."""
    scored_at: int
    seq: int
    receipt_id: str
    at: int


@record
class Transition:
    """One change of a proposition's status, and why."""

    proposition_id: str
    before: Status | None
    after: Status
    rule: str
    words: str
    """The reason as a person would say it."""
    cause: str
    """evidence, age, test, rival, proposal or archive."""
    evidence_ids: tuple[str, ...]
    figures: Figures
    policy: str
    """Digest of the policy that decided."""
    seq: int
    """The event during which it happened."""
    place: int
    """Its place among the changes of that event."""
    at: int


@record
class Trial:
    """A test, a way to find out; named so that no test runner takes it for one of its own."""

    id: str
    proposition_id: str
    method: str
    """Also the independence group of its results."""
    expectation: str
    discriminating: bool
    """Whether a failure refutes the proposition."""
    proposed_by: str
    """policy, or proposal."""
    seq: int
    receipt_id: str
    at: int
    observation_id: str | None = None
    """The result that counts: of the decisive ones, else of those that found something, the newest."""
    result: Result | None = None
    observed_at: int | None = None
    decisive: bool = False
    """That result found something, and did not come from an agent's own word."""
    result_ids: tuple[str, ...] = ()
    """All its results, in the order of the log."""
    raised_seq: int | None = None
    """The event that made it discriminating, where it was first proposed as not so."""
    raised_receipt: str | None = None


@record
class Entity:
    """Somebody or something that propositions speak of. Cheap to make, dear to merge."""

    id: str
    name: str
    kind: str
    aliases: tuple[str, ...]
    since: tuple[int, ...]
    """For each alias, the event that first gave it."""
    observation_ids: tuple[str, ...]
    possible_same_as: tuple[str, ...]
    """Others that may be meant: proposed, or written confusingly alike. Never a merge by itself."""
    seq: int
    receipt_id: str
    at: int


@record
class Episode:
    """A stretch of work. What it leaves unresolved is carried over, up to a limit."""

    id: str
    opened_at: int
    closed_at: int | None
    observations: int
    carried_over: tuple[str, ...]
    archived: tuple[str, ...]
    """Those put aside by the latest consolidation, the first hundred of them."""
    put_aside: int
    """How many that were in all."""
    promoted: int
    seq: int


@record
class Canonical:
    """A promoted proposition: what memory holds to be so."""

    id: str
    proposition_id: str
    subject: str
    predicate: str
    object: str
    promoted_at: int
    promoted_seq: int
    retired_at: int | None
    retired_seq: int | None
    retired_why: str | None
    supersedes: tuple[str, ...]
    """Canonical records that it took the place of."""
    policy: str
