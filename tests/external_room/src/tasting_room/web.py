"""The room's page: `/tastings`."""

from nicegui import run, ui

from tallystick.app.rooms import room_in
from tallystick.doors.web.kit import (
    NavigationItem,
    PageContext,
    Visitor,
    empty,
    heading,
    here,
    page,
    propose,
    tell_trouble,
)
from tallystick.gate.role_names import EVERY_ROLE
from tasting_room.room import Tastings

SHOWN = 50


def register(context: PageContext) -> tuple[str, ...]:
    """Add the page and its entry in the navigation."""
    context.places.append(
        NavigationItem(path="/tastings", name="Tastings", icon="wine_bar", order=60, roles=EVERY_ROLE)
    )

    @page(context, "/tastings", "Tastings", roles=EVERY_ROLE)
    async def tastings(_visitor: Visitor) -> None:
        heading("Tastings")
        rows = ui.column().classes("w-full gap-1")
        _form(context, rows)
        await _fill(context, rows)

    return ("/tastings",)


def _form(context: PageContext, rows: ui.column) -> None:
    with ui.row().classes("tally-row"):
        wine = ui.input("Wine").props("outlined dense maxlength=200")
        score = ui.number("Score", min=0, precision=0).props("outlined dense")
        button = ui.button("Add", icon="add")
    answer = ui.column().props('role="status"')

    async def add() -> None:
        given = {"wine": wine.value or "", "score": None if score.value is None else int(score.value)}
        outcome = await propose(context, here(), "tastings.add", given)
        answer.clear()
        with answer:
            if not tell_trouble(outcome):
                wine.value = ""
        await _fill(context, rows)

    button.on_click(add)


async def _fill(context: PageContext, rows: ui.column) -> None:
    store = room_in(context.gate, "tastings", Tastings).store
    items, _ = await run.io_bound(lambda: store.page(limit=SHOWN, offset=0)) or ([], 0)
    rows.clear()
    with rows:
        for one in items:
            ui.label(f"{one['wine']}: {one['score']}").classes("tally-text")
        if not items:
            empty("No tastings yet", "Add one above, or with `tally tastings add`.")
