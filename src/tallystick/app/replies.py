"""Check the claims of an agent's reply and record the check in a receipt."""

import logging
from dataclasses import replace
from functools import lru_cache
from typing import Any

import orjson
from typing_extensions import Unpack

from tallystick.app.rooms import texts_by
from tallystick.app.wiring import Parts
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.receipt import Draft
from tallystick.gate.reply.chat_transcripts import recorded_call
from tallystick.gate.reply.check import check_reply
from tallystick.gate.reply.findings import Findings
from tallystick.gate.reply.options import ReplyOptions
from tallystick.gate.reply.own_text import Author
from tallystick.gate.reply.support.actions import RecordedCall
from tallystick.gate.reply.support.grounds import ran
from tallystick.gate.reply.writings import LedgerWritings
from tallystick.gate.session import Session
from tallystick.storage.kept import kept_card

_log = logging.getLogger(__name__)
CARDS = 1_024
"""Tool versions whose definitions are cached."""


class ReplyChecks:
    """Checks replies against one workspace's files and receipts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._writings = LedgerWritings(
            parts.ledger,
            may_write=lru_cache(maxsize=CARDS)(self._may_write),
            room_texts=lambda agent, tool: texts_by(parts.rooms, agent, tool),
        )

    def check(self, reply: str, session: Session, **options: Unpack[ReplyOptions]) -> Findings:
        """Check a reply.

        Args:
            reply: The agent's text.
            session: The session of the reply.
            options: Further inputs of the check; see `ReplyOptions`.
        """
        findings = check_reply(
            reply,
            sources=options.get("sources") or self._parts.sources,
            receipts=self._parts.ledger,
            session_id=session.session_id,
            round_id=session.round_id,
            conference_id=session.conference_id,
            agent=session.agent_id,
            role_sources={**(options.get("role_sources") or {}), **self._parts.settings.evidence.sources},
            writings=self._writings,
            author=_author(session),
            tool_names=tuple(options.get("tool_names", ())) or tuple(self._parts.pipeline.catalogue.names()),
            tools_ran=options.get("tools_ran"),
            form=options.get("form", "line"),
            conference=options.get("conference", False),
            scorer=self._parts.judge,
        )
        receipt = self._parts.ledger.record_sync(_draft(session, findings))
        self._tell(session, findings)
        return replace(findings, receipt_id=receipt.receipt_id)

    def _may_write(self, version: str | None) -> bool:
        """Return whether a tool version may have changed something: all may, unless its definition says `read`."""
        card = None if version is None else kept_card(self._parts.ledger.kept, version)
        return card is None or card.effect != "read"

    def _tell(self, session: Session, findings: Findings) -> None:
        if self._parts.observer is not None:
            try:
                self._parts.observer.replied(session=session, bucket=findings.bucket)
            except Exception:  # noqa: BLE001 - an observer must never stop a check
                _log.exception("an observer failed; the reply is not affected")


def calls_of_session(ledger: Ledger, session_id: str) -> tuple[RecordedCall, ...] | None:
    """Return the finished calls of a session, oldest first; None if nothing was recorded in it.

    A call that a client runs itself counts from the client's report. An outcome that is not known counts as failed.
    """
    found: list[RecordedCall] = []
    seen = False
    for receipt in ledger.session(session_id):
        seen = True
        header, outcome = receipt.header, receipt.header.get("outcome") or {}
        if header.get("kind") not in {"outcome", "report"} or not header.get("tool_id"):
            continue
        done = ran(receipt) and outcome.get("status") != "unknown" and not outcome.get("handed_back")
        # The part before the last dot names the server or the room, not what the tool does.
        tool = str(header["tool_id"]).rpartition(".")[2]
        found.append(recorded_call(tool, receipt.inputs, receipt.outputs, ok=done, receipt_id=receipt.receipt_id))
    return tuple(found) if seen else None


def _author(session: Session) -> Author:
    """Return the author of a reply: for MCP also the caller's subject, as a client may check under any agent name."""
    subject = session.caller.subject if session.caller.channel == "mcp" else None
    return Author(session_id=session.session_id, agent=session.agent_id, subject=subject)


def _draft(session: Session, findings: Findings) -> Draft:
    """Build the receipt: it binds the reply's hash, and each excerpt with its lines and its file's hash."""
    outcome: dict[str, Any] = {"status": "accepted" if findings.ok else "rejected"}
    if findings.code is not None:
        outcome |= {"code": findings.code, "reason": findings.fault or ""}
    return Draft(
        kind="reply_check",
        session=session,
        outcome=outcome,
        file_refs=findings.file_refs(),
        links={f"cites_{number}": receipt for number, receipt in enumerate(findings.receipts)},
        outputs=orjson.dumps(findings.evidence_record()),
    )
