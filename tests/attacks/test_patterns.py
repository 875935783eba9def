"""Every regular expression of the package stays linear on texts made against it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.pathological import text, units
from tests.attacks.pattern_worker import verdict
from tests.attacks.patterns import Found, collect
from tests.sizes import FULL

ROOT = Path(__file__).parents[2]
PARTS = 40
"""The default run drives one part of the patterns, by the day's commit; the full run all of them."""
PATIENCE_S = 900


def driven(part: int, of: int) -> list[dict[str, str]]:
    """What a worker finds too slow; it is killed when it does not end."""
    command = [sys.executable, "-m", "tests.attacks.pattern_worker", str(part), str(of)]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=PATIENCE_S, check=True
    )
    *slow, last = map(json.loads, done.stdout.splitlines())
    assert last["patterns"] > 1_000, "the patterns of the package were not found"
    return slow


@pytest.mark.promise("attacks.linear-patterns")
def test_patterns_over_untrusted_text_take_linear_time() -> None:
    if FULL:
        assert [one for part in range(4) for one in driven(part, 4)] == []
    else:
        # Three fixed parts: small, and the same for everybody.
        assert [one for part in (0, 13, 26) for one in driven(part, PARTS)] == []


@pytest.mark.promise("attacks.linear-patterns")
@pytest.mark.parametrize(
    "where",
    [
        "turns/tasks/targets.py", "gate/reply/sentences.py", "rooms/studio/runs/references.py", "rooms/memory/things.py",
        "rooms/desk/judging/matching.py", "rooms/desk/judging/saying.py", "rooms/insight/analysis/sentence.py",
    ],
)  # fmt: skip
def test_patterns_that_were_once_slow_stay_fast(where: str, collected: list[Found], alarmed: None) -> None:
    found = [one for one in collected if one.where.startswith(f"{where}:")]
    assert found
    assert {one.where: slow for one in found if (slow := verdict(one))} == {}


@pytest.mark.promise("attacks.linear-patterns")
@pytest.mark.parametrize(
    ("pattern", "mode"),
    [
        (r"(?<![\w/])[\w][\w.-]*(?:/[\w.-]+)*\.[A-Za-z][A-Za-z0-9]{0,7}(?!\w)", "search"), (r"\s+$", "search"),
        (r"(?:a|a)*b", "match"), (r"(\w+\s?)+:", "match"), (r"<!--.*?-->", "search"), (r"v\d+[a-z0-9]*", "fullmatch"),
    ],
)  # fmt: skip
def test_the_drive_finds_patterns_that_backtrack(pattern: str, mode: str, alarmed: None) -> None:
    bad = Found(where="some.py:1", name="", pattern=pattern, flags=0, modes=frozenset({mode}))
    assert verdict(bad) is not None


def test_texts_are_made_of_the_pattern_s_own_characters() -> None:
    made = {text(unit, 20) for unit in units(r"x-[0-9]+;", 0)}
    assert "x-" + "0" * 20 in made


def test_every_pattern_that_is_only_known_at_run_time_is_listed(collected_dynamic: list[str]) -> None:
    assert len(collected_dynamic) <= 33, "give a new pattern a constant text, so that it is driven too"


@pytest.fixture(scope="module")
def everything():
    return collect()


@pytest.fixture(scope="module")
def collected(everything) -> list[Found]:
    return everything[0]


@pytest.fixture(scope="module")
def collected_dynamic(everything) -> list[str]:
    return [f"{source.path}:{source.line}" for source in everything[1]]


@pytest.fixture
def alarmed():
    """Ends a pattern that does not end."""
    import signal  # noqa: PLC0415

    from tests.attacks.pattern_worker import _stop  # noqa: PLC0415

    before = signal.signal(signal.SIGVTALRM, _stop)
    yield
    signal.signal(signal.SIGVTALRM, before)
