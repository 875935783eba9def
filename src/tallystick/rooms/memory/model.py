"""Memory's records. Each is plain JSON: text, integers, booleans, None and tuples of these.

Times are whole seconds since 1970 (UTC), weights are basis points (10,000 is certainty). Ids are hashes of content, so
that the same content proposed twice, by anyone, is one record.
"""

from collections.abc import Mapping
from typing import Any, Literal

from tallystick.records import record

FULL = 10_000
"""Basis points of certainty."""

SourceClass = Literal["test_result", "human", "tool_internal", "document", "tool_external", "model_inference"]
Kind = Literal["descriptive", "predictive", "causal", "procedural"]
Volatility = Literal["static", "low", "medium", "high"]
Status = Literal["rejected", "contested", "accepted", "deprecated", "provisional", "tentative"]
Stance = Literal["support", "contradiction"]
Result = Literal["passed", "failed", "inconclusive"]

CLASSES: tuple[SourceClass, ...] = (
    "test_result",
    "human",
    "tool_internal",
    "document",
    "tool_external",
    "model_inference",
)
"""Best first."""
KINDS: tuple[Kind, ...] = ("descriptive", "predictive", "causal", "procedural")
VOLATILITIES: tuple[Volatility, ...] = ("static", "low", "medium", "high")
RESULTS: tuple[Result, ...] = ("passed", "failed", "inconclusive")
DEFAULT_EPISODE = "default"
"""The episode of observations that name none."""


@record
class Event:
    """One accepted proposal as the ledger keeps it: everything that `fold` reads."""

    seq: int
    receipt_id: str
    at: int
    """Log time: what the proposal says (`at`), else when its receipt was written."""
    tool: str
    args: Mapping[str, Any]
    agent: str | None = None
    """The agent in whose turn it was proposed; an agent's claims about its sources are capped."""
    by_owner: bool = False
    """The owner of this workspace proposed it."""
    subject: str = "anonymous"
    """Who proposed it, where it was not the owner."""
    is_person: bool = False
    """Whether that caller's token belongs to one human being."""


@record
class Source:
    """Where observations come from."""

    id: str
    classes: tuple[str, ...]
    """All classes that were claimed for it."""
    since: tuple[int, ...]
    """For each class, the event that first claimed it."""
    groups: tuple[str, ...]
    first_seq: int


@record
class Observation:
    """One input, word for word. It never makes an accepted belief by itself."""

    id: str
    text: str
    source_id: str
    claimed: SourceClass
    """The class that was claimed."""
    weighed_as: SourceClass
    """The class that counts: the lowest of its lineage, and no higher than its reporter may claim."""
    groups: tuple[str, ...]
    """Independence groups; those of all its parents if it is derived, and that of its reporter."""
    contents: tuple[str, ...]
    """Keys of the root texts it goes back to; observations with the same key are copies."""
    observed_at: int
    derived_from: tuple[str, ...]
    episode_id: str
    seq: int
    receipt_id: str
    at: int
    agent: str | None = None
    owner: bool = False
    """Whether it is the owner's own statement."""


@record
class Edge:
    """One observation for or against one proposition."""

    proposition_id: str
    observation_id: str
    stance: Stance
    quote: str | None
    """The words in the observation that say so; None: all of it."""
    seq: int
    receipt_id: str
    at: int
    backed: bool = True
    """False: only a caller who did not bring the words claims that they concern the proposition. It then weighs no
    more than an inference."""
    by_agent: bool = False
    """Whether an agent, or a caller not known to be a person, attached it."""
    earlier: tuple[str, ...] = ()
    """Receipts of the edges on this observation that it replaces."""
    overruled: bool = False
    """Whether an edge of the opposite stance on this observation counts instead."""


@record
class Figures:
    """What the evidence amounts to at one moment, in basis points."""

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
    """Reliability of the best class among fresh contradiction that no agent attached."""
    freshness: int = 0
    """Of the freshest support."""
    once: int = 0
    """Support if nothing had aged."""
    failed_test: bool = False
    """Whether the result that counts of a discriminating test is a failure."""
    owner: bool = False
    """Whether the owner said so of a predicate that the owner decides."""
    owner_denies: bool = False
    """Whether the owner's last word on it is that it is not so."""


@record
class Proposition:
    """Something that may be true. Its status is derived, never asserted."""

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
    """The observations it was first proposed from; ids of erased ones stay."""
    supersedes: tuple[str, ...]
    status: Status
    evidence_status: Status
    """The status by its own evidence, before rivals are considered."""
    rule: str
    """Id of the row in `weigh/status_rules.py` that decided."""
    figures: Figures
    rivals: tuple[str, ...]
    superseded_by: str | None
    canonical_id: str | None
    """The canonical record it was promoted to, while that is in force."""
    archived: str | None
    """Why it was archived; None: it was not."""
    due_at: int | None
    """When age may change it; None: never."""
    pending: bool
    """Whether it is accepted and awaits a consolidation."""
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
    """The reason, in words."""
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
    """A test of a proposition; named so that no test runner collects it."""

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
    """The result that counts: the newest decisive one, else the newest conclusive one."""
    result: Result | None = None
    observed_at: int | None = None
    decisive: bool = False
    """Whether that result is conclusive and not an agent's own report."""
    result_ids: tuple[str, ...] = ()
    """All its results, in the order of the log."""
    raised_seq: int | None = None
    """The event that made it discriminating, if it was first proposed otherwise."""
    raised_receipt: str | None = None


@record
class Entity:
    """A person or thing that propositions are about. Cheap to create, expensive to merge."""

    id: str
    name: str
    kind: str
    aliases: tuple[str, ...]
    since: tuple[int, ...]
    """For each alias, the event that first gave it."""
    observation_ids: tuple[str, ...]
    possible_same_as: tuple[str, ...]
    """Others that may be the same: proposed, or confusingly similar in writing. Never a merge by itself."""
    seq: int
    receipt_id: str
    at: int


@record
class Episode:
    """A period of work. What it leaves unresolved is carried over, up to a limit."""

    id: str
    opened_at: int
    closed_at: int | None
    observations: int
    carried_over: tuple[str, ...]
    archived: tuple[str, ...]
    """The first hundred that the latest consolidation archived."""
    put_aside: int
    """How many were archived in all."""
    promoted: int
    seq: int


@record
class Canonical:
    """A promoted proposition: what memory believes."""

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
    """Canonical records that it replaced."""
    policy: str
