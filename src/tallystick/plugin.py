"""The plugin interface of rooms: the manifest that an entry point names, and the room object that the gate opens.

A room is a plugin. Its distribution declares one entry point in the group `tallystick.rooms`, which names a `Manifest`:

    [project.entry-points."tallystick.rooms"]
    tasting = "tasting_room:MANIFEST"

The manifest is cheap to load: a name, one sentence, and references (`"package.module:attribute"`) into the room's own
distribution. Each door resolves only the references it needs, on first use: the command line never loads a page, the
gate never loads a web framework, and `tally --help` loads no room at all.

    room        RoomContext → Room               the gate, when the room is on
    settings    a pydantic model                 checks `[rooms.NAME]` of tallystick.toml
    migrations  a package of Alembic revisions   before the room first uses the database
    http        HttpContext → routers            `tally serve`
    commands    adds a command to a Typer app    the command line
    web         PageContext → paths              the page
    demo        a `Part`                         `tally demo`
    doctor      Here → findings                  `tally doctor`

`docs/extending.md` explains all of it with a room from outside this repository.

At run time this module imports only the standard library.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from decimal import Decimal
    from pathlib import Path

    from sqlalchemy import Engine

    from tallystick.agents.ports import ConversationAccess, TaskContext, TurnListener
    from tallystick.gate.record.ledger import Ledger
    from tallystick.gate.record.recorder import Observer
    from tallystick.gate.tool import Card, Tool
    from tallystick.http_port import HttpClient
    from tallystick.mail_port import MailClient
    from tallystick.reading.agent.intents import RequestExample
    from tallystick.reading.retriever import ReadDocument, Retriever
    from tallystick.settings import Settings
    from tallystick.storage.files import FileSources
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext
    from tallystick.turns.tool_prompts import ToolPrompts

GROUP = "tallystick.rooms"
"""The entry-point group of rooms."""
_NAME = re.compile("[a-z][a-z0-9_]*")
_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True, kw_only=True, slots=True)
class CommandReference:
    """One top-level command that a room adds to `tally`."""

    name: str
    """What the user types after `tally`."""
    help: str
    """One line for `tally --help`."""
    reference: str
    """The function that takes a Typer app and adds the command to it: `"package.module:attribute"`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """The name, requirements and references of a room."""

    name: str
    """The room's name in settings, commands and paths: lower-case letters, digits and underscores."""
    summary: str
    """One sentence about what the room is for."""
    room: str
    """Reference to the room's factory: a class or function that takes a `RoomContext`."""
    requires: tuple[str, ...] = ()
    """Top-level modules that must be importable. If one is missing the room is listed as unavailable."""
    install: str = ""
    """The command that installs missing requirements."""
    settings: str | None = None
    """Reference to the pydantic model of `[rooms.NAME]`; without it the room takes no settings."""
    migrations: str | None = None
    """The package that holds `HEAD` and, in `versions/`, the room's Alembic revisions."""
    http: str | None = None
    """Reference to a function from `HttpContext` to the room's routers."""
    paths: tuple[str, ...] = ()
    """The path prefixes of those routes; they answer `tool_unavailable` while the room is off or unavailable."""
    tools: tuple[str, ...] = ()
    """The names of the tools it may register, so that a call of one while the room is off says how to switch it on."""
    data_tables: tuple[str, ...] = ()
    """Tables whose rows are the room's data. A workspace that does not say which rooms are on opens with this room if
    one of them holds a row, or if one of `data_files` exists."""
    data_files: tuple[str, ...] = ()
    """Patterns of files that are the room's data, relative to the workspace (`.control-room/issues/*`). The user's own
    files, outside `.control-room`, count only where a tool of the room was registered before."""
    chat: bool = False
    """Whether `tally chat` switches the room on in a workspace that does not say which rooms are on."""
    commands: tuple[CommandReference, ...] = ()
    """The room's commands; the first use of one switches the room on."""
    web: str | None = None
    """Reference to a function from `PageContext` to the first path segments of the room's pages."""
    demo: str | None = None
    """Reference to the room's part of `tally demo`."""
    doctor: str | None = None
    """Reference to a function from the command line's `Here` to the findings of the room for `tally doctor`."""

    def __post_init__(self) -> None:
        """Refuse a name or reference that no door could use.

        Raises:
            ValueError: The message names the field.
        """
        if not _NAME.fullmatch(self.name):
            message = f"name={self.name!r}: lower-case letters, digits and underscores, beginning with a letter"
            raise ValueError(message)
        for field_name, reference in self.references():
            if not _REFERENCE.fullmatch(reference):
                raise ValueError(f'{field_name}={reference!r}: a reference has the form "package.module:attribute"')

    def references(self) -> Iterator[tuple[str, str]]:
        """Yield every reference with the name of its field."""
        for field_name in ("room", "settings", "http", "web", "demo", "doctor"):
            reference = getattr(self, field_name)
            if reference is not None:
                yield field_name, reference
        yield from (("commands", command.reference) for command in self.commands)

    def missing(self) -> tuple[str, ...]:
        """Return the required modules that are not installed."""
        return tuple(module for module in self.requires if not _is_importable(module))


def _is_importable(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


class RoomContext(Protocol):
    """The workspace components that a room receives when it is opened. Each is created on first use."""

    @property
    def workspace(self) -> "Path":
        """The project's folder."""
        ...

    @property
    def settings(self) -> "Settings":
        """The configuration of the workspace."""
        ...

    @property
    def options(self) -> Any:
        """The room's own settings, validated: an instance of the model that the manifest names."""
        ...

    @property
    def ledger(self) -> "Ledger":
        """The receipts of the workspace."""
        ...

    @property
    def engine(self) -> "Engine":
        """The database, with the room's tables migrated."""
        ...

    @property
    def sources(self) -> "FileSources":
        """The workspace's files that may be read and quoted."""
        ...

    @property
    def embeddings(self) -> Any:
        """The embedding models; `for_reading()` returns the one that retrieval uses, or None."""
        ...

    def retriever(self, corpus: str, read: "ReadDocument") -> "Retriever":
        """Open hybrid retrieval over one corpus of the room.

        Args:
            corpus: Names its index; letters, digits and hyphens.
            read: Returns a document of the corpus as it is now, by name; None if it is gone.
        """
        ...

    @property
    def observer(self) -> "Observer | None":
        """The telemetry of this process, if any."""
        ...

    @property
    def http(self) -> "HttpClient":
        """The HTTP client; it connects only to addresses that it has checked."""
        ...

    @property
    def mail(self) -> "MailClient":
        """The client for the mail servers in the settings."""
        ...

    def cards(self) -> "Mapping[str, Card]":
        """Return the cards of all registered tools, by name."""
        ...

    def flow_context(self) -> "FlowContext":
        """Return the context through which the room's tools and flows call other tools and ask agents."""
        ...

    def now_ms(self) -> int:
        """Return the wall-clock time in milliseconds."""
        ...

    def monotonic(self) -> float:
        """Return the time of a monotonic clock in seconds."""
        ...

    def new_id(self, kind: str) -> str:
        """Generate a new id, such as `ticket_5f0c…` for the kind `ticket`."""
        ...

    def random(self, size: int) -> bytes:
        """Return `size` random bytes."""
        ...


class Room:
    """Base class of an open room. Override the methods the room needs; every default contributes nothing."""

    name: str

    def tools(self) -> "Iterable[Tool]":
        """Return the tools that the room registers with the gate; a tool carries its own rule."""
        return ()

    def tools_for(self, role: str) -> "Iterable[str] | None":
        """Return the names of the room's tools that an agent of this role is offered; None: all of them.

        An agent whose own entry names tools is offered those instead. Calls of other tools are refused, not just
        hidden.
        """
        del role
        return None

    def flows(self, durable: "Durable", context: "FlowContext") -> None:
        """Register the room's durable flows; called once in each process that starts or runs them."""

    def wordings(self) -> "ToolPrompts":
        """Return the room's tool descriptions for models, where they differ from the cards."""
        return {}

    def requests(self) -> "Iterable[RequestExample]":
        """Return example requests for the room's tools, by which an agent without a large model chooses among them."""
        return ()

    def records(self) -> Mapping[str, Callable[[str], str | None]]:
        """Return the records that replies may cite (`ticket:12`): prefix → function from id to record text."""
        return {}

    def figure(self, query: str) -> "Decimal | None":
        """Recompute a figure that a reply cites; None if the query is not for this room."""
        del query
        return None

    def texts_by(self, agent_id: str, tool_id: str) -> "Iterable[str]":
        """Return texts that an agent wrote in this room other than by calls and that the tool may return.

        The reply check uses them because an agent must not cite its own text as evidence.
        """
        del agent_id, tool_id
        return ()

    def gauges(self) -> Mapping[str, float]:
        """Return the room's current gauge values for `/metrics`, by name."""
        return {}

    def conversation_access(self) -> "ConversationAccess | None":
        """Return the port that decides who may continue a shared conversation, such as a conference."""
        return None

    def task_context(self) -> "TaskContext | None":
        """Return the port that finds the issue of a task and the files it can be about."""
        return None

    def turn_listener(self) -> "TurnListener | None":
        """Return the listener that is called when an agent has finished a turn."""
        return None

    def served(self) -> None:
        """Start what a server does once in the background, in a thread of its own; called when serving begins."""

    def close(self) -> None:
        """Flush pending writes and release resources."""
