"""Dependency wiring: which implementation satisfies which port."""

import logging
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from tallystick.app.rooms import RoomRecords, close_rooms, recompute, wordings_of
from tallystick.errors import ConfigError, TallyError
from tallystick.gate.decide.approval_service import ApprovalService
from tallystick.gate.decide.approvals import ApprovalStore, Hold
from tallystick.gate.decide.budgets import RateWindows, TaskMeters
from tallystick.gate.decide.policy import Policy
from tallystick.gate.pipeline import Pipeline
from tallystick.gate.record.approval_records import is_proved
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.recorder import Observer
from tallystick.gate.record.secrets import Redactor
from tallystick.gate.reply.support.scorer import SupportScorer
from tallystick.gate.tool import Card
from tallystick.http_port import HttpClient
from tallystick.mail_port import MailClient
from tallystick.plugin import Room
from tallystick.providers.embeddings.selection import Embeddings
from tallystick.providers.local.judge import LocalJudge
from tallystick.providers.models.store import ModelStore
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.reading.retriever import ReadDocument, Retriever, open_retriever
from tallystick.settings import CONTROL_ROOM, Settings
from tallystick.storage.durable.stored import StoredDurable
from tallystick.storage.files import FileSources
from tallystick.storage.inbox import register_workspace
from tallystick.storage.ledger import open_ledger
from tallystick.storage.notifications import Notifications, place_of
from tallystick.storage.private import private_folder
from tallystick.turns.tool_prompts import ToolPrompts

if TYPE_CHECKING:
    from sqlalchemy import Engine


ID_BYTES = 12


@dataclass(kw_only=True)
class Parts:
    """The wired components of one open workspace. Rooms access them through their `RoomContext`."""

    workspace: Path
    settings: Settings
    ledger: Ledger
    policy: Policy
    redactor: Redactor
    observer: Observer | None
    http: HttpClient = field(default_factory=PinnedHttpClient)
    random: Callable[[int], bytes] = os.urandom
    monotonic: Callable[[], float] = time.monotonic
    tasks: TaskMeters = field(default_factory=TaskMeters)
    rates: RateWindows = field(default_factory=RateWindows)
    shared: Callable[[], None] = lambda: None
    """Closes what counts for all nodes."""
    rooms: dict[str, Room] = field(default_factory=dict[str, Room])
    """The open rooms, by name."""
    room_tools: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The names of the tools that each room registered."""
    _retrievers: list[Retriever] = field(default_factory=list[Retriever])
    _kept: set[str] = field(default_factory=set[str])
    """Tool versions whose definitions are already stored; clients send theirs again with every turn."""

    @cached_property
    def pipeline(self) -> Pipeline:
        """The pipeline that every call passes."""
        approvals = ApprovalService(
            open_store=self.book,
            new_id=lambda: self.new_id("appr"),
            now_ms=self.now_ms,
            ttl_s=self.settings.approvals.ttl_s,
            proved=self.proved,
            notify=self._tell_held,
        )
        return Pipeline(
            policy=self.policy,
            ledger=self.ledger,
            redactor=self.redactor,
            approvals=approvals,
            cot=self.settings.gate.cot,
            observer=self.observer,
            rates=self.rates,
        )

    @cached_property
    def notifications(self) -> Notifications:
        """Notifications for people."""
        return Notifications(self.workspace)

    @cached_property
    def sources(self) -> FileSources:
        """The workspace's files that may be read and quoted, with the rooms' records and figures."""
        return FileSources(
            self.workspace, records=RoomRecords(self.rooms), figures=lambda query: recompute(self.rooms, query)
        )

    @cached_property
    def judge(self) -> SupportScorer | None:
        """The model that judges the claims of replies; None unless the settings name one."""
        name = self.settings.evidence.judge
        return LocalJudge(name, ModelStore(self.settings.models_dir())) if name else None

    @cached_property
    def engine(self) -> "Engine":
        """The database; opened and migrated on first use, since most workspaces never need it."""
        from tallystick.storage.database import migrate, open_engine  # noqa: PLC0415 - costs a quarter of a second

        engine = open_engine(self.settings, self.workspace)
        migrate(engine)
        return engine

    @cached_property
    def _book(self) -> ApprovalStore:
        from tallystick.storage.approvals import SqlApprovalStore  # noqa: PLC0415 - as above

        return SqlApprovalStore(self.engine)

    def _tell_held(self, hold: Hold) -> None:
        tell_held(self.notifications, hold)
        try:
            register_workspace(self.settings.state_dir(), self.workspace)
        except OSError as error:
            _log.warning("a held call is not in the user's inbox: %s", error)

    def book(self) -> ApprovalStore:
        """Return the approval store."""
        return self._book

    def proved(self, hold: Hold) -> bool:
        """Return whether the ledger's signed records match the database row of a held call."""
        return is_proved(hold, self.ledger)

    @cached_property
    def durable(self) -> StoredDurable:
        """The durable store for work that must survive its process; its engine loads on first use."""
        return StoredDurable(
            database_url=self.settings.storage.database_url, control_room=self.workspace / CONTROL_ROOM
        )

    @cached_property
    def mail(self) -> MailClient:
        """The mail client; loads on first use."""
        from tallystick.providers.net.mail import NetMailClient  # noqa: PLC0415 - few workspaces read mail

        return NetMailClient()

    @cached_property
    def embeddings(self) -> Embeddings:
        """The embedding models; each loads on first use."""
        return Embeddings(ModelStore(self.settings.models_dir()))

    def retriever(self, corpus: str, read: ReadDocument) -> Retriever:
        """Open the retrieval over one corpus; its index files are in the control room and made again when missing."""
        folder = self.workspace / CONTROL_ROOM / "search"
        made = open_retriever(folder / f"{corpus}.db", read=read, choose_embedder=self.embeddings.for_reading)
        self._retrievers.append(made)
        return made

    def wordings(self) -> ToolPrompts:
        """Return the rooms' tool descriptions for models."""
        return wordings_of(self.rooms.values())

    def new_id(self, kind: str) -> str:
        """Generate a random id with the prefix `kind`."""
        return f"{kind}_{secrets.token_hex(ID_BYTES)}"

    def now_ms(self) -> int:
        """Return the wall-clock time in milliseconds."""
        return time.time_ns() // 1_000_000

    def keep_card(self, card: Card) -> None:
        """Store a tool's definition under its version, so that old receipts can be replayed.

        Raises:
            LedgerUnwritable: The definition cannot be stored, so the tool must not run.
        """
        if card.version in self._kept:
            return
        data = orjson.dumps(card.definition(), option=orjson.OPT_SORT_KEYS)
        self.ledger.keep("tools", f"{card.version}.json", data)
        self._kept.add(card.version)

    def close(self) -> None:
        """Close rooms, ledger and connections."""
        close_rooms(self.rooms.values())
        for retriever in self._retrievers:
            retriever.close()
        self.ledger.close()
        self.shared()
        # Check `__dict__`: accessing an unused cached property would open it.
        if "durable" in self.__dict__:
            self.durable.close()
        if "engine" in self.__dict__:
            self.engine.dispose()


def join(workspace: Path, settings: Settings, observer: Observer | None) -> Parts:
    """Open the components of a workspace and create missing files.

    Raises:
        ConfigError: The control folder cannot be created.
    """
    try:
        private_folder(workspace / CONTROL_ROOM)
    except OSError as error:
        message = f"{CONTROL_ROOM} cannot be made in {workspace.name}: {error.strerror}. Make the folder writable."
        raise ConfigError(message, code="workspace_unwritable") from None
    policy = Policy.from_settings(settings)
    http = PinnedHttpClient()
    ledger = open_ledger(workspace, settings, http=http)
    ledger.keep("policies", f"{policy.digest}.toml", policy.text.encode())
    # Close calls that a dead process started and never finished.
    ledger.recover()
    redactor = Redactor(key=_redaction_key(ledger), names=settings.redact.keys)
    counts: dict[str, Any] = {} if settings.storage.journal == "files" else _shared_counts(workspace, settings)
    return Parts(
        **counts,
        workspace=workspace,
        settings=settings,
        ledger=ledger,
        policy=policy,
        redactor=redactor,
        observer=observer,
        http=http,
    )


def _shared_counts(workspace: Path, settings: Settings) -> dict[str, Any]:
    """Return the counters that all nodes of a workspace share, as arguments of `Parts`."""
    from tallystick.storage.shared_journal.link import Link  # noqa: PLC0415 - needs the database's driver
    from tallystick.storage.shared_journal.shared_counts import SharedRates, SharedTaskMeters  # noqa: PLC0415
    from tallystick.storage.shared_journal.shared_ledger import connect_to  # noqa: PLC0415 - as above

    link = Link(connect_to(workspace, settings), "counts")
    return {"tasks": SharedTaskMeters(link), "rates": SharedRates(link), "shared": link.drop}


def _redaction_key(ledger: Ledger) -> bytes:
    return sha256(ledger.keys.active().derive("redaction").mac(b"arguments")).digest()


SOURCE = "approvals"
_log = logging.getLogger(__name__)


def tell_held(notifications: Notifications, hold: Hold) -> None:
    """Notify that a call waits for approval; a failed write is logged and the call stays held."""
    who = hold.session.agent_id or hold.session.caller.subject
    text = f"{who} wants to call {hold.tool}: approve or reject it."
    try:
        notifications.add(level="warn", source=SOURCE, text=text, link=place_of("approval", hold.approval_id))
    except TallyError as error:
        _log.warning("a held call was not notified: %s", error)


def tell_answered(notifications: Notifications, approval_id: str) -> None:
    """Settle the notification of an answered request; a failed write is only logged."""
    try:
        notifications.settle(place_of("approval", approval_id))
    except TallyError as error:
        _log.warning("a notification was not settled: %s", error)
