"""The place to tell memory something: recorded word for word, and what it plainly states proposed. All by the gate."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tallystick.doors.web.kit import SESSION, PageContext, counted, failed, here, text
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.session import Caller
from tallystick.rooms.memory.room import Memory

if TYPE_CHECKING:
    from tallystick.rooms.memory.flows.remember import Remembered

OWNER = "owner"
MOST = 20_000
KINDS = {
    "human": "somebody said it", "document": "it stands in a document",
    "tool_internal": "our own tool says so", "tool_external": "a tool elsewhere says so",
    "model_inference": "a model concluded it",
}  # fmt: skip
"""What a test shows comes in with the test, never by word of mouth."""


def add_form(house: PageContext, room: Memory) -> None:
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
        visitor = house.visitor(here())
        place.clear()
        if not words or visitor is None:
            with place:
                failed(
                    "There is nothing to remember." if visitor else "You are not logged in any more.", "Write it above."
                )
            return
        button.disable()
        made = await _remembered(house, room, words, (source.value or OWNER).strip(), str(kind.value), visitor.caller)
        button.enable()
        with place:
            _told(made)
        if made.observation_ids:
            said.value = ""

    button.on_click(remember_it)


async def _remembered(
    house: PageContext, room: Memory, words: str, source: str, kind: str, caller: Caller
) -> "Remembered":  # fmt: skip
    from tallystick.rooms.memory.extract import extract_conversation, extract_document  # noqa: PLC0415 - when needed
    from tallystick.rooms.memory.flows.remember import Origin, remember  # noqa: PLC0415 - as above

    passages = extract_document(words) if kind == "document" else extract_conversation(words, speaker=source)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    async def call(tool: str, args: Mapping[str, Any]) -> Outcome:
        return await house.gate.call(tool, args, session=SESSION, caller=caller)

    origin = Origin(source_id=source, source_class=kind, observed_at=now)
    return await remember(call, passages, origin, known=room.reading.known)


def _told(made: "Remembered") -> None:
    if made.observation_ids:
        seen, facts = counted(len(made.observation_ids), "observation"), counted(len(made.proposition_ids), "fact")
        words = f"Recorded {seen}, proposed {facts}."
        ui.label(words).classes("tally-good")
    for name in made.proposition_ids[:10]:
        ui.link("See where it stands", f"/memory/{name}")
    for refusal in made.refusals[:10]:
        failed(f"{refusal.tool}: {refusal.code}", refusal.reason)
