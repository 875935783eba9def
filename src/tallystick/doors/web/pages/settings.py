"""Settings: agents and their models, prompts, the policy with a dry run, keys, and file locations."""

from collections.abc import Mapping

from nicegui import ui

from tallystick.doors.web.context import PageContext, Place, SettingsPart, Visitor
from tallystick.doors.web.frame import page
from tallystick.doors.web.parts.settings_agents import Agents
from tallystick.doors.web.parts.settings_keys import SigningKeys, file_list
from tallystick.doors.web.parts.settings_policy import PolicyText
from tallystick.doors.web.parts.states import empty, heading
from tallystick.gate.role_names import AUDIT_ROLES

FILES = "files"
OWN: Mapping[str, SettingsPart] = {
    "agents": SettingsPart(label="Agents", make=Agents),
    "policy": SettingsPart(label="Policy", make=PolicyText),
    "keys": SettingsPart(label="Keys", make=SigningKeys),
}


def register(house: PageContext) -> tuple[str, ...]:
    """Register the pages."""
    house.places.append(Place(path="/settings", name="Settings", icon="settings", order=70, roles=AUDIT_ROLES))

    @page(house, "/settings", "Settings", roles=AUDIT_ROLES)
    async def first(visitor: Visitor) -> None:
        await _show(house, visitor, "agents")

    @page(house, "/settings/{part}", "Settings", roles=AUDIT_ROLES)
    async def one(visitor: Visitor, part: str) -> None:
        await _show(house, visitor, part)

    return ("/settings",)


async def _show(house: PageContext, visitor: Visitor, part: str) -> None:
    heading("Settings")
    parts = {**OWN, **house.settings_parts}
    _ways({**{name: one.label for name, one in parts.items()}, FILES: "Files"}, part)
    if part == FILES:
        file_list(house)
        return
    if part not in parts:
        empty("There is no such setting", "Choose one above.", icon="search_off")
        return
    await parts[part].make(house, visitor).show()


def _ways(labels: Mapping[str, str], here: str) -> None:
    with ui.element("nav").props('aria-label="Settings"').classes("tally-row tally-ways"):
        for part, name in labels.items():
            link = ui.link(name, f"/settings/{part}").classes("tally-chip")
            if part == here:
                link.classes("tally-way-here").props('aria-current="page"')
