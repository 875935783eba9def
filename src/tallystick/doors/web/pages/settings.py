"""Settings: agents and their models, prompts, the policy with a dry run, keys, and file locations."""

from collections.abc import Mapping
from pathlib import Path

from nicegui import run, ui

from tallystick.doors.web.components.figures import facts
from tallystick.doors.web.components.person import log_in_hint, person
from tallystick.doors.web.components.settings_agents import Agents
from tallystick.doors.web.components.settings_policy import PolicyText
from tallystick.doors.web.components.states import empty, failed, heading, section
from tallystick.doors.web.context import NavigationItem, PageContext, SettingsPart, Visitor
from tallystick.doors.web.frame import page
from tallystick.errors import TallyError
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.role_names import AUDIT_ROLES
from tallystick.gate.session import Session
from tallystick.settings import CONFIG_NAME, CONTROL_ROOM
from tallystick.storage.keys import FileKeys
from tallystick.storage.ledger import audit_folder, mirror_path

FILES = "files"


def register(context: PageContext) -> tuple[str, ...]:
    """Register the pages."""
    context.places.append(
        NavigationItem(path="/settings", name="Settings", icon="settings", order=70, roles=AUDIT_ROLES)
    )

    @page(context, "/settings", "Settings", roles=AUDIT_ROLES)
    async def first(visitor: Visitor) -> None:
        await _show(context, visitor, "agents")

    @page(context, "/settings/{part}", "Settings", roles=AUDIT_ROLES)
    async def one(visitor: Visitor, part: str) -> None:
        await _show(context, visitor, part)

    return ("/settings",)


async def _show(context: PageContext, visitor: Visitor, part: str) -> None:
    heading("Settings")
    parts = {**OWN, **context.settings_parts}
    _ways({**{name: one.label for name, one in parts.items()}, FILES: "Files"}, part)
    if part == FILES:
        file_list(context)
        return
    if part not in parts:
        empty("There is no such setting", "Choose one above.", icon="search_off")
        return
    await parts[part].make(context, visitor).show()


def _ways(labels: Mapping[str, str], here: str) -> None:
    with ui.element("nav").props('aria-label="Settings"').classes("tally-row tally-ways"):
        for part, name in labels.items():
            link = ui.link(name, f"/settings/{part}").classes("tally-chip")
            if part == here:
                link.classes("tally-way-here").props('aria-current="page"')


PATH = "/settings/keys"
SESSION = "keys"


class SigningKeys:
    """The keys and their rotation."""

    def __init__(self, context: PageContext, visitor: Visitor) -> None:
        self._context = context
        self._visitor = visitor

    async def show(self) -> None:
        """Build the section."""
        section("Signing keys")
        self._place = ui.column().classes("tally-card gap-2")
        self._again()
        if not self._visitor.is_person:
            log_in_hint("Putting new keys in force", PATH)
            return
        with ui.dialog() as sure, ui.card().classes("tally-dialog"):
            ui.label("Put new keys in force?").classes("text-weight-bold")
            ui.label("What the old ones signed still verifies. Those who check your bundles need the new public key.")
            with ui.row().classes("tally-row"):
                ui.button("Put them in force", on_click=lambda: self._rotate(sure)).props('color="negative" no-caps')
                ui.button("Leave it", on_click=sure.close).props("outline no-caps")
        sure.props('aria-label="Put new keys in force?"')
        ui.button("Rotate the keys", icon="autorenew", on_click=sure.open).props("outline no-caps")

    def _again(self) -> None:
        keys = self._context.gate.ledger.keys
        log = [verifier.vkey() for verifier in keys.log_verifiers()]
        old = keys.retired() if isinstance(keys, FileKeys) else []
        self._place.clear()
        with self._place:
            facts(
                [
                    ("Receipts are signed with", keys.active().key_id),
                    ("Checkpoints, public key", log[0]),
                    *(("Retired, still checks", name) for name in [*old, *log[1:]]),
                ]
            )

    async def _rotate(self, sure: ui.dialog) -> None:
        sure.close()
        caller = person(self._context)
        if caller is None:
            return
        try:
            done: Receipt | None = await run.io_bound(self._turn, Session(session_id=SESSION, caller=caller))
        except TallyError as error:
            with self._place:
                failed(error.code, str(error))
            return
        self._again()
        with self._place:
            ui.label("New keys are in force.").classes("tally-good").props('role="status"')
            if done is not None:
                ui.link("The receipt that says so", f"/receipts/{done.receipt_id}")

    def _turn(self, session: Session) -> Receipt:
        return self._context.gate.ledger.rotate(session=session)


def file_list(context: PageContext) -> None:
    """Show the file locations."""
    section("Where everything lies")
    settings, workspace = context.gate.settings, context.gate.workspace
    audit = audit_folder(workspace)
    mirror = mirror_path(audit, settings)
    with ui.column().classes("tally-card"):
        facts(
            [
                ("The project", str(workspace)),
                ("Configuration", _there(workspace / CONFIG_NAME)),
                ("Receipts and keys", str(audit)),
                ("The head's copy outside", "none" if mirror is None else str(mirror)),
                ("Counts", str(workspace / CONTROL_ROOM / "telemetry")),
                ("State of this user", str(settings.state_dir())),
                ("Notifications", str(workspace / "data" / "notifications.json")),
            ]
        )
    ui.label("Back up the project's folder, the hidden one in it too; keep the head's copy elsewhere.").classes(
        "tally-soft"
    )


def _there(path: Path) -> str:
    return str(path) if path.exists() else f"{path} (not there: everything as by default)"


OWN: Mapping[str, SettingsPart] = {
    "agents": SettingsPart(label="Agents", make=Agents),
    "policy": SettingsPart(label="Policy", make=PolicyText),
    "keys": SettingsPart(label="Keys", make=SigningKeys),
}
