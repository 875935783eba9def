"""Checking what an agent's reply claims, and leaving a receipt of the check."""

import logging
from dataclasses import replace
from typing import Any

import orjson
from typing_extensions import Unpack

from tallystick.app.wiring import Parts
from tallystick.gate.record.receipt import Draft
from tallystick.gate.reply.check import check_reply
from tallystick.gate.reply.findings import Findings
from tallystick.gate.reply.options import ReplyOptions
from tallystick.gate.session import Session

_log = logging.getLogger(__name__)


class ReplyChecks:
    """The reply check over one workspace's files and receipts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def check(self, reply: str, session: Session, **options: Unpack[ReplyOptions]) -> Findings:
        """Check a reply.

        Args:
            reply: The agent's text.
            session: Where it was given.
            options: What it is checked against besides the workspace; see `ReplyOptions`.
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
            own_texts=tuple(options.get("own_texts", ())),
            tool_names=tuple(options.get("tool_names", ())) or tuple(self._parts.pipeline.catalogue.names()),
            tools_ran=options.get("tools_ran"),
            form=options.get("form", "line"),
            conference=options.get("conference", False),
        )
        receipt = self._parts.ledger.record_sync(_draft(session, findings))
        self._tell(session, findings)
        return replace(findings, receipt_id=receipt.receipt_id)

    def _tell(self, session: Session, findings: Findings) -> None:
        if self._parts.observer is not None:
            try:
                self._parts.observer.replied(session=session, bucket=findings.bucket)
            except Exception:  # noqa: BLE001 - watching must never stop a check
                _log.exception("an observer failed; the reply is not affected")


def _draft(session: Session, findings: Findings) -> Draft:
    """What the receipt binds: the reply's hash, and each excerpt with its lines and its file's hash."""
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
