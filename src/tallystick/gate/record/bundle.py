"""Bundles: a reply in one file with all proofs that are needed to verify it offline.

    {"format":"tallystick-bundle-1",
     "reply":…,                   the text
     "evidence":…,                the line of the reply that lists its sources (`Evidence: …`)
     "excerpts":[…],              the quoted source text: path, lines, sha256 of the file
     "check":"rcpt_…",            the receipt of the reply check, which binds all of the above
     "receipts":[{"header":…,"inputs":…,"outputs":…,"path":[…]}, …],   that receipt and the cited ones, with proofs
     "checkpoint":…,              the signed note with the root of the inclusion proofs
     "log_key":…}                 the public key of the signature, as the log itself states it

The file is exactly the RFC 8785 bytes of that object, so every changed byte is detected. `check_bundle` verifies every
quote, receipt and proof. It cannot know who owns the log: it reports `valid` only with a key from a separate source,
and "consistent, signer unknown" without one.
"""

import base64
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson

from tallystick.errors import LedgerError
from tallystick.gate.record.canonical import canonical
from tallystick.gate.record.checkpoint import Checkpoint, NoteVerifier, open_checkpoint, parse_vkey
from tallystick.gate.record.evidence import check_evidence, cited_by, excerpts_of
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.portable_receipt import BundleInvalid, PortableReceipt, erased_by, parse_portable
from tallystick.gate.record.tree import inclusion_holds

FORMAT = "tallystick-bundle-1"
MAX_BYTES = 64 * 1024 * 1024
_FIELDS = frozenset({"format", "reply", "evidence", "excerpts", "check", "receipts", "checkpoint", "log_key"})


@dataclass(frozen=True, kw_only=True, slots=True)
class BundleReport:
    """The result of `check_bundle`."""

    status: str
    """valid; consistent (no error, but the signer is unknown); broken."""
    reason: str
    """Explanation; for a broken bundle, the first failed check."""
    origin: str | None = None
    """The log's name."""
    receipts: int = 0
    quotes: int = 0
    notes: tuple[str, ...] = ()
    """Remarks that are not errors, e.g. a cited receipt whose payload was erased."""

    @property
    def ok(self) -> bool:
        """Whether no check failed."""
        return self.status != "broken"

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        found: dict[str, Any] = {"status": self.status, "reason": self.reason}
        if self.origin is not None:
            found |= {"origin": self.origin, "receipts": self.receipts, "quotes": self.quotes}
        return found | ({"notes": list(self.notes)} if self.notes else {})


def make_bundle(ledger: Ledger, reply: str, check_id: str) -> bytes:
    """Pack a reply that passed its reply check into a bundle.

    Args:
        ledger: Source of the receipts.
        reply: The text that was checked, unchanged.
        check_id: Receipt id of its reply check.

    Raises:
        LedgerError: There is no such receipt, it belongs to another reply, or the reply did not pass.
    """
    check = ledger.portable_receipt(check_id)
    payload = None if check is None else check.outputs_json()
    if check is None or not isinstance(payload, dict) or check.header.get("kind") != "reply_check":
        raise LedgerError(f"{check_id} is not the receipt of a reply check.", code="bundle_no_check")
    try:
        data = canonical(_packed(ledger, reply, check, payload))
    except (BundleInvalid, ValueError) as error:
        raise LedgerError(f"This reply cannot be bundled: {error}.", code="bundle_refused") from None
    report = check_bundle(data)
    if not report.ok:
        raise LedgerError(f"This reply cannot be bundled: {report.reason}.", code="bundle_refused")
    return data


def _packed(ledger: Ledger, reply: str, check: PortableReceipt, payload: dict[str, Any]) -> dict[str, Any]:
    cited = [ledger.portable_receipt(receipt_id) for receipt_id in cited_by(payload)]
    held = [item for item in (check, *cited) if item is not None]
    erasures = ledger.erasures_of({item.receipt_id for item in held if item.erased})
    portable = sorted({item.seq: item for item in (*held, *erasures)}.values(), key=lambda item: item.seq)
    note = ledger.checkpoint()
    return {
        "format": FORMAT,
        "reply": reply,
        "evidence": payload.get("line"),
        "excerpts": excerpts_of(payload),
        "check": check.receipt_id,
        "receipts": [{**item.as_dict(), "path": _encoded(ledger.path_of(item, note))} for item in portable],
        "checkpoint": note.decode(),
        "log_key": ledger.keys.log_signer().verifier.vkey(),
    }


def check_bundle(data: bytes, verifier: NoteVerifier | None = None) -> BundleReport:
    """Verify a bundle from its bytes alone.

    Args:
        data: Content of the bundle file.
        verifier: The log's public key, if known from a separate source.
    """
    try:
        bundle = _parse(data)
        checkpoint = _check_note(bundle, verifier)
        receipts = _check_receipts(bundle["receipts"], checkpoint)
        quotes, notes = check_evidence(bundle, receipts)
    except BundleInvalid as broken:
        return BundleReport(status="broken", reason=str(broken))
    status, reason = ("consistent", "consistent, signer unknown") if verifier is None else ("valid", "valid")
    return BundleReport(
        status=status,
        reason=reason,
        origin=checkpoint.origin,
        receipts=len(receipts),
        quotes=quotes,
        notes=tuple(notes),
    )


def _parse(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_BYTES:
        raise BundleInvalid("the file is too large for a bundle")
    try:
        bundle = orjson.loads(data)
        exact = canonical(bundle) == data
    except ValueError:
        raise BundleInvalid("the file is not JSON") from None
    if not exact:
        raise BundleInvalid("the file is not canonical JSON: it was changed after it was made")
    if not isinstance(bundle, dict) or bundle.keys() != _FIELDS or bundle["format"] != FORMAT:
        raise BundleInvalid("the file is not a bundle")
    for name in ("reply", "check", "checkpoint", "log_key"):
        if not isinstance(bundle[name], str):
            raise BundleInvalid(f"'{name}' is not text")
    return bundle


def _check_note(bundle: dict[str, Any], verifier: NoteVerifier | None) -> Checkpoint:
    try:
        own = parse_vkey(bundle["log_key"])
    except ValueError:
        raise BundleInvalid("the log's key is malformed") from None
    if own.vkey() != bundle["log_key"]:
        raise BundleInvalid("the log's key is malformed")
    if verifier is not None and verifier != own:
        raise BundleInvalid("the log's key in the bundle is not the given key")
    opened = open_checkpoint(bundle["checkpoint"].encode(), [own])
    if opened is None:
        raise BundleInvalid("the checkpoint's signature is invalid")
    # Only this signature is verified, so a note with further signatures is rejected.
    if len(bundle["checkpoint"].split("\n— ")) != 2:  # noqa: PLR2004 - text and one signature
        raise BundleInvalid("the checkpoint has more than one signature")
    return opened[0]


def _check_receipts(items: Any, checkpoint: Checkpoint) -> dict[str, PortableReceipt]:
    if not isinstance(items, list) or not items:
        raise BundleInvalid("there are no receipts")
    receipts: dict[str, PortableReceipt] = {}
    last = -1
    for item in items:
        portable = parse_portable(item)
        if portable.seq <= last:
            raise BundleInvalid("the receipts are not in order")
        last = portable.seq
        path = [_decoded(part) for part in _list(item.get("path"))]
        leaf = sha256(b"\0" + portable.stored).digest()
        if not inclusion_holds(leaf, portable.seq, checkpoint.size, path, checkpoint.root):
            raise BundleInvalid(f"{portable.receipt_id}: the proof does not lead to the checkpoint's root")
        portable.check_payload()
        receipts[portable.receipt_id] = portable
    _check_erasures(receipts)
    return receipts


def _check_erasures(receipts: dict[str, PortableReceipt]) -> None:
    """Check that the record of its erasure comes with every erased payload; otherwise it was only left out."""
    orders = {erased_by(item.header): item.seq for item in receipts.values() if item.header.get("kind") == "erasure"}
    for item in receipts.values():
        if item.erased and orders.get(item.receipt_id, -1) < item.seq:
            raise BundleInvalid(f"{item.receipt_id}: its payload is left out, and no record says that it was erased")


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BundleInvalid("a proof is malformed")
    return value


def _encoded(path: list[bytes]) -> list[str]:
    return [base64.b64encode(part).decode() for part in path]


def _decoded(part: Any) -> bytes:
    try:
        value = base64.b64decode(part, validate=True)
    except (ValueError, TypeError):
        raise BundleInvalid("a proof is malformed") from None
    if base64.b64encode(value).decode() != part:
        raise BundleInvalid("a proof is malformed")
    return value
