"""A second implementation, written from `docs/protocol.md` alone. It imports nothing of tallystick.

    read_ledger(audit, mirror)     section 10: raises Wrong at the first thing that does not hold
    check_proof(data, vkey)        section 8
    check_bundle(data, vkey)       section 11

It is written to be read beside the page, section by section, and not to be fast.
"""

import base64
import hmac
import json
import re
import struct
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

T = TypeVar("T")


class Wrong(Exception):  # noqa: N818 - a finding
    """Something does not hold; the message says what."""


def demand(holds: object, what: str) -> None:
    if not holds:
        raise Wrong(what)


def or_wrong(check: Callable[..., T]) -> Callable[..., T]:
    """Whatever is of another form than the page says is wrong, too."""

    @wraps(check)
    def checked(*args: Any, **more: Any) -> T:
        try:
            return check(*args, **more)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError, OSError) as error:
            raise Wrong(f"malformed: {error!r}") from error

    return checked


# -- 1 conventions -----------------------------------------------------------------------------------------------------


def canonical(value: Any) -> bytes:
    """RFC 8785 for values without floats."""
    if isinstance(value, dict):
        members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be"))
        return b"{" + b",".join(canonical(key) + b":" + canonical(item) for key, item in members) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(canonical, value)) + b"]"
    demand(not isinstance(value, float), "a float")
    demand(type(value) is not int or abs(value) < 2**53, "an integer that is too large")
    return json.dumps(value, ensure_ascii=False).encode()


def parse(data: bytes | str, what: str) -> Any:
    try:
        return json.loads(data, object_pairs_hook=_without_doubles)
    except (ValueError, RecursionError):
        raise Wrong(f"{what} is not JSON") from None


def _without_doubles(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) != len(members):
        raise ValueError("a key stands twice")
    return found


def unbase64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except ValueError:
        raise Wrong("not base64") from None
    demand(base64.b64encode(data).decode() == text, "base64 in another form")
    return data


# -- 5 receipt ---------------------------------------------------------------------------------------------------------

SALT = 32
EXCERPT = 2_000
SIGNATURE = re.compile(rb'"signature":"([0-9a-f]{64})",\Z')
RECEIPT_ID = re.compile(r"rcpt_([0-9a-f]{12})[0-9a-f]{12}")


def unsigned(header: bytes) -> tuple[bytes, bytes]:
    """The bytes that were signed, and the signature."""
    place = header.rfind(b'"signature_alg":')
    found = SIGNATURE.search(header[:place]) if place >= 0 else None
    if found is None:
        raise Wrong("there is no signature in its place")
    return header[: found.start()] + header[place:], bytes.fromhex(found[1].decode())


def leaf_of(header: bytes) -> bytes:
    return sha256(b"\0" + header).digest()


def seq_in(receipt_id: object) -> int:
    found = RECEIPT_ID.fullmatch(receipt_id) if isinstance(receipt_id, str) else None
    return -1 if found is None else int(found[1], 16)


def check_column(column: bytes, digest: str | None, cut: int | None, blobs: Path) -> bytes | None:
    """SALT ‖ JSON of a column that fits its digest; None if it was erased, empty if there was none."""
    if column[:1] == b"~":
        demand(not column[1:].strip(b" "), "something stands in an erased column")
        return None
    whole = column
    if column[:1] == b"@":
        blob = blobs / (digest or "none")[:2] / (digest or "none")
        demand(blob.is_file(), "a blob is gone")
        whole = blob.read_bytes()
        demand(column == b"@" + excerpt_of(whole[SALT:], cut), "an excerpt does not fit its blob")
    demand((sha256(whole).hexdigest() if column else None) == digest, "a payload does not fit its digest")
    return whole


def excerpt_of(payload: bytes, cut: int | None) -> bytes:
    text = payload[: EXCERPT if cut is None else cut].decode(errors="ignore")
    fields = {"excerpt": text, "full_size": len(payload), "sha256": sha256(payload).hexdigest()}
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()


def flat(header: bytes, inputs: bytes, outputs: bytes, cut: int | None) -> bytes:
    parts = [header[:-1]]
    if b"~" in {inputs[:1], outputs[:1]}:
        return header[:-1] + b',"erased":true}\n'
    if inputs:
        parts.append(b',"inputs":' + (inputs[1:] if inputs[:1] == b"@" else inputs[SALT:]))
    if outputs[:1] == b"@" or (outputs and cut is not None):
        shown = json.loads(outputs[1:] if outputs[:1] == b"@" else excerpt_of(outputs[SALT:], cut))
        excerpt = json.dumps(shown["excerpt"], ensure_ascii=False).encode()
        parts.append(b',"excerpt":' + excerpt + b',"sha256":"' + shown["sha256"].encode() + b'"')
    elif outputs:
        parts.append(b',"outputs":' + outputs[SALT:])
    return b"".join([*parts, b"}\n"])


# -- 6 keys ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LogKey:
    """The public half of a log's key."""

    name: str
    public: bytes

    @property
    def hash(self) -> bytes:
        return sha256(self.name.encode() + b"\n\x01" + self.public).digest()[:4]

    @property
    def line(self) -> str:
        return "+".join([self.name, self.hash.hex(), base64.b64encode(b"\x01" + self.public).decode()])


def log_key(line: str) -> LogKey:
    parts = line.split("+", 2)
    demand(len(parts) == 3, "not a verifier line")
    data = unbase64(parts[2])
    key = LogKey(parts[0], data[1:])
    demand(len(data) == 33 and key.line == line, "not a verifier line")
    return key


def log_key_of_signer(line: str) -> LogKey:
    demand(line.startswith("PRIVATE+KEY+"), "not a signer line")
    name, key_hash, encoded = line.removeprefix("PRIVATE+KEY+").split("+", 2)
    seed = unbase64(encoded)
    demand(seed[:1] == b"\x01", "not an Ed25519 key")
    public = Ed25519PrivateKey.from_private_bytes(seed[1:]).public_key().public_bytes_raw()
    key = LogKey(name, public)
    demand(key.hash.hex() == key_hash, "a log key's hash does not fit")
    demand(name == f"tallystick/{sha256(public).hexdigest()[:16]}", "a log key's name does not fit")
    return key


def key_id_of(secret: bytes) -> str:
    return sha256(b"tally-hmac" + secret).digest()[:8].hex()


def mac(secret: bytes, data: bytes) -> bytes:
    return hmac.digest(secret, data, "sha256")


def derive(secret: bytes, label: str) -> bytes:
    return mac(secret, b"tally-derive\0" + label.encode())


@dataclass(frozen=True)
class Keys:
    """All keys of a workspace."""

    secrets: Mapping[str, bytes]
    logs: Sequence[LogKey]


def read_keys(audit: Path) -> Keys:
    old = audit / "keys"
    files = [audit / "secret.key", *sorted(old.glob("????????????????.key"))]
    secrets = [bytes.fromhex(path.read_text().strip()) for path in files]
    for path, secret in zip(files[1:], secrets[1:], strict=True):
        demand(path.stem == key_id_of(secret), "an old key lies under another name")
    logs = [log_key_of_signer((audit / "log.key").read_text().strip())]
    logs += [log_key(path.read_text().strip()) for path in sorted(old.glob("*.vkey"))]
    return Keys({key_id_of(secret): secret for secret in secrets}, logs)


# -- 7 tree and checkpoint ---------------------------------------------------------------------------------------------


def node(left: bytes, right: bytes) -> bytes:
    return sha256(b"\x01" + left + right).digest()


def root_of(leaves: Sequence[bytes]) -> bytes:
    if len(leaves) <= 1:
        return leaves[0] if leaves else sha256(b"").digest()
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node(root_of(leaves[:split]), root_of(leaves[split:]))


@dataclass(frozen=True)
class Note:
    """A checkpoint whose signature holds."""

    size: int
    root: bytes
    key: LogKey


def open_note(note: bytes, keys: Sequence[LogKey]) -> Note:
    demand(len(note) <= 65_536, "a note is too long")
    try:
        lines = note.decode().split("\n")
    except UnicodeDecodeError:
        raise Wrong("a note is not text") from None
    demand(len(lines) == 6 and lines[3] == "" and lines[5] == "", "not a checkpoint with one signature")
    name, size, root, signature = lines[0], lines[1], unbase64(lines[2]), lines[4]
    demand(re.fullmatch(r"0|[1-9][0-9]*", size) and len(root) == 32, "not a checkpoint")
    demand(signature.startswith(f"— {name} "), "signed under another name than the log's")
    value = unbase64(signature.removeprefix(f"— {name} "))
    for key in keys:
        if key.name == name and key.hash == value[:4]:
            try:
                Ed25519PublicKey.from_public_bytes(key.public).verify(value[4:], "\n".join([*lines[:3], ""]).encode())
            except InvalidSignature:
                raise Wrong("a checkpoint's signature does not hold") from None
            return Note(int(size), root, key)
    raise Wrong("a checkpoint was signed with another key")


# -- 8 proofs ----------------------------------------------------------------------------------------------------------


def leads_to_root(leaf: bytes, seq: int, size: int, path: Sequence[bytes]) -> bytes:
    """The root an inclusion path leads to (RFC 9162, 2.1.3.2)."""
    first, second, root = seq, size - 1, leaf
    demand(0 <= first <= second, "the record lies beyond the checkpoint")
    for sibling in path:
        demand(second > 0, "a path is too long")
        if first % 2 or first == second:
            root = node(sibling, root)
            if first % 2 == 0:
                while first and first % 2 == 0:
                    first, second = first // 2, second // 2
        else:
            root = node(root, sibling)
        first, second = first // 2, second // 2
    demand(second == 0, "a path is too short")
    return root


@or_wrong
def check_proof(data: bytes, key: LogKey) -> dict[str, Any]:
    """The header that a proof is for."""
    proof = parse(data, "the proof")
    demand(isinstance(proof, dict) and canonical(proof) + b"\n" == data, "the proof is not canonical")
    demand(proof.keys() == {"checkpoint", "header", "path", "seq"}, "not a proof")
    note = open_note(proof["checkpoint"].encode(), [key])
    path = [unbase64(item) for item in proof["path"]]
    root = leads_to_root(leaf_of(proof["header"].encode()), proof["seq"], note.size, path)
    demand(root == note.root, "the path does not lead to the root")
    header: dict[str, Any] = parse(proof["header"], "the header")
    return header


@or_wrong
def check_heads(data: bytes, keys: Sequence[LogKey]) -> tuple[int, int]:
    """The sizes of two heads that a proof joins; keys of the log, that of the earlier head among them."""
    proof = parse(data, "the proof")
    demand(isinstance(proof, dict) and canonical(proof) + b"\n" == data, "the proof is not canonical")
    demand(proof.keys() == {"checkpoint", "old", "path"}, "not a consistency proof")
    old, new = (open_note(proof[name].encode(), keys) for name in ("old", "checkpoint"))
    check_consistency((old.size, new.size), (old.root, new.root), [unbase64(item) for item in proof["path"]])
    return old.size, new.size


def check_consistency(sizes: tuple[int, int], roots: tuple[bytes, bytes], path: Sequence[bytes]) -> None:
    """RFC 9162, 2.1.4.2."""
    first, second = sizes
    demand(0 < first <= second, "no such sizes")
    if first == second:
        demand(not path and roots[0] == roots[1], "not the same tree")
        return
    hashes = [roots[0], *path] if first & (first - 1) == 0 else list(path)
    demand(hashes, "a path is too short")
    fn, sn = first - 1, second - 1
    while fn % 2:
        fn, sn = fn // 2, sn // 2
    old = new = hashes[0]
    for item in hashes[1:]:
        demand(sn > 0, "a path is too long")
        if fn % 2 or fn == sn:
            old, new = node(item, old), node(item, new)
            while fn and fn % 2 == 0:
                fn, sn = fn // 2, sn // 2
        else:
            new = node(new, item)
        fn, sn = fn // 2, sn // 2
    demand(sn == 0 and (old, new) == roots, "the later tree does not begin with the earlier")


# -- 9 files -----------------------------------------------------------------------------------------------------------

SLOT = struct.Struct(">8s8sQQQQQ32s32s")


@dataclass(frozen=True)
class Head:
    """A head whose MAC holds."""

    key_id: str
    epoch: int
    size: int
    checkpointed: int
    flags: int
    end: int
    leaf: bytes


def read_head(data: bytes, keys: Keys) -> Head | None:
    """The later of the two heads that hold."""
    found: list[tuple[bytes, Head]] = []
    for at in (0, 512):
        slot = data[at : at + SLOT.size]
        if len(slot) < SLOT.size:
            continue
        magic, key_id, *rest, leaf, tag = SLOT.unpack(slot)
        secret = keys.secrets.get(key_id.hex())
        if magic != b"tallyhd1" or secret is None:
            continue
        if hmac.compare_digest(mac(derive(secret, "head"), slot[8:88]), tag):
            found.append((slot[16:88], Head(key_id.hex(), *rest, leaf)))
    return max(found, key=lambda pair: pair[0])[1] if found else None


def read_notes(data: bytes) -> Iterator[bytes]:
    demand(data.endswith(b"\n\n") or not data, "the last checkpoint is torn")
    lines = data.decode().split("\n")[:-1]
    for at in range(0, len(lines), 6):
        demand(lines[at + 5 : at + 6] == [""], "checkpoints are not apart")
        yield "\n".join([*lines[at : at + 5], ""]).encode()


# -- 10 the whole ledger -----------------------------------------------------------------------------------------------


@dataclass
class Ledger:
    """What a reader knows when everything holds."""

    headers: list[dict[str, Any]] = field(default_factory=list)
    leaves: list[bytes] = field(default_factory=list)
    payloads: list[tuple[bytes | None, bytes | None]] = field(default_factory=list)
    """Inputs and outputs as SALT ‖ JSON; empty: there were none; None: erased."""
    notes: list[Note] = field(default_factory=list)
    heads: list[Head] = field(default_factory=list)
    segments: int = 0
    blobs: int = 0
    secret: bytes = b""
    """The key in force."""
    retired: dict[str, int] = field(default_factory=dict)
    """Verifier line → size beyond which it signs nothing."""


@or_wrong
def read_ledger(audit: Path, mirror: Path | None = None, *, kept: bool = True) -> Ledger:
    """Read everything under `.control-room/audit`, in the order of section 10.

    Args:
        audit: The folder.
        mirror: The head's mirror, if there is one.
        kept: Whether policies and tools are there as well.
    """
    keys = read_keys(audit)
    ledger = Ledger()
    views: dict[str, bytes] = {}
    segments = sorted((audit / "journal").glob("*.log"))
    demand([path.name for path in segments] == [f"{n:06d}.log" for n in range(len(segments))], "a segment is gone")
    ledger.segments = len(segments)
    for segment in segments:
        data = segment.read_bytes()
        demand(data.endswith(b"\n") or not data, "a record is torn")
        for line in data.split(b"\n")[:-1]:
            session, view = _take(line, ledger, keys, audit / "blobs")
            views[session] = views.get(session, b"") + view
    _check_notes(audit, ledger, keys, None if mirror is None else mirror.with_suffix(".checkpoint"))
    for path in [audit / "journal" / "head"] + ([] if mirror is None else [mirror]):
        _check_head(path, ledger, keys)
    _check_erasures(ledger)
    _check_losses(ledger, mirror)
    found = {path.parent.name: path.read_bytes() for path in (audit / "sessions").glob("*/tool_receipts.jsonl")}
    demand(found == views, "a session's view is not what the log says")
    if kept:
        _check_kept(audit, ledger)
    return ledger


def _take(line: bytes, ledger: Ledger, keys: Keys, blobs: Path) -> tuple[str, bytes]:
    seq = len(ledger.headers)
    columns = line.split(b"\t")
    demand(len(columns) == 3, f"record {seq} has not three columns")
    stored, inputs, outputs = columns
    header = parse(stored, f"header {seq}")
    demand(isinstance(header, dict) and canonical(header) == stored, f"header {seq} is not canonical")
    demand(header["seq"] == seq == seq_in(header["receipt_id"]), f"record {seq} is not in its place")
    demand(header["prev"] == (ledger.leaves[-1] if ledger.leaves else bytes(32)).hex(), f"record {seq}: chain broken")
    if not ledger.secret:
        demand(header["key_id"] in keys.secrets, "signed with an unknown key")
        ledger.secret = keys.secrets[header["key_id"]]
    demand(header["key_id"] == key_id_of(ledger.secret), f"record {seq}: not the key in force")
    body, signature = unsigned(stored)
    fields = dict(header)
    demand(fields.pop("signature") == signature.hex() and canonical(fields) == body, f"record {seq}: not canonical")
    demand(hmac.compare_digest(mac(ledger.secret, body), signature), f"record {seq}: signature does not fit")
    cut = header.get("excerpt_bytes")
    asked = check_column(inputs, header.get("inputs_digest"), None, blobs)
    came = check_column(outputs, header.get("outputs_digest"), cut, blobs)
    if came:
        demand(header["full_size"] == len(came) - SALT, f"record {seq}: full_size does not fit")
    ledger.blobs += (inputs[:1] == b"@") + (outputs[:1] == b"@")
    ledger.headers.append(header)
    ledger.leaves.append(leaf_of(stored))
    ledger.payloads.append((asked, came))
    if header["kind"] == "key_rotation":
        _rotate(header["context"], ledger, keys)
    return header["session_id"], flat(stored, inputs, outputs, cut)


def _rotate(context: Mapping[str, str], ledger: Ledger, keys: Keys) -> None:
    demand(context["old_key"] == key_id_of(ledger.secret), "a rotation names another old key")
    demand(context["new_key"] in keys.secrets, "a rotation hands over to an unknown key")
    known = {key.line for key in keys.logs}
    demand({context["old_log_key"], context["new_log_key"]} <= known, "a rotation names an unknown log key")
    ledger.secret = keys.secrets[context["new_key"]]
    ledger.retired[context["old_log_key"]] = len(ledger.headers)


def _check_notes(audit: Path, ledger: Ledger, keys: Keys, mirrored: Path | None) -> None:
    notes = list(read_notes((audit / "journal" / "checkpoints").read_bytes()))
    if mirrored is not None:
        demand(mirrored.read_bytes() == notes[-1], "the mirrored checkpoint is not the latest")
    last = 0
    for data in notes:
        note = open_note(data, keys.logs)
        demand(last <= note.size <= len(ledger.leaves), "a checkpoint names records that are not there")
        demand(root_of(ledger.leaves[: note.size]) == note.root, f"another root at {note.size}")
        demand(note.size <= ledger.retired.get(note.key.line, note.size), "signed with a retired key")
        last = note.size
        ledger.notes.append(note)


def _check_head(path: Path, ledger: Ledger, keys: Keys) -> None:
    head = read_head(path.read_bytes(), keys)
    if head is None:
        raise Wrong("no head holds")
    size = len(ledger.leaves)
    demand(head.size <= size, "the head names records that are not there")
    demand(head.leaf == (ledger.leaves[head.size - 1] if head.size else bytes(32)), "the head is of another log")
    rotation = ledger.headers[-1]["context"] if ledger.headers[-1]["kind"] == "key_rotation" else {}
    allowed = {key_id_of(ledger.secret), rotation.get("old_key")}
    demand(head.size < size or head.key_id in allowed, "the head bears a retired key")
    segment = path.parent / f"{head.end >> 40:06d}.log"
    if head.size == size and segment.exists():
        demand(segment.stat().st_size == head.end & (2**40 - 1), "the head's end is another")
    ledger.heads.append(head)


def _check_erasures(ledger: Ledger) -> None:
    ordered = {header["links"]["erased"] for header in ledger.headers if header["kind"] == "erasure"}
    for header, payload in zip(ledger.headers, ledger.payloads, strict=True):
        demand(None not in payload or header["receipt_id"] in ordered, "a payload is gone and nobody ordered it")


def _check_losses(ledger: Ledger, mirror: Path | None) -> None:
    lost = set()
    if mirror is not None:
        lost = {path.name for path in mirror.parent.glob(f"{mirror.stem}.*.earlier") if _names_records(path)}
    for header in ledger.headers:
        context = header["context"] if header["kind"] == "recovery" else {}
        if context.get("incident") == "acknowledged_lost":
            lost.add(header["receipt_id"])
        elif context.get("incident") in {"mirror_missing", "mirror_behind"} or (
            context.get("incident") == "earlier_log" and context["records"]
        ):
            lost.add(context["mirror"])
        elif context.get("incident") == "loss_accepted":
            lost.discard(context["accepted"])
    demand(not lost, "records are lost, and nobody accepted it")


def _names_records(path: Path) -> bool:
    data = path.read_bytes()
    slots = [data[at : at + SLOT.size] for at in (0, 512)]
    return any(SLOT.unpack(slot)[3] > 0 for slot in slots if len(slot) == SLOT.size and slot[:8] == b"tallyhd1")


def _check_kept(audit: Path, ledger: Ledger) -> None:
    """Policies and tools lie under their digests; every one that a record names is there."""
    for kind in ("policies", "tools"):
        for path in (audit / kind).iterdir():
            demand(sha256(path.read_bytes()).hexdigest() == path.stem, f"{kind}: one was changed")
    named = {header["policy_digest"] for header in ledger.headers if "policy_digest" in header}
    demand(named <= {path.stem for path in (audit / "policies").iterdir()}, "a policy is gone")
    used = {header["tool_version"] for header in ledger.headers if "tool_version" in header}
    demand(used <= {path.stem for path in (audit / "tools").iterdir()}, "a tool's definition is gone")


# -- 11 bundle ---------------------------------------------------------------------------------------------------------

FIELDS = {"format", "reply", "evidence", "excerpts", "check", "receipts", "checkpoint", "log_key"}
SHOWN = ("path", "sha256", "lines", "quote", "excerpt")
MOST_STRINGS = 2_000


@dataclass(frozen=True)
class Carried:
    """A receipt in a bundle that holds."""

    header: dict[str, Any]
    outputs: bytes | None


@or_wrong
def check_bundle(data: bytes, key: LogKey | None = None) -> str:
    """`valid`, or `consistent, signer unknown`."""
    bundle = parse(data, "the bundle")
    demand(isinstance(bundle, dict) and canonical(bundle) == data, "the bundle is not canonical")
    demand(bundle.keys() == FIELDS and bundle["format"] == "tallystick-bundle-1", "not a bundle")
    for name in ("reply", "check", "checkpoint", "log_key"):
        demand(isinstance(bundle[name], str), f"{name} is not text")
    own = log_key(bundle["log_key"])
    demand(key in {None, own}, "signed with another key")
    note = open_note(bundle["checkpoint"].encode(), [own])
    receipts = _carried(bundle["receipts"], note)
    check = receipts.get(bundle["check"])
    if check is None or check.header["kind"] != "reply_check" or not check.outputs:
        raise Wrong("the receipt of the check is not there")
    found = parse(check.outputs[SALT:], "what the check found")
    demand(found["ok"] is True and check.header["outcome"]["status"] == "accepted", "the reply did not pass")
    demand(sha256(bundle["reply"].encode()).hexdigest() == found["reply_sha256"], "another reply")
    demand(bundle["evidence"] == found["line"], "another Evidence line")
    demand(found["line"] is None or found["line"] in bundle["reply"], "the Evidence line is not in the reply")
    items = found["items"]
    shown = [{name: item[name] for name in SHOWN if name in item} for item in items if "excerpt" in item]
    demand(bundle["excerpts"] == shown, "other excerpts")
    for item in items:
        _check_item(item, check.header, receipts)
    _check_cited(found["receipts"], check.header, receipts)
    return "consistent, signer unknown" if key is None else "valid"


def _carried(items: Any, note: Note) -> dict[str, Carried]:
    demand(isinstance(items, list) and items, "there are no receipts")
    receipts: dict[str, Carried] = {}
    last = -1
    for item in items:
        demand(isinstance(item, dict) and item.keys() == {"header", "inputs", "outputs", "path"}, "not a receipt")
        stored = item["header"].encode()
        header = parse(stored, "a header")
        demand(canonical(header) == stored, "a header is not canonical")
        demand(header["seq"] == seq_in(header["receipt_id"]) > last, "receipts are out of order")
        last = header["seq"]
        path = [unbase64(part) for part in item["path"]]
        demand(leads_to_root(leaf_of(stored), last, note.size, path) == note.root, "a proof does not lead to the root")
        whole: dict[str, bytes | None] = {}
        for name in ("inputs", "outputs"):
            column, digest = item[name].encode(), header.get(f"{name}_digest")
            whole[name] = None if column == b"~" and digest is not None else column
            demand(
                whole[name] is None or (sha256(column).hexdigest() if column else None) == digest,
                "a payload does not fit its digest",
            )
        receipts[header["receipt_id"]] = Carried(header, whole["outputs"])
    orders = {one.header["links"]["erased"] for one in receipts.values() if one.header["kind"] == "erasure"}
    for item in items:
        if "~" in {item["inputs"], item["outputs"]}:
            demand(json.loads(item["header"])["receipt_id"] in orders, "a payload is left out")
    return receipts


def _check_item(item: Mapping[str, Any], check: Mapping[str, Any], receipts: Mapping[str, Carried]) -> None:
    demand(item["ok"] is True, "a claim did not hold")
    if "quote" not in item:
        return
    if "excerpt" in item:
        texts = [item["excerpt"]]
        digest = sha256(item["excerpt"].encode()).hexdigest()
        demand(digest == item["excerpt_sha256"], "an excerpt does not fit its hash")
        names = ("path", "sha256", "lines", "excerpt_sha256")
        wanted = [item.get(name) for name in names]
        refs = [[ref.get(name) for name in names] for ref in check.get("file_refs", [])]
        demand(wanted in refs, "the check's header does not name an excerpt")
    else:
        quoted = receipts.get(item["receipt"])
        if quoted is None:
            raise Wrong("the quoted receipt is not there")
        if quoted.outputs is None:
            return
        value = json.loads(quoted.outputs[SALT:])
        texts = list(_strings(value))[:MOST_STRINGS]
        if not isinstance(value, str):
            texts.append(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
    demand(any(stands_in(item["quote"], text) for text in texts), "a quote does not stand where it should")


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _strings(part)


def _check_cited(cited: Sequence[str], check: Mapping[str, Any], receipts: Mapping[str, Carried]) -> None:
    others = {name for name, one in receipts.items() if one.header["kind"] == "erasure"} - set(cited)
    demand(receipts.keys() - others == {check["receipt_id"], *cited}, "other receipts than the reply cites")
    named = {value for name, value in check.get("links", {}).items() if name.startswith("cites_")}
    demand(named == set(cited), "the check's header names other receipts")
    for receipt_id in cited:
        header = receipts[receipt_id].header
        same_round = "round_id" in header and header["round_id"] == check.get("round_id")
        demand(header["session_id"] == check["session_id"] or same_round, "a receipt of another session")
        demand(header.get("outcome", {}).get("status") != "rejected", "a receipt of a refused call")


# -- 11 when a quote stands in a text ----------------------------------------------------------------------------------

STAY = "\u037e\u0387\u1fef\u2126\u212a\u212b"
TYPE = {"\u00ad": "", "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl", "\ufb05": "st",
        "\ufb06": "st"}  # fmt: skip
DASH = "\u2013"
INNER = "\u2010"
"""Folding leaves none in the text, so it is free to stand for an inner hyphen."""
SPELLING = {
    **dict.fromkeys("“”„‟″«»", '"'),
    **dict.fromkeys("‘’‚‛′‹›`´", "'"),
    **dict.fromkeys("\u2010\u2011", "-"),
    **dict.fromkeys("\u2012\u2013\u2014\u2015\u2212\u2e3a\u2e3b\ufe58\ufe63\uff0d", DASH),
    "…": "...",
}
UNSPACED = [(0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x2E80, 0x9FFF), (0xF900, 0xFAFF),
            (0x20000, 0x3FFFF)]  # fmt: skip


def stands_in(quote: str, text: str) -> bool:
    literal = any(sign in quote for sign in TYPE)
    wanted, folded = fold(quote, literal=literal).replace(INNER, "-"), fold(text, literal=literal)
    if not any(sign.isalnum() for sign in wanted):
        return False
    plain = folded.replace(INNER, "-")
    return any(
        _is_end(folded, at) and _is_end(folded, at + len(wanted))
        for at in range(len(plain))
        if plain.startswith(wanted, at)
    )


def fold(text: str, *, literal: bool = False) -> str:
    """The folded text, with inner hyphens told apart."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(
        part if part in STAY else unicodedata.normalize("NFC", part) for part in re.split(f"([{STAY}])", text) if part
    )
    for sign, spelling in ({} if literal else TYPE).items():
        text = text.replace(sign, spelling)
    for sign, spelling in SPELLING.items():
        text = text.replace(sign, spelling)
    text = re.sub(r'(?<![0-9])"', "'", text)
    text = re.sub(r"[*_]+", _emphasis, text)
    lines = [" ".join(line.split()) for line in text.split("\n")]
    text = "\n".join(line for line in lines if line)
    text = re.sub(r"(?<=[^\W_])-\n?(?=[^\W_])", INNER, text)
    text = re.sub(rf"[ \n]?[-{DASH}](?:[ \n]?[-{DASH}])*[ \n]?", "-", text)
    text = re.sub(r"[ \n]?\.(?:[ \n]?\.){2,}[ \n]?", "...", text)
    return text.replace("\n", " ")


def _emphasis(run: re.Match[str]) -> str:
    before = run.string[run.start() - 1] if run.start() else " "
    after = run.string[run.end()] if run.end() < len(run.string) else " "
    stays = (before.isalnum() and after.isalnum()) or (before.isspace() and after.isspace())
    return run.group() if stays else ""


def _is_end(text: str, at: int) -> bool:
    if at <= 0 or at >= len(text):
        return True
    left, right = text[at - 1], text[at]
    if INNER in {left, right}:
        return False
    if _of_word(left) and _of_word(right):
        return _unspaced(left) or _unspaced(right)
    return not (_joins(text, at) or _joins(text, at - 1))


def _joins(text: str, at: int) -> bool:
    """Whether the sign at this place binds the characters beside it together."""
    sign, left, right = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if sign == "'":
        return left.isalnum() and right.isalnum()
    return sign in ".,:" and left.isdigit() and right.isdigit()


def _of_word(sign: str) -> bool:
    return sign.isalnum() or sign == "_" or (sign > "\x7f" and unicodedata.category(sign) in {"Mn", "Mc", "Cf"})


def _unspaced(sign: str) -> bool:
    return any(low <= ord(sign) <= high for low, high in UNSPACED)
