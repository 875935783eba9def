"""The desk room: its tools, flows and services for one workspace."""

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
    from tallystick.reading.embedder import Embedder
    from tallystick.rooms.desk.agent import DeskAgent
    from tallystick.rooms.desk.flows.worker import Worker
    from tallystick.rooms.desk.kb.library import Library
    from tallystick.rooms.desk.logs.search import LogFiles
    from tallystick.rooms.desk.options import Options
    from tallystick.rooms.desk.review import ReviewQueue
    from tallystick.rooms.desk.service import DeskService
    from tallystick.rooms.desk.store import Store
    from tallystick.rooms.desk.verdict.judge import ServerJudge
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext

EXAMPLES = "desk/categories.toml"
"""The owner's examples of messages, by category, relative to the workspace."""
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
    def service(self) -> "DeskService":
        """The services of the desk."""
        from tallystick.rooms.desk.service import DeskService, ServiceContext  # noqa: PLC0415 - as above

        context = self._context
        service_context = ServiceContext(
            workspace=context.workspace,
            options=self.options,
            ledger=context.ledger,
            http=context.http,
            mail=lambda: context.mail,
            new_id=context.new_id,
            known_tools=lambda: frozenset(context.cards()),
            now=self.now,
        )
        made = DeskService(self.store, service_context)
        made.judge = self.judge
        made.woken = self._woken
        return made

    def now(self) -> str:
        """The wall clock, RFC 3339."""
        moment = datetime.fromtimestamp(self._context.now_ms() / 1_000, UTC)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    @cached_property
    def library(self) -> "Library":
        """The knowledge base; its folder is read on first use."""
        from tallystick.rooms.desk.kb.library import FOLDER, open_library  # noqa: PLC0415 - readers of five formats

        return open_library(
            self._context.workspace,
            self.options.kb or FOLDER,
            choose_embedder=self._embedder,
            limits=self._context.settings.imports,
        )

    def _embedder(self) -> "Embedder | None":
        found: Embedder | None = self._context.embeddings.for_reading() if self.options.kb_meaning else None
        return found

    @cached_property
    def logs(self) -> "LogFiles":
        """The log files that the settings name."""
        from tallystick.rooms.desk.logs.search import LogFiles  # noqa: PLC0415 - as above

        return LogFiles(self._context.workspace, self.options.logs or ())

    @cached_property
    def reviews(self) -> "ReviewQueue":
        """The review queue."""
        from tallystick.rooms.desk.assistance.canned_replies import FILE, read_replies  # noqa: PLC0415 - as above
        from tallystick.rooms.desk.assistance.review_help import ReviewHelp  # noqa: PLC0415 - as above
        from tallystick.rooms.desk.review import ReviewQueue  # noqa: PLC0415 - as above

        help_for_people = ReviewHelp(
            self.options.answer_hours,
            choose_embedder=self._embedder,
            read_replies=lambda: read_replies(self._context.workspace / FILE),
        )
        return ReviewQueue(self.service, self.judge, help_for_people)

    def flows(self, durable: "Durable", context: "FlowContext") -> None:
        """Register the durable flows, and the call that wakes the built-in worker."""
        from tallystick.rooms.desk.flows.ticket import join_tickets  # noqa: PLC0415 - only doors that run need it

        own = self.options.workers == "own"
        mail = self.options.mail
        every = None if mail is None or mail.imap_host is None else mail.every_minutes
        self._woken = join_tickets(
            lambda: (self.service, self.worker(context)), durable, own=own, mail_every_minutes=every
        )
        if "service" in self.__dict__:
            self.service.woken = self._woken

    def worker(self, flow_context: "FlowContext") -> "Worker":
        """The built-in worker of this workspace."""
        from tallystick.rooms.desk.flows.worker import Worker  # noqa: PLC0415 - as above
        from tallystick.storage.agents import Registry  # noqa: PLC0415 - as above

        agent = self.options.agent
        if agent is not None and Registry(self._context.workspace).get(agent) is None:
            # Tickets are still handled by rules, but the setting is probably a mistake.
            _log.warning("rooms.desk.agent names %r, which is no agent here: rules do its work", agent)
        return Worker(self.service, flow_context, self.judge, self.judge.policy, self.desk_agent)

    def desk_agent(self, flow_context: "FlowContext") -> "DeskAgent | None":
        """The desk's model, where the settings name an agent that has one."""
        from tallystick.rooms.desk.agent import DeskAgent  # noqa: PLC0415 - as above
        from tallystick.storage.agents import Registry  # noqa: PLC0415 - as above

        if self.options.agent is None:
            return None
        endpoint = Registry(self._context.workspace).endpoint(self.options.agent)
        if endpoint.provider == OFFLINE:
            return None
        told = self.options.instructions
        return DeskAgent(
            flow_context=flow_context,
            endpoint=endpoint,
            policy=self.judge.policy,
            classifier=self.judge.classifier,
            instructions=told,
        )

    @cached_property
    def judge(self) -> "ServerJudge":
        """Computes verdicts from the ledger."""
        from tallystick.rooms.desk.triage.categories import MessageClassifier, read_examples  # noqa: PLC0415 - only
        from tallystick.rooms.desk.verdict.judge import ServerJudge  # noqa: PLC0415 - where tickets are judged

        def effect(tool: str) -> str | None:
            card = self._context.cards().get(tool)
            return None if card is None else card.effect

        examples = read_examples(self._context.workspace / EXAMPLES)
        classifier = MessageClassifier(examples, self._embedder)
        return ServerJudge(self.options.verdict, self._context.ledger.session, effect, classifier)

    def tools(self) -> Iterable[Tool]:
        """The tools whose sources are configured.

        A tool without a source would still be offered to every agent, and chosen.
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

            yield web_search(self.options.web, self._context.http)

    def close(self) -> None:
        """Close the index of the knowledge base."""
        if "library" in self.__dict__:
            self.library.kb.close()

    def gauges(self) -> "Mapping[str, float]":
        """The desk's figures by the names that a dashboard knows; none where the database cannot be read now."""
        from tallystick.rooms.desk.store import DATABASE_ERRORS  # noqa: PLC0415 - as above

        try:
            found = self.service.figures()
        except (*DATABASE_ERRORS, TallyError) as error:
            # The other figures must still be shown.
            _log.warning("the desk's figures cannot be read: %s", error)
            return {}
        return {f"desk_{name}": float(value) for name, value in found.items() if value is not None}
