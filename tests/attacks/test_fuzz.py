"""Every fuzz target on random inputs and on each input that once crashed one; `make fuzz` runs them for minutes."""

import random
import secrets
from pathlib import Path

import pytest

from tests.attacks.fuzz import CRASHES, fuzz
from tests.attacks.targets import CORPUS, TARGETS, gate_target, takes
from tests.sizes import FULL, size

KEPT = sorted(CRASHES.iterdir()) if CRASHES.exists() else []
SEED = secrets.randbits(32) if FULL else 7


@pytest.mark.promise("admit.no-crash")
@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_takes_or_refuses_whatever_it_is_given(name: str) -> None:
    crashes, count = fuzz(TARGETS[name], random.Random(SEED), seconds=size(2, 60), most=size(150, 10**9))
    assert not crashes, (SEED, crashes)
    assert count > 10


@pytest.mark.promise("admit.no-crash", "admit.mutants")
def test_a_turn_takes_or_refuses_whatever_a_model_answers(tmp_path: Path) -> None:
    crashes, _ = fuzz(gate_target(tmp_path / "ws"), random.Random(SEED), seconds=size(3, 60), most=size(100, 10**9))
    assert not crashes, (SEED, crashes)


@pytest.mark.promise("admit.no-crash")
@pytest.mark.parametrize("name", TARGETS)
def test_what_once_crashed_is_taken_or_refused(name: str) -> None:
    kept = [path.read_bytes() for path in KEPT if path.name.startswith(name.replace(" ", "-"))]
    for data in [*CORPUS, *kept]:
        takes(TARGETS[name], data)
