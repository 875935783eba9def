"""The signing keys and the file locations. No secret is ever shown."""

from pathlib import Path

from nicegui import run, ui

from tallystick.doors.web.context import PageContext, Visitor
from tallystick.doors.web.parts.figures import facts
from tallystick.doors.web.parts.person import log_in_hint, person
from tallystick.doors.web.parts.states import failed, section
from tallystick.errors import TallyError
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.session import Session
from tallystick.settings import CONFIG_NAME, CONTROL_ROOM
from tallystick.storage.keys import FileKeys
from tallystick.storage.ledger import audit_folder, mirror_path

PATH = "/settings/keys"
SESSION = "keys"


class SigningKeys:
    """The keys and their rotation."""

    def __init__(self, house: PageContext, visitor: Visitor) -> None:
        self._house = house
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
        keys = self._house.gate.ledger.keys
        log = [verifier.vkey() for verifier in keys.log_verifiers()]
        old = keys.retired() if isinstance(keys, FileKeys) else []
        self._place.clear()
        with self._place:
            facts([
                ("Receipts are signed with", keys.active().key_id), ("Checkpoints, public key", log[0]),
                *(("Retired, still checks", name) for name in [*old, *log[1:]]),
            ])  # fmt: skip

    async def _rotate(self, sure: ui.dialog) -> None:
        sure.close()
        caller = person(self._house)
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
        return self._house.gate.ledger.rotate(session=session)


def file_list(house: PageContext) -> None:
    """Show the file locations."""
    section("Where everything lies")
    settings, workspace = house.gate.settings, house.gate.workspace
    audit = audit_folder(workspace)
    mirror = mirror_path(audit, settings)
    with ui.column().classes("tally-card"):
        facts([
            ("The project", str(workspace)), ("Configuration", _there(workspace / CONFIG_NAME)),
            ("Receipts and keys", str(audit)), ("The head's copy outside", "none" if mirror is None else str(mirror)),
            ("Counts", str(workspace / CONTROL_ROOM / "telemetry")), ("State of this user", str(settings.state_dir())),
            ("Notifications", str(workspace / "data" / "notifications.json")),
        ])  # fmt: skip
    ui.label("Back up the project's folder, the hidden one in it too; keep the head's copy elsewhere.").classes(
        "tally-soft"
    )


def _there(path: Path) -> str:
    return str(path) if path.exists() else f"{path} (not there: everything as by default)"
