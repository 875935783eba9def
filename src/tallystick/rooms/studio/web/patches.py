"""Proposed changes: what they would change, and the decision."""

from collections.abc import Awaitable, Callable

from nicegui import run, ui

from tallystick.agents.problem import Problem
from tallystick.doors.web.kit import Visitor, failed, text
from tallystick.rooms.studio.services.workspace import Workspace
from tallystick.rooms.studio.workspace.nouns import Patch, Shown

MOST = 20
TONES = {"+": "tally-added", "-": "tally-removed", "@": "tally-soft"}


async def patch_list(files: Workspace, path: str, visitor: Visitor, decided: Callable[[], Awaitable[None]]) -> None:
    """The proposals for a file that nobody has decided on."""
    waiting: list[Patch] = await run.io_bound(files.patches, state="proposed", path=path) or []
    if waiting:
        ui.label(f"{len(waiting)} proposed changes").classes("text-weight-bold")
    for patch in waiting[:MOST]:
        await _waiting(files, patch, visitor, decided)


async def _waiting(files: Workspace, patch: Patch, visitor: Visitor, decided: Callable[[], Awaitable[None]]) -> None:
    with ui.column().classes("tally-card gap-1"):
        ui.label(f"by {patch.by} ({patch.origin}), +{patch.added} −{patch.removed}").classes("tally-soft")  # noqa: RUF001 - a minus
        if patch.note:
            ui.label(patch.note).classes("tally-text")
        shown = await run.io_bound(files.show, patch.patch_id)
        if isinstance(shown, Shown):
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


def diff_view(shown: Shown) -> None:
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
