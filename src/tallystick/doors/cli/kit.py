"""The API for a room's `cli.py`: commands, workspace, screen, exit codes, and confirmation by a person."""

from tallystick.doors.cli.chat_screen import ChatScreen
from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.demo_part import DemoContext, DemoPart, DemoResult
from tallystick.doors.cli.exits import CallHeld, Exit, Refused, UsageMistake
from tallystick.doors.cli.findings import Finding
from tallystick.doors.cli.lines import line_history, next_line, read_stdin
from tallystick.doors.cli.outside import open_lines, read_file
from tallystick.doors.cli.pairs import from_pairs
from tallystick.doors.cli.person import TERMINAL, Person, Token, Yes, require_person, user_name
from tallystick.doors.cli.screen import Advance, Force, Output, Screen
from tallystick.doors.cli.workspace import MARKS, Here, running_tools
from tallystick.doors.identity import person_at_terminal
from tallystick.doors.presentation.authors import context_label
from tallystick.doors.presentation.counts import counted
from tallystick.doors.presentation.refusals import show_command
from tallystick.doors.presentation.visible import visible_json

__all__ = [
    "MARKS",
    "TERMINAL",
    "Advance",
    "CallHeld",
    "ChatScreen",
    "DemoContext",
    "DemoPart",
    "DemoResult",
    "Exit",
    "Finding",
    "Force",
    "Here",
    "Output",
    "Person",
    "Refused",
    "Screen",
    "Token",
    "UsageMistake",
    "Yes",
    "command",
    "context_label",
    "counted",
    "from_pairs",
    "group",
    "line_history",
    "next_line",
    "open_lines",
    "person_at_terminal",
    "read_file",
    "read_stdin",
    "require_person",
    "running_tools",
    "show_command",
    "user_name",
    "visible_json",
]
