"""Two built-in tools for MCP clients: verify the ledger, and check the evidence of a reply.

They go through the gate like every other tool, so each use leaves a receipt.
"""

from typing import Any

from tallystick.app.gate import Gate
from tallystick.gate.execute.call import current_call
from tallystick.gate.role_names import AUDIT_ROLES, EVERY_ROLE
from tallystick.gate.session import Session
from tallystick.gate.tool import Tool, tool

VERIFY_S = 600.0
"""Verifying a million receipts takes about a minute on a slow disk."""
PROBLEMS_SHOWN = 20
PREFIX = "tally."
"""Prefix of the built-in names if the workspace has tools with the same names."""


def register_own(gate: Gate) -> None:
    """Register both tools; the workspace's own tools keep their names."""
    taken = {card.name for card in gate.tools()}
    for make in (_verify, _evidence_check):
        plain = make.__name__.removeprefix("_")
        name = f"{PREFIX}{plain}" if plain in taken else plain
        if name not in taken:
            gate.register(make(gate, name))


def _verify(gate: Gate, name: str) -> Tool:
    @tool(name=name, effect="read", roles=AUDIT_ROLES, timeout_s=VERIFY_S)
    def verify(receipt_id: str | None = None) -> dict[str, Any]:
        """Verify the ledger: every signature, the chain, the tree, the checkpoints. With receipt_id: that receipt."""
        if receipt_id is not None:
            proof = gate.ledger.prove(receipt_id)
            known = {"receipt_id": receipt_id, "ok": proof is not None}
            return known if proof is None else {**known, "proof": proof.as_dict()}
        report = gate.verify(gate.workspace)
        return {
            "ok": report.ok, "size": report.size, "root": report.root, "proved_up_to": report.proved_up_to,
            "problems": [problem.as_dict() for problem in report.problems[:PROBLEMS_SHOWN]],
        }  # fmt: skip

    return verify


def _evidence_check(gate: Gate, name: str) -> Tool:
    @tool(name=name, effect="read", roles=EVERY_ROLE)
    def evidence_check(reply: str, agent: str | None = None) -> dict[str, Any]:
        """Check what a reply claims: every quote, line, absence and receipt it cites must be there.

        The reply ends with a line like: Evidence: "quoted words" path/file.md:L12, or cites receipts of this session.
        """
        call = current_call()
        session = Session(session_id="mcp") if call is None else call.session
        return gate.check_reply(reply, session=session, agent=agent).as_dict()

    return evidence_check
