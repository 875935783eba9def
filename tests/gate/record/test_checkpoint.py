import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.gate.record.checkpoint import (
    Checkpoint,
    NoteSigner,
    NoteVerifier,
    good_name,
    open_note,
    parse_checkpoint,
    parse_vkey,
    split_note,
)

VECTORS: dict[str, Any] = json.loads((Path(__file__).parents[2] / "vectors" / "record_notes.json").read_text())
SIGNER = NoteSigner("example.org/log", bytes(range(32)))
CHECKPOINT = Checkpoint(origin="example.org/log", size=1024, root=bytes(32))
NOTE = SIGNER.sign(CHECKPOINT.text())


@pytest.mark.promise("record.checkpoint-form")
def test_a_note_opens_with_its_key_and_holds_its_checkpoint() -> None:
    opened = open_note(NOTE, [SIGNER.verifier])
    assert opened == (CHECKPOINT.text(), SIGNER.verifier)
    assert parse_checkpoint(opened[0]) == CHECKPOINT


@pytest.mark.promise("record.checkpoint-form")
def test_the_published_example_of_the_specification_opens() -> None:
    example = VECTORS["published"]
    verifier = parse_vkey(example["vkey"])
    assert verifier.vkey() == example["vkey"]
    opened = open_note(example["note"].encode(), [verifier])
    assert opened is not None
    assert opened[0] == example["text"]


@pytest.mark.promise("record.checkpoint-form")
def test_the_examples_in_the_specification_itself(data: Path) -> None:
    page = data / "c2sp-specs" / "dev" / "signed-note.md"
    if not page.exists():
        pytest.skip("left out: c2sp-specs, TALLY_DATA not there")
    text = page.read_text(encoding="utf-8")
    vkey = next(line.strip() for line in text.splitlines() if line.strip().startswith("example.com/foo+"))
    blocks = [block.strip("\n") + "\n" for block in text.split("```")[1::2]]
    assert open_note(blocks[-1].encode(), [parse_vkey(vkey)]) is not None
    checkpoint = (data / "c2sp-specs" / "dev" / "tlog-checkpoint.md").read_text(encoding="utf-8")
    example = checkpoint.split("```")[1].strip("\n") + "\n"
    split = split_note(example.encode())
    assert split is not None
    found = parse_checkpoint(split[0])
    assert found is not None
    assert (found.origin, found.size) == ("example.com/behind-the-sofa", 20852163)


@pytest.mark.promise("record.checkpoint-strict")
@given(st.integers(0, len(NOTE) - 1), st.integers(1, 255))
def test_no_byte_of_a_note_can_be_changed(at: int, change: int) -> None:
    changed = bytearray(NOTE)
    changed[at] ^= change
    assert open_note(bytes(changed), [SIGNER.verifier]) is None


@given(st.binary(max_size=200))
def test_no_bytes_whatever_make_a_note_or_an_error(junk: bytes) -> None:
    assert open_note(junk, [SIGNER.verifier]) is None
    assert open_note(NOTE + junk, [SIGNER.verifier]) is None or not junk
    assert open_note(junk + NOTE, [SIGNER.verifier]) is None or not junk


@pytest.mark.promise("record.checkpoint-strict")
@pytest.mark.parametrize("case", VECTORS["not_notes"], ids=lambda case: case["what"])
def test_what_is_not_exactly_a_note_is_none(case: dict[str, str]) -> None:
    assert split_note(case["note"].encode("utf-8", "surrogatepass")) is None


@pytest.mark.promise("record.checkpoint-strict")
@pytest.mark.parametrize("case", VECTORS["not_checkpoints"], ids=lambda case: case["what"])
def test_what_is_not_exactly_a_checkpoint_is_none(case: dict[str, str]) -> None:
    assert parse_checkpoint(case["text"]) is None


def test_extension_lines_are_allowed() -> None:
    found = parse_checkpoint(CHECKPOINT.text() + "extra words\n")
    assert found == CHECKPOINT


@pytest.mark.parametrize("case", VECTORS["not_vkeys"], ids=lambda case: case["what"])
def test_what_is_not_exactly_a_verifier_key_is_refused(case: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="verifier key"):
        parse_vkey(case["vkey"])


def test_signatures_of_others_are_passed_over_but_prove_nothing() -> None:
    witness = NoteSigner("witness.example", bytes(32))
    line = witness.sign(CHECKPOINT.text()).split(b"\n\n")[1]
    both = NOTE + line
    assert open_note(both, [SIGNER.verifier]) is not None
    assert open_note(both, [witness.verifier]) is not None
    stranger = NoteSigner("stranger.example", bytes(range(1, 33))).verifier
    assert open_note(both, [stranger]) is None


def test_a_wrong_signature_of_a_known_key_spoils_the_note() -> None:
    other = SIGNER.sign("other\n").split(b"\n\n")[1]
    assert open_note(NOTE + other, [SIGNER.verifier]) is None


def test_a_key_of_the_same_name_but_another_id_is_another_key() -> None:
    other = NoteVerifier(name=SIGNER.verifier.name, public=bytes(32))
    assert open_note(NOTE, [other]) is None


def test_a_note_with_too_many_signatures_or_too_long_is_none() -> None:
    line = NOTE.split(b"\n\n")[1]
    assert open_note(NOTE + line * 15, [SIGNER.verifier]) is not None
    assert open_note(NOTE + line * 64, [SIGNER.verifier]) is None
    long = NoteSigner("n", bytes(32))
    assert open_note(long.sign("x" * 70_000 + "\n"), [long.verifier]) is None


def test_names_of_keys() -> None:
    assert good_name("a/b")
    assert not any(map(good_name, ["", "a b", "a+b", "a\u2003b"]))


@pytest.mark.promise("record.wycheproof")
def test_ed25519_as_wycheproof_has_it(data: Path) -> None:
    suite = data / "wycheproof" / "dev" / "ed25519_test.json"
    if not suite.exists():
        pytest.skip("left out: wycheproof Ed25519, TALLY_DATA not there")
    wrong = []
    for group in json.loads(suite.read_text())["testGroups"]:
        verifier = NoteVerifier(name="n", public=bytes.fromhex(group["publicKey"]["pk"]))
        for case in group["tests"]:
            holds = verifier.verifies(bytes.fromhex(case["sig"]), bytes.fromhex(case["msg"]))
            if holds != (case["result"] == "valid"):
                wrong.append(case["tcId"])
    assert not wrong
