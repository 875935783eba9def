"""Every regular expression of the package stays linear on texts made against it."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.pathological import text, units
from tests.attacks.pattern_worker import _stop, verdict
from tests.attacks.patterns import Found
from tests.sizes import FULL

ROOT = Path(__file__).parents[2]
EVERY = 150
"""The default run drives every so-manieth pattern; the full run all of them."""
ONCE_SLOW = (
    "agents/tasks/targets.py", "gate/reply/sentences.py", "rooms/studio/runs/references.py",
    "rooms/studio/continuity/card_lines.py", "rooms/studio/continuity/fields/age.py", "gate/reply/transcripts.py",
    "rooms/desk/language/sentences.py", "rooms/insight/analyse/sentence.py", "rooms/insight/pii.py",
    "rooms/studio/manuscript_import/markdown.py", "rooms/studio/book/outline_entries.py", "gate/record/secrets.py",
)  # fmt: skip
"""Modules with patterns that somebody could freeze the server with, or nearly so."""
MOST_AT_RUN_TIME = 33
"""Patterns that are put together of what only a run knows, and so are not driven."""
LEAST_FOUND = 0.9
"""Of the calls to `re` in the source; the rest are the same pattern twice, or in a module for an optional package."""
PATIENCE_S = 1_800


def driven(part: int, of: int) -> tuple[list[dict[str, str]], dict[str, Any]]:
    """What a worker finds too slow, and what it drove; it is killed when it does not end."""
    command = [sys.executable, "-m", "tests.attacks.pattern_worker", str(part), str(of), *ONCE_SLOW]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, timeout=PATIENCE_S, check=True
    )
    *slow, last = map(json.loads, done.stdout.splitlines())
    return slow, last


def written() -> int:
    """How many calls to `re` the source has, counted without the collector."""
    call = re.compile(r"\bre\.(?:compile|search|subn?|match|fullmatch|findall|finditer|split)\(")
    sources = (ROOT / "src" / "tallystick").rglob("*.py")
    return sum(len(call.findall(source.read_text(encoding="utf-8"))) for source in sources)


@pytest.mark.promise("attacks.linear-patterns")
def test_patterns_over_untrusted_text_take_linear_time() -> None:
    assert [each for each in ONCE_SLOW if not (ROOT / "src" / "tallystick" / each).is_file()] == []
    slow, told = driven(0, 1 if FULL else EVERY)
    assert slow == []
    found = told["patterns"] + len(told["dynamic"])
    assert found > LEAST_FOUND * written(), "the patterns of the package were not found"
    assert told["driven"] > 30
    assert len(told["dynamic"]) <= MOST_AT_RUN_TIME, "give a new pattern a constant text, so that it is driven too"


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


@pytest.fixture
def alarmed():
    """Ends a pattern that does not end."""
    before = signal.signal(signal.SIGVTALRM, _stop)
    yield
    signal.signal(signal.SIGVTALRM, before)
