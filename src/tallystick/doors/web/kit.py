"""The API for a room's `web.py`: the page context, the frame of a page, and shared components."""

from tallystick.doors.presentation.authors import context_label
from tallystick.doors.presentation.counts import counted
from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.charts import SOFT, bars, cluster_map, colour, network, short
from tallystick.doors.web.components.evidence import evidence_chips
from tallystick.doors.web.components.file_view import file_view
from tallystick.doors.web.components.person import log_in_hint, may_act, person
from tallystick.doors.web.components.schema_form import SchemaForm
from tallystick.doors.web.components.states import empty, failed, heading, section
from tallystick.doors.web.components.text import block, text
from tallystick.doors.web.components.tool_calls import SESSION, here, propose, tell_trouble, trouble
from tallystick.doors.web.context import NavigationItem, PageContext, SettingsPart, Visitor
from tallystick.doors.web.frame import page

__all__ = [
    "SESSION",
    "SOFT",
    "NavigationItem",
    "PageContext",
    "SchemaForm",
    "SettingsPart",
    "Visitor",
    "badge",
    "bars",
    "block",
    "cluster_map",
    "colour",
    "context_label",
    "counted",
    "empty",
    "evidence_chips",
    "failed",
    "file_view",
    "heading",
    "here",
    "log_in_hint",
    "may_act",
    "network",
    "page",
    "person",
    "propose",
    "section",
    "short",
    "tell_trouble",
    "text",
    "trouble",
]
