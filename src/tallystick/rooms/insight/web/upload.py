"""Import of a file on the page: upload, preview, map columns, import. Nothing is stored before the last step."""

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nicegui import events, run, ui

from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.doors.web.kit import SESSION, PageContext, failed, here, text
from tallystick.errors import TallyError, ToolError
from tallystick.rooms.insight.ingest.columns import FIELDS
from tallystick.rooms.insight.ingest.source_file import put_upload, remove_upload
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.jobs import Jobs, import_job, report_job, show_steps

if TYPE_CHECKING:
    from tallystick.rooms.insight.ingest.preview import Preview
    from tallystick.rooms.insight.model import NewTicket

CHUNK = 1024 * 1024
LOOK_S = 0.3
ACCEPTED = ".csv,.tsv,.txt,.xlsx,.json,.jsonl,.ndjson"
UNUSED = "-"
MEANS = {
    "text": "what the customer wrote",
    "summary": "subject",
    "external_id": "ticket number",
    "created_at": "when it came",
    "department": "department",
    "product": "product",
    "category": "category",
    "priority": "priority",
    "status": "status",
    "customer": "customer",
    "resolution": "how it was resolved",
    "resolved_at": "when it was resolved",
    "reassignments": "how often it was handed on",
}
SHOWN_TEXT = 220


class Upload:
    """The place to hand over a file, in one window."""

    def __init__(self, house: PageContext, room: Insight, works: Jobs) -> None:
        self._house = house
        self._room = room
        self._works = works
        self._path = self._name = ""
        self._said: dict[str, str] = {}
        """What was changed by hand: field → column."""

    def show(self) -> None:
        """Build it."""
        most = self._house.gate.settings.server.max_upload_bytes
        with ui.column().classes("tally-card gap-2"):
            text("h2", "Bring tickets").classes("tally-first")
            ui.label(
                "CSV, XLSX, JSON or JSON Lines. E-mail addresses, phones, cards and accounts are replaced before "
                "anything is stored."
            ).classes("tally-soft")
            self._choosing(most)
            self._place = ui.column().classes("w-full gap-2").props('role="status"')
        ui.context.client.on_delete(self._forget)

    def _choosing(self, most: int) -> None:
        """A button and a place to drop a file on; the part that sends it has no names to be read out, and is hidden."""
        self._upload = ui.upload(
            auto_upload=True,
            max_file_size=most,
            on_upload=self._came,
            on_rejected=lambda: self._refused("This file is not taken.", _too_large(most)),
        )
        self._upload.props(f'accept="{ACCEPTED}"').classes("hidden")
        self._upload.on("failed", lambda: self._refused("The upload was cut off.", "Choose the file once more."))
        sender = f"getElement({self._upload.id}).$refs.qRef"
        with ui.row().classes("tally-row tally-drop") as drop:
            choose = ui.button("Choose a file", icon="upload_file").props("outline")
            choose.on("click", js_handler=f"() => {sender}.pickFiles()")
            ui.label("or drop it here").classes("tally-soft")
        drop.on("dragover", js_handler="(event) => event.preventDefault()")
        drop.on(
            "drop", js_handler=f"(event) => {{ event.preventDefault(); {sender}.addFiles(event.dataTransfer.files); }}"
        )

    # -- the file ------------------------------------------------------------------------------------------------------

    async def _came(self, event: events.UploadEventArguments) -> None:
        self._forget()
        self._name, self._said = event.file.name[:200] or "upload", {}
        if self._house.visitor(here()) is None:
            self._refused("You are not logged in any more.", "Log in again, and choose the file once more.")
            return
        try:
            self._path = await self._put(event)
            await self._look()
        except (ToolError, OSError) as error:
            self._refused(str(error), getattr(error, "hint", None) or "Choose another file.")
        self._upload.reset()

    async def _put(self, event: events.UploadEventArguments) -> str:
        """Into the workspace's own folder for uploads, which only the tool that takes it reads."""
        workspace, most = self._house.gate.workspace, self._house.gate.settings.server.max_upload_bytes
        with TemporaryDirectory(prefix="tally-upload-") as folder:
            whole = Path(folder) / "file"
            # It may be larger than memory.
            await event.file.save(whole)

            def put() -> str:
                return put_upload(workspace, event.file.name, _chunks(whole), random=os.urandom, max_bytes=most)

            return str(await run.io_bound(put))

    async def _look(self) -> None:
        preview: Preview | None = await run.io_bound(
            self._room.preview, self._path, self._name, mapping=self._said or None
        )
        self._place.clear()
        if preview is not None:
            with self._place:
                self._show(preview)

    def _show(self, preview: "Preview") -> None:
        text("h3", self._name).classes("tally-third")
        if preview.known is not None:
            known = preview.known
            ui.label(f"This very file was taken before, as “{known.name}”.").classes("tally-warn")
            ui.link("Open it", f"/insight/{known.dataset_id}")
            return
        if preview.trouble:
            failed(preview.trouble, preview.hint)
        for notice in preview.notices:
            ui.label(notice).classes("tally-warn")
        ui.label("Which column is which").classes("text-weight-medium")
        with ui.element("div").classes("tally-mapping"):
            for field in FIELDS:
                self._column(field, preview)
        _first_tickets(preview)
        with ui.row().classes("tally-row"):
            name = ui.input("Name of the dataset", value=self._name).props("outlined dense maxlength=200")
            name.classes("col-grow").on_value_change(lambda event: setattr(self, "_name", event.value or self._name))
            take = ui.button("Take it", icon="download_done", on_click=self._take)
            ui.button("Not this one", on_click=self._drop).props("flat")
        if preview.trouble:
            take.disable()

    def _column(self, field: str, preview: "Preview") -> None:
        choices = {UNUSED: "—", **{column: column for column in preview.columns}}
        there = self._said.get(field, preview.mapping.get(field, UNUSED))
        chosen = ui.select(choices, label=_label(field), value=there if there in choices else UNUSED)
        chosen.props("outlined dense options-dense")

        async def changed(event: events.ValueChangeEventArguments[Any]) -> None:
            self._said[field] = str(event.value)
            # One column means one field: what had it before lets it go.
            for other, column in preview.mapping.items():
                if other != field and column == event.value:
                    self._said[other] = UNUSED
            try:
                await self._look()
            except ToolError as error:
                self._refused(str(error), error.hint or "Choose another column.")

        chosen.on_value_change(changed)

    # -- taking it -----------------------------------------------------------------------------------------------------

    async def _take(self) -> None:
        request = here()
        visitor = self._house.visitor(request)
        if visitor is None:
            self._refused("You are not logged in any more.", "Log in again.")
            return
        if self._said:
            try:
                await run.io_bound(self._keep_mapping, visitor.caller, dict(self._said))
            except TallyError as error:
                self._refused(str(error), "Nothing was stored.")
                return
        work = self._works.begin([import_job(self._path, self._name), *report_job()], request)
        self._path = ""
        self._place.clear()
        with self._place:
            progress = ui.column().classes("w-full")
        seen: list[Any] = []

        def look() -> None:
            now = [work.version, *((step.words, step.share) for step in work.steps)]
            if now != seen:
                seen[:] = now
                progress.clear()
                with progress:
                    show_steps(work)
            if work.steps[0].state == "done":
                timer.cancel()
                ui.navigate.to(f"/insight/{work.dataset_id}")

        with self._place:
            timer = ui.timer(LOOK_S, look)

    def _keep_mapping(self, caller: Any, said: Mapping[str, str]) -> None:
        gate = self._house.gate
        demand_ledger(gate)
        self._room.store.put_mapping(self._name, said)
        about = {"fields": sorted(said)}
        named = self._room.placeholders.clean(self._name)
        note_change(gate, caller, "ingest.mapping", f"mapping:{named}", about, session=SESSION)

    def _drop(self) -> None:
        self._forget()
        self._place.clear()

    def _forget(self) -> None:
        """What was handed over and not taken goes: it holds what the database must not."""
        if self._path:
            remove_upload(self._house.gate.workspace, self._path)
            self._path = ""

    def _refused(self, what: str, advice: str) -> None:
        self._forget()
        self._place.clear()
        with self._place:
            failed(what, advice)
        self._upload.reset()


def _first_tickets(preview: "Preview") -> None:
    if preview.tickets:
        ui.label("Its first tickets, as they will be stored").classes("text-weight-medium")
    for ticket in preview.tickets:
        with ui.column().classes("tally-quote gap-0"):
            ui.label(_beside(ticket)).classes("tally-soft tally-text")
            ui.label(ticket.text[:SHOWN_TEXT] + ("…" if len(ticket.text) > SHOWN_TEXT else "")).classes("tally-text")
    if preview.bad_rows:
        first = preview.bad_rows[0]
        many = len(preview.bad_rows)
        words = f"{many} of the first rows cannot be taken; the first, line {first.line}: {first.reason} {first.detail}"
        ui.label(words).classes("tally-warn tally-text")


def _beside(ticket: "NewTicket") -> str:
    when = (
        "" if ticket.created_at is None else datetime.fromtimestamp(ticket.created_at, UTC).strftime("%Y-%m-%d %H:%M")
    )
    said = (ticket.external_id, when, ticket.department, ticket.product, ticket.category, ticket.summary)
    return " · ".join(each for each in said if each)


def _label(field: str) -> str:
    name = field.replace("_", " ")
    return name if MEANS[field] == name else f"{name}: {MEANS[field]}"


def _too_large(most: int) -> str:
    return f"Give a CSV, XLSX or JSON file under {most // 1_000_000:,} MB; larger ones: tally insight ingest FILE."


def _chunks(file: Path) -> Iterator[bytes]:
    with file.open("rb") as opened:
        while chunk := opened.read(CHUNK):
            yield chunk
