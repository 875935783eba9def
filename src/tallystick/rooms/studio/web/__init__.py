"""The studio's pages: conference, workspace, issues and runs."""

from tallystick.doors.web.kit import PageContext, SettingsPart
from tallystick.rooms.studio.web import conference_page, issues_page, runs_page, workspace_page
from tallystick.rooms.studio.web.prompts import Prompts


def register(context: PageContext) -> tuple[str, ...]:
    """Register the pages, and return the first segments of their paths."""
    context.settings_parts["prompts"] = SettingsPart(label="Prompts", make=Prompts)
    parts = (
        conference_page,
        workspace_page,
        issues_page,
        runs_page,
    )
    return tuple(path for part in parts for path in part.register(context))
