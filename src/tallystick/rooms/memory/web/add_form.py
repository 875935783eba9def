"""The place to tell memory something: recorded word for word, and what it plainly states proposed. All by the gate."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from nicegui import ui

from tallystick.doors.web.kit import SESSION, PageContext, counted, failed, here, text
from tallystick.gate.session import Caller
from tallystick.rooms.memory.room import Memory

if TYPE_CHECKING:
    from tallystick.rooms.memory.flows.remember import RememberResult

OWNER = "owner"
MOST = 20_000
KINDS = {
    "human": "somebody said it",
    "document": "it stands in a document",
    "tool_internal": "our own tool says so",
    "tool_external": "a tool elsewhere says so",
    "model_inference": "a model concluded it",
}
"""What a test shows comes in with the test, never by word of mouth."""


def add_form(context: PageContext, room: Memory) -> None:
    """Build it."""
    with ui.column().classes("tally-card gap-2"):
        text("h2", "Tell memory something").classes("tally-first")
        said = ui.textarea("What was said, read or measured, word for word").props(
            f"outlined autogrow maxlength={MOST}"
        )
        said.classes("w-full")
        with ui.row().classes("tally-row"):
            source = ui.input("Who or what says so", value=OWNER).props("outlined dense maxlength=120")
            kind = ui.select(KINDS, value="human", label="What kind of source")
            kind.props("outlined dense").classes("col-grow")
            button = ui.button("Remember", icon="add")
        place = ui.column().classes("w-full gap-1").props('role="status"')

    async def remember_it() -> None:
        words = (said.value or "").strip()
        visitor = context.visitor(here())
        place.clear()
        if not words or visitor is None:
            with place:
                failed(
                    "There is nothing to remember." if visitor else "You are not logged in any more.", "Write it above."
                )
            return
        button.disable()
        made = await _fill(context, room, words, (source.value or OWNER).strip(), str(kind.value), visitor.caller)
        button.enable()
        with place:
            _told(made)
        if made.observation_ids:
            said.value = ""

    button.on_click(remember_it)


async def _fill(
    context: PageContext, room: Memory, words: str, source: str, kind: str, caller: Caller
) -> "RememberResult":
    from tallystick.rooms.memory.flows.fill import Text, fill_by_rules  # noqa: PLC0415 - loaded when the form is sent
    from tallystick.rooms.memory.flows.remember import Origin  # noqa: PLC0415 - as above

    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    origin = Origin(source_id=source, source_class=kind, observed_at=now)
    text = Text(words=words, origin=origin, caller=caller, session_id=SESSION)
    return await fill_by_rules(context.gate, text, reader=room.claims, known=room.queries.known)


def _told(made: "RememberResult") -> None:
    if made.observation_ids:
        seen, facts = counted(len(made.observation_ids), "observation"), counted(len(made.proposition_ids), "fact")
        words = f"Recorded {seen}, proposed {facts}."
        ui.label(words).classes("tally-good")
    for name in made.proposition_ids[:10]:
        ui.link("See where it stands", f"/memory/{name}")
    for refusal in made.refusals[:10]:
        failed(f"{refusal.tool}: {refusal.code}", refusal.reason)
