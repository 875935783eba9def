"""The desk as the gate sees it: its tools, and the tickets of one workspace."""

import logging
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from tallystick.agents.wire import OFFLINE
from tallystick.errors import TallyError
from tallystick.gate.tool import Tool
from tallystick.plugin import Room
from tallystick.rooms.desk.tools.kb_read import kb_read
from tallystick.rooms.desk.tools.kb_search import kb_search
from tallystick.rooms.desk.tools.logs_search import logs_search

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tallystick.plugin import RoomContext
    from tallystick.rooms.desk.clerk import Clerk
    from tallystick.rooms.desk.flows.working import Worker
    from tallystick.rooms.desk.judging.judge import ServerJudge
    from tallystick.rooms.desk.kb.joined import Library
    from tallystick.rooms.desk.logs.searching import LogFiles
    from tallystick.rooms.desk.office import Office
    from tallystick.rooms.desk.options import Options
    from tallystick.rooms.desk.review import Reviews
    from tallystick.rooms.desk.store import Store
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext

KB_FOLDER = "kb"
"""Where the knowledge base is unless the settings say otherwise."""

_log = logging.getLogger(__name__)


class Desk(Room):
    """The support desk of one workspace."""

    name = "desk"

    def __init__(self, context: "RoomContext") -> None:
        self._context = context
        self.options: Options = context.options
        self._woken: Callable[[Sequence[str]], None] | None = None

    @cached_property
    def store(self) -> "Store":
        """The tables; opened when they are first needed."""
        # The SQL toolkit costs a quarter of a second.
        from tallystick.rooms.desk.store import Store  # noqa: PLC0415

        return Store(self._context.engine)

    @cached_property
    def office(self) -> "Office":
        """Tickets: taken, leased, filled, judged and answered."""
        from tallystick.rooms.desk.office import Fittings, Office  # noqa: PLC0415 - as above

        context = self._context
        fittings = Fittings(
            workspace=context.workspace,
            options=self.options,
            ledger=context.ledger,
            new_id=context.new_id,
            known_tools=lambda: frozenset(context.cards()),
            now=self.now,
        )
        made = Office(self.store, fittings)
        made.judge = self.judge
        made.woken = self._woken
        return made

    def now(self) -> str:
        """The wall clock, RFC 3339."""
        moment = datetime.fromtimestamp(self._context.now_ms() / 1_000, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @cached_property
    def library(self) -> "Library":
        """The knowledge base; its folder is looked at when something is asked of it."""
        from tallystick.rooms.desk.kb.joined import FOLDER, open_library  # noqa: PLC0415 - readers of five formats

        return open_library(
            self._context.workspace,
            self.options.kb or FOLDER,
            by_meaning=self.options.kb_meaning,
            limits=self._context.settings.imports,
        )

    @cached_property
    def logs(self) -> "LogFiles":
        """The log files that the settings name."""
        from tallystick.rooms.desk.logs.searching import LogFiles  # noqa: PLC0415 - as above

        return LogFiles(self._context.workspace, self.options.logs or ())

    @cached_property
    def reviews(self) -> "Reviews":
        """What waits for people."""
        from tallystick.rooms.desk.review import Reviews  # noqa: PLC0415 - as above

        return Reviews(self.office, self.judge)

    def flows(self, durable: "Durable", context: "FlowContext") -> None:
        """Register the desk's long work, and let our own workers be woken."""
        from tallystick.rooms.desk.flows.ticket import join_tickets  # noqa: PLC0415 - only doors that run need it

        own = self.options.workers == "own"
        self._woken = join_tickets(lambda: (self.office, self.worker(context)), durable, own=own)
        if "office" in self.__dict__:
            self.office.woken = self._woken

    def worker(self, hands: "FlowContext") -> "Worker":
        """Whoever works on tickets here."""
        from tallystick.rooms.desk.flows.working import Worker  # noqa: PLC0415 - as above
        from tallystick.storage.agents import Registry  # noqa: PLC0415 - as above

        agent = self.options.agent
        if agent is not None and Registry(self._context.workspace).get(agent) is None:
            # Tickets are not held up by it, but whoever wrote it meant something else.
            _log.warning("rooms.desk.agent names %r, which is no agent here: rules do its work", agent)
        return Worker(self.office, hands, self.judge, self.judge.policy, self.clerk)

    def clerk(self, hands: "FlowContext") -> "Clerk | None":
        """The desk's model, where the settings name an agent that has one."""
        from tallystick.rooms.desk.clerk import Clerk  # noqa: PLC0415 - as above
        from tallystick.storage.agents import Registry  # noqa: PLC0415 - as above

        if self.options.agent is None:
            return None
        endpoint = Registry(self._context.workspace).endpoint(self.options.agent)
        if endpoint.provider == OFFLINE:
            return None
        told = self.options.instructions
        return Clerk(hands=hands, endpoint=endpoint, policy=self.judge.policy, instructions=told)

    @cached_property
    def judge(self) -> "ServerJudge":
        """The server's own word, from the ledger."""
        from tallystick.rooms.desk.judging.judge import ServerJudge  # noqa: PLC0415 - only where tickets are judged

        def effect(tool: str) -> str | None:
            card = self._context.cards().get(tool)
            return None if card is None else card.effect

        return ServerJudge(self.options.verdict, self._context.ledger.session, effect)

    def tools(self) -> Iterable[Tool]:
        """What agents may call here: only what there is something to read of.

        A tool that can only say that it has nothing would stand in every agent's catalogue, and be chosen.
        """
        found: list[Tool] = []
        if self.options.kb is not None or (self._context.workspace / KB_FOLDER).is_dir():
            found += [kb_search(lambda: self.library), kb_read(lambda: self.library)]
        if self.options.logs is not None:
            found.append(logs_search(lambda: self.logs))
        return [*found, *self._web()]

    def _web(self) -> Iterable[Tool]:
        """`web.search`, where the settings name an engine: off means that there is no such tool."""
        if self.options.web is not None:
            from tallystick.rooms.desk.tools.web_search import web_search  # noqa: PLC0415 - off by default

            yield web_search(self.options.web)

    def gauges(self) -> "Mapping[str, float]":
        """The desk's figures by the names that a dashboard knows; none where the database cannot be read now."""
        from tallystick.rooms.desk.store import DATABASE_ERRORS  # noqa: PLC0415 - as above

        try:
            found = self.office.figures()
        except (*DATABASE_ERRORS, TallyError) as error:
            # The other figures must still be shown.
            _log.warning("the desk's figures cannot be read: %s", error)
            return {}
        return {f"desk_{name}": float(value) for name, value in found.items() if value is not None}
