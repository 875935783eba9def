"""Tallystick: every tool call is a proposal, every run leaves a receipt, every claim shows its evidence.

The path of a call is the order of the folders:

    doors/            where a call comes in
    gate/admit        1  text → Proposal | Rejection
    gate/decide       2  Proposal → Decision
    gate/execute      3  Decision → Outcome
    gate/record       4  anything → Receipt
    gate/reply        5  agent text → Findings

`gate/pipeline.py` joins the five steps and is the only place that runs a tool. `turns/` puts a model in front of the
gate, `agents/` holds the conversations and tasks of agents, `storage/` satisfies the ports that these name,
`telemetry/` watches and never steers, and `app/` is the only place where parts are chosen. `rooms/` are what is built
on the gate: each brings its own routes, commands, pages and tables, and is found by the manifest that `plugin.py`
describes, so that nothing imports a room. Each part imports only what is below it; the build checks that.

    from tallystick import Gate, tool

Names load when they are first used, so that importing the package costs next to nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.errors import ToolError
    from tallystick.gate.codes import BoundaryCode, CallCode, Category
    from tallystick.gate.execute.call import current_call, note_file
    from tallystick.gate.execute.outcome import Outcome
    from tallystick.gate.execute.progress import report_progress
    from tallystick.gate.reply.findings import Findings
    from tallystick.gate.session import Caller
    from tallystick.gate.tool import Card, Tool, tool

__version__ = "0.1.0"
"""The one place that says it; the build and `make release` read it here."""

__all__ = [
    "BoundaryCode",
    "CallCode",
    "Caller",
    "Card",
    "Category",
    "Findings",
    "Gate",
    "Outcome",
    "Tool",
    "ToolError",
    "__version__",
    "current_call",
    "note_file",
    "report_progress",
    "tool",
]

_HOME = {
    "Gate": "tallystick.app.gate",
    "ToolError": "tallystick.errors",
    "BoundaryCode": "tallystick.gate.codes",
    "CallCode": "tallystick.gate.codes",
    "Category": "tallystick.gate.codes",
    "current_call": "tallystick.gate.execute.call",
    "note_file": "tallystick.gate.execute.call",
    "Outcome": "tallystick.gate.execute.outcome",
    "report_progress": "tallystick.gate.execute.progress",
    "Findings": "tallystick.gate.reply.findings",
    "Caller": "tallystick.gate.session",
    "Card": "tallystick.gate.tool",
    "Tool": "tallystick.gate.tool",
    "tool": "tallystick.gate.tool",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'tallystick' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415 - the point is to load nothing before

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
