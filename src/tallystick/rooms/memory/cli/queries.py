"""`tally memory add` and `ask` as the first use without set-up, and everything else that can be asked of memory."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.kit import Exit, Force, Here, Output, Refused, UsageMistake, command, counted, read_file
from tallystick.text.encoding import decode_text

INSTALL = "pip install 'tallystick[parser]' and tally models fetch en-core-web-sm"
if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.rooms.memory.flows.fill import FillResult
    from tallystick.rooms.memory.flows.remember import Origin
    from tallystick.rooms.memory.recall.answers import RecallAnswer
    from tallystick.rooms.memory.room import Memory

SESSION = "memory"
OWNER = "owner"
MAX_FILE_BYTES = 1024 * 1024
DOUBTS = {
    "nothing_found": "Nothing is known about that.",
    "hardly_related": "Nothing here clearly speaks of that.",
    "said_of_another": "This may be about somebody else than the question.",
}
Id = Annotated[str, typer.Argument(metavar="PROPOSITION", help="Its id, as `tally memory ask` shows it.")]
AsOf = Annotated[
    int | None, typer.Option("--as-of", metavar="SEQ", min=0, help="As it stood at this place of the log.")
]


def add_query_commands(memory: typer.Typer) -> None:
    """Add these commands to the group."""
    command(memory, "add")(add)
    command(memory, "ask")(ask)
    command(memory, "recall")(recall)
    command(memory, "explain")(explain)
    command(memory, "revert")(revert)
    command(memory, "what-if")(what_if)
    command(memory, "diff")(diff)
    command(memory, "export")(export)


def add(
    here: Here,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What to remember, in plain words.")] = None,
    file: Annotated[
        Path | None, typer.Option("--file", "-f", metavar="FILE", help="A text file instead; - reads stdin.")
    ] = None,
    source: Annotated[str, typer.Option("--source", metavar="ID", help="Who or what says so.")] = OWNER,
    kind: Annotated[
        str, typer.Option("--class", metavar="CLASS", help="human, document, tool_internal, tool_external, …")
    ] = "human",
    episode: Annotated[str | None, typer.Option("--episode", metavar="ID", help="The episode it belongs to.")] = None,
    agent: Annotated[
        str | None, typer.Option("--agent", "-a", metavar="ID", help="Whose model reads it. Default: rules do.")
    ] = None,
) -> Exit:
    """Record a text, and propose what it plainly states. Lines as «Name: words» are a conversation."""
    import asyncio

    from tallystick.agents.answers import Unanswered
    from tallystick.gate.record.secrets import mask
    from tallystick.gate.session import LOCAL_OWNER
    from tallystick.rooms.memory.flows.fill import Text, fill
    from tallystick.rooms.memory.model import CLASSES

    if kind not in CLASSES:
        raise UsageMistake(f"There is no class '{kind:.40}'. Use one of {', '.join(CLASSES)}.")
    words = _words(text, file)
    origin, caller = origin_of(source, kind, episode), replace(LOCAL_OWNER, channel="cli")
    told = Text(words=words, origin=origin, caller=caller, session_id=SESSION, agent_id=agent)
    with here.gate(plugins=True, make=True) as gate:
        room = memory_in(gate)
        filled = asyncio.run(fill(gate, told, reader=room.claims, known=room.queries.known))
    if isinstance(filled, Unanswered):
        raise Refused(filled.advice, code=filled.code)
    if filled.without_grammar:
        here.screen.note(f"The text is kept; what it states was not read, since the grammar is missing: {INSTALL}.")
    if mask(words) != words:
        here.screen.note("What looks like a key or a token was left out: memory keeps none.")
    return _told(here, filled)


def ask(
    here: Here,
    question: Annotated[str, typer.Argument(metavar="QUESTION")],
    as_of: AsOf = None,
) -> Exit:
    """Answer a question in a sentence, with who said so and when; `recall` lists all that fits."""
    with here.gate(plugins=True) as gate:
        room = memory_in(gate)
        reply = room.reply(question, as_of_seq=as_of)
        found = room.queries.ask(query=question, as_of_seq=as_of)
    if reply is None:
        here.screen.note(f"Questions are answered in a sentence with the grammar: {INSTALL}.")
        here.screen.data(found.as_dict())
        _show(here, found)
        return Exit.OK if found.facts or found.passages else Exit.REFUSED
    here.screen.data({**reply.as_dict(), "recall": found.as_dict()})
    here.screen.line(reply.sentence)
    if not reply.known and reply.nearest:
        here.screen.line("Nearest:")
        for passage in reply.nearest:
            said = passage.as_dict()
            here.screen.line(f"  {said['observed_at'][:10]}  {said['source_id']}: “{said['text']}”")
    return Exit.OK if reply.known else Exit.REFUSED


def recall(
    here: Here,
    query: Annotated[str, typer.Argument(metavar="WORDS", help="A question, or words.")] = "",
    entity: Annotated[str | None, typer.Option("--entity", metavar="NAME", help="Only facts about it.")] = None,
    predicate: Annotated[str | None, typer.Option("--predicate", metavar="NAME", help="Only with this one.")] = None,
    as_of: AsOf = None,
    valid_at: Annotated[str | None, typer.Option("--valid-at", metavar="TIME", help="Only facts about then.")] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=50)] = 10,
    tokens: Annotated[int, typer.Option("--tokens", metavar="N", min=50, max=8000)] = 1000,
) -> Exit:
    """Find facts and recorded texts by words, subject, predicate and time, within a budget."""
    from tallystick.rooms.memory.times import seconds

    moment = None if valid_at is None else seconds(valid_at)
    if valid_at is not None and moment is None:
        raise UsageMistake("--valid-at is a time such as 2026-01-31 or 2026-01-31T12:00:00Z.")
    if not query.strip() and not entity and not predicate:
        raise UsageMistake("Give words to look for, --entity or --predicate.")
    with here.gate(plugins=True) as gate:
        found = memory_in(gate).queries.ask(
            query=query,
            entity=entity,
            predicate=predicate,
            as_of_seq=as_of,
            valid_at=moment,
            limit=limit,
            tokens=tokens,
        )
    here.screen.data(found.as_dict())
    _show(here, found)
    return Exit.OK if found.facts or found.passages else Exit.REFUSED


def explain(here: Here, proposition_id: Id, as_of: AsOf = None) -> None:
    """Show why a proposition stands as it does: rule, evidence with quotes and receipts, history."""
    with here.gate(plugins=True) as gate:
        queries = memory_in(gate).queries
        found = queries.explain(proposition_id, as_of_seq=as_of)
        supports = queries.minimal_supports(proposition_id)
    if found is None:
        raise unknown_proposition()
    here.screen.data({**found, "minimal_supports": supports})
    claimed = found["proposition"]
    here.screen.line(f"{claimed['subject']} {claimed['predicate']} {claimed['object']}")
    here.screen.line(f"{found['standing']['words']}  [{found['standing']['rule']}]")
    here.screen.line(f"first proposed in {claimed['receipt_id']}")
    for edge in found["edges"]:
        here.screen.line(_edge_line(edge))
    for change in found["history"]:
        here.screen.line(f"{change['at']}  {change['before'] or 'new'} → {change['after']}: {change['words']}")


def _edge_line(edge: dict[str, Any]) -> str:
    """What was said, with the receipt that recorded it and that of the proposal which brought it here."""
    sign = "+" if edge["stance"] == "support" else "-"
    seen, source = edge["observation"] or {}, edge["source"] or {"id": "?"}
    where = f"{seen.get('id', '?')} in {seen.get('receipt_id', '?')}, brought by {edge['receipt_id']}"
    return f"{sign} {source['id']}: “{edge['quote'] or seen.get('text', '')}”  {where}"


def revert(here: Here, proposition_id: Id) -> Exit:
    """Undo a correction: the fact is taken back, and what it replaced holds again. All of it is on your word."""
    import asyncio
    from dataclasses import replace

    from tallystick.gate.session import LOCAL_OWNER, Session
    from tallystick.rooms.memory.flows.revert import revert as take_back

    caller = replace(LOCAL_OWNER, channel="cli")
    with here.gate(plugins=True) as gate:
        queries = memory_in(gate).queries
        newer, older = queries.replaced_by(proposition_id)
        if newer is None:
            raise unknown_proposition()
        session = Session(session_id=SESSION, caller=caller)

        async def call(tool: str, args: Any) -> Any:
            return await gate.call(tool, args, session=session, caller=caller)

        done = asyncio.run(take_back(call, newer, older, origin_of(OWNER, "human")))
    here.screen.data(
        {"dropped": done.dropped, "restored": list(done.restored), "refusals": [one.code for one in done.refusals]}
    )
    here.screen.line(f"taken back: {newer.one.subject} {newer.one.predicate} {newer.one.object}")
    for one in older:
        here.screen.line(f"holds again: {one.one.subject} {one.one.predicate} {one.one.object}")
    for each in done.refusals:
        here.screen.note(f"refused: {each.tool}: {each.code}: {each.reason}")
    return Exit.OK if not done.refusals else Exit.REFUSED


def what_if(
    here: Here,
    proposition_id: Id,
    without: Annotated[str, typer.Option("--without", metavar="SOURCE", help="The source to leave out.")],
) -> None:
    """Show how a proposition would stand had a source never spoken. Nothing is changed."""
    with here.gate(plugins=True) as gate:
        queries = memory_in(gate).queries
        found, explained = queries.what_if(proposition_id, without=without), queries.explain(proposition_id)
    if found is None:
        raise unknown_proposition()
    here.screen.data(found)
    here.screen.line(f"with {without}:    {found['with']['words']}")
    then = found["then"]
    here.screen.line(f"without {without}: {'nothing would speak for it' if then is None else then['words']}")
    if not any(edge["source"] and edge["source"]["id"] == without for edge in (explained or {}).get("edges", ())):
        here.screen.note(f"{without} has said nothing about it.")


def diff(
    here: Here,
    first: Annotated[int, typer.Argument(metavar="SEQ", min=0, help="After this place of the log.")],
    last: Annotated[int | None, typer.Argument(metavar="[SEQ]", min=0, help="Up to this one.")] = None,
) -> None:
    """Show what changed between two places of the log, and why."""
    with here.gate(plugins=True) as gate:
        found = memory_in(gate).queries.diff(first, last)
    here.screen.data(found)
    seen, added = counted(found["observations"], "observation"), counted(found["added_total"], "proposition")
    here.screen.line(f"{seen}, {added} came up")
    for change in found["changed"]:
        here.screen.line(f"#{change['seq']}  {change['says']}: {change['before'] or 'new'} → {change['after']}")
        here.screen.line(f"    {change['words']}")


def export(here: Here, output: Output = None, force: Force = False) -> None:
    """Write all of memory as JSON-LD."""
    with here.gate(plugins=True) as gate, here.screen.writing(output, force=force) as file:
        for piece in memory_in(gate).queries.json_ld():
            file.write(piece)
        file.write(b"\n")


def _told(here: Here, filled: "FillResult") -> Exit:
    """Show what came of a text."""
    made = filled.remembered
    here.screen.data(filled.as_dict())
    denied = f", contradicted {len(made.contradicted_ids)}" if made.contradicted_ids else ""
    facts = counted(len(made.proposition_ids), "fact")
    here.screen.line(f"recorded {len(made.observation_ids)}, proposed {facts}{denied}")
    for each in made.refusals:
        here.screen.note(f"refused: {each.tool}: {each.code}: {each.reason}")
    if filled.model_error is not None:
        raise Refused(filled.model_error.advice, code=filled.model_error.code)
    return Exit.OK if made.observation_ids else Exit.REFUSED


def _words(text: str | None, file: Path | None) -> str:
    if (text is None) == (file is None):
        raise UsageMistake("Give a text, or --file FILE.")
    if file is None:
        words = text or ""
    else:
        found = decode_text(read_file(file, MAX_FILE_BYTES))
        if found is None:
            raise Refused(f"{file} holds no text. Save it as UTF-8.", code="file_unreadable")
        words = found.text.removeprefix("\ufeff")
    if not words.strip():
        raise UsageMistake("There is nothing to remember.")
    return words


def origin_of(source: str, kind: str, episode: str | None = None) -> "Origin":
    """Where a text comes from, said now."""
    from datetime import UTC, datetime

    from tallystick.rooms.memory.flows.remember import Origin

    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return Origin(source_id=source, source_class=kind, observed_at=now, episode_id=episode)


def memory_in(gate: "Gate") -> "Memory":
    """The memory room of a workspace."""
    from tallystick.app.rooms import room_in
    from tallystick.rooms.memory.room import Memory

    return room_in(gate, "memory", Memory)


def _show(here: Here, found: "RecallAnswer") -> None:
    if found.doubt is not None:
        here.screen.line(DOUBTS[found.doubt])
    for fact in found.facts:
        shown = fact.as_dict()
        here.screen.line(
            f"{shown['subject']} {shown['predicate']} {shown['object']}  ({shown['label']})  {shown['id']}"
        )
    for passage in found.passages:
        said = passage.as_dict()
        more = "" if passage.sources == 1 else f" and {passage.sources - 1} more"
        who = f"{said['observed_at'][:10]}  {said['source_id']}{more}"
        here.screen.line(f"{who}: “{said['text']}”  {said['receipt_id']}")


def unknown_proposition() -> Refused:
    """No proposition has this id."""
    return Refused("There is no such proposition. `tally memory ask` shows ids.", code="proposition_unknown")
