"""`tally studio check` and `tally studio cards`: contradictions in a novel, and cards proposed from it; no set-up."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import Exit, Here, Refused, UsageMistake, command, counted, running_tools
from tallystick.rooms.studio.cli.source import Opened, opened, place_words, tell_complaints
from tallystick.rooms.studio.continuity.statements import END

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.gate.execute.outcome import Outcome
    from tallystick.rooms.studio.book.model import Book
    from tallystick.rooms.studio.continuity.proposals import ProposedCard
    from tallystick.rooms.studio.room import Studio

SESSION = "studio-check"
BATCH = 10
"""Files per call, the tool's maximum."""
Target = Annotated[
    Path | None,
    typer.Argument(
        metavar="[SOURCE]",
        help="A .txt, .md, .docx or .epub novel, or a folder. Default: the workspace.",
        show_default=False,
    ),
]


def add_to(studio: typer.Typer) -> None:
    """Add the commands to their group."""
    command(studio, "check")(check)
    command(studio, "cards")(cards)


def check(
    here: Here,
    source: Target = None,
    focus: Annotated[
        str, typer.Option("--focus", metavar="FOCUS", help="characters, terminology, events or general.")
    ] = "general",
    model: Annotated[
        str | None,
        typer.Option(
            "--model", metavar="AGENT", help="Have this agent's model read the scenes against the cards, too."
        ),
    ] = None,
    calls: Annotated[int, typer.Option("--calls", min=1, max=10_000, help="With --model: questions at most.")] = 150,
) -> Exit:
    """Find contradictions: eyes, ages, days, places, the dead who speak, names spelt two ways.

    Needs no cards and no set-up, and leaves nothing behind. Ends with 1 if something was found, or could not be read.
    """
    if model is not None and source is not None:
        raise UsageMistake("A model reads a workspace. Import the novel first, or leave out SOURCE.")
    if focus not in {"characters", "terminology", "events", "general"}:
        raise UsageMistake(f"There is no focus '{focus:.40}'. Use characters, terminology, events or general.")
    with opened(here, source) as there:
        book = _studio(there.gate).books.book()
        if not book.scenes:
            raise _nothing_to_check(book)
        with running_tools():
            found = _checked(there.gate, book, focus)
        if model is not None:
            found |= _by_model(here, there.gate, model, calls, found)
        found = _in_the_source(there, found)
    _tell(here, found)
    # An unread file may hold contradictions, so the book is not clean.
    clean = all(one["waived"] for one in found["findings"]) and not book.left_out and not there.damaged
    return Exit.OK if clean else Exit.REFUSED


def cards(
    here: Here,
    source: Target = None,
    write: Annotated[bool, typer.Option("--write", help="Make them; a card that is there stays as it is.")] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show what was understood of the cards that are there.")
    ] = False,
) -> None:
    """Propose cards for people and places from the text, with the lines they come from."""
    from tallystick.reading.parser import INSTALL
    from tallystick.rooms.studio.continuity.proposals import proposals

    if explain:
        with opened(here, source) as there:
            _explain(here, there)
        return
    if write and source is not None:
        raise UsageMistake("Cards are written into a workspace. Import the novel first, or leave out SOURCE.")
    with opened(here, source) as there:
        reading = _studio(there.gate).continuity.reading()
        if reading.parser is None:
            raise Refused(
                f"Cards are read out of the text by its grammar. Install it: {INSTALL}.", code="parser_missing"
            )
        proposed = proposals(reading)
        written = _write(there.gate, proposed) if write else []
    facts = [[there.named(fact) for fact in _facts(one)] for one in proposed]
    items = [{**one.shown(), "facts": told} for one, told in zip(proposed, facts, strict=True)]
    here.screen.data({"items": items, "written": written})
    if not proposed:
        here.screen.note("Nobody is named often enough for a card, or all have one.")
    for one, told in zip(proposed, facts, strict=True):
        also = f" ({', '.join(one.aliases)})" if one.aliases else ""
        here.screen.line(f"{one.kind}  {one.name}{also}  {one.mentions} times  → {one.path}")
        for fact in told:
            here.screen.line(f"    {fact['field']}: {fact['value']}  ({place_words(fact)}: {fact['quote']})")
    if write:
        here.screen.note(f"{counted(len(written), 'card')} written, {len(proposed) - len(written)} left as they are")


def _explain(here: Here, there: Opened) -> None:
    """Every card line: its statements, or that no field of it is known."""
    lines = _studio(there.gate).continuity.reading().card_lines
    understood = sum(line.understood for line in lines)
    items = [
        {
            **there.named({"path": line.line.card.path, "line": line.line.line}),
            "text": line.line.written,
            "understood": line.understood,
            "statements": [
                {
                    "subject": one.name,
                    "field": one.field,
                    "value": list(one.value),
                    "from_scene": one.first_scene,
                    "to_scene": one.last_scene if one.last_scene < END else None,
                }
                for one in line.statements
                if one.field
            ],
        }
        for line in lines
    ]
    here.screen.data({"understood": understood, "lines": len(lines), "items": items})
    for item in items:
        told = "; ".join(f"{one['subject']}: {one['field']} = {_values(one['value'])}" for one in item["statements"])
        here.screen.line(f"{place_words(item)}  {item['text']}")
        here.screen.line(f"    {told or 'kept, no known field: not compared by code'}")
    here.screen.note(f"{understood} of {counted(len(lines), 'line')} understood")


def _values(value: list[str | int]) -> str:
    return " ".join(dict.fromkeys(map(str, value)))


def _facts(proposed: "ProposedCard") -> list[dict[str, Any]]:
    shown: Any = proposed.shown()["facts"]
    return list(shown)


def _in_the_source(there: Opened, found: dict[str, Any]) -> dict[str, Any]:
    """The result with places in the author's manuscript, and the parts of it that were not checked."""
    findings = [{**one, **{side: there.named(one[side]) for side in ("canon", "scene")}} for one in found["findings"]]
    complaints = [there.named(one) for one in found["complaints"]]
    losses = [loss.as_dict() for loss in there.losses]
    return {**found, "findings": findings, "complaints": complaints, "losses": losses}


def _checked(gate: "Gate", book: "Book", focus: str) -> dict[str, Any]:
    """Every check is a call of its own, with a receipt."""
    findings: list[dict[str, Any]] = []
    receipts: list[str] = []
    looked_at: dict[str, int] = {}
    not_checked: list[str] = []
    complaints: dict[str, Any] = {"complaints_total": 0, "complaints": []}
    paths = [scene.path for scene in book.scenes]
    for at in range(0, len(paths), BATCH):
        result = _called(gate, "consistency_checker", {"file_paths": paths[at : at + BATCH], "focus": focus}, receipts)
        findings += result["findings"]
        looked_at, not_checked = result["looked_at"], result["not_checked"]
        complaints = {key: result[key] for key in complaints}
    for path in paths if book.cards and focus in {"general", "characters", "events"} else []:
        findings += _called(gate, "canon_checker", {"scene_path": path}, receipts)["findings"]
    return {
        "findings": _once(findings),
        "looked_at": looked_at,
        "not_checked": not_checked,
        **complaints,
        "receipts": receipts,
    }


def _by_model(here: Here, gate: "Gate", agent: str, calls: int, by_rules: dict[str, Any]) -> dict[str, Any]:
    """The findings with those that a model proposed and code verified, and what it cost."""
    from tallystick.agents.problem import Problem
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.continuity.model_check import merged
    from tallystick.rooms.studio.services.model_check import check_by_model

    def tell(read: int, planned: int) -> None:
        here.screen.note(f"{read}/{planned} paragraphs read by {agent}")

    made = check_by_model(gate, agent, caller=LOCAL_OWNER, most=calls, tell=tell)
    if isinstance(made, Problem):
        raise Refused(made.message, code=made.code)
    cost = {name: getattr(made, name) for name in ("planned", "read", "calls", "unreadable", "unverified", "stopped")}
    findings = merged(by_rules["findings"], [one.shown() for one in made.findings])
    return {"findings": findings, "model": {"agent": agent, **cost}}


def _nothing_to_check(book: "Book") -> Refused:
    if not book.left_out:
        return Refused(
            "There is no prose here to check. Name a novel or a folder with scenes.", code="nothing_to_check"
        )
    first, *others = book.left_out
    more = f" ({len(others)} more could not be read either.)" if others else ""
    return Refused(f"{first.path}: {first.message}{more}", code=first.code)


def _once(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One finding per rule and place; findings against cards take precedence."""
    kept = {(one["rule_id"], one["scene"]["path"], one["scene"]["line"]): one for one in findings}
    return list(kept.values())


def _called(gate: "Gate", tool: str, args: dict[str, Any], receipts: list[str]) -> dict[str, Any]:
    outcome = gate.call_sync(tool, args, session=SESSION)
    if outcome.receipt_id:
        receipts.append(outcome.receipt_id)
    if not isinstance(outcome.result, dict):
        raise Refused(f"{tool} was not run: {_why(outcome)}", code="check_not_run")
    return outcome.result


def _why(outcome: "Outcome") -> str:
    if outcome.failure is not None:
        return " ".join(filter(None, (outcome.failure.message, outcome.failure.hint)))
    return outcome.rejection.reason if outcome.rejection else "held"


def _tell(here: Here, found: dict[str, Any]) -> None:
    here.screen.data(found)
    for one in found["findings"]:
        mark = f" (waived: {one['waiver_reason']})" if one["waived"] else ""
        here.screen.line(f"{one['severity']}: {one['rule_id']}: {one['message']}{mark}")
        for side in ("canon", "scene"):
            place = one[side]
            here.screen.line(f"    {place_words(place)}: {place['quote']}")
    tell_complaints(here.screen, found)
    for loss in found["losses"]:
        here.screen.note(f"not looked at: {loss['kind']} ({loss['count']}) in {loss['where']}: {loss['message']}")
    if found["not_checked"]:
        from tallystick.reading.parser import INSTALL

        here.screen.note(f"not checked without the grammar: {', '.join(found['not_checked'])}. Install it: {INSTALL}.")
    if "model" in found:
        _tell_model(here, found["model"])
    looked = found["looked_at"]
    open_ones = sum(not one["waived"] for one in found["findings"])
    people, receipts = counted(looked["names"], "person", "people"), counted(len(found["receipts"]), "receipt")
    here.screen.note(
        f"{counted(open_ones, 'contradiction')} in {counted(looked['words'], 'word')} of "
        f"{counted(looked['files'], 'file')} ({counted(looked['facts'], 'fact')}, {people}, {receipts})"
    )


def _tell_model(here: Here, told: dict[str, Any]) -> None:
    rest = told["planned"] - told["read"]
    more = f"; {counted(rest, 'paragraph')} left: the next check with more --calls goes on there" if rest else ""
    here.screen.note(
        f"{told['agent']}: {counted(told['read'], 'paragraph')} read with {counted(told['calls'], 'call')}, "
        f"{counted(told['unverified'], 'proposal')} not verified, {counted(told['unreadable'], 'answer')} unreadable"
        f"{more}"
    )
    if told["stopped"]:
        here.screen.note(f"The model was not asked further: {told['stopped']}. Check its endpoint and run this again.")


def _write(gate: "Gate", proposed: "list[ProposedCard]") -> list[str]:
    """New files only, each a change that can be undone."""
    from tallystick.agents.problem import Problem
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.studio.services.workspace import WorkspaceService
    from tallystick.rooms.studio.workspace.model import GONE, Change

    workspace = WorkspaceService(gate)
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
    from tallystick.app.rooms import room_in
    from tallystick.rooms.studio.room import Studio

    return room_in(gate, "studio", Studio)
