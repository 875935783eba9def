"""The desk as the gate sees it: its tools, and the tickets of one workspace."""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from tallystick.gate.tool import Tool
from tallystick.rooms.desk.options import parse_options
from tallystick.rooms.desk.tools.kb_read import kb_read
from tallystick.rooms.desk.tools.kb_search import kb_search
from tallystick.rooms.desk.tools.logs_search import logs_search
from tallystick.turns.agents.wire import OFFLINE

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, Protocol

    from tallystick.rooms.desk.clerk import Clerk
    from tallystick.rooms.desk.flows.working import Worker
    from tallystick.rooms.desk.judging.judge import ServerJudge
    from tallystick.rooms.desk.kb.joined import Library
    from tallystick.rooms.desk.logs.searching import LogFiles
    from tallystick.rooms.desk.office import Office, Records
    from tallystick.rooms.desk.review import Reviews
    from tallystick.rooms.desk.store import Store
    from tallystick.settings import Settings
    from tallystick.turns.durable import Durable
    from tallystick.turns.hands import Hands

    class Given(Protocol):
        """What the desk takes of the joined parts."""

        settings: Settings
        workspace: Path

        @property
        def ledger(self) -> Records:
            """The log."""
            ...

        @property
        def pipeline(self) -> Any:
            """Knows which tools there are."""
            ...

        @property
        def engine(self) -> Any:
            """The database, as `Store` takes it."""
            ...

        def now_ms(self) -> int:
            """The wall clock."""
            ...

        def new_id(self, kind: str) -> str:
            """A new id of a kind."""
            ...


KB_FOLDER = "kb"
"""Where the knowledge base is unless the settings say otherwise."""

_log = logging.getLogger(__name__)


class Desk:
    """The support desk of one workspace."""

    name = "desk"

    def __init__(self, parts: "Given") -> None:
        self._parts = parts
        self.settings = parts.settings.rooms.get("desk", {})
        self.options = parse_options(self.settings)
        self._woken: Callable[[Sequence[str]], None] | None = None

    @cached_property
    def store(self) -> "Store":
        """The tables; opened when they are first needed."""
        # The SQL toolkit costs a quarter of a second.
        from tallystick.rooms.desk.store import Store  # noqa: PLC0415

        return Store(self._parts.engine)

    @cached_property
    def office(self) -> "Office":
        """Tickets: taken, leased, filled, judged and answered."""
        from tallystick.rooms.desk.office import Fittings, Office  # noqa: PLC0415 - as above

        parts = self._parts
        fittings = Fittings(
            workspace=parts.workspace, options=self.options, ledger=parts.ledger, new_id=parts.new_id,
            known_tools=lambda: frozenset(entry.card.name for entry in parts.pipeline.catalogue.entries()),
            now=self.now,
        )  # fmt: skip
        made = Office(self.store, fittings)
        made.judge = self.judge
        made.woken = self._woken
        return made

    def now(self) -> str:
        """The wall clock, RFC 3339."""
        moment = datetime.fromtimestamp(self._parts.now_ms() / 1_000, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @cached_property
    def library(self) -> "Library":
        """The knowledge base; its folder is looked at when something is asked of it."""
        from tallystick.rooms.desk.kb.joined import FOLDER, open_library  # noqa: PLC0415 - readers of five formats

        by_meaning = self.settings.get("kb_meaning", True) is not False
        return open_library(
            self._parts.workspace, self.settings.get("kb", FOLDER), by_meaning=by_meaning,
            limits=self._parts.settings.imports,
        )  # fmt: skip

    @cached_property
    def logs(self) -> "LogFiles":
        """The log files that the settings name."""
        from tallystick.rooms.desk.logs.searching import LogFiles, patterns_of  # noqa: PLC0415 - as above

        return LogFiles(self._parts.workspace, patterns_of(self.settings.get("logs", [])))

    @cached_property
    def reviews(self) -> "Reviews":
        """What waits for people."""
        from tallystick.rooms.desk.review import Reviews  # noqa: PLC0415 - as above

        return Reviews(self.office, self.judge)

    def flows(self, durable: "Durable", hands: "Hands") -> None:
        """Register the desk's long work, and let our own workers be woken."""
        from tallystick.rooms.desk.flows.ticket import join_tickets  # noqa: PLC0415 - only doors that run need it

        own = self.options.workers == "own"
        self._woken = join_tickets(lambda: (self.office, self.worker(hands)), durable, own=own)
        if "office" in self.__dict__:
            self.office.woken = self._woken

    def worker(self, hands: "Hands") -> "Worker":
        """Whoever works on tickets here."""
        from tallystick.rooms.desk.flows.working import Worker  # noqa: PLC0415 - as above
        from tallystick.storage.agents import Registry  # noqa: PLC0415 - as above

        agent = self.options.agent
        if agent is not None and Registry(self._parts.workspace).get(agent) is None:
            # Tickets are not held up by it, but whoever wrote it meant something else.
            _log.warning("rooms.desk.agent names %r, which is no agent here: rules do its work", agent)
        return Worker(self.office, hands, self.judge, self.judge.policy, self.clerk)

    def clerk(self, hands: "Hands") -> "Clerk | None":
        """The desk's model, where the settings name an agent that has one."""
        from tallystick.rooms.desk.clerk import Clerk  # noqa: PLC0415 - as above
        from tallystick.storage.agents import Registry  # noqa: PLC0415 - as above

        if self.options.agent is None:
            return None
        endpoint = Registry(self._parts.workspace).endpoint(self.options.agent)
        if endpoint.provider == OFFLINE:
            return None
        told = self.options.instructions
        return Clerk(hands=hands, endpoint=endpoint, policy=self.judge.policy, instructions=told)

    @cached_property
    def judge(self) -> "ServerJudge":
        """The server's own word, from the ledger."""
        from tallystick.rooms.desk.judging.judge import ServerJudge  # noqa: PLC0415 - only where tickets are judged
        from tallystick.rooms.desk.judging.policy import parse_verdict_policy  # noqa: PLC0415

        def effect(tool: str) -> str | None:
            found = self._parts.pipeline.catalogue.get(tool)
            return None if found is None else found.card.effect

        return ServerJudge(parse_verdict_policy(self.settings), self._parts.ledger.session, effect)

    def tools(self) -> Iterable[Tool]:
        """What agents may call here: only what there is something to read of.

        A tool that can only say that it has nothing would stand in every agent's catalogue, and be chosen.
        """
        found: list[Tool] = []
        if "kb" in self.settings or (self._parts.workspace / KB_FOLDER).is_dir():
            found += [kb_search(lambda: self.library), kb_read(lambda: self.library)]
        if "logs" in self.settings:
            found.append(logs_search(lambda: self.logs))
        return [*found, *self._web()]

    def _web(self) -> Iterable[Tool]:
        """`web.search`, where the settings name an engine: off means that there is no such tool."""
        if "web" in self.settings:
            from tallystick.rooms.desk.tools.web_search import web_search  # noqa: PLC0415 - off by default
            from tallystick.rooms.desk.web.options import parse_web  # noqa: PLC0415

            yield web_search(parse_web(self.settings["web"]))
