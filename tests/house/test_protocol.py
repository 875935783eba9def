"""`docs/protocol.md` is enough to write a second implementation from, and says nothing that is not so.

`second_reader.py` is that implementation. Here it reads a ledger that the gate made in every way it can, finds what was
changed in it, and agrees with the worked example and with the gate.
"""

import ast
import asyncio
import json
import random
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick import Card, Gate, ToolError, tool
from tallystick.app.agents import administration_of
from tallystick.gate.admit import arguments, envelope, nonces, strictjson
from tallystick.gate.codes import FAULTS
from tallystick.gate.decide import provenance
from tallystick.gate.decide.bindings import call_digest
from tallystick.gate.quotes import find_quote, fold_text
from tallystick.gate.record import bundle as bundles
from tallystick.gate.record import record_signer, record_verifier
from tallystick.gate.record.checkpoint import parse_vkey
from tallystick.gate.record.consistency import check_heads
from tallystick.gate.record.tree import consistency_proof
from tallystick.gate.session import Caller, Session
from tallystick.settings import Settings, parse_settings
from tallystick.storage.ledger import audit_folder, mirror_path, verify_workspace
from tests.house import second_reader as second
from tests.house import worked_example
from tests.house.second_reader import Wrong
from tests.house.sources import PACKAGE, ROOT
from tests.sizes import size

PAGE = (ROOT / "docs" / "protocol.md").read_text(encoding="utf-8")
AUDITOR = Session(session_id="audit", caller=Caller(subject="ada", channel="terminal"))
STORY = "Ada kept the light for thirty years, and in all that time\nshe had never once set foot on a boat.\n"


@dataclass(frozen=True, kw_only=True)
class Made:
    """A closed workspace and what was given away from it."""

    workspace: Path
    settings: Settings
    mirror: Path
    proofs: dict[str, bytes]
    bundle: bytes
    vkey: str
    held_args: dict[str, Any]

    @property
    def audit(self) -> Path:
        return audit_folder(self.workspace)


# -- a ledger with everything in it ------------------------------------------------------------------------------------


@tool(effect="read")
def file_reader(file_path: str) -> str:
    """Read a file."""
    return STORY if file_path.endswith("one.md") else "x" * 30_000


@tool(effect="write")
def keep_note(text: str, password: str = "") -> dict[str, int]:
    """Keep a note."""
    if not text:
        raise ToolError("nothing to keep", status=409)
    return {"length": len(text)}


@tool(effect="external")
def send_letter(to: str, copies: int) -> str:
    """Send a letter."""
    return f"sent to {to}, line one\nline two\t{copies}"


CLIENTS_OWN = Card(
    name="on_screen", description="Show something.", input_schema={"type": "object", "properties": {}}, origin="client"
)


async def use(gate: Gate) -> str:
    """Call in every way there is; gives the text of a reply that cites a receipt."""
    gate.register(file_reader, keep_note, send_letter)
    read = await gate.call("file_reader", {"file_path": "Story/one.md"}, session="s1")
    renamed = await gate.call("read_file", {"path": "Story/one.md"}, session="s2")
    assert renamed.status == "transformed"
    await gate.call("file_reader", {"file_path": 7}, session="s1")
    await gate.call("delete_all", {"ünïcode": "☃ \u2028"}, session="s2")
    await gate.call("keep_note", {"text": "hello", "password": "hunter2"}, session="s1")
    await gate.call("keep_note", {"text": ""}, session="s2")
    await gate.call("file_reader", {"file_path": "long.md"}, session="s2")
    turn = gate.turn(session="s1", agent="chief", step_bytes=40, client_tools=[CLIENTS_OWN])
    await turn.submit(json.dumps({"tool": "file_reader", "args": {"file_path": "long.md"}, "nonce": turn.nonce}))
    said = json.dumps({"action": "tool", "tool": "file_reader", "args": {"file_path": "one.md"}, "nonce": turn.nonce})
    await turn.submit(f"<think>hm</think>{said}")
    handed = await turn.propose("on_screen", {})
    gate.report(handed.receipt_id, {"shown": True})
    await turn.submit("Sure!")
    held = await gate.call("send_letter", HELD_ARGS, session="s2")
    assert held.held is not None
    gate.approvals.approve(held.held.approval_id, person="ada", channel="terminal")
    assert (await gate.resume(held.held.approval_id)).ok
    refused = await gate.call("send_letter", {**HELD_ARGS, "copies": 3}, session="s2")
    assert refused.held is not None
    gate.approvals.reject(refused.held.approval_id, person="ada", channel="terminal", reason="no")
    return (
        'She stays ashore.\n\nEvidence: "never once set foot on a boat" Story/one.md:L2; '
        f'"for thirty years, and in all that time she" Story/one.md; "Ada kept the light" receipt {read.receipt_id}'
    )


HELD_ARGS = {"to": "team@example.org", "copies": 2}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A workspace with every kind of record, in several segments, under two keys."""
    root = tmp_path_factory.mktemp("protocol")
    workspace = root / "work"
    (workspace / "Story").mkdir(parents=True)
    (workspace / "Story" / "one.md").write_text(STORY, encoding="utf-8")
    settings = parse_settings(
        {
            "ledger": {"durability": "os", "segment_bytes": 4096, "checkpoint_every": 3, "inline_bytes": 20_000},
            "storage": {"state_dir": str(root / "state")},
        }
    )
    with Gate.open(workspace, settings=settings, plugins=False) as gate:
        reply = asyncio.run(use(gate))
        findings = gate.check_reply(reply, session="s1", agent="critic")
        assert findings.ok, findings.reason
        large = next(r for r in gate.ledger.session("s2") if (r.full_size or 0) > 20_000)
        small = next(r for r in gate.ledger.session("s1") if r.inputs == {"text": "Sure!"})
        kept = next(
            r
            for r in gate.ledger.session("s2")
            if r.header["kind"] == "outcome" and "started" in r.header.get("links", {})
        )
        for receipt in (large, small, kept):
            gate.ledger.erase(receipt.receipt_id, session=AUDITOR, reason="asked")
        administration_of(gate).change(
            lambda roster: roster, caller=AUDITOR.caller, action="agent.change", agent_id="writer"
        )
        gate.ledger.rotate(session=AUDITOR)
    _tear(workspace)
    with Gate.open(workspace, settings=settings, plugins=False) as gate:
        gate.register(file_reader)
        gate.call_sync("file_reader", {"file_path": "long.md"}, session="s3")
        gate.call_sync("file_reader", {"file_path": "one.md"}, session="s1")
        proofs = {r.receipt_id: _proof(gate, r.receipt_id) for r in gate.ledger.read()}
        packed = bundles.make_bundle(gate.ledger, reply, findings.receipt_id)
        vkey = gate.ledger.keys.log_signer().verifier.vkey()
    mirror = mirror_path(audit_folder(workspace), settings)
    assert mirror is not None
    return Made(
        workspace=workspace, settings=settings, mirror=mirror, proofs=proofs, bundle=packed, vkey=vkey,
        held_args=HELD_ARGS,
    )  # fmt: skip


def _tear(workspace: Path) -> None:
    """What a crash leaves: part of a line."""
    last = max((audit_folder(workspace) / "journal").glob("*.log"))
    with last.open("ab") as file:
        file.write(b'{"agent_id":"chi')


def _proof(gate: Gate, receipt_id: str) -> bytes:
    proof = gate.ledger.prove(receipt_id)
    assert proof is not None
    return second.canonical(proof.as_dict()) + b"\n"


@pytest.fixture
def copy(made: Made, tmp_path: Path) -> Made:
    """The same files elsewhere, to be changed; the mirror stays where it is."""
    shutil.copytree(made.workspace, tmp_path / "work")
    return Made(**{**vars(made), "workspace": tmp_path / "work"})


# -- the second implementation agrees ----------------------------------------------------------------------------------


@pytest.mark.promise("house.protocol")
def test_the_second_implementation_reads_all_of_a_ledger_that_the_gate_made(made: Made) -> None:
    ledger = second.read_ledger(made.audit, made.mirror)
    report = verify_workspace(made.workspace, made.settings)
    assert report.ok, report.problems
    assert (len(ledger.headers), second.root_of(ledger.leaves).hex()) == (report.size, report.root)
    assert ledger.segments > 4
    assert ledger.blobs >= 2
    assert len(ledger.notes) > 5
    assert [head.size for head in ledger.heads] == [report.size, report.size]
    assert sum(None in payload for payload in ledger.payloads) == 4, "one of the three has a record of its beginning"
    assert len({header["key_id"] for header in ledger.headers}) == 2
    assert len({header["session_id"] for header in ledger.headers}) >= 4


@pytest.mark.promise("house.protocol")
def test_the_second_implementation_needs_nothing_of_the_first() -> None:
    tree = ast.parse(Path(second.__file__).read_text(encoding="utf-8"))
    imported = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "."]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert imported - sys.stdlib_module_names == {"cryptography"}


@pytest.mark.promise("house.protocol")
def test_every_receipt_is_proved_with_the_public_key_alone(made: Made) -> None:
    key = second.log_key(made.vkey)
    ledger = second.read_ledger(made.audit, made.mirror)
    assert len(made.proofs) == len(ledger.headers)
    for header in ledger.headers:
        assert second.check_proof(made.proofs[header["receipt_id"]], key) == header


@pytest.mark.promise("house.protocol")
def test_a_changed_proof_does_not_hold(made: Made) -> None:
    key = second.log_key(made.vkey)
    data = made.proofs[max(made.proofs)]
    chance = random.Random(3)
    for at in chance.sample(range(len(data)), size(120, 1500)):
        changed = bytearray(data)
        changed[at] ^= 1 << chance.randrange(7)
        with pytest.raises(Wrong):
            second.check_proof(bytes(changed), key)


@pytest.mark.promise("house.protocol")
def test_later_checkpoints_are_consistent_with_earlier_ones(made: Made) -> None:
    ledger = second.read_ledger(made.audit, made.mirror)

    def node(level: int, index: int) -> bytes:
        return second.root_of(ledger.leaves[index << level : (index + 1) << level])

    for later in ledger.notes:
        for earlier in ledger.notes:
            if 0 < earlier.size <= later.size:
                sizes, roots = (earlier.size, later.size), (earlier.root, later.root)
                path = consistency_proof(*sizes, node)
                second.check_consistency(sizes, roots, path)
                with pytest.raises(Wrong):
                    second.check_consistency(sizes, (later.root, bytes(32)), path)


@pytest.mark.promise("house.protocol")
def test_a_file_that_joins_two_heads_is_checked_by_both_alike(made: Made, tmp_path: Path) -> None:
    shutil.copytree(made.workspace, tmp_path / "work")
    key = second.log_key(made.vkey)
    with Gate.open(tmp_path / "work", settings=made.settings.model_copy(), plugins=False) as gate:
        old = gate.ledger.checkpoint()
        sizes = gate.ledger.size(), gate.ledger.size() + 3
        gate.register(file_reader)
        for _ in range(3):
            gate.call_sync("file_reader", {"file_path": "one.md"}, session="s4")
        proof = gate.ledger.prove_consistency(sizes[0]).between(old)
    data = second.canonical(proof) + b"\n"
    assert second.check_heads(data, [key]) == sizes
    assert check_heads(proof, parse_vkey(made.vkey)) is None
    chance = random.Random(9)
    for at in chance.sample(range(len(data)), size(100, len(data))):
        changed = bytearray(data)
        changed[at] ^= 1 << chance.randrange(7)
        with pytest.raises(Wrong):
            second.check_heads(bytes(changed), [key])


@pytest.mark.promise("house.protocol")
def test_a_quote_from_a_tools_result_is_looked_up_again_by_both(made: Made) -> None:
    found = json.loads(json.loads(made.bundle)["receipts"][-1]["outputs"][second.SALT :])
    assert [item["quote"] for item in found["items"] if "receipt" in item] == ["Ada kept the light"]
    assert bundles.check_bundle(made.bundle).quotes == 3


@pytest.mark.promise("house.protocol")
def test_a_log_that_was_begun_anew_is_found_by_both(made: Made, tmp_path: Path) -> None:
    settings = made.settings.model_copy(
        update={"storage": made.settings.storage.model_copy(update={"state_dir": tmp_path})}
    )
    workspace = tmp_path / "work"
    for _ in range(2):
        shutil.rmtree(workspace, ignore_errors=True)
        with Gate.open(workspace, settings=settings, plugins=False) as gate:
            gate.call_sync("nothing", {})
    audit = audit_folder(workspace)
    [lost] = verify_workspace(workspace, settings).losses
    with pytest.raises(Wrong):
        second.read_ledger(audit, mirror_path(audit, settings), kept=False)
    with Gate.open(workspace, settings=settings, plugins=False) as gate:
        gate.ledger.accept_loss(lost, session=AUDITOR, reason="known")
    assert verify_workspace(workspace, settings).ok
    second.read_ledger(audit, mirror_path(audit, settings), kept=False)


@pytest.mark.promise("house.protocol")
def test_a_bundle_is_checked_by_both_alike(made: Made) -> None:
    assert second.check_bundle(made.bundle, second.log_key(made.vkey)) == "valid"
    assert second.check_bundle(made.bundle) == bundles.check_bundle(made.bundle).reason == "consistent, signer unknown"
    other = second.LogKey("tallystick/other", bytes(32))
    with pytest.raises(Wrong):
        second.check_bundle(made.bundle, other)
    chance = random.Random(5)
    for at in chance.sample(range(len(made.bundle)), size(150, 3000)):
        changed = bytearray(made.bundle)
        changed[at] ^= 1 << chance.randrange(7)
        assert not bundles.check_bundle(bytes(changed)).ok
        with pytest.raises(Wrong):
            second.check_bundle(bytes(changed))


@pytest.mark.promise("house.protocol")
@pytest.mark.parametrize(
    "change",
    [
        lambda b: b.update(reply=b["reply"] + "!"),
        lambda b: b.update(evidence="Evidence: none"),
        lambda b: b["excerpts"].pop(),
        lambda b: b["excerpts"][0].update(lines=[1, 1]),
        lambda b: b["receipts"].pop(0),
        lambda b: b["receipts"].reverse(),
        lambda b: b["receipts"][0].update(outputs=""),
        lambda b: b["receipts"][0]["path"].pop(),
        lambda b: b["receipts"][-1].update(outputs="~"),
        lambda b: b.update(log_key=b["log_key"].replace("tallystick", "tallystock")),
        lambda b: b.update(format="tallystick-bundle-2"),
        lambda b: b.update(more=1),
    ],
)
def test_a_bundle_that_is_well_formed_but_untrue_is_refused_by_both(
    made: Made, change: Callable[[dict[str, Any]], object]
) -> None:
    changed = json.loads(made.bundle)
    change(changed)
    data = second.canonical(changed)
    assert data != made.bundle
    assert not bundles.check_bundle(data).ok
    with pytest.raises(Wrong):
        second.check_bundle(data)


# -- and finds what was changed ----------------------------------------------------------------------------------------


def lines_of(made: Made) -> list[tuple[Path, list[bytes]]]:
    return [
        (path, path.read_bytes().splitlines(keepends=True)) for path in sorted((made.audit / "journal").glob("*.log"))
    ]


def rewrite(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)


def _replaced(file: str, old: bytes, new: bytes) -> Callable[[Made], None]:
    def change(made: Made) -> None:
        for path in sorted(made.audit.glob(file)):
            data = path.read_bytes()
            if old in data:
                rewrite(path, data.replace(old, new, 1))
                return
        raise AssertionError("nothing to change")

    return change


def _cut_tail(made: Made) -> None:
    path, lines = lines_of(made)[-1]
    rewrite(path, b"".join(lines[:-1]))


def _last_segment_gone(made: Made) -> None:
    lines_of(made)[-1][0].unlink()


def _first_segment_gone(made: Made) -> None:
    lines_of(made)[0][0].unlink()


def _swapped(made: Made) -> None:
    path, lines = next(pair for pair in lines_of(made) if len(pair[1]) > 1)
    lines[0], lines[1] = lines[1], lines[0]
    rewrite(path, b"".join(lines))


def _doubled(made: Made) -> None:
    path, lines = lines_of(made)[0]
    rewrite(path, b"".join([lines[0], *lines]))


def _erased_unordered(made: Made) -> None:
    path, lines = lines_of(made)[0]
    header, inputs, outputs = lines[0].rstrip(b"\n").split(b"\t")
    blank = [b"~".ljust(len(column)) for column in (inputs, outputs)]
    rewrite(path, b"\t".join([header, *blank]) + b"\n" + b"".join(lines[1:]))


def _blob_changed(made: Made) -> None:
    blob = next(path for path in (made.audit / "blobs").rglob("*") if path.is_file())
    rewrite(blob, blob.read_bytes().replace(b"xxx", b"xxy", 1))


def _blob_gone(made: Made) -> None:
    next(path for path in (made.audit / "blobs").rglob("*") if path.is_file()).unlink()


def _other_secret(made: Made) -> None:
    rewrite(made.audit / "secret.key", b"00" * 32 + b"\n")


def _old_secret_gone(made: Made) -> None:
    next((made.audit / "keys").glob("*.key")).unlink()


def _note_gone_early(made: Made) -> None:
    path = made.audit / "journal" / "checkpoints"
    rewrite(path, path.read_bytes()[:-1])


def _head_zeroed(made: Made) -> None:
    rewrite(made.audit / "journal" / "head", bytes(632))


@pytest.mark.promise("house.protocol")
@pytest.mark.parametrize(
    "change",
    [
        _replaced("journal/*.log", b'"duration_us":', b'"duration_us":1'),
        _replaced("journal/*.log", b"Story/one.md", b"Story/two.md"),
        _replaced("journal/*.log", b'"status":"rejected"', b'"status":"accepted"'),
        _replaced("journal/*.log", b"\t", b"\t "),
        _replaced("journal/checkpoints", b"\n3\n", b"\n4\n"),
        _replaced("sessions/s1/*", b"Ada", b"Eve"),
        _replaced("policies/*", b"ask", b"any"),
        _cut_tail,
        _last_segment_gone,
        _first_segment_gone,
        _swapped,
        _doubled,
        _erased_unordered,
        _blob_changed,
        _blob_gone,
        _other_secret,
        _old_secret_gone,
        _note_gone_early,
        _head_zeroed,
    ],
)
def test_the_second_implementation_finds_what_was_changed(copy: Made, change: Callable[[Made], None]) -> None:
    second.read_ledger(copy.audit, copy.mirror)
    change(copy)
    with pytest.raises(Wrong):
        second.read_ledger(copy.audit, copy.mirror)


@pytest.mark.promise("house.protocol")
def test_any_changed_byte_of_the_log_is_found(copy: Made) -> None:
    chance = random.Random(11)
    segments = sorted((copy.audit / "journal").glob("*.log"))
    for _ in range(size(40, 2000)):
        path = chance.choice(segments)
        data = path.read_bytes()
        if not data:
            continue
        changed = bytearray(data)
        at = chance.randrange(len(data))
        changed[at] ^= 1 << chance.randrange(7)
        rewrite(path, bytes(changed))
        with pytest.raises(Wrong):
            second.read_ledger(copy.audit, copy.mirror)
        rewrite(path, data)


# -- quotes ------------------------------------------------------------------------------------------------------------

SIGNS = "aAb1 2.,:;'\"*_-–—…\n\r\t`‘“«\u00a0\u00ad\u2011\u200b\u212a\u0301\ufb01é漢ก!?"


@pytest.mark.promise("house.protocol")
@given(data=st.data())
def test_a_quote_stands_where_both_say_it_does(data: st.DataObject) -> None:
    text = data.draw(st.text(SIGNS, max_size=60))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    quote = data.draw(st.one_of(st.just(text[start:end]), st.text(SIGNS, max_size=8)))
    assert second.stands_in(quote, text) == (find_quote(quote, fold_text(text)) is not None), (quote, text)


# -- bindings ----------------------------------------------------------------------------------------------------------


@pytest.mark.promise("house.protocol")
def test_an_approval_is_bound_as_the_page_says(made: Made) -> None:
    ledger = second.read_ledger(made.audit, made.mirror)
    held = next(header for header in ledger.headers if header["kind"] == "held")
    bound = {
        "args": made.held_args, "caller": held["caller"]["subject"], "dry_run": False, "policy": held["policy_digest"],
        "tool": held["tool_id"], "tool_version": held["tool_version"], "v": 1,
    }  # fmt: skip
    assert sha256(second.canonical(bound)).hexdigest() == held["approval"]["digest"]


@pytest.mark.promise("house.protocol")
def test_a_secret_is_replaced_as_the_page_says(made: Made) -> None:
    keys = second.read_keys(made.audit)
    ledger = second.read_ledger(made.audit, made.mirror)
    first = keys.secrets[ledger.headers[0]["key_id"]]
    stored = next(asked for asked, _ in ledger.payloads if asked and b"$redacted" in asked)
    expected = redacted(first, b'"hunter2"')
    assert json.loads(stored[second.SALT :])["args"]["password"] == {"$redacted": f"hmac-sha256:{expected}"}


def redacted(secret: bytes, value: bytes) -> str:
    return second.mac(redaction_key(secret), value).hex()


def redaction_key(secret: bytes) -> bytes:
    return sha256(second.mac(second.derive(secret, "redaction"), b"arguments")).digest()


# -- the worked example ------------------------------------------------------------------------------------------------


@pytest.mark.promise("house.protocol")
def test_the_worked_example_is_what_the_gate_writes(tmp_path: Path) -> None:
    made = worked_example.make(tmp_path / "example")
    there = {path.name: path.read_bytes() for path in worked_example.FOLDER.iterdir()}
    assert there.keys() == made.keys()
    differing = [name for name, data in made.items() if there[name] != data]
    assert not differing, "the format changed: say so in the page, then run python -m tests.house.worked_example"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """The files of the worked example where they lie in a workspace."""
    files = {path.name: path.read_bytes() for path in worked_example.FOLDER.iterdir()}
    files["head"] = bytes.fromhex(files["head.hex"].decode())
    places = {
        "secret.key": "", "log.key": "", "000000.log": "journal", "checkpoints": "journal", "head": "journal",
        "tool_receipts.jsonl": "sessions/s1",
    }  # fmt: skip
    for name, folder in places.items():
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / name).write_bytes(files[name])
    return tmp_path


@pytest.mark.promise("house.protocol")
def test_the_second_implementation_reads_the_worked_example(example: Path) -> None:
    ledger = second.read_ledger(example, kept=False)
    assert [header["kind"] for header in ledger.headers] == ["outcome", "outcome", "reply_check", "erasure"]
    key = second.log_key_of_signer((example / "log.key").read_text().strip())
    proof = (worked_example.FOLDER / "proof.json").read_bytes()
    assert second.check_proof(proof, key) == ledger.headers[0]
    assert second.check_bundle((worked_example.FOLDER / "bundle.json").read_bytes(), key) == "valid"


@pytest.mark.promise("house.protocol")
def test_every_value_on_the_page_is_the_one_that_comes_out(example: Path) -> None:
    shown = dict(
        re.split(r"\s*=\s", line, maxsplit=1)
        for block in re.findall(r"^```text example\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
        for line in block.splitlines()
    )
    assert shown == dict(values_of(example))


def values_of(example: Path) -> Iterator[tuple[str, str]]:
    """What the page shows, computed from the example's files by the second implementation."""
    ledger = second.read_ledger(example, kept=False)
    secret = bytes.fromhex((example / "secret.key").read_text())
    key = second.log_key_of_signer((example / "log.key").read_text().strip())
    header, inputs, outputs = (example / "journal" / "000000.log").read_bytes().split(b"\n")[0].split(b"\t")
    body, signature = second.unsigned(header)
    assert second.mac(secret, body) == signature
    yield from (
        ("secret", secret.hex()),
        ("key id", second.key_id_of(secret)),
        ("head key", second.derive(secret, "head").hex()),
        ("verifier line", key.line),
        ("header 0", header.decode()),
        ("signature 0", signature.hex()),
        ("inputs 0", inputs.decode()),
        ("inputs digest", sha256(inputs).hexdigest()),
        ("outputs 0", outputs.decode()),
        ("outputs digest", sha256(outputs).hexdigest()),
        *((f"leaf {seq}", leaf.hex()) for seq, leaf in enumerate(ledger.leaves)),
        ("node 0-1", second.root_of(ledger.leaves[:2]).hex()),
        ("node 2-3", second.root_of(ledger.leaves[2:]).hex()),
        ("root", second.root_of(ledger.leaves).hex()),
    )
    slot = (example / "journal" / "head").read_bytes()[: second.SLOT.size]
    names = ("magic", "head key id", "epoch", "size", "checkpointed", "flags", "end", "last leaf", "head mac")
    ends = (8, 16, 24, 32, 40, 48, 56, 88, 120)
    yield from ((name, slot[at:end].hex()) for name, at, end in zip(names, (0, *ends), ends, strict=False))
    yield from _bound_values(secret, ledger.headers[0]["policy_digest"])


def _bound_values(secret: bytes, policy: str) -> Iterator[tuple[str, str]]:
    args = {"copies": 2, "to": "team@example.org"}
    bound = {
        "args": args, "caller": "local", "dry_run": False, "policy": policy, "tool": "send_letter",
        "tool_version": "5c" * 32, "v": 1,
    }  # fmt: skip
    digest, secret_value = sha256(second.canonical(bound)).hexdigest(), redacted(secret, b'"hunter2"')
    assert digest == call_digest("local", "send_letter", args, policy, tool_version="5c" * 32)
    yield from (
        ("bound call", second.canonical(bound).decode()),
        ("call digest", digest),
        ("redaction key", redaction_key(secret).hex()),
        ("redacted", second.canonical({"$redacted": f"hmac-sha256:{secret_value}"}).decode()),
    )


# -- the tables --------------------------------------------------------------------------------------------------------


def table(heading: str) -> list[list[str]]:
    """The rows of the table whose head begins so; back-ticks are dropped."""
    lines = iter(PAGE.splitlines())
    for line in lines:
        if line.startswith(f"| {heading} |"):
            break
    else:
        raise AssertionError(f"no table '{heading}'")
    next(lines)
    rows = []
    for line in lines:
        if not line.startswith("|"):
            break
        rows.append([cell.strip().replace("`", "") for cell in line.strip("|").split("|")])
    return rows


@pytest.mark.promise("house.protocol")
def test_the_table_of_faults_is_the_one_in_the_code() -> None:
    def said(value: object) -> str:
        return "–" if value is None else str(value)

    assert table("fault | call_code") == [
        [
            fault.name, said(fault.call_code), said(fault.boundary_code), said(fault.category), str(fault.http),
            said(fault.bucket), "yes" if fault.ran else "no",
        ]
        for fault in FAULTS.values()
    ]  # fmt: skip


@pytest.mark.promise("house.protocol")
def test_the_reasons_of_a_refusal_are_those_in_the_code() -> None:
    constants = {
        value
        for module in (strictjson, envelope, arguments)
        for name, value in vars(module).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str)
    }
    refusals = {value.reason for value in vars(nonces).values() if isinstance(value, nonces.Rejection)}
    written = {row[1].partition(", with ")[0] for row in table("fault | reason")}
    assert written == constants | refusals | {"schema: KEYWORD", "no open turn of this id"}


@pytest.mark.promise("house.protocol")
def test_the_reasons_of_a_decision_are_those_in_the_code() -> None:
    literals = {
        keyword.value.value
        for path in [*(PACKAGE / "gate" / "decide").glob("*.py"), PACKAGE / "gate" / "pipeline.py"]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        for keyword in node.keywords
        if keyword.arg == "reason" and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }
    literals |= {provenance.REASON, provenance.NOT_ASKED_FOR}
    section = PAGE.partition("## 4. ")[2].partition("\n## 5. ")[0]
    written = set(re.findall(r"`([a-z_]+)`", section))
    assert literals - {"allowed"} <= written
    rows = {row[0]: row[1] for row in table("reason | fault")}
    assert {reason for reason in rows if " " not in reason} <= literals
    assert set(rows.values()) <= FAULTS.keys()


@pytest.mark.promise("house.protocol")
def test_every_header_field_is_on_the_page(made: Made) -> None:
    names = {name.strip() for row in table("field | kind of value") for name in row[0].split(",")}
    only_flat = {"erased", "excerpt", "inputs", "outputs", "sha256"}
    assert names == record_signer.RESERVED - only_flat
    ledger = second.read_ledger(made.audit, made.mirror)
    assert {name for header in ledger.headers for name in header} <= names


@pytest.mark.promise("house.protocol")
def test_every_kind_of_record_is_on_the_page(made: Made) -> None:
    ledger = second.read_ledger(made.audit, made.mirror)
    assert {row[0] for row in table("kind | what it records")} == {header["kind"] for header in ledger.headers}
    section = PAGE.partition("## 5. ")[2].partition("\n## 6. ")[0]
    words = set(re.findall(r"`([a-z_]+)`", section))
    outcomes = [header["outcome"] for header in ledger.headers if "outcome" in header]
    assert {outcome["status"] for outcome in outcomes} | {name for outcome in outcomes for name in outcome} <= words
    assert record_verifier.RECOVERIES.keys() <= words


@pytest.mark.promise("house.protocol")
def test_everything_a_decision_read_is_on_the_page(made: Made) -> None:
    ledger = second.read_ledger(made.audit, made.mirror)
    section = PAGE.partition("## 4. ")[2].partition("\n## 5. ")[0]
    words = set(re.findall(r"`([a-z_]+)`", section))
    decided = [header["context"] for header in ledger.headers if header["kind"] == "outcome" and "context" in header]
    read = {name for context in decided for name in context}
    read |= {name for context in decided for part in ("counters", "limits") for name in context.get(part, {})}
    assert {"counters", "limits", "steps"} <= read <= words
