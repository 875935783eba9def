"""Two heads of one log, and what shows that the later begins with the earlier."""

import base64
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import LedgerError
from tallystick.gate.record.checkpoint import NoteSigner, parse_checkpoint, split_note
from tallystick.gate.record.consistency import check_heads, consistency_fault
from tallystick.gate.record.ledger import Ledger
from tallystick.gate.record.tree import consistency_holds
from tests.ledgers import AUDITOR, Workspace, fill
from tests.sizes import size


def root_of(note: bytes) -> bytes:
    split = split_note(note)
    checkpoint = None if split is None else parse_checkpoint(split[0])
    assert checkpoint is not None
    return checkpoint.root


def heads(ledger: Ledger, sizes: list[int]) -> dict[int, bytes]:
    """The head at each of these sizes."""
    found = {}
    for number in sizes:
        fill(ledger, number - ledger.size())
        found[number] = ledger.checkpoint()
    return found


@pytest.mark.promise("record.proofs")
def test_any_two_heads_of_a_log_are_joined_by_a_proof(either: Workspace) -> None:
    with either.opened() as ledger:
        kept = heads(ledger, [1, 2, 3, 7, 8, 255, 256, 257, 300])
        for old, old_note in kept.items():
            for new, new_note in kept.items():
                if old > new:
                    continue
                proof = ledger.prove_consistency(old, new)
                assert (proof.sizes, proof.roots) == ((old, new), (root_of(old_note), root_of(new_note)))
                assert consistency_holds(proof.sizes, proof.roots, proof.path)
                assert consistency_fault(proof) is None
            now = ledger.prove_consistency(old)
            assert now.checkpoint == kept[300]
            assert check_heads(now.between(old_note), ledger.keys.log_signer().verifier) is None


@pytest.mark.parametrize(("old", "new"), [(0, None), (-1, None), (11, None), (5, 3), (5, 11), (2**70, None)])
def test_sizes_that_the_log_never_had_are_refused(workspace: Workspace, old: int, new: int | None) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 10)
        with pytest.raises(LedgerError) as error:
            ledger.prove_consistency(old, new)
    assert error.value.code == "size_unknown"


@pytest.mark.promise("record.tiles")
def test_a_wrong_hash_on_disk_never_gets_into_a_proof(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        kept = heads(ledger, [5, 11, 300])
    leaves = workspace.journal / "tree" / "leaves"
    data = bytearray(leaves.read_bytes())
    data[40 * 8] ^= 1
    leaves.write_bytes(bytes(data))
    with workspace.opened() as ledger:
        proof = ledger.prove_consistency(5, 11)
        assert proof.roots == (root_of(kept[5]), root_of(kept[11]))


@pytest.mark.promise("record.proofs")
def test_a_proof_holds_after_the_keys_were_rotated(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        old = heads(ledger, [5])[5]
        ledger.rotate(session=AUDITOR)
        fill(ledger, 5)
        proof = ledger.prove_consistency(5).between(old)
        assert check_heads(proof, ledger.keys.log_signer().verifier) is None
        assert check_heads(proof, None) is None


@pytest.fixture(scope="module")
def proof(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A proof as it stands in a file."""
    with Workspace(tmp_path_factory.mktemp("heads")).opened() as ledger:
        old = heads(ledger, [5])[5]
        fill(ledger, 20)
        return {**ledger.prove_consistency(5).between(old), "key": ledger.keys.log_signer().verifier}


@pytest.mark.promise("record.proofs")
def test_what_was_changed_or_signed_by_another_does_not_hold(proof: dict[str, Any], tmp_path: Path) -> None:
    key = proof["key"]
    assert check_heads(proof, key) is None
    stranger = NoteSigner("tallystick/stranger", bytes(32))
    forged = stranger.sign(f"{stranger.verifier.name}\n25\n{base64.b64encode(bytes(32)).decode()}\n").decode()
    with Workspace(tmp_path).opened() as other:
        fill(other, 25)
        elsewhere = other.checkpoint().decode()
    for change in (
        {"path": proof["path"][:-1]},
        {"path": [*proof["path"], proof["path"][0]]},
        {"path": proof["path"][::-1]},
        {"old": proof["checkpoint"], "checkpoint": proof["old"]},
        {"old": proof["old"].replace("\n5\n", "\n6\n")},
        {"checkpoint": forged},
        {"checkpoint": elsewhere},
    ):
        assert check_heads({**proof, **change}, key) is not None, change
    assert check_heads(proof, stranger.verifier) is not None


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=2),
    max_leaves=5,
)


@pytest.mark.promise("record.bundle-hostile")
@given(name=st.sampled_from(["old", "checkpoint", "path"]), value=ANYTHING)
@settings(max_examples=size(60, 2000))
def test_anything_in_the_place_of_a_part_is_said_not_to_hold(proof: dict[str, Any], name: str, value: object) -> None:
    assert check_heads({**proof, name: value}, None) is not None
