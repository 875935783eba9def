"""The parts of the journal on disk that are derived, and that it can be opened without reading all of it."""

import os
import shutil
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import LedgerDamaged
from tallystick.gate.record.checkpoint import parse_checkpoint, split_note
from tallystick.gate.record.journal import ZERO
from tallystick.gate.record.proof import proof_fault
from tallystick.gate.record.signing import HmacKey
from tallystick.gate.record.tree import inclusion_holds, inclusion_proof, leaf_hash, root_at, subtree_root
from tallystick.storage.journal.checkpoints import Checkpoints, split_notes
from tallystick.storage.journal.head import SLOT, STRIDE, Head, HeadFile, pack, unpack
from tallystick.storage.journal.segments import Segments, offset_of, position, segment_of
from tallystick.storage.journal.tiles import Tiles
from tallystick.storage.journal.views import Views
from tests.ledgers import Workspace, fill
from tests.sizes import size

LEAVES = [leaf_hash(str(number).encode()) for number in range(size(71_000, 200_000))]


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return Workspace(tmp_path)


class OneKey:
    """The keys of a workspace that has one."""

    def __init__(self) -> None:
        self._key = HmacKey(b"k" * 32)

    def active(self) -> HmacKey:
        return self._key

    def find(self, key_id: str) -> HmacKey | None:
        return self._key if key_id == self._key.key_id else None


@pytest.mark.promise("record.tiles")
def test_tiles_filled_in_pieces_give_the_hashes_of_the_tree(tmp_path: Path) -> None:
    tiles = Tiles(tmp_path / "tree")
    at, pieces = 0, [1, 2, 253, 1, 255, 256, 257, 1000, 63_000, 5000]
    for number in pieces:
        tiles.extend(at, [(leaf, seq * 7) for seq, leaf in enumerate(LEAVES[at : at + number], at)])
        at += number
        assert tiles.count() == at
    assert tiles.position(12_345) == 12_345 * 7
    assert tiles.leaf(12_345) == LEAVES[12_345]
    for level, index in [(0, 5), (3, 9), (8, 0), (8, 255), (9, 100), (12, 3), (15, 1), (16, 0)]:
        assert tiles.node(level, index) == subtree_root(LEAVES[index << level : (index + 1) << level])
    root = root_at(at, tiles.node)
    for seq in (0, 255, 256, 65_535, 65_536, at - 1):
        assert inclusion_holds(LEAVES[seq], seq, at, inclusion_proof(seq, at, tiles.node), root)
    frontier = tiles.frontier(at // 256)
    assert frontier.root(tiles.leaves(at // 256 * 256, at)) == root
    tiles.close()
    again = Tiles(tmp_path / "tree")
    assert again.count() == at
    assert root_at(at, again.node) == root
    again.close()


@pytest.mark.promise("record.tiles")
@pytest.mark.parametrize(
    "harm", ["missing", "leaves missing", "short", "level missing", "wrong hash", "wrong offset", "too long"]
)
def test_tiles_that_are_missing_short_or_wrong_are_built_again(workspace: Workspace, harm: str) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 600)
    tree = workspace.journal / "tree"
    leaves = tree / "leaves"
    whole = {path.name: path.read_bytes() for path in tree.iterdir()}
    match harm:
        case "missing":
            shutil.rmtree(tree)
        case "leaves missing":
            leaves.unlink()
        case "short":
            os.truncate(leaves, 40 * 300 + 13)
        case "level missing":
            (tree / "level08").unlink()
        case "wrong hash":
            leaves.write_bytes(bytes(40) + whole["leaves"][40:])
        case "wrong offset":
            leaves.write_bytes(whole["leaves"][:-8] + bytes(8))
        case "too long":
            leaves.write_bytes(whole["leaves"] + bytes(4000))
    with workspace.opened() as ledger:
        assert ledger.size() == 600
        assert all(ledger.find(receipt_id) for receipt_id in (ids[0], ids[299], ids[599]))
        proof = ledger.prove(ids[299])
        assert proof is not None
        assert proof_fault(proof, ledger.keys.log_signer().verifier) is None
        fill(ledger, 1)
    assert workspace.verify().ok
    if harm != "too long":
        assert {path.name: path.read_bytes()[: len(whole[path.name])] for path in tree.iterdir()} == whole


@pytest.mark.promise("record.tiles")
def test_a_wrong_offset_in_the_middle_is_noticed_and_put_right(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 5)
    leaves = workspace.journal / "tree" / "leaves"
    whole = leaves.read_bytes()
    data = bytearray(whole)
    data[40 + 32 : 80] = data[80 + 32 : 120]  # record 1 is said to stand where record 2 does
    leaves.write_bytes(bytes(data))
    with workspace.opened() as ledger:
        found = ledger.find(ids[1])
        assert found is not None
        assert found.receipt_id == ids[1]
    assert leaves.read_bytes() == whole


@pytest.mark.promise("record.tiles")
def test_a_wrong_hash_in_the_middle_never_gets_into_a_proof(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        ids = fill(ledger, 300)
    leaves = workspace.journal / "tree" / "leaves"
    data = bytearray(leaves.read_bytes())
    data[40 * 8] ^= 1
    leaves.write_bytes(bytes(data))
    with workspace.opened() as ledger:
        proof = ledger.prove(ids[9])
        assert proof is not None
        assert proof_fault(proof, ledger.keys.log_signer().verifier) is None


@pytest.mark.promise("record.opens-tail")
def test_opening_reads_only_what_the_last_checkpoint_does_not_cover(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 700)
    left = workspace.open()
    fill(left, 9)
    read: list[int] = []
    real = Segments.lines

    def counting(self: Segments, place: int, end: int | None = None):
        for line in real(self, place, end):
            read.append(line.position)
            yield line

    monkeypatch.setattr(Segments, "lines", counting)
    with workspace.opened() as ledger:
        assert ledger.size() == 709
    assert len(read) <= 2 * 9
    left.close()


@pytest.mark.promise("record.checkpoint-often")
def test_a_checkpoint_is_written_every_so_many_records_and_at_the_end(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, checkpoint_every=50, checkpoint_s=3600)
    with workspace.opened() as ledger:
        fill(ledger, 175)
    sizes = []
    with (workspace.journal / "checkpoints").open("rb") as file:
        for note in split_notes(file):
            split = split_note(note)
            checkpoint = None if split is None else parse_checkpoint(split[0])
            assert checkpoint is not None
            sizes.append(checkpoint.size)
    assert sizes == [50, 100, 150, 175]
    assert workspace.mirror.with_suffix(".checkpoint").read_bytes() == note


@pytest.mark.promise("record.checkpoint-often")
def test_a_checkpoint_is_written_after_so_long_at_the_next_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = Workspace(tmp_path, checkpoint_s=10)
    now = [time.monotonic_ns()]
    monkeypatch.setattr("tallystick.storage.journal.writer.monotonic_ns", lambda: now[0])
    with workspace.opened() as ledger:
        fill(ledger, 3)
        assert not (workspace.journal / "checkpoints").read_bytes()
        now[0] += 10_000_000_001
        fill(ledger, 1)
        assert (workspace.journal / "checkpoints").read_bytes().count(b"\n4\n") == 1
        now[0] += 1_000_000
        fill(ledger, 1)
        assert (workspace.journal / "checkpoints").read_bytes().count(b"tallystick/") == 2  # origin and name, once each
        ledger.tick()
        assert (workspace.journal / "checkpoints").read_bytes().count(b"\n5\n") == 1


def test_a_note_that_was_cut_off_is_passed_over(tmp_path: Path) -> None:
    notes = Checkpoints(tmp_path / "notes", None)
    notes.put("a\n1\nr\n\n— a x\n".encode())
    notes.put("a\n2\nr\n\n— a y\n".encode())
    with (tmp_path / "notes").open("ab") as file:
        file.write(b"a\n3\nr\n\n\xe2\x80\x94 a")
    assert notes.last() == "a\n2\nr\n\n— a y\n".encode()
    assert len(list(notes.all())) == 2
    notes.close()


@given(st.integers(0, 2**60), st.integers(0, 2**60), st.integers(0, 1), st.binary(min_size=32, max_size=32))
def test_a_head_comes_back_as_it_was_written(size: int, end: int, flags: int, leaf: bytes) -> None:
    head = Head(3, size, size // 2, flags, end, leaf)
    slot = pack(head, OneKey())  # type: ignore[arg-type]
    assert len(slot) == SLOT < STRIDE
    assert unpack(slot, OneKey()) == head  # type: ignore[arg-type]
    for at in range(SLOT):
        spoiled = bytearray(slot)
        spoiled[at] ^= 1
        assert unpack(bytes(spoiled), OneKey()) is None  # type: ignore[arg-type]


def test_the_later_of_two_heads_counts_and_a_spoiled_one_does_not(tmp_path: Path) -> None:
    file = HeadFile(tmp_path / "head")
    assert file.empty()
    assert file.read(OneKey()) is None  # type: ignore[arg-type]
    first, second, renewed = Head(0, 5, 0, 0, 99, ZERO), Head(0, 6, 0, 0, 120, ZERO), Head(1, 5, 0, 0, 99, ZERO)
    for head, at, latest in ((first, 0, first), (second, STRIDE, second), (renewed, 0, renewed)):
        os.pwrite(file.fd, pack(head, OneKey()), at)  # type: ignore[arg-type]
        assert file.read(OneKey()) == latest  # type: ignore[arg-type]
    os.pwrite(file.fd, b"x" * SLOT, 0)
    assert file.read(OneKey()) == second  # type: ignore[arg-type]
    assert file.in_place()
    (tmp_path / "head").unlink()
    assert not file.in_place()
    file.close()


@given(st.integers(0, 2**20), st.integers(0, 2**39))
def test_a_position_names_segment_and_offset(segment: int, offset: int) -> None:
    place = position(segment, offset)
    assert (segment_of(place), offset_of(place)) == (segment, offset)


def test_lines_are_read_across_segments_up_to_an_end(tmp_path: Path) -> None:
    (tmp_path / "000000.log").write_bytes(b"a\nbb\n")
    (tmp_path / "000001.log").write_bytes(b"ccc\ndddd\ntorn")
    (tmp_path / "000003.log").write_bytes(b"never\n")
    (tmp_path / "other.log").write_bytes(b"no\n")
    segments = Segments(tmp_path)
    assert segments.numbers() == [0, 1, 3]
    assert [(line.data, line.whole) for line in segments.lines(0)] == [
        (b"a", True), (b"bb", True), (b"ccc", True), (b"dddd", True), (b"torn", False),
    ]  # fmt: skip
    assert [line.data for line in segments.lines(2, position(1, 4))] == [b"bb", b"ccc"]
    assert segments.line_at(position(1, 4)) == b"dddd"
    assert segments.line_at(position(1, 9)) is None
    assert segments.line_at(position(7, 0)) is None


def test_a_line_of_any_length_is_read_whole(tmp_path: Path) -> None:
    long = b"x" * 3_000_000
    (tmp_path / "000000.log").write_bytes(long + b"\n" + b"y\n")
    segments = Segments(tmp_path)
    assert segments.line_at(0) == long
    assert [len(line.data) for line in segments.lines(0)] == [3_000_000, 1]


def test_more_sessions_than_files_can_be_open_all_get_their_lines(tmp_path: Path) -> None:
    views = Views(tmp_path / "sessions", tmp_path / "mend", tmp_path / "replaced")
    for turn in range(3):
        for number in range(200):
            views.append(f"s{number}", b'{"seq":%d}\n' % turn)
    views.close()
    assert all(
        (tmp_path / "sessions" / f"s{number}" / "tool_receipts.jsonl").read_bytes().count(b"\n") == 3
        for number in range(200)
    )
    assert list(views.seqs("s7")) == [0, 1, 2]


@pytest.mark.parametrize(
    ("there", "kept"),
    [
        (b"", b""),
        (b'{"seq":1}\n', b'{"seq":1}\n'),
        (b'{"seq":1}\n{"se', b'{"seq":1}\n'),
        (b'{"seq":1}\n{"seq":3}\n', b'{"seq":1}\n'),
        (b'{"seq":1}\n' + b"x" * 200_000, b'{"seq":1}\n'),
        (b"junk\n", b""),
    ],
)
def test_a_view_is_repaired_from_its_last_good_line_on(tmp_path: Path, there: bytes, kept: bytes) -> None:
    views = Views(tmp_path / "sessions", tmp_path / "mend", tmp_path / "replaced")
    path = views.path("s")
    path.parent.mkdir(parents=True)
    path.write_bytes(there)
    views.repair("s", [(3, b'{"seq":3}\n'), (5, b'{"seq":5}\n')])
    assert path.read_bytes() == kept + b'{"seq":3}\n{"seq":5}\n'


def test_a_large_view_is_repaired_without_being_read_whole(tmp_path: Path) -> None:
    views = Views(tmp_path / "sessions", tmp_path / "mend", tmp_path / "replaced")
    path = views.path("s")
    path.parent.mkdir(parents=True)
    line = b'{"seq":%d,"pad":"' + b"x" * 1000 + b'"}\n'
    whole = b"".join(line % number for number in range(300))
    path.write_bytes(whole + (line % 300)[:-500])
    views.repair("s", [(300, line % 300)])
    assert path.read_bytes() == whole + line % 300


@pytest.mark.promise("record.proof-fast")
def test_a_receipt_of_many_is_found_and_proved_in_milliseconds(tmp_path: Path) -> None:
    """The tree of a log of ten million is as deep as this; how long it takes does not depend on the records."""
    tiles = Tiles(tmp_path / "tree")
    number = len(LEAVES)
    tiles.extend(0, [(leaf, 0) for leaf in LEAVES])
    began = time.process_time()
    for seq in range(0, number, number // 20):
        inclusion_proof(seq, number, tiles.node)
    assert (time.process_time() - began) / 20 < 0.1  # a bound for a busy machine; measured: under 2 ms
    tiles.close()


def test_a_journal_that_cannot_be_opened_holds_no_file(workspace: Workspace) -> None:
    with workspace.opened() as ledger:
        fill(ledger, 3)
    workspace.write_lines(workspace.lines()[:1])
    with pytest.raises(LedgerDamaged):
        workspace.open()
    held = [str(each.readlink()) for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    assert not [each for each in held if each.startswith((f"{workspace.root}/", f"{workspace.state}/"))]
