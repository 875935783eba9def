"""Settings: agents and their models, wordings, the policy with a dry run, keys, and where the files are."""

from collections.abc import Callable, Mapping
from typing import Protocol

from nicegui import ui

from tallystick.doors.web.frame import page
from tallystick.doors.web.house import House, Place, Visitor
from tallystick.doors.web.parts.settings_agents import Agents
from tallystick.doors.web.parts.settings_keys import SigningKeys, file_list
from tallystick.doors.web.parts.settings_policy import PolicyText
from tallystick.doors.web.parts.settings_prompts import Prompts
from tallystick.doors.web.parts.states import empty, heading
from tallystick.gate.role_names import AUDIT_ROLES

PARTS = {"agents": "Agents", "prompts": "Wordings", "policy": "Policy", "keys": "Keys", "files": "Files"}


class _Part(Protocol):
    async def show(self) -> None: ...


MADE: Mapping[str, Callable[[House, Visitor], _Part]] = {
    "agents": Agents, "prompts": Prompts, "policy": PolicyText, "keys": SigningKeys,
}  # fmt: skip


def register(house: House) -> tuple[str, ...]:
    """Make the pages."""
    house.places.append(Place(path="/settings", name="Settings", icon="settings", roles=AUDIT_ROLES))

    @page(house, "/settings", "Settings", roles=AUDIT_ROLES)
    async def first(visitor: Visitor) -> None:
        await _show(house, visitor, "agents")

    @page(house, "/settings/{part}", "Settings", roles=AUDIT_ROLES)
    async def one(visitor: Visitor, part: str) -> None:
        await _show(house, visitor, part)

    return ("/settings",)


async def _show(house: House, visitor: Visitor, part: str) -> None:
    heading("Settings")
    _ways(part)
    if part == "files":
        file_list(house)
        return
    if part not in MADE:
        empty("There is no such setting", "Choose one above.", icon="search_off")
        return
    await MADE[part](house, visitor).show()


def _ways(here: str) -> None:
    with ui.element("nav").props('aria-label="Settings"').classes("tally-row tally-ways"):
        for part, name in PARTS.items():
            link = ui.link(name, f"/settings/{part}").classes("tally-chip")
            if part == here:
                link.classes("tally-way-here").props('aria-current="page"')
