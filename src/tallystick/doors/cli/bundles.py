"""`tally prove`, `tally bundle` and `tally check`: export proofs of a claim, and verify them elsewhere."""

from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.audit import ReceiptId, find
from tallystick.doors.cli.command import command
from tallystick.doors.cli.evidence import read_reply
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.outside import Key, checked_session, read_file, read_verifier
from tallystick.doors.cli.screen import Force, Output
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.app.gate import Gate
    from tallystick.gate.record.checkpoint import NoteVerifier

RECEIPT = "rcpt_"
PROOF_KEYS = frozenset({"seq", "header", "path", "checkpoint"})
HEAD_KEYS = frozenset({"old", "checkpoint", "path"})
SIGNER_UNKNOWN = "consistent, signer unknown"


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "prove")(prove)
    command(app, "bundle")(bundle)
    command(app, "check")(check)


def prove(here: Here, receipt: ReceiptId, output: Output = None, force: Force = False) -> None:
    """Prove that a receipt stands in the log.

    Gives an inclusion proof as JSON. `tally check` and any RFC 9162 verifier check it with the log's public key alone.
    """
    from tallystick.gate.record.canonical import canonical

    with here.gate() as gate:
        find(gate.ledger, receipt)
        proof = gate.ledger.prove(receipt)
    if proof is None:
        raise Refused(f"{receipt} cannot be proved. Run `tally audit verify`.", code="receipt_unknown")
    here.screen.document(canonical(proof.as_dict()) + b"\n", output, force=force)
    if output is not None:
        here.screen.data({"written": str(output), "receipt_id": receipt})


def bundle(
    here: Here,
    answer: Annotated[
        str,
        typer.Argument(metavar="ANSWER", help="The file with the reply (- reads stdin), or the receipt of its check."),
    ],
    reply: Annotated[
        str | None,
        typer.Option("--reply", metavar="FILE", help="The reply's text, if ANSWER is a receipt.", show_default=False),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="ID", help="The session of the reply.", show_default=False)
    ] = None,
    agent: Annotated[str | None, typer.Option("--agent", metavar="ID", help="The author.", show_default=False)] = None,
    output: Output = None,
    force: Force = False,
) -> None:
    """Pack a reply with all that proves it.

    Reply, Evidence line, quoted excerpts, cited receipts, their proofs and the signed head, in one file that `tally
    check` verifies on a machine that has nothing else. A reply that was not checked yet is checked first.
    """
    check_id, text_of = (answer, reply) if answer.startswith(RECEIPT) and not Path(answer).exists() else (None, answer)
    if text_of is None:
        message = "The ledger keeps a reply's hash, not its text: give the text with --reply FILE."
        raise Refused(message, code="reply_needed")
    text, session = read_reply(text_of), checked_session(session)
    with here.gate() as gate:
        check_id = check_id or _checked(gate, text, session) or _check_now(gate, text, session, agent)
        data = _packed(gate, text, check_id)
    here.screen.document(data, output, force=force)
    if output is not None:
        here.screen.data({"written": str(output), "check": check_id})


def check(
    here: Here,
    file: Annotated[
        str,
        typer.Argument(
            metavar="BUNDLE", help="A bundle, or a proof of `tally prove` or `tally audit head --since`; - reads stdin."
        ),
    ],
    key: Key = None,
) -> Exit:
    """Check a bundle or a proof on its own.

    Needs no workspace and no secret: every quote, every receipt, every proof, or the first thing that does not hold.
    With the key you were given it says "valid"; without one only that it is consistent, since anyone can make keys.
    That a quote stands in its source is what is shown, not that it supports the conclusion.
    """
    from tallystick.gate.record.bundle import MAX_BYTES, check_bundle

    verifier = None if key is None else read_verifier(key)
    data = read_file(Path(file), MAX_BYTES)
    proof = _proof_in(data)
    if proof is None:
        report = check_bundle(data, verifier)
        found, ok = report.as_dict(), report.ok
    else:
        found = (_check_heads if "old" in proof else _check_proof)(data, proof, verifier)
        ok = found["status"] != "broken"
    here.screen.data({"ok": ok, **found})
    for name in ("origin", "receipts", "quotes"):
        if name in found:
            here.screen.line(f"{name:<9} {found[name]}")
    for note in found.get("notes", ()):
        here.screen.line(f"note      {note}")
    here.screen.line(found["reason"] if ok else f"DOES NOT HOLD: {found['reason']}")
    if found["status"] == "consistent":
        here.screen.note("to verify the signer, give the log's public key from another source with --key")
    return Exit.OK if ok else Exit.REFUSED


def _checked(gate: "Gate", text: str, session: str | None) -> str | None:
    """Return the latest accepted check of exactly this reply."""
    wanted, latest = sha256(text.encode()).hexdigest(), None
    for receipt in gate.ledger.read() if session is None else gate.ledger.session(session):
        header = receipt.header
        if header["kind"] != "reply_check" or header["outcome"]["status"] != "accepted":
            continue
        if isinstance(receipt.outputs, dict) and receipt.outputs.get("reply_sha256") == wanted:
            latest = receipt.receipt_id
    return latest


def _check_now(gate: "Gate", text: str, session: str | None, agent: str | None) -> str:
    findings = gate.check_reply(text, session=session or "cli", agent=agent)
    if not findings.ok:
        raise Refused(f"The reply failed the check: {findings.reason}", code=findings.code or "evidence_invalid")
    return findings.receipt_id


def _packed(gate: "Gate", text: str, check_id: str) -> bytes:
    from tallystick.errors import LedgerError
    from tallystick.gate.record.bundle import make_bundle

    try:
        return make_bundle(gate.ledger, text, check_id)
    except LedgerError as error:
        if error.code.startswith("bundle_"):
            raise Refused(str(error), code=error.code) from None
        raise


def _proof_in(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object in a file if it has the form of a proof."""
    from tallystick.gate.admit.strictjson import parse_json_object

    read = parse_json_object(data, len(data))
    return read if isinstance(read, dict) and read.keys() in (PROOF_KEYS, HEAD_KEYS) else None


def _check_proof(data: bytes, read: dict[str, Any], verifier: "NoteVerifier | None") -> dict[str, Any]:
    from tallystick.gate.record.canonical import canonical
    from tallystick.gate.record.proof import Proof, proof_fault

    try:
        proof = Proof.from_dict(read)
        exact = proof.as_dict() == read and canonical(read) == data.removesuffix(b"\n")
    except ValueError:
        return {"status": "broken", "reason": "it is not a proof"}
    if not exact:
        return {"status": "broken", "reason": "the file was changed after it was made"}
    return _said(proof_fault(proof, verifier), verifier, receipts=1)


def _check_heads(data: bytes, read: dict[str, Any], verifier: "NoteVerifier | None") -> dict[str, Any]:
    """Check two heads and the proof that the later log extends the earlier one."""
    from tallystick.gate.record.canonical import canonical
    from tallystick.gate.record.consistency import check_heads

    try:
        exact = canonical(read) == data.removesuffix(b"\n")
    except ValueError:
        exact = False
    return _said(check_heads(read, verifier) if exact else "the file was changed after it was made", verifier)


def _said(fault: str | None, verifier: "NoteVerifier | None", **more: Any) -> dict[str, Any]:
    if fault is not None:
        return {"status": "broken", "reason": fault}
    reason = SIGNER_UNKNOWN if verifier is None else "valid"
    return {"status": "consistent" if verifier is None else "valid", "reason": reason, **more}
