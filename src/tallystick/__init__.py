"""Tallystick: every tool call is a proposal, every run leaves a receipt, every claim shows its evidence.

The path of a call is the order of the folders:

    doors/            where a call comes in
    gate/admit        1  text → Proposal | Rejection
    gate/decide       2  Proposal → Decision
    gate/execute      3  Decision → Outcome
    gate/record       4  anything → Receipt
    gate/reply        5  agent text → Findings

`gate/pipeline.py` joins the five steps and is the only place that runs a tool. `turns/` puts a model in front of the
gate, `agents/` holds the conversations and tasks of agents, `storage/` implements the ports that these define,
`telemetry/` observes and never decides, `text/` works on words and sentences for every part, `reading/` finds passages
in texts, and `app/` is the only place that chooses implementations. `rooms/` are
plugins built on the gate: each has its own routes, commands, pages and tables, and is discovered by the manifest that
`plugin.py` defines, so that nothing imports a room. Each package imports only lower ones; the build checks that.

    from tallystick import Gate, tool

Public names are loaded on first use, so that importing the package is nearly free.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tallystick.agents.ports import ConversationAccess, TaskContext, TurnListener
    from tallystick.agents.tasks.targets import KnownFile
    from tallystick.app.approvals import Approvals, Revealed
    from tallystick.app.calls import CallOptions
    from tallystick.app.gate import Gate
    from tallystick.doors.governed import CallAnswer, Governed, Offer
    from tallystick.doors.presentation.refusals import Refusal
    from tallystick.errors import ToolError
    from tallystick.gate.admit.proposal import Rejection
    from tallystick.gate.annotations import Codec
    from tallystick.gate.codes import BoundaryCode, Bucket, CallCode, Category, Fault
    from tallystick.gate.decide.approvals import Hold
    from tallystick.gate.decide.policy import Policy
    from tallystick.gate.decide.tool_rule import ArgumentCheck, ToolRule
    from tallystick.gate.decide.verdict import Limits
    from tallystick.gate.execute.call import Call, current_call, note_file
    from tallystick.gate.execute.outcome import CallFailed, CallRefused, Failure, Held, Outcome, Shown
    from tallystick.gate.execute.progress import report_progress
    from tallystick.gate.record.consistency import Consistency
    from tallystick.gate.record.ledger import Ledger
    from tallystick.gate.record.proof import Proof
    from tallystick.gate.record.receipt import Draft, Receipt
    from tallystick.gate.record.recorder import Observer
    from tallystick.gate.record.report import AuditReport, Warrant
    from tallystick.gate.reply.findings import Findings
    from tallystick.gate.reply.options import ReplyOptions
    from tallystick.gate.reply.sources import Source, Sources
    from tallystick.gate.reply.support.scorer import Judged
    from tallystick.gate.session import Caller, Session
    from tallystick.gate.tool import Card, CardFields, Tool, ToolDecorator, tool
    from tallystick.http_port import HttpAddress, HttpClient, HttpFailure, HttpRequest, HttpResponse
    from tallystick.import_limits import ImportLimits
    from tallystick.mail_port import MailClient, MailFailure, MailServer, UnreadMail
    from tallystick.plugin import CommandReference, Manifest, Room, RoomContext
    from tallystick.providers.openapi import tool_from_operation
    from tallystick.providers.operation_request import HttpSender, OperationRequest
    from tallystick.reading.agent.intents import RequestExample
    from tallystick.reading.index import IndexedDocument
    from tallystick.reading.passages import IndexedPassage, Section, cut_passages
    from tallystick.reading.retriever import FoundPassage, Retriever
    from tallystick.settings import (
        ApprovalSettings,
        ArgumentRule,
        AuthSettings,
        EvidenceSettings,
        GateSettings,
        LedgerSettings,
        LimitSettings,
        ModelSettings,
        PolicySettings,
        RedactSettings,
        RoomSettings,
        ServerSettings,
        Settings,
        StorageSettings,
        TelemetrySettings,
        ToolPolicy,
        TurnSettings,
    )
    from tallystick.storage.files import FileBytes, FileSources
    from tallystick.turns.durable import Durable
    from tallystick.turns.limits import Budget
    from tallystick.turns.runs import Queue, RunStatus, Schedule, StepRecord
    from tallystick.turns.tool_prompts import ToolPrompt
    from tallystick.turns.turn import Turn

__version__ = "0.1.0"
"""The single definition of the version; the build and `make release` read it here."""

__all__ = [
    "ApprovalSettings",
    "Approvals",
    "ArgumentCheck",
    "ArgumentRule",
    "AuditReport",
    "AuthSettings",
    "BoundaryCode",
    "Bucket",
    "Budget",
    "Call",
    "CallAnswer",
    "CallCode",
    "CallFailed",
    "CallOptions",
    "CallRefused",
    "Caller",
    "Card",
    "CardFields",
    "Category",
    "Codec",
    "CommandReference",
    "Consistency",
    "ConversationAccess",
    "Draft",
    "Durable",
    "EvidenceSettings",
    "Failure",
    "Fault",
    "FileBytes",
    "FileSources",
    "Findings",
    "FoundPassage",
    "Gate",
    "GateSettings",
    "Governed",
    "Held",
    "Hold",
    "HttpAddress",
    "HttpClient",
    "HttpFailure",
    "HttpRequest",
    "HttpResponse",
    "HttpSender",
    "ImportLimits",
    "IndexedDocument",
    "IndexedPassage",
    "Judged",
    "KnownFile",
    "Ledger",
    "LedgerSettings",
    "LimitSettings",
    "Limits",
    "MailClient",
    "MailFailure",
    "MailServer",
    "Manifest",
    "ModelSettings",
    "Observer",
    "Offer",
    "OperationRequest",
    "Outcome",
    "Policy",
    "PolicySettings",
    "Proof",
    "Queue",
    "Receipt",
    "RedactSettings",
    "Refusal",
    "Rejection",
    "ReplyOptions",
    "RequestExample",
    "Retriever",
    "Revealed",
    "Room",
    "RoomContext",
    "RoomSettings",
    "RunStatus",
    "Schedule",
    "Section",
    "ServerSettings",
    "Session",
    "Settings",
    "Shown",
    "Source",
    "Sources",
    "StepRecord",
    "StorageSettings",
    "TaskContext",
    "TelemetrySettings",
    "Tool",
    "ToolDecorator",
    "ToolError",
    "ToolPolicy",
    "ToolPrompt",
    "ToolRule",
    "Turn",
    "TurnListener",
    "TurnSettings",
    "UnreadMail",
    "Warrant",
    "__version__",
    "current_call",
    "cut_passages",
    "note_file",
    "report_progress",
    "tool",
    "tool_from_operation",
]

_HOME = {
    "ConversationAccess": "tallystick.agents.ports",
    "TaskContext": "tallystick.agents.ports",
    "TurnListener": "tallystick.agents.ports",
    "KnownFile": "tallystick.agents.tasks.targets",
    "Approvals": "tallystick.app.approvals",
    "Revealed": "tallystick.app.approvals",
    "CallOptions": "tallystick.app.calls",
    "Gate": "tallystick.app.gate",
    "Refusal": "tallystick.doors.presentation.refusals",
    "ToolError": "tallystick.errors",
    "Rejection": "tallystick.gate.admit.proposal",
    "Codec": "tallystick.gate.annotations",
    "BoundaryCode": "tallystick.gate.codes",
    "Bucket": "tallystick.gate.codes",
    "CallCode": "tallystick.gate.codes",
    "Category": "tallystick.gate.codes",
    "Fault": "tallystick.gate.codes",
    "Hold": "tallystick.gate.decide.approvals",
    "Policy": "tallystick.gate.decide.policy",
    "ArgumentCheck": "tallystick.gate.decide.tool_rule",
    "ToolRule": "tallystick.gate.decide.tool_rule",
    "Limits": "tallystick.gate.decide.verdict",
    "Call": "tallystick.gate.execute.call",
    "current_call": "tallystick.gate.execute.call",
    "note_file": "tallystick.gate.execute.call",
    "CallFailed": "tallystick.gate.execute.outcome",
    "CallRefused": "tallystick.gate.execute.outcome",
    "Failure": "tallystick.gate.execute.outcome",
    "Held": "tallystick.gate.execute.outcome",
    "Outcome": "tallystick.gate.execute.outcome",
    "Shown": "tallystick.gate.execute.outcome",
    "report_progress": "tallystick.gate.execute.progress",
    "Consistency": "tallystick.gate.record.consistency",
    "Ledger": "tallystick.gate.record.ledger",
    "Proof": "tallystick.gate.record.proof",
    "Draft": "tallystick.gate.record.receipt",
    "Receipt": "tallystick.gate.record.receipt",
    "Observer": "tallystick.gate.record.recorder",
    "AuditReport": "tallystick.gate.record.report",
    "Warrant": "tallystick.gate.record.report",
    "Findings": "tallystick.gate.reply.findings",
    "ReplyOptions": "tallystick.gate.reply.options",
    "Source": "tallystick.gate.reply.sources",
    "Sources": "tallystick.gate.reply.sources",
    "Caller": "tallystick.gate.session",
    "Session": "tallystick.gate.session",
    "Card": "tallystick.gate.tool",
    "CardFields": "tallystick.gate.tool",
    "Tool": "tallystick.gate.tool",
    "ToolDecorator": "tallystick.gate.tool",
    "tool": "tallystick.gate.tool",
    "CallAnswer": "tallystick.doors.governed",
    "Governed": "tallystick.doors.governed",
    "Offer": "tallystick.doors.governed",
    "ImportLimits": "tallystick.import_limits",
    "HttpAddress": "tallystick.http_port",
    "HttpClient": "tallystick.http_port",
    "HttpFailure": "tallystick.http_port",
    "HttpRequest": "tallystick.http_port",
    "HttpResponse": "tallystick.http_port",
    "MailClient": "tallystick.mail_port",
    "MailFailure": "tallystick.mail_port",
    "MailServer": "tallystick.mail_port",
    "UnreadMail": "tallystick.mail_port",
    "Judged": "tallystick.gate.reply.support.scorer",
    "OperationRequest": "tallystick.providers.operation_request",
    "HttpSender": "tallystick.providers.operation_request",
    "tool_from_operation": "tallystick.providers.openapi",
    "CommandReference": "tallystick.plugin",
    "Manifest": "tallystick.plugin",
    "Room": "tallystick.plugin",
    "RoomContext": "tallystick.plugin",
    "RequestExample": "tallystick.reading.agent.intents",
    "IndexedDocument": "tallystick.reading.index",
    "IndexedPassage": "tallystick.reading.passages",
    "Section": "tallystick.reading.passages",
    "cut_passages": "tallystick.reading.passages",
    "FoundPassage": "tallystick.reading.retriever",
    "Retriever": "tallystick.reading.retriever",
    "ApprovalSettings": "tallystick.settings",
    "ArgumentRule": "tallystick.settings",
    "AuthSettings": "tallystick.settings",
    "EvidenceSettings": "tallystick.settings",
    "GateSettings": "tallystick.settings",
    "LedgerSettings": "tallystick.settings",
    "LimitSettings": "tallystick.settings",
    "ModelSettings": "tallystick.settings",
    "PolicySettings": "tallystick.settings",
    "RedactSettings": "tallystick.settings",
    "RoomSettings": "tallystick.settings",
    "ServerSettings": "tallystick.settings",
    "Settings": "tallystick.settings",
    "StorageSettings": "tallystick.settings",
    "TelemetrySettings": "tallystick.settings",
    "ToolPolicy": "tallystick.settings",
    "TurnSettings": "tallystick.settings",
    "FileBytes": "tallystick.storage.files",
    "FileSources": "tallystick.storage.files",
    "Durable": "tallystick.turns.durable",
    "Budget": "tallystick.turns.limits",
    "Queue": "tallystick.turns.runs",
    "RunStatus": "tallystick.turns.runs",
    "Schedule": "tallystick.turns.runs",
    "StepRecord": "tallystick.turns.runs",
    "Turn": "tallystick.turns.turn",
    "ToolPrompt": "tallystick.turns.tool_prompts",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use."""
    if name not in _HOME:
        raise AttributeError(f"module 'tallystick' has no attribute '{name}'")
    from importlib import import_module  # noqa: PLC0415 - load nothing before first use

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names, loaded or not."""
    return sorted(__all__)
