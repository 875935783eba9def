"""The public API of the gate."""

import logging
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tallystick.app.approvals import Approvals
from tallystick.app.calls import SESSION, GateCalls, report, session_for
from tallystick.app.room_context import check_listed, open_rooms
from tallystick.app.room_switch import required_manifest, rooms_on, unused_sections
from tallystick.app.tool_files import client_catalogue, load_tools
from tallystick.app.wiring import Parts, join
from tallystick.errors import ConfigError
from tallystick.gate.decide.budgets import limits_from, narrowed
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.gate.record.checkpoint import parse_vkey
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.recorder import Observer
from tallystick.gate.record.report import AuditReport
from tallystick.gate.session import Caller, Session
from tallystick.gate.tool import Card, Tool, tool
from tallystick.plugin import Room
from tallystick.settings import CONFIG_NAME, LimitSettings, Settings, load_settings
from tallystick.storage.durable.stored import StoredDurable
from tallystick.storage.ledger import verify_workspace
from tallystick.turns.limits import Budget
from tallystick.turns.turn import Turn

if TYPE_CHECKING:
    from tallystick.turns.flow_context import FlowContext


_log = logging.getLogger(__name__)


class Gate(GateCalls):
    """One open workspace, through which every tool call goes. Several processes may open the same workspace."""

    def __init__(self, parts: Parts) -> None:
        """Use `Gate.open`."""
        super().__init__(parts)
        self.approvals = Approvals(parts)

    # -- opening -------------------------------------------------------------------------------------------------------

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str] = ".",
        *,
        settings: Settings | None = None,
        config: str | os.PathLike[str] | None = None,
        observer: Observer | None = None,
        plugins: bool = True,
        rooms: Iterable[str] | None = None,
    ) -> Self:
        """Open a workspace and create missing keys, folders and the default policy.

        Args:
            path: The project's folder.
            settings: Used instead of `tallystick.toml` and the environment.
            config: A TOML file to read instead of the workspace's own.
            observer: Receives outcomes, e.g. telemetry.
            plugins: Whether to load the configured tools and the rooms that are on.
            rooms: The rooms to open, instead of those that `rooms` in `tallystick.toml` names. Without either, a new
                workspace has no room, and an older one has those that it holds data of.

        Raises:
            ConfigError: The configuration or a key file is invalid, or a room of `rooms` is not installed; the message
                says what to change.
            LedgerDamaged: The journal was modified; `tally audit verify` reports where.
        """
        workspace = Path(path).expanduser().absolute()
        if workspace.exists() and not workspace.is_dir():
            raise ConfigError(f"{workspace.name} is a file. Give the folder of a project.", code="not_a_folder")
        chosen = settings or load_settings(workspace, config=None if config is None else Path(config))
        # Before opening creates the control room, which tells a new workspace from an older one.
        names = _room_names(workspace, chosen, rooms) if plugins else None
        gate = cls(join(workspace, chosen, observer))
        try:
            if names is not None:
                gate._load_plugins(names)
        except BaseException:
            gate.close()
            raise
        return gate

    def _load_plugins(self, rooms: Iterable[str]) -> None:
        """Register the tools that the configuration names, and those of the rooms."""
        self.register(*load_tools(self.workspace, self.settings.gate.tools))
        for name, room in open_rooms(self._parts, self.flow_context, rooms):
            tools = tuple(replace(tool, room=name) for tool in room.tools())
            self._parts.room_tools[name] = names = frozenset(tool.card.name for tool in tools)
            check_listed(name, names)
            self.register(*tools)

    def close(self) -> None:
        """Write a last checkpoint and release files and threads."""
        self._portal.close()
        self._pipeline.close()
        self._parts.close()

    def __enter__(self) -> Self:
        """Return the gate; leaving the context closes it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close."""
        self.close()

    @property
    def workspace(self) -> Path:
        """The project's folder."""
        return self._parts.workspace

    @property
    def settings(self) -> Settings:
        """The configuration in force."""
        return self._parts.settings

    @property
    def policy(self) -> Policy:
        """The policy in force."""
        return self._pipeline.policy

    @property
    def ledger(self) -> Ledger:
        """The ledger of receipts."""
        return self._parts.ledger

    @property
    def observer(self) -> Observer | None:
        """The observer of outcomes, if any."""
        return self._parts.observer

    @property
    def durable(self) -> StoredDurable:
        """The durable engine, for work that survives its process."""
        return self._parts.durable

    def room(self, name: str) -> Room | None:
        """Return an open room; None if it is not installed or not enabled."""
        return self._parts.rooms.get(name)

    def rooms(self) -> Mapping[str, Room]:
        """All open rooms, by name."""
        return self._parts.rooms

    def gauges(self) -> dict[str, float]:
        """The rooms' current gauge values, for a dashboard."""
        return {name: value for room in self._parts.rooms.values() for name, value in room.gauges().items()}

    def flow_context(self) -> "FlowContext":
        """Return the context through which a room's tools and flows call tools and ask agents via this gate."""
        from tallystick.app.flow_context import GateFlowContext  # noqa: PLC0415 - loads storage and providers

        return GateFlowContext(self)

    # -- tools ---------------------------------------------------------------------------------------------------------

    def register(self, *tools: Tool | Callable[..., Any]) -> None:
        """Register tools: decorated functions, or plain typed functions (which have the effect `write`).

        Raises:
            RegistrationError: A schema cannot be validated against or a name is taken; the message says which.
        """
        for given in tools:
            made = given if isinstance(given, Tool) else tool(given)
            self._pipeline.add(made)
            self._names.add(made)
            self._parts.keep_card(made.card)

    def room_of(self, tool: str) -> str | None:
        """Return the name of the room that registered a tool; None for tools of the user and of upstream servers."""
        return next((name for name, tools in self._parts.room_tools.items() if tool in tools), None)

    def tools_for(self, role: str) -> frozenset[str] | None:
        """Return the names of the tools that an agent of this role is offered; None: all.

        These are the user's own and those that the role needs in each room.
        """
        left_out: set[str] = set()
        for name, room in self._parts.rooms.items():
            needed = room.tools_for(role)
            if needed is not None:
                left_out |= self._parts.room_tools[name] - frozenset(needed)
        return frozenset(card.name for card in self.tools()) - left_out if left_out else None

    def unregister(self, name: str) -> None:
        """Unregister a tool."""
        self._pipeline.remove(name)
        self._names.remove(name)

    def registered_name(self, tool: Callable[..., Any]) -> str | None:
        """Return the id under which a plain or decorated function is registered; None if it is not."""
        return self._names.known(tool)

    def tools(self) -> list[Card]:
        """Return the cards of all registered tools, sorted by name."""
        return sorted((entry.card for entry in self._pipeline.catalogue.entries()), key=lambda card: card.name)

    def watch_tools(self, told: Callable[[], None]) -> Callable[[], None]:
        """Call `told` whenever a tool is added or removed; return a function that ends the subscription."""
        return self._pipeline.catalogue.watch(told)

    # -- turns ---------------------------------------------------------------------------------------------------------

    def turn(
        self,
        *,
        session: str | Session = SESSION,
        agent: str | None = None,
        caller: Caller | None = None,
        allowed_tools: Iterable[str] | None = None,
        may_finish: bool = False,
        client_tools: Iterable[Card] = (),
        limits: Limits | Budget | None = None,
        step_bytes: int | None = None,
        authenticated: bool = True,
        user_texts: Iterable[str] | None = None,
    ) -> Turn:
        """Start an agent turn: give the model `turn.nonce` (and `turn.schema`), then `await turn.submit(text)`.

        Args:
            session: The session of the receipts: its id, or a `Session` with more fields.
            agent: The agent's id.
            caller: On whose behalf the agent acts; the local owner if not given.
            allowed_tools: The only tools of this turn.
            may_finish: Admit `{"action":"final","nonce"}` in the first step.
            client_tools: Tools that the client runs itself.
            limits: Narrower (never wider) limits than configured; a `Budget` (of a tier, …) replaces the configured.
            step_bytes: The maximum bytes of one output that the model is shown.
            authenticated: False if auth is enabled and the request had no valid token.
            user_texts: The user's messages. If given, writes with values from other people's text are held.
        """
        where = session_for(session, caller, agent=agent, turn_id=self._parts.new_id("turn"))
        spend = budget_of(self.settings.limits, limits, step_bytes)
        turn = Turn(
            **self._turn_dependencies(where, spend),
            allowed_tools=None if allowed_tools is None else frozenset(allowed_tools),
            may_finish=may_finish,
            client_tools=client_catalogue(client_tools, self._parts.keep_card),
            authenticated=authenticated,
            user_texts=user_texts,
        )
        self._turns[turn.turn_id] = turn
        return turn

    def _turn_dependencies(self, session: Session, budget: Budget) -> dict[str, Any]:
        """Return what a turn needs of this workspace, as keyword arguments of `Turn`."""
        parts = self._parts
        return {
            "pipeline": self._pipeline,
            "portal": self._portal,
            "session": session,
            "random": parts.random,
            "limits": budget.limits,
            "step_bytes": budget.step_bytes,
            "ttl_s": self.settings.gate.turn_ttl_s,
            "parent": parts.tasks.of(session, limits=budget.limits, now=parts.monotonic()),
            "wordings": parts.wordings,
        }

    def find_turn(self, turn_id: str) -> Turn | None:
        """Return a turn that is still referenced somewhere in this process; None otherwise."""
        return self._turns.get(turn_id)

    def report(self, receipt_id: str, result: Any) -> str:
        """Record the result that a client reports for a call handed back to it; return the new receipt's id."""
        return report(self._parts, receipt_id, result)

    @staticmethod
    def verify(
        path: str | os.PathLike[str] = ".", *, outside: Iterable[bytes] = (), key: str | None = None
    ) -> AuditReport:
        """Verify every receipt of a workspace, read-only.

        Args:
            path: The project's folder.
            outside: Checkpoints that were kept outside the workspace.
            key: The log's public key (a verifier line) from a source outside the workspace.
        """
        workspace = Path(path).expanduser().absolute()
        verifier = None if key is None else parse_vkey(key)
        return verify_workspace(workspace, load_settings(workspace), outside=tuple(outside), verifier=verifier)


def _room_names(workspace: Path, settings: Settings, asked: Iterable[str] | None) -> tuple[str, ...]:
    for notice in unused_sections(settings):
        _log.warning("%s: %s", CONFIG_NAME, notice)
    if asked is None:
        return rooms_on(workspace, settings)
    return tuple(required_manifest(name).name for name in asked)


def budget_of(configured: LimitSettings, limits: Limits | Budget | None, step_bytes: int | None) -> Budget:
    """Compute the budget of a new turn.

    Args:
        configured: The configured limits.
        limits: Narrower limits; or a budget (of a tier or a conference) that already respects the configuration.
        step_bytes: The maximum bytes of one output shown to the model; overrides the budget or configuration.
    """
    if isinstance(limits, Budget):
        return Budget(limits=limits.limits, step_bytes=step_bytes or limits.step_bytes)
    return Budget(
        limits=narrowed(limits_from(configured), limits or UNLIMITED),
        step_bytes=step_bytes or configured.bytes_per_step,
    )
