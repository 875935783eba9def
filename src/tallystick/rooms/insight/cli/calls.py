"""Calls of the room's tools by `tally insight`: through the gate, with a progress bar and exit codes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tallystick.doors.cli.kit import MARKS, CallHeld, Here, Refused, Screen, UsageMistake, running_tools
from tallystick.errors import ToolError

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.gate.execute.outcome import Outcome
    from tallystick.gate.execute.progress import Progress
    from tallystick.rooms.insight.room import Insight

SESSION = "insight"
CHUNK = 1024 * 1024
SHOWN_ROWS = 20
"""Rows that were not taken, as a terminal shows them."""


def call(gate: "Gate", screen: Screen, tool: str, args: Mapping[str, Any], *, doing: str | None = None) -> Any:
    """Call a tool and give its result.

    Args:
        gate: The open workspace.
        screen: Where the bar is shown.
        tool: The tool's id.
        args: Its arguments; those that are None are left out.
        doing: What the bar says; None: no bar.

    Raises:
        Refused: The call was refused, or is held.
        ToolError: The tool failed.
    """
    import asyncio

    insight_in(gate)
    given = {name: value for name, value in args.items() if value is not None}
    with _heard(screen, doing), running_tools():
        outcome = asyncio.run(_call(gate, tool, given))
    return result_of(outcome, gate.workspace)


def result_of(outcome: "Outcome", workspace: Path) -> Any:
    """The result of a call, or an error that says what to do."""
    if outcome.ok:
        return outcome.result
    if outcome.held is not None:
        from tallystick.doors.cli.kit import show_command

        # No full stop: it would be taken for a part of the folder's name.
        raise CallHeld(f"The call waits for a person: {show_command(outcome.held.approval_id, workspace)}")
    told = outcome.problem()["error"]
    message = " ".join(filter(None, (_sentence(told["message"]), told["details"].get("hint"))))
    if outcome.failure is not None and outcome.failure.fault.ran:
        failed = ToolError(f"{message} ({outcome.receipt_id})")
        failed.code = str(told["category"])
        raise failed
    raise Refused(f"{message} ({outcome.receipt_id})", code=str(told["category"]))


def insight_in(gate: "Gate") -> "Insight":
    """The room."""
    from tallystick.app.rooms import room_in
    from tallystick.rooms.insight.room import Insight

    return room_in(gate, "insight", Insight)


def ingest(gate: "Gate", screen: Screen, file: Path, *, name: str | None, columns: str | None) -> dict[str, Any]:
    """Import a file from any folder; a given column mapping is stored under the dataset's name."""
    chosen = name or file.name
    mapping = None if columns is None else mapping_of(columns)
    path = _inside(gate, file)
    _look(gate, screen, path, chosen, mapping)
    if mapping is not None:
        _keep_mapping(gate, chosen, mapping)
    taken: dict[str, Any] = call(
        gate, screen, "tool.ingest.upload", {"file_path": path, "dataset_name": chosen}, doing=f"Reading {file.name}"
    )
    dataset = insight_in(gate).store.dataset(taken["dataset_id"])
    for row in () if dataset is None else dataset.bad_rows[:SHOWN_ROWS]:
        screen.note(f"not taken: line {row.line}: {row.reason} {row.detail}".rstrip())
    if dataset is not None and dataset.bad_row_count > SHOWN_ROWS:
        screen.note(f"not taken: {dataset.bad_row_count - SHOWN_ROWS} more lines")
    return taken


def mapping_of(text: str) -> dict[str, str]:
    """`text=Body,created_at=Opened` as a mapping.

    Raises:
        UsageMistake: It is none.
    """
    from tallystick.rooms.insight.ingest.columns import FIELDS

    mapping: dict[str, str] = {}
    for pair in text.split(","):
        field, mark, column = (part.strip() for part in pair.partition("="))
        if not mark or not column:
            raise UsageMistake("--map takes FIELD=COLUMN, several with commas: --map text=Body,created_at=Opened.")
        if field not in FIELDS:
            raise UsageMistake(f"--map: there is no field '{field:.40}'. Fields are {', '.join(FIELDS)}.")
        mapping[field] = column
    return mapping


def one_of(option: str, given: str | None, known: Sequence[str]) -> None:
    """Refuse a name that an option does not know.

    Raises:
        UsageMistake: It is none of these.
    """
    if given is not None and given not in known:
        raise UsageMistake(f"{option}: there is no '{given:.40}'. Give one of {', '.join(known)}.")


def _look(gate: "Gate", screen: Screen, path: str, name: str, mapping: dict[str, str] | None) -> None:
    """Look at a file before it is taken: a mapping that it does not bear is not kept for the next one either.

    Raises:
        Refused: The file has no such columns, or none for the text.
    """
    try:
        seen = insight_in(gate).preview(path, name, mapping=mapping)
    except ToolError:
        return  # The tool says it, with a receipt.
    if seen.trouble and mapping is not None:
        raise Refused(f"{seen.trouble} {seen.hint}".strip(), code="mapping_unusable")
    for notice in seen.notices:
        screen.note(notice)


def _keep_mapping(gate: "Gate", name: str, mapping: dict[str, str]) -> None:
    from tallystick.app.audit_notes import demand_ledger, note_change
    from tallystick.gate.session import LOCAL_OWNER

    room = insight_in(gate)
    named = room.placeholders.clean(name)
    demand_ledger(gate)
    room.store.put_mapping(name, mapping)
    about = {"fields": sorted(mapping)}
    note_change(gate, LOCAL_OWNER, "ingest.mapping", f"mapping:{named}", about, session=SESSION)


def _inside(gate: "Gate", file: Path) -> str:
    """The file as the tool names it: by its path in the workspace, or as a copy that is removed once it was read."""
    import os

    from tallystick.rooms.insight.ingest.source_file import put_upload

    whole = file.expanduser().absolute()
    if not whole.is_file():
        raise Refused(f"{file} is not a file.", code="file_unreadable")
    with_links = whole.resolve()
    here = gate.workspace.resolve()
    if with_links.is_relative_to(here):
        path = with_links.relative_to(here).as_posix()
        # A path stands in receipts as it is; one that names somebody is read from a copy.
        if insight_in(gate).placeholders.clean(path) == path:
            return path
    return put_upload(gate.workspace, whole.name, _chunks(whole), random=os.urandom)


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(CHUNK):
            yield chunk


async def _call(gate: "Gate", tool: str, args: Mapping[str, Any]) -> "Outcome":
    from tallystick.gate.session import LOCAL_OWNER, Caller

    owner = Caller(subject=LOCAL_OWNER.subject, roles=LOCAL_OWNER.roles, channel="cli")
    return await gate.call(tool, args, session=SESSION, caller=owner)


@contextmanager
def _heard(screen: Screen, doing: str | None) -> Iterator[None]:
    """Around a call: what its tool reports moves the bar."""
    from tallystick.gate.execute.progress import LISTENER

    if doing is None:
        yield
        return
    with screen.progress(doing, None) as advance:
        before = LISTENER.set(_moving(advance))
        try:
            yield
        finally:
            LISTENER.reset(before)


def _moving(advance: Callable[..., None]) -> "Callable[[Progress], None]":
    return lambda report: advance(int(report.done), None if report.total is None else int(report.total))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "!", "?")) else ".")


def is_workspace(here: Here) -> bool:
    """Whether the folder that is meant is a workspace already."""
    return any((here.workspace / mark).exists() for mark in MARKS)


@contextmanager
def open_or_borrow(here: Here) -> Iterator[tuple["Gate", bool]]:
    """Open the named or nearest workspace, otherwise a temporary one; also returns whether it is kept."""
    from tempfile import TemporaryDirectory

    from tallystick.app.gate import Gate
    from tallystick.settings import load_settings

    if here.named is not None or is_workspace(here):
        with here.gate(plugins=True, make=True) as gate:
            yield gate, True
        return
    with TemporaryDirectory(prefix="tally-insight-") as folder:
        settings = load_settings(Path(folder))
        # Nobody will ever look for this ledger, so no head of it is kept outside.
        ledger = settings.ledger.model_copy(update={"mirror": "off", "durability": "os"})
        with running_tools():
            settings = settings.model_copy(update={"ledger": ledger})
            gate = Gate.open(folder, settings=settings, rooms=["insight"])
        with gate:
            yield gate, False
