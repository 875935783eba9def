"""What needs attention: held calls, things that went wrong, and the way on."""

from nicegui import run, ui

from tallystick.doors.web.frame import page
from tallystick.doors.web.house import House, Place, Visitor
from tallystick.doors.web.parts.badge import badge
from tallystick.doors.web.parts.states import empty, heading, section
from tallystick.gate.decide.approvals import State

SHOWN = 20


def register(house: House) -> tuple[str, ...]:
    """Make the page."""
    house.places.append(Place(path="/", name="Attention", icon="notifications_active"))

    @page(house, "/", "Attention")
    async def attention(visitor: Visitor) -> None:
        heading("What needs attention", f"{house.gate.ledger.size():,} receipts in this workspace")
        obstacle = house.gate.ledger.obstacle()
        if obstacle is not None:
            ui.label(f"The ledger takes no calls: {obstacle}").classes("tally-card tally-bad").props('role="alert"')
        held = await run.io_bound(house.gate.approvals.list, state=State.HELD, limit=SHOWN, offset=0)
        if not held and obstacle is None:
            empty(
                "Nothing waits for you", "Held calls, rejected replies and finished runs appear here.", icon="done_all"
            )
            return
        section("Held calls")
        for hold in held or ():
            with ui.row().classes("tally-card tally-row"):
                badge("held")
                ui.label(hold.tool).classes("tally-mono")
                ui.label(f"session {hold.session.session_id}").classes("tally-soft")
                ui.space()
                if visitor.may("auditor", "admin"):
                    ui.link("Look at it", f"/approvals/{hold.approval_id}").classes("tally-plain-button")

    return ("/",)
