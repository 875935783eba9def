"""The memory room: nine proposals and two read tools over one workspace's log.

Memory is made of what the ledger keeps. Where `redact.keys` hides an argument from the ledger, a proposal that has it
is refused.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tallystick.agents.roster import CHIEF_ROLE
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED
from tallystick.gate.decide.verdict import Decision
from tallystick.gate.record.secrets import Redactor
from tallystick.gate.tool import Card, Tool
from tallystick.plugin import Room
from tallystick.rooms.memory.project.projection import Projection
from tallystick.rooms.memory.tools.archive_episode import archive_episode
from tallystick.rooms.memory.tools.attach_contradiction import attach_contradiction
from tallystick.rooms.memory.tools.attach_support import attach_support
from tallystick.rooms.memory.tools.create_or_link_entity_candidate import create_or_link_entity_candidate
from tallystick.rooms.memory.tools.execute_test_result_ingest import execute_test_result_ingest
from tallystick.rooms.memory.tools.mem_explain import mem_explain
from tallystick.rooms.memory.tools.mem_search import mem_search
from tallystick.rooms.memory.tools.propose_proposition import propose_proposition
from tallystick.rooms.memory.tools.propose_test import propose_test
from tallystick.rooms.memory.tools.record_observation import record_observation
from tallystick.rooms.memory.tools.request_consolidation import request_consolidation
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.advisory_lock import AdvisoryLock

if TYPE_CHECKING:
    from tallystick.plugin import RoomContext
    from tallystick.reading.parser import Parser
    from tallystick.rooms.memory.ontology.lexicon import Lexicon
    from tallystick.rooms.memory.policy import Policy
    from tallystick.rooms.memory.propose.claims import ClaimReader
    from tallystick.rooms.memory.recall.queries import MemoryQueries
    from tallystick.rooms.memory.recall.reply import MemoryReply
    from tallystick.rooms.memory.store.rows import Store

_REASON = "redact.keys keeps '{name}' out of the ledger, and memory is made of what the ledger keeps"


def hidden_names(cards: Iterable[Card], keys: Iterable[str]) -> frozenset[str]:
    """The arguments of some tools, at any depth, whose values the ledger keeps as digests only.

    Args:
        cards: The tools.
        keys: `redact.keys`.
    """
    names = frozenset(name for card in cards for name in _properties(card.input_schema))
    return names - Redactor(key=b"", names=keys).plain_names(names, frozenset())


def without_hidden(tool: Tool, names: frozenset[str]) -> Tool:
    """The tool, refused where one of these arguments is given; its own rule judges the rest."""
    judge = tool.rule
    assert judge is not None  # noqa: S101 - each of memory's proposals has one

    def rule(proposal: Proposal, snapshot: Any) -> Decision:
        pointer = _first_of(proposal.args, names)
        if pointer is not None:
            reason = _REASON.format(name=pointer.rpartition("/")[2])
            return Decision(verdict="deny", fault=DENIED, reason=reason, pointer=pointer)
        decision: Decision = judge(proposal, snapshot)
        return decision

    return replace(tool, rule=rule)


def _first_of(value: Any, names: frozenset[str], pointer: str = "") -> str | None:
    """A pointer to the first value that has one of these names; None: there is none."""
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for name, part in parts:
        found = f"{pointer}/{name}" if name in names else _first_of(part, names, f"{pointer}/{name}")
        if found is not None:
            return found
    return None


def _properties(schema: Mapping[str, Any]) -> Iterator[str]:
    for name, below in schema.get("properties", {}).items():
        yield name
        yield from _properties(below)
    if "items" in schema:
        yield from _properties(schema["items"])


TURN_NAME = "memory.lock"
READING = ("mem.explain", "mem.search")
PROPOSALS: tuple[Callable[[Snapshot], Tool], ...] = (
    record_observation,
    create_or_link_entity_candidate,
    propose_proposition,
    attach_support,
    attach_contradiction,
    propose_test,
    execute_test_result_ingest,
    request_consolidation,
    archive_episode,
)
"""The nine, and no other way to change anything."""


class Memory(Room):
    """What agents may come to believe, in one workspace."""

    name = "memory"

    def __init__(self, context: "RoomContext") -> None:
        self.policy: Policy = context.options

        def open_store() -> "Store":
            # The SQL toolkit costs a quarter of a second, and most workspaces never ask memory anything.
            from tallystick.rooms.memory.store.rows import Store  # noqa: PLC0415

            return Store(context.engine)

        self._redacted = context.settings.redact.keys
        self._folder = context.workspace / CONTROL_ROOM
        self._models = context.settings.models_dir()
        self._embeddings = context.embeddings
        self.projection = Projection(context.ledger, open_store, self.policy, AdvisoryLock(self._folder / TURN_NAME))
        self._ledger = context.ledger
        self.now: Callable[[], int] = lambda: context.now_ms() // 1000
        """The wall clock, in seconds."""

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        snapshot = Snapshot(digest=self.policy.digest, policy=self.policy, ask=self.projection.ask, now=self.now)
        queries = [mem_search(lambda: self.queries), mem_explain(lambda: self.queries)]
        proposals = [made(snapshot) for made in PROPOSALS]
        hidden = hidden_names((tool.card for tool in proposals), self._redacted)
        if hidden:
            proposals = [without_hidden(tool, hidden) for tool in proposals]
        return [*proposals, *queries]

    def tools_for(self, role: str) -> tuple[str, ...] | None:
        """Offer the proposals to the Chief of Staff; every agent may read."""
        return None if role == CHIEF_ROLE else READING

    @cached_property
    def queries(self) -> "MemoryQueries":
        """All that can be asked of memory."""
        # Loaded when something is asked.
        from tallystick.rooms.memory.recall.queries import MemoryQueries  # noqa: PLC0415

        return MemoryQueries(self.projection, self._ledger, self._folder, self.now)

    @cached_property
    def parser(self) -> "Parser | None":
        """The grammar; None where the extra or its model is missing."""
        from tallystick.reading.parser import ParserMissingError, open_parser  # noqa: PLC0415

        try:
            return open_parser(self._models)
        except ParserMissingError:
            return None

    @cached_property
    def claims(self) -> "ClaimReader":
        """Reads what texts state."""
        from tallystick.rooms.memory.propose.claims import ClaimReader  # noqa: PLC0415

        return ClaimReader(self.parser, self.lexicon)

    @cached_property
    def lexicon(self) -> "Lexicon":
        """Where nouns are looked up."""
        from tallystick.rooms.memory.ontology.attributes import default_ontology  # noqa: PLC0415
        from tallystick.rooms.memory.ontology.lexicon import Lexicon  # noqa: PLC0415

        return Lexicon(default_ontology(), self._embeddings.for_reading())

    def reply(self, question: str, *, as_of_seq: int | None = None) -> "MemoryReply | None":
        """Answer a question in a sentence; None where neither the grammar nor a model to compare texts by is there."""
        if self.parser is None and self.lexicon.embedder is None:
            return None
        return self.queries.reply(question, self.parser, self.lexicon, as_of_seq=as_of_seq)

    def close(self) -> None:
        """Write what waits to be written, and let go of the indexes."""
        if "queries" in self.__dict__:
            self.queries.close()
        self.projection.close()
