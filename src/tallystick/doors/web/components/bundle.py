"""The bundle of a reply: the reply with its proofs, in one file that `tally check` verifies anywhere."""

from nicegui import run, ui

from tallystick.doors.web.components.states import failed, section
from tallystick.doors.web.context import PageContext
from tallystick.errors import LedgerError
from tallystick.gate.record.bundle import make_bundle

KEPT = "The ledger keeps a reply's hash, not its text: only the very words that were checked can be packed."


async def download_bundle(context: PageContext, reply: str, check_id: str) -> LedgerError | None:
    """Send the bundle to the browser; return the error if it cannot be made."""
    made = await run.io_bound(_made, context, reply, check_id)
    if isinstance(made, bytes):
        ui.download.content(made, f"{check_id}.bundle.json")
        return None
    return made


def bundling(context: PageContext, check_id: str, reply: str) -> None:
    """Show the bundle section under the receipt of a check, with the reply's text if it is available."""
    section("Bundle")
    ui.label("The reply, its quotes, the receipts it cites and their proofs, for somebody who has nothing else.")
    words = ui.textarea("The reply, word for word", value=reply).props("outlined autogrow").classes("w-full")
    place = ui.column().classes("w-full")

    async def pack() -> None:
        place.clear()
        fault = await download_bundle(context, words.value or "", check_id)
        if fault is not None:
            with place:
                failed(str(fault), KEPT)

    ui.button("Download bundle", icon="inventory_2", on_click=pack).props("outline")


def _made(context: PageContext, reply: str, check_id: str) -> bytes | LedgerError:
    try:
        return make_bundle(context.gate.ledger, reply, check_id)
    except LedgerError as error:
        return error
