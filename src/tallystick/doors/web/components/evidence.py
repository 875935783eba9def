"""The evidence of a reply as chips, each opening the file at the quoted lines or the cited receipt.

The data comes from the receipt of the check, not from the reply.
"""

import re
from collections.abc import Mapping
from typing import Any

from nicegui import run, ui

from tallystick.doors.web.components.bundle import download_bundle
from tallystick.doors.web.components.file_view import file_view
from tallystick.doors.web.context import PageContext
from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.storage.files import FileSources

_ONE_LINE = re.compile(r":(L\d+)-\1$")
PRESENCE = "The words stand there. Whether they support the conclusion is for you to judge."

UNDECIDED = "The check could not decide whether the evidence supports this sentence. It earns no credit."


async def evidence_chips(context: PageContext, check_receipt: str | None, reply: str) -> None:
    """Show the evidence of a checked reply; a reply that passed can be downloaded with its proofs."""
    if not check_receipt:
        return
    found = await run.io_bound(context.gate.ledger.find, check_receipt)
    said = {} if found is None or not isinstance(found.outputs, Mapping) else found.outputs
    for sentence in said.get("unsure", ()):
        ui.label(f"Unsure: {sentence}").classes("tally-warn tally-text").tooltip(UNDECIDED)
    with ui.row().classes("tally-row tally-evidence"):
        for item in said.get("items", ()):
            _chip(context, item)
        ui.link("check", f"/receipts/{check_receipt}").classes("tally-chip").tooltip("The receipt of this check")
        if reply and said.get("ok"):
            _bundle_chip(context, reply, check_receipt)


def _bundle_chip(context: PageContext, reply: str, check_receipt: str) -> None:
    async def pack() -> None:
        fault = await download_bundle(context, reply, check_receipt)
        if fault is not None:
            ui.notify(str(fault), type="negative")

    with ui.element("button").classes("tally-chip").props('type="button"') as chip:
        ui.icon("inventory_2").props('aria-hidden="true"')
        ui.label("bundle")
    chip.tooltip("This reply with all that proves it, in one file").on("click", pack)


def _chip(context: PageContext, item: Mapping[str, Any]) -> None:
    source, quote = _ONE_LINE.sub(r":\1", str(item.get("source", ""))), str(item.get("quote", ""))
    if source.startswith("rcpt_"):
        with ui.link(target=f"/receipts/{source}").classes("tally-chip"):
            ui.icon("receipt_long").props('aria-hidden="true"')
            ui.label(source[:17] + "…")
        return
    path, lines = item.get("path"), item.get("lines")
    label = source if not quote else f"“{quote[:60]}{'…' if len(quote) > 60 else ''}” {source}"  # noqa: PLR2004 - the length of a chip
    if not path or not lines:
        ui.label(label).classes("tally-chip")
        return
    with ui.element("button").classes("tally-chip").props('type="button"') as chip:
        ui.icon("format_quote").props('aria-hidden="true"')
        ui.label(label)
    chip.on(
        "click", lambda: open_quote(context, str(path), int(lines[0]), int(lines[1]), quote, str(item.get("sha256")))
    )


async def open_quote(context: PageContext, path: str, first: int, last: int, quote: str, sha256: str) -> None:
    """Show the file at the quoted lines, in a dialog."""
    source: Source | None = await run.io_bound(_read, context, path)
    with ui.dialog().props('aria-label="The quoted lines"') as dialog, ui.card().classes("tally-dialog"):
        with ui.row().classes("tally-row"):
            ui.label(f"{path}, lines {first}–{last}").classes("text-weight-bold")  # noqa: RUF001 - an en dash for a range
            ui.space()
            ui.button(icon="close", on_click=dialog.close).props('flat round dense aria-label="Close"')
        if source is None:
            ui.label("The file is not there any more.").classes("tally-bad")
        else:
            if sha256 and source.sha256 != sha256:
                ui.label("The file has changed since this was checked.").classes("tally-warn")
            file_view(source.lines, first, last, quote)
            ui.label(PRESENCE).classes("tally-soft")
            ui.link("Open in the workspace", f"/workspace?path={path}&line={first}")
    dialog.on("hide", dialog.delete)
    dialog.open()


def _read(context: PageContext, path: str) -> Source | None:
    try:
        return FileSources(context.gate.workspace).read(path)
    except PathRefused:
        return None
