import base64
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.record.checkpoint import parse_checkpoint
from tallystick.gate.record.tree import (
    EMPTY_ROOT,
    Frontier,
    Node,
    consistency_holds,
    consistency_proof,
    inclusion_holds,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_at,
    subtree_consistency_holds,
    subtree_inclusion_holds,
    subtree_root,
)

LEAVES = [leaf_hash(str(number).encode()) for number in range(600)]


def node(level: int, index: int) -> bytes:
    return subtree_root(LEAVES[index << level : (index + 1) << level])


def textbook_root(leaves: list[bytes]) -> bytes:
    """RFC 9162, section 2.1.1, word for word."""
    if not leaves:
        return EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    split = 1
    while split * 2 < len(leaves):
        split *= 2
    return node_hash(textbook_root(leaves[:split]), textbook_root(leaves[split:]))


@pytest.mark.promise("record.tree")
@given(st.integers(0, 600))
def test_the_root_is_the_one_of_the_standard_however_it_is_reached(size: int) -> None:
    frontier = Frontier()
    frontier.add(LEAVES[:size])
    assert frontier.root() == root_at(size, node) == textbook_root(LEAVES[:size])


@given(st.integers(0, 600), st.integers(0, 600))
def test_a_tree_can_be_carried_on_from_its_frontier(first: int, second: int) -> None:
    first, second = sorted((first, second))
    frontier = Frontier(first, node)
    frontier.add(LEAVES[first:second])
    assert frontier.root() == textbook_root(LEAVES[:second])


@given(st.integers(0, 600))
def test_a_tree_can_be_built_from_blocks_and_a_rest(size: int) -> None:
    blocks = size // 16
    frontier = Frontier()
    frontier.add(subtree_root(LEAVES[at * 16 : at * 16 + 16]) for at in range(blocks))
    assert frontier.root(LEAVES[blocks * 16 : size]) == textbook_root(LEAVES[:size])


@pytest.mark.promise("record.proofs")
@given(st.data())
def test_every_record_has_a_proof_and_the_proof_fits_nothing_else(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 600))
    index = data.draw(st.integers(0, size - 1))
    path, root = inclusion_proof(index, size, node), root_at(size, node)
    assert inclusion_holds(LEAVES[index], index, size, path, root)
    other = data.draw(st.integers(0, 599).filter(lambda number: number != index))
    assert not inclusion_holds(LEAVES[other], index, size, path, root)
    assert not inclusion_holds(LEAVES[index], other, size, path, root)
    assert not inclusion_holds(LEAVES[index], index, size, [*path, root], root)
    assert not inclusion_holds(LEAVES[index], index, size, path[:-1], root) or not path
    assert not inclusion_holds(LEAVES[index], index, size, path, LEAVES[index]) or size == 1


@pytest.mark.promise("record.proofs")
@given(st.data())
def test_two_sizes_have_a_consistency_proof_and_it_fits_nothing_else(data: st.DataObject) -> None:
    second = data.draw(st.integers(1, 600))
    first = data.draw(st.integers(1, second))
    roots = root_at(first, node), root_at(second, node)
    path = consistency_proof(first, second, node)
    assert consistency_holds((first, second), roots, path)
    assert not consistency_holds((first, second), (LEAVES[599], roots[1]), path)
    assert not consistency_holds((first, second), (roots[0], LEAVES[599]), path)
    assert not consistency_holds((first, second), roots, [*path, roots[1]])
    assert not path or not consistency_holds((first, second), roots, path[:-1])


def test_an_empty_tree_is_a_beginning_of_every_tree_and_has_the_empty_root() -> None:
    assert consistency_holds((0, 5), (EMPTY_ROOT, root_at(5, node)), [])
    assert consistency_holds((0, 0), (EMPTY_ROOT, EMPTY_ROOT), [])
    assert not consistency_holds((0, 5), (LEAVES[0], root_at(5, node)), [])
    assert not consistency_holds((0, 1), (EMPTY_ROOT, b"twelve bytes"), [])
    assert not consistency_holds((0, 0), (LEAVES[0], LEAVES[0]), [])
    assert not consistency_holds((0, 5), (EMPTY_ROOT, root_at(5, node)), [LEAVES[0]])


@pytest.mark.parametrize(("index", "size"), [(0, 0), (5, 5), (-1, 5), (6, 5)])
def test_there_is_no_proof_of_what_is_not_there(index: int, size: int) -> None:
    with pytest.raises(ValueError, match="is not in a tree"):
        inclusion_proof(index, size, node)


@pytest.mark.parametrize(("first", "second"), [(6, 5), (-1, 5)])
def test_no_tree_begins_with_a_longer_one(first: int, second: int) -> None:
    with pytest.raises(ValueError, match="extend"):
        consistency_proof(first, second, node)
    assert not consistency_holds((first, second), (LEAVES[0], LEAVES[1]), [])


@pytest.mark.parametrize("bad", [b"", b"x", bytes(31), bytes(33)])
def test_what_is_no_hash_proves_nothing(bad: bytes) -> None:
    path, root = inclusion_proof(3, 7, node), root_at(7, node)
    assert not inclusion_holds(LEAVES[3], 3, 7, [bad, *path[1:]], root)
    assert not inclusion_holds(bad, 0, 1, [], bad)
    assert not consistency_holds((3, 7), (root_at(3, node), root), [bad, *consistency_proof(3, 7, node)[1:]])


@pytest.mark.promise("record.merkle-suite")
def test_the_outside_suite_of_good_and_broken_proofs(data: Path) -> None:
    folder = data / "tlog-merkle"
    cases = sorted(folder.rglob("*.json"))
    if not cases:
        pytest.skip("left out: tlog-merkle, TALLY_DATA not there")
    wrong = [str(case.relative_to(folder)) for case in cases if _holds(case) == json.loads(case.read_text())["wantErr"]]
    assert not wrong


def _holds(case: Path) -> bool:
    proof: dict[str, Any] = json.loads(case.read_text())
    path = [base64.b64decode(item) for item in proof["proof"] or []]
    roots = [base64.b64decode(proof[name]) for name in ("root", "root1", "root2") if name in proof]
    if "leafHash" in proof:
        leaf = base64.b64decode(proof["leafHash"])
        if "treeSize" in proof:
            return inclusion_holds(leaf, proof["leafIdx"], proof["treeSize"], path, roots[0])
        return subtree_inclusion_holds(leaf, proof["leafIdx"], (proof["start"], proof["end"]), path, roots[0])
    if "size1" in proof:
        return consistency_holds((proof["size1"], proof["size2"]), (roots[0], roots[1]), path)
    return subtree_consistency_holds((proof["start"], proof["end"]), proof["size"], (roots[0], roots[1]), path)


@pytest.mark.promise("record.merkle-suite")
def test_the_checkpoints_of_a_real_log_follow_from_its_entries(data: Path) -> None:
    folder = data / "tlog-tessera-log" / "dev" / "log"
    if not folder.exists():
        pytest.skip("left out: tlog-tessera-log, TALLY_DATA not there")
    bundles = {int(path.name): path for path in (folder / "tile" / "entries" / "000.p").iterdir()}
    leaves = [leaf_hash(entry) for entry in _entries(bundles[max(bundles)].read_bytes())]
    for tile in (folder / "tile" / "0" / "000.p").iterdir():
        assert tile.read_bytes() == b"".join(leaves[: int(tile.name)])
    notes = sorted(folder.glob("checkpoint.*"))
    assert notes
    for note in notes:
        text = note.read_text(encoding="utf-8").split("\n\n")[0] + "\n"
        checkpoint = parse_checkpoint(text)
        assert checkpoint is not None
        assert checkpoint.root == textbook_root(leaves[: checkpoint.size])
        _check_consistency(leaves, checkpoint.size)


def _check_consistency(leaves: list[bytes], size: int) -> None:
    within: Node = lambda level, index: subtree_root(leaves[index << level : (index + 1) << level])  # noqa: E731
    for first in range(1, size + 1):
        roots = textbook_root(leaves[:first]), textbook_root(leaves[:size])
        assert consistency_holds((first, size), roots, consistency_proof(first, size, within))


def _entries(bundle: bytes) -> list[bytes]:
    """C2SP tlog-tiles: each entry after its length in two bytes."""
    entries, at = [], 0
    while at < len(bundle):
        end = at + 2 + int.from_bytes(bundle[at : at + 2])
        entries.append(bundle[at + 2 : end])
        at = end
    return entries
