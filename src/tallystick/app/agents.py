"""Build the agent services of an open workspace from its stores, models, telemetry and rooms."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakValueDictionary

from tallystick.agents.administration import SESSION, AgentAdministration
from tallystick.agents.answers import Unanswered
from tallystick.agents.conversation import Conversation
from tallystick.agents.counts import Count
from tallystick.agents.crew import Crew
from tallystick.agents.ports import AgentGate, ConversationAccess, ModelFactory, TaskContext, TurnListener
from tallystick.agents.problem import Problem
from tallystick.agents.task_service import Tasks
from tallystick.agents.tasks.routing import Routed
from tallystick.agents.tasks.targets import KnownFile
from tallystick.agents.turn_counts import TurnCounter
from tallystick.agents.turn_records import TurnRecorder
from tallystick.agents.wire import LOCAL, OFFLINE
from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.gate.codes import Category
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Caller, Session, valid_session_id
from tallystick.plugin import Room
from tallystick.providers.chat.capabilities import FILE, CapabilityBook
from tallystick.providers.embeddings.selection import Embeddings
from tallystick.providers.endpoints import model_for
from tallystick.providers.local.answers import LocalAnswerJudge
from tallystick.providers.models.store import ModelStore
from tallystick.reading.agent.library import Library
from tallystick.reading.agent.model import ReadingAgent
from tallystick.records import record
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.agents import Registry
from tallystick.storage.credits import Credits
from tallystick.storage.files import FileSources
from tallystick.storage.notifications import Notifications, place_of
from tallystick.storage.tasks import TaskFiles
from tallystick.storage.tiers import Tiers
from tallystick.storage.transcripts import Transcripts
from tallystick.telemetry.observer import Telemetry
from tallystick.telemetry.rejections import Rejections
from tallystick.telemetry.stored_counts import StoredCounts
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Model


class OpenGate(AgentGate, Protocol):
    """The agents' interface of an open workspace, plus its folder, rooms and blocking calls."""

    @property
    def workspace(self) -> Path:
        """The project's folder."""
        ...

    def rooms(self) -> Mapping[str, Room]:
        """All open rooms, by name."""
        ...

    def call_sync(
        self,
        tool: str,
        args: Mapping[str, Any] | None = None,
        *,
        session: str | Session,
        allowed_tools: frozenset[str] | None = None,
    ) -> Outcome:
        """Propose one call and wait for its outcome."""
        ...


TELEMETRY_FOLDER = "telemetry"


# -- the services ------------------------------------------------------------------------------------------------------


def conversation_of(gate: OpenGate) -> Conversation:
    """Return the single conversation service of an open workspace; doors and flows share it and its turn queues."""
    found = _conversations.get(id(gate))
    if found is None:
        found = _conversations[id(gate)] = _new_conversation(gate)
    return found


_conversations: WeakValueDictionary[int, Conversation] = WeakValueDictionary()
"""Keyed by `id(gate)`, which is not reused while the entry exists because the conversation references the gate."""


def tasks_of(gate: OpenGate) -> Tasks:
    """Build the task service of an open workspace on the agents and queues of its conversation."""
    context = room_ports(gate).tasks
    return Tasks(gate, conversation_of(gate), store=TaskFiles(gate.workspace), context=context)


def administration_of(gate: OpenGate) -> AgentAdministration:
    """Build the service that administers agents and tiers of an open workspace."""
    return AgentAdministration(
        registry=Registry(gate.workspace), tiers=Tiers(gate.workspace), changes=_AuditNotes(gate, SESSION)
    )


def counter_of(gate: OpenGate) -> TurnCounter:
    """Build the turn counter of an open workspace."""
    rooms = room_ports(gate)
    return TurnCounter(
        counts=_TelemetryCounts(gate),
        notices=_TurnNotifications(Notifications(gate.workspace)),
        registry=Registry(gate.workspace),
        access=rooms.access,
        listener=rooms.listener,
    )


def counted_of(gate: OpenGate) -> StoredCounts:
    """Return the counts of all processes of a workspace."""
    observer = gate.observer
    return StoredCounts(observer.rejections if isinstance(observer, Telemetry) else _rejections(gate))


def _new_conversation(gate: OpenGate) -> Conversation:
    tiers = Tiers(gate.workspace)
    crew = Crew(gate, registry=Registry(gate.workspace), tiers=tiers, model_for=_model_factory(gate))
    recorder = TurnRecorder(
        transcripts=Transcripts(gate.workspace),
        credit_store=Credits(gate.workspace),
        tiers=tiers,
        counter=counter_of(gate),
        observer=gate.observer,
    )
    return Conversation(gate, crew=crew, recorder=recorder, access=room_ports(gate).access)


def _model_factory(gate: OpenGate) -> ModelFactory:
    memory = CapabilityBook(gate.workspace / CONTROL_ROOM / FILE)
    other = partial(model_for, settings=gate.settings, memory=memory, workspace=gate.workspace)
    library = library_of(gate)

    def model_of(endpoint: Endpoint) -> Model:
        if endpoint.provider == OFFLINE:
            return ReadingAgent(library)
        if endpoint.provider == LOCAL:
            judge = LocalAnswerJudge(endpoint.model, ModelStore(gate.settings.models_dir()))
            return ReadingAgent(library, model=other(endpoint), judge=judge)
        return other(endpoint)

    return model_of


def library_of(gate: OpenGate) -> Library:
    """Return the library from which an agent of an open workspace reads."""
    embeddings = Embeddings(ModelStore(gate.settings.models_dir()))
    return Library(
        FileSources(gate.workspace),
        gate.workspace / CONTROL_ROOM / "search" / "files.db",
        choose_embedder=embeddings.for_reading,
        examples=lambda: [each for room in gate.rooms().values() for each in room.requests()],
    )


# -- room ports --------------------------------------------------------------------------------------------------------


@record
class RoomPorts:
    """The agent ports that loaded rooms implement, with defaults for the rest."""

    access: ConversationAccess
    tasks: TaskContext
    listener: TurnListener | None


def room_ports(gate: OpenGate) -> RoomPorts:
    """Collect the agent ports that the rooms of an open workspace implement; the first room to offer one wins.

    Call it after opening: rooms are loaded while the gate opens.
    """
    rooms = gate.rooms().values()
    access = next(filter(None, (room.conversation_access() for room in rooms)), None)
    tasks = next(filter(None, (room.task_context() for room in rooms)), None)
    listener = next(filter(None, (room.turn_listener() for room in rooms)), None)
    return RoomPorts(
        access=access or NoConversationAccess(),
        tasks=tasks or PlainTaskContext(FileSources(gate.workspace).paths),
        listener=listener,
    )


# -- adapters ----------------------------------------------------------------------------------------------------------


class _AuditNotes:
    """Implements `ChangeRecords` with note records in the ledger."""

    def __init__(self, gate: OpenGate, session: str) -> None:
        self._gate = gate
        self._session = session

    def require_writable(self) -> None:
        demand_ledger(self._gate)

    def record(self, caller: Caller, action: str, resource: str, metadata: Mapping[str, Any] | None = None) -> str:
        return note_change(self._gate, caller, action, resource, metadata, session=self._session)


class _TelemetryCounts:
    """Implements `TurnCounts` with this process's telemetry, or with count files if it has none."""

    def __init__(self, gate: OpenGate) -> None:
        self._gate = gate

    @property
    def sees_refusals(self) -> bool:
        return isinstance(self._gate.observer, Telemetry)

    def add(self, session: Session, count: Count, buckets: Sequence[str]) -> None:
        observer = self._gate.observer
        if isinstance(observer, Telemetry):
            _add(observer.rejections, session, count, buckets)
            return
        # A CLI command counts one or two turns and exits: write immediately and leave no background thread.
        with closing(_rejections(self._gate)) as own:
            _add(own, session, count, buckets)


class _TurnNotifications:
    """Implements `TurnNotices` with the workspace's notifications."""

    def __init__(self, notifications: Notifications) -> None:
        self._notifications = notifications

    def warn(self, text: str, session: Session) -> None:
        source, link = "chat", place_of("session", session.session_id)
        if session.conference_id is not None:
            source, link = "conference", place_of("conference", session.conference_id)
        self._notifications.add(level="warn", source=source, text=text, link=link)


def _rejections(gate: OpenGate) -> Rejections:
    return Rejections(gate.workspace / CONTROL_ROOM / TELEMETRY_FOLDER)


def _add(rejections: Rejections, session: Session, count: Count, buckets: Sequence[str]) -> None:
    rejections.add(session, count)
    for bucket in buckets:
        rejections.add(session, bucket=bucket)


NO_CONFERENCES = Unanswered(
    code="conference_unknown",
    advice="There is no conference of this id.",
    status=404,
    category=Category.DOWNSTREAM_ERROR,
)
INVALID_ISSUE = Problem(
    code="issue_unknown", message="An issue id has letters, digits, dot, dash and underscore, 128 at most."
)


class NoConversationAccess:
    """A `ConversationAccess` without shared conversations: every id is unknown."""

    def refusal(self, conversation_id: str, caller: Caller) -> Unanswered | None:  # noqa: ARG002 - the port's arguments
        """See `ConversationAccess`."""
        return NO_CONFERENCES

    def reply_text(self, conversation_id: str, check_id: str, caller: Caller) -> str | None:
        """See `ConversationAccess`."""


class PlainTaskContext:
    """A `TaskContext` that groups tasks under issue ids without opening issues."""

    def __init__(self, paths: Callable[[], Iterable[str]]) -> None:
        """Create the context; `paths` lists the workspace's files."""
        self._paths = paths

    def issue_id(self, name: str) -> str | Problem:
        """See `TaskContext`: every valid id names a group of tasks."""
        return name if valid_session_id(name) else INVALID_ISSUE

    def open_issue(self, routed: Routed, message: str, *, caller: Caller, session_id: str) -> Problem | None:
        """See `TaskContext`: nothing is opened."""

    def known_files(self) -> tuple[KnownFile, ...]:
        """See `TaskContext`: files are known by their names."""
        return tuple(KnownFile(path=path, slugs=(_stem(path),)) for path in self._paths())


def _stem(path: str) -> str:
    """Return a file's name without folder and extension."""
    name = path.rpartition("/")[2]
    return name.rpartition(".")[0] or name
