"""`tally studio check` and `tally studio cards`: contradictions in a novel, and cards proposed from it; no set-up."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused, UsageMistake
from tallystick.doors.cli.studio_app import studio_app
from tallystick.doors.cli.studio_complaints import tell_complaints
from tallystick.doors.cli.workspace import MARKS, Here, running_tools

if TYPE_CHECKING:
    from tallystick.bootstrap import Gate
    from tallystick.rooms.studio.book.nouns import Book
    from tallystick.rooms.studio.continuity.proposing import Proposed
    from tallystick.rooms.studio.room import Studio

SESSION = "studio-check"
BATCH = 10
"""Files a call, as many as the tool takes."""
AS_THEY_ARE = (".txt", ".md", ".markdown")
"""Files that are checked line by line as they stand; others are imported first."""
Target = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SOURCE]", help="A .txt, .md, .docx or .epub novel, or a folder. Default: the workspace.",
        show_default=False,
    ),
]  # fmt: skip


def add_to(_: typer.Typer) -> None:
    """Add the commands to their group."""
    command(studio_app, "check")(check)
    command(studio_app, "cards")(cards)


def check(
    here: Here,
    source: Target = None,
    focus: Annotated[
        str, typer.Option("--focus", metavar="FOCUS", help="characters, terminology, events or general.")
    ] = "general",
) -> Exit:
    """Find contradictions: eyes, ages, days, places, the dead who speak, names spelt two ways.

    Needs no cards and no set-up, and leaves nothing behind. Ends with 1 if something was found, or could not be read.
    """
    if focus not in {"characters", "terminology", "events", "general"}:
        raise UsageMistake(f"There is no focus '{focus:.40}'. Use characters, terminology, events or general.")
    with _opened(here, source) as gate:
        book = _studio(gate).books.book()
        if not book.scenes:
            raise _nothing_to_check(book)
        with running_tools():
            found = _checked(gate, book, focus)
    _tell(here, found)
    # What was not read may hold anything: that is no clean book.
    clean = all(one["waived"] for one in found["findings"]) and not book.left_out
    return Exit.OK if clean else Exit.REFUSED


def cards(
    here: Here,
    source: Target = None,
    write: Annotated[bool, typer.Option("--write", help="Make them; a card that is there stays as it is.")] = False,
) -> None:
    """Propose cards for people and places from the text, with the lines they come from."""
    from tallystick.rooms.studio.continuity.proposing import proposals

    if write and source is not None:
        raise UsageMistake("Cards are written into a workspace. Import the novel first, or leave out SOURCE.")
    with _opened(here, source) as gate:
        proposed = proposals(_studio(gate).continuity.reading())
        written = _write(gate, proposed) if write else []
    here.screen.data({"items": [one.shown() for one in proposed], "written": written})
    if not proposed:
        here.screen.note("Nobody is named often enough for a card, or all have one.")
    for one in proposed:
        also = f" ({', '.join(one.aliases)})" if one.aliases else ""
        here.screen.line(f"{one.kind}  {one.name}{also}  {one.mentions} times  → {one.path}")
        for fact in one.facts:
            here.screen.line(f"    {fact.attribute}: {fact.words}  ({fact.path}:{fact.line}: {fact.quote})")
    if write:
        here.screen.note(f"{len(written)} cards written, {len(proposed) - len(written)} left as they are")


def _checked(gate: "Gate", book: "Book", focus: str) -> dict[str, Any]:
    """Every check is a call of its own, with a receipt."""
    findings: list[dict[str, Any]] = []
    receipts: list[str] = []
    looked_at: dict[str, int] = {}
    complaints: dict[str, Any] = {"complaints_total": 0, "complaints": []}
    paths = [scene.path for scene in book.scenes]
    for at in range(0, len(paths), BATCH):
        result = _called(gate, "consistency_checker", {"file_paths": paths[at : at + BATCH], "focus": focus}, receipts)
        findings += result["findings"]
        looked_at = result["looked_at"]
        complaints = {key: result[key] for key in complaints}
    for path in paths if book.cards and focus in {"general", "characters", "events"} else []:
        findings += _called(gate, "canon_checker", {"scene_path": path}, receipts)["findings"]
    return {"findings": _once(findings), "looked_at": looked_at, **complaints, "receipts": receipts}


def _nothing_to_check(book: "Book") -> Refused:
    if not book.left_out:
        return Refused(
            "There is no prose here to check. Name a novel or a folder with scenes.", code="nothing_to_check"
        )
    first, *others = book.left_out
    more = f" ({len(others)} more could not be read either.)" if others else ""
    return Refused(f"{first.path}: {first.message}{more}", code=first.code)


def _once(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One finding a rule and place: what a card says goes before what another scene says."""
    kept = {(one["rule_id"], one["scene"]["path"], one["scene"]["line"]): one for one in findings}
    return list(kept.values())


def _called(gate: "Gate", tool: str, args: dict[str, Any], receipts: list[str]) -> dict[str, Any]:
    outcome = gate.call_sync(tool, args, session=SESSION)
    if outcome.receipt_id:
        receipts.append(outcome.receipt_id)
    if not isinstance(outcome.result, dict):
        why = outcome.failure.message if outcome.failure else outcome.rejection.reason if outcome.rejection else "held"
        raise Refused(f"{tool} was not run: {why}", code="check_not_run")
    return outcome.result


def _tell(here: Here, found: dict[str, Any]) -> None:
    here.screen.data(found)
    for one in found["findings"]:
        mark = f" (waived: {one['waiver_reason']})" if one["waived"] else ""
        here.screen.line(f"{one['severity']}: {one['rule_id']}: {one['message']}{mark}")
        for side in ("canon", "scene"):
            place = one[side]
            here.screen.line(f"    {place['path']}:{place['line']}: {place['quote']}")
    tell_complaints(here.screen, found)
    looked = found["looked_at"]
    open_ones = sum(not one["waived"] for one in found["findings"])
    here.screen.note(
        f"{open_ones or 'no'} contradictions in {looked['words']} words of {looked['files']} files "
        f"({looked['facts']} facts, {looked['names']} people, {len(found['receipts'])} receipts)"
    )


@contextmanager
def _opened(here: Here, source: Path | None) -> Iterator["Gate"]:
    """The workspace, or a temporary one with the novel in it."""
    import tempfile

    if source is None:
        with here.gate(plugins=True) as gate:
            yield gate
        return
    if not source.exists():
        raise Refused(f"There is no {source}.", code="source_missing")
    if source.is_dir() and any((source / mark).exists() for mark in MARKS):
        with Here(named=source, screen=here.screen).gate(plugins=True) as gate:
            yield gate
        return
    with tempfile.TemporaryDirectory(prefix="tally-check-") as folder:
        for path, data in _files(source).items():
            target = Path(folder) / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        with Here(named=Path(folder), screen=here.screen).gate(plugins=True, make=True) as gate:
            yield gate


def _files(source: Path) -> dict[str, bytes]:
    """Path → content of what is to be checked: texts as they are, so that lines are those of the author's file."""
    from tallystick.rooms.studio.importing.bringing import read_source
    from tallystick.rooms.studio.importing.writing import files_of

    if source.is_file() and source.suffix.lower() in AS_THEY_ARE:
        return {source.name: source.read_bytes()}
    if source.is_dir():
        texts = {
            path.relative_to(source).as_posix(): path.read_bytes()
            for path in sorted(source.rglob("*"))
            if path.is_file() and path.suffix.lower() in AS_THEY_ARE and not _is_hidden(path.relative_to(source))
        }
        if texts:
            return texts
    return files_of(read_source(source))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _write(gate: "Gate", proposed: "list[Proposed]") -> list[str]:
    """New files only, each a change that can be undone."""
    from tallystick.bootstrap.studio import Workspace
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.workspace.nouns import GONE, Change
    from tallystick.turns.agents.problem import Problem

    workspace = Workspace(gate)
    written = []
    for one in proposed:
        change = Change(path=one.path, base_sha256=GONE, text=one.text(), note="Proposed from the text.")
        patch = workspace.propose(change, caller=LOCAL_OWNER)
        if not isinstance(patch, Problem) and not isinstance(
            workspace.apply(patch.patch_id, caller=LOCAL_OWNER), Problem
        ):
            written.append(one.path)
    return written


def _studio(gate: "Gate") -> "Studio":
    from tallystick.rooms.studio.room import Studio

    room = gate.room("studio")
    if not isinstance(room, Studio):
        raise Refused("The studio is not installed here. Install tallystick[all].", code="no_studio")
    return room
