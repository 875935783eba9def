"""One file: read it, edit it, preview changes, apply or propose them; its findings and its patches.

Nothing is overwritten silently. An edit becomes a patch against the version that was opened; if the file has changed
since, both versions are shown and the edit is kept.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from nicegui import run, ui

from tallystick.agents.problem import Problem
from tallystick.doors.web.kit import PageContext, Visitor, counted, empty, failed, heading, may_act, text
from tallystick.gate.role_names import WORK_ROLES
from tallystick.rooms.studio.services.workspace import WorkspaceService
from tallystick.rooms.studio.web.findings import called, finding_card, left_out, told
from tallystick.rooms.studio.workspace.model import Change, FileText, Patch, PatchView

MOST = 20
TONES = {"+": "tally-added", "-": "tally-removed", "@": "tally-soft"}


async def patch_list(
    files: WorkspaceService, path: str, visitor: Visitor, decided: Callable[[], Awaitable[None]]
) -> None:
    """The undecided proposals for a file."""
    waiting: list[Patch] = await run.io_bound(files.patches, state="proposed", path=path) or []
    if waiting:
        ui.label(f"{len(waiting)} proposed changes").classes("text-weight-bold")
    for patch in waiting[:MOST]:
        await _waiting(files, patch, visitor, decided)


async def _waiting(
    files: WorkspaceService, patch: Patch, visitor: Visitor, decided: Callable[[], Awaitable[None]]
) -> None:
    with ui.column().classes("tally-card gap-1"):
        ui.label(f"by {patch.by} ({patch.origin}), +{patch.added} −{patch.removed}").classes("tally-soft")  # noqa: RUF001 - a minus
        if patch.note:
            ui.label(patch.note).classes("tally-text")
        shown = await run.io_bound(files.show, patch.patch_id)
        if isinstance(shown, PatchView):
            diff_view(shown)
        if visitor.is_person:
            place = ui.column().classes("w-full")

            async def decide(how: Callable[..., Patch | Problem]) -> None:
                after = await run.io_bound(how, patch.patch_id, caller=visitor.caller)
                if isinstance(after, Problem):
                    with place:
                        failed(after.code, after.message)
                else:
                    await decided()

            with ui.row().classes("tally-row"):
                ui.button("Apply", on_click=lambda: decide(files.apply)).props('dense color="positive"')
                ui.button("Reject", on_click=lambda: decide(files.reject)).props('dense outline color="negative"')


def diff_view(shown: PatchView) -> None:
    """A difference, line by line."""
    if shown.changed_meanwhile:
        failed("The file has changed since this was proposed.", "Both changes are shown; take what you want of each.")
        ui.label("What it became meanwhile").classes("tally-soft")
        _lines(shown.current_diff or "")
        ui.label("What is proposed").classes("tally-soft")
    _lines(shown.diff)


def _lines(diff: str) -> None:
    with ui.element("pre").classes("tally-diff"):
        for line in diff.splitlines():
            text("span", line + "\n").classes(TONES.get(line[:1], ""))


LOOK_S = 1.0
CANON = "Canon.md"


class Editor:
    """One file in one window."""

    def __init__(self, context: PageContext, files: WorkspaceService, visitor: Visitor, path: str, line: int) -> None:
        self._context = context
        self._files = files
        self._visitor = visitor
        self._path = path
        self._line = line

    async def show(self) -> None:
        """Build it."""
        file = await run.io_bound(self._files.read, self._path)
        if not isinstance(file, FileText):
            heading(self._path)
            reason = file.message if isinstance(file, Problem) else "It could not be read."
            empty("This file cannot be shown", reason, icon="description")
            return
        self._file = file
        heading(self._path.rpartition("/")[2], f"{self._path}, {counted(len(file.text.splitlines()), 'line')}")
        self._tools()
        self._banner = ui.column().classes("w-full")
        with ui.element("div").classes("tally-edit-grid"):
            self._text = ui.codemirror(file.text, language="Markdown", line_wrapping=True).classes("tally-editor")
            self._beside = ui.column().classes("gap-2 tally-beside").props('role="status"')
        with self._beside:
            await patch_list(self._files, self._path, self._visitor, self._decided)
        if self._line > 0:
            ui.timer(0.4, lambda: self._text.reveal_line(self._line), once=True)
        if self._path == CANON:
            self._text.disable()
        ui.timer(LOOK_S, self._look)

    def _tools(self) -> None:
        with ui.row().classes("tally-row"):
            self._save = ui.button("See the change", icon="difference", on_click=self._propose).props("outline")
            ui.button("Check continuity", icon="fact_check", on_click=self._check).props("outline")
            ui.button("History", icon="history", on_click=self._history).props("outline")

    # -- changing ------------------------------------------------------------------------------------------------------

    async def _propose(self) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        if self._text.value == self._file.text:
            ui.notify("Nothing was changed.")
            return
        change = Change(path=self._path, base_sha256=self._file.sha256, text=self._text.value)
        patch = await run.io_bound(self._files.propose, change, caller=self._visitor.caller)
        self._beside.clear()
        with self._beside:
            if isinstance(patch, Patch):
                await self._deciding(patch)
            elif isinstance(patch, Problem):
                failed(patch.code, patch.message)

    async def _deciding(self, patch: Patch) -> None:
        shown = await run.io_bound(self._files.show, patch.patch_id)
        if isinstance(shown, PatchView):
            diff_view(shown)
        if not self._visitor.is_person:
            ui.label("It is kept as a proposal. Applying it needs a person:").classes("tally-soft")
            ui.link("Log in", f"/login?next=/workspace?path={quote(self._path)}")
            return
        with ui.row().classes("tally-row"):
            ui.button("Apply", icon="check", on_click=lambda: self._decide(patch.patch_id, apply=True)).props(
                'color="positive"'
            )
            ui.button("Reject", icon="close", on_click=lambda: self._decide(patch.patch_id, apply=False)).props(
                'outline color="negative"'
            )

    async def _decide(self, patch_id: str, *, apply: bool) -> None:
        decide = self._files.apply if apply else self._files.reject
        after = await run.io_bound(decide, patch_id, caller=self._visitor.caller)
        if isinstance(after, Problem):
            with self._beside:
                failed(after.code, after.message)
            return
        await self._decided()

    async def _decided(self) -> None:
        """Something was decided: show the file as it is now, unless something else was typed meanwhile."""
        now = await run.io_bound(self._files.read, self._path)
        if isinstance(now, FileText):
            if self._text.value in {self._file.text, now.text}:
                self._text.value = now.text
            self._file = now
        self._banner.clear()
        self._beside.clear()
        with self._beside:
            await patch_list(self._files, self._path, self._visitor, self._decided)

    async def _look(self) -> None:
        """Whether the file was changed elsewhere."""
        now = await run.io_bound(self._files.read, self._path)
        if not isinstance(now, FileText) or now.sha256 == self._file.sha256:
            return
        if self._text.value == self._file.text:
            await self._decided()
        elif not self._banner.default_slot.children:
            with self._banner:
                failed(
                    "Somebody changed this file while you were writing.",
                    "What you typed is still here. See the change: it is kept beside theirs.",
                )

    async def _history(self) -> None:
        versions = await run.io_bound(self._files.history, self._path) or []
        self._beside.clear()
        with self._beside:
            if not versions:
                ui.label("This file was not changed here yet.").classes("tally-soft")
            for version in versions[:50]:
                ui.label(f"{version.at[:16].replace('T', ' ')}  {version.by}").classes("tally-line")
            if versions and self._visitor.is_person:
                ui.button("Take back the last change", icon="undo", on_click=self._undo).props("outline")

    async def _undo(self) -> None:
        if not may_act(self._visitor, WORK_ROLES):
            return
        patch = await run.io_bound(self._files.undo, self._path, caller=self._visitor.caller)
        self._beside.clear()
        with self._beside:
            if isinstance(patch, Patch):
                await self._deciding(patch)
            elif isinstance(patch, Problem):
                failed(patch.code, patch.message)

    # -- checking ------------------------------------------------------------------------------------------------------

    async def _check(self) -> None:
        self._beside.clear()
        with self._beside:
            ui.spinner()
            ui.label("Comparing with the rest of the book…").classes("tally-soft")
        outcomes = [await called(self._context, self._visitor, tool, args) for tool, args in self._checks()]
        self._beside.clear()
        with self._beside:
            findings = [found for outcome in outcomes if outcome.ok for found in outcome.result["findings"]]
            for outcome in outcomes:
                if not outcome.ok:
                    told(outcome)
            ui.label(f"{len(findings)} findings" if findings else "No contradiction found").classes("text-weight-bold")
            for finding in findings:
                finding_card(finding, self._go)
            left_out(outcomes)

    def _checks(self) -> list[tuple[str, Mapping[str, Any]]]:
        if self._path.startswith("Story/Scenes/"):
            return [
                ("canon_checker", {"scene_path": self._path}),
                ("consistency_checker", {"file_paths": [self._path]}),
            ]
        return [("consistency_checker", {"file_paths": [self._path]})]

    def _go(self, path: str, line: int) -> None:
        if path == self._path:
            self._text.reveal_line(line)
        else:
            ui.navigate.to(f"/workspace?path={quote(path)}&line={line}")
