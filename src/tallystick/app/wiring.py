"""Which part satisfies which port. Read this to see what is plugged into what."""

import os
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

from tallystick.app.approval_notices import tell_held
from tallystick.app.rooms import RoomRecords, close_rooms, recompute, wordings_of
from tallystick.errors import ConfigError, LedgerUnwritable
from tallystick.gate.decide.approval_service import ApprovalService
from tallystick.gate.decide.approvals import ApprovalBook, Hold
from tallystick.gate.decide.budgets import TaskMeters
from tallystick.gate.decide.policy import Policy
from tallystick.gate.pipeline import Pipeline
from tallystick.gate.record.approval_records import is_proved
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.recorder import Observer
from tallystick.gate.record.secrets import Redactor
from tallystick.gate.tool import Card
from tallystick.plugin import Room
from tallystick.providers.embeddings.choosing import Embeddings
from tallystick.settings import CONTROL_ROOM, Settings
from tallystick.storage.durable.stored import StoredDurable
from tallystick.storage.files import FileSources
from tallystick.storage.kept import keep
from tallystick.storage.ledger import audit_folder, open_ledger
from tallystick.storage.notifications import Notifications
from tallystick.storage.private import private_folder
from tallystick.turns.wording import Wordings

if TYPE_CHECKING:
    from sqlalchemy import Engine

ID_BYTES = 12


@dataclass(kw_only=True)
class Parts:
    """The joined parts of one open workspace. Rooms are given this and take from it what they need."""

    workspace: Path
    settings: Settings
    ledger: Ledger
    policy: Policy
    redactor: Redactor
    observer: Observer | None
    random: Callable[[int], bytes] = os.urandom
    monotonic: Callable[[], float] = time.monotonic
    tasks: TaskMeters = field(default_factory=TaskMeters)
    rooms: dict[str, Room] = field(default_factory=dict[str, Room])
    """The installed rooms that were loaded, by name."""
    _kept: set[str] = field(default_factory=set[str])
    """Versions of the tools whose definitions are kept: a client brings its own with every turn."""

    @cached_property
    def pipeline(self) -> Pipeline:
        """The path of every call."""
        desk = ApprovalService(
            open_book=self.book,
            new_id=lambda: self.new_id("appr"),
            now_ms=self.now_ms,
            ttl_s=self.settings.approvals.ttl_s,
            proved=self.proved,
            told=lambda hold: tell_held(self.notifications, hold),
        )
        return Pipeline(
            policy=self.policy,
            ledger=self.ledger,
            redactor=self.redactor,
            desk=desk,
            cot=self.settings.gate.cot,
            observer=self.observer,
        )

    @cached_property
    def notifications(self) -> Notifications:
        """What a person should know of."""
        return Notifications(self.workspace)

    @cached_property
    def sources(self) -> FileSources:
        """The workspace's files, as far as they may be read and quoted."""
        return FileSources(
            self.workspace, records=RoomRecords(self.rooms), figures=lambda query: recompute(self.rooms, query)
        )

    @cached_property
    def engine(self) -> "Engine":
        """The database; loaded and migrated on first need, since most workspaces never need it."""
        from tallystick.storage.database import migrate, open_engine  # noqa: PLC0415 - costs a quarter of a second

        engine = open_engine(self.settings, self.workspace)
        migrate(engine)
        return engine

    @cached_property
    def _book(self) -> ApprovalBook:
        from tallystick.storage.approvals import SqlApprovalBook  # noqa: PLC0415 - as above

        return SqlApprovalBook(self.engine)

    def book(self) -> ApprovalBook:
        """The approvals."""
        return self._book

    def proved(self, hold: Hold) -> bool:
        """Whether the ledger's signed records say what the database stores of a held call."""
        return is_proved(hold, self.ledger)

    @cached_property
    def durable(self) -> StoredDurable:
        """Where rooms put work that must survive its process; the engine behind it loads when it is used."""
        return StoredDurable(
            database_url=self.settings.storage.database_url, control_room=self.workspace / CONTROL_ROOM
        )

    @cached_property
    def embeddings(self) -> Embeddings:
        """Models that make vectors of texts; each loads when it is first asked for."""
        return Embeddings()

    def wordings(self) -> Wordings:
        """How the rooms word their tools for models."""
        return wordings_of(self.rooms.values())

    def new_id(self, kind: str) -> str:
        """A server-made id."""
        return f"{kind}_{secrets.token_hex(ID_BYTES)}"

    def now_ms(self) -> int:
        """The wall clock, in milliseconds."""
        return time.time_ns() // 1_000_000

    def keep_card(self, card: Card) -> None:
        """Keep a tool's definition under its version, so that old receipts can be replayed.

        Raises:
            LedgerUnwritable: It cannot be kept, so nothing that needs it may run.
        """
        if card.version in self._kept:
            return
        data = orjson.dumps(card.definition(), option=orjson.OPT_SORT_KEYS)
        try:
            durable = self.settings.ledger.durability == "fsync"
            keep(audit_folder(self.workspace), "tools", f"{card.version}.json", data, durable=durable)
        except OSError as error:
            message = f"The definition of {card.name} cannot be kept ({error.strerror or error}). Free some space."
            raise LedgerUnwritable(message) from error
        self._kept.add(card.version)

    def close(self) -> None:
        """Let go of files and connections."""
        close_rooms(self.rooms.values())
        self.ledger.close()
        # Only what was opened: looking at a cached property would open it.
        if "durable" in self.__dict__:
            self.durable.close()
        if "engine" in self.__dict__:
            self.engine.dispose()


def join(workspace: Path, settings: Settings, observer: Observer | None) -> Parts:
    """Open the parts of a workspace, making what is missing."""
    try:
        private_folder(workspace / CONTROL_ROOM)
    except OSError as error:
        message = f"{CONTROL_ROOM} cannot be made in {workspace.name}: {error.strerror}. Make the folder writable."
        raise ConfigError(message, code="workspace_unwritable") from None
    policy = Policy.from_settings(settings)
    ledger = open_ledger(workspace, settings)
    keep(audit_folder(workspace), "policies", f"{policy.digest}.toml", policy.text.encode())
    # Calls that a dead process began and nobody saw the end of.
    ledger.recover()
    redactor = Redactor(key=_redaction_key(ledger), names=settings.redact.keys)
    return Parts(
        workspace=workspace, settings=settings, ledger=ledger, policy=policy, redactor=redactor, observer=observer
    )


def _redaction_key(ledger: Ledger) -> bytes:
    return sha256(ledger.keys.active().derive("redaction").mac(b"arguments")).digest()
