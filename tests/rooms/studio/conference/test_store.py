"""Conferences on disk: two processes, rounds whose process is gone, damage, and wishes to cancel."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError
from tallystick.rooms.studio.conference.model import Attendee, Conference, ReplyRecord, Round
from tallystick.rooms.studio.conference.store import ConferenceFiles, StartedRound, conference_from, conference_wire
from tallystick.turns.agent import CHIEF
from tests.house.sources import ROOT

MADE = Conference(
    conference_id="conf_1", name="Ü", created_at="2026-01-01T00:00:00Z", created_by="local",
    attendees=(Attendee(agent_id=CHIEF), Attendee(agent_id="critic", muted=True)),
)  # fmt: skip


@pytest.fixture
def files(tmp_path: Path) -> ConferenceFiles:
    kept = ConferenceFiles(tmp_path)
    kept.create(MADE)
    return kept


def nth(number: int) -> Round:
    return Round(number=number, round_id=f"round_{number}", state="running", begun_at="now", prompt_sha256="00")


def begin(files: ConferenceFiles) -> StartedRound:
    begun = files.begin("conf_1", nth)
    assert isinstance(begun, StartedRound)
    return begun


def states(files: ConferenceFiles) -> list[str]:
    found = files.get("conf_1")
    assert isinstance(found, Conference)
    return [each.state for each in found.rounds]


def code(value: object) -> str:
    assert isinstance(value, Problem)
    return value.code


@pytest.mark.promise("studio.conference-record")
def test_a_conference_is_read_as_it_was_written() -> None:
    given = ReplyRecord(agent_id="critic", status="rejected", turn_id="t", prompt_sha256="aa", code="quote_not_found")
    held = replace(nth(1), state="closed", replies=(given,), receipts=("rcpt_1",), muted=("critic",), issue_id="i")
    whole = MADE.with_round(held)
    assert conference_from({"version": 1, **conference_wire(whole)}) == whole


@pytest.mark.promise("studio.conference-broken-off")
def test_a_round_that_runs_shows_as_running_and_without_its_lock_as_broken_off(files: ConferenceFiles) -> None:
    begun = begin(files)
    assert states(files) == ["running"]
    assert code(files.begin("conf_1", nth)) == "round_running"
    begun.lock.let_go()
    begun.lock.let_go()
    assert states(files) == ["broken_off"]
    again = begin(files)
    assert again.round.number == 2
    assert states(files) == ["broken_off", "running"]
    files.end(again, replace(again.round, state="closed"))
    assert states(files) == ["broken_off", "closed"]
    # The end is in the file, not only in how it is shown.
    assert '"broken_off"' in (files._path("conf_1") / "conference.json").read_text(encoding="utf-8")


@pytest.mark.promise("studio.conference-cancel")
def test_a_wish_to_cancel_reaches_whoever_runs_the_round_and_no_other(files: ConferenceFiles) -> None:
    assert code(files.cancel("conf_1", 1)) == "round_unknown"
    begun = begin(files)
    assert not files.is_cancelling("conf_1", 1)
    assert isinstance(files.cancel("conf_1", 1), Conference)
    assert files.is_cancelling("conf_1", 1)
    assert states(files) == ["cancelling"]
    files.end(begun, replace(begun.round, state="cancelled"))
    assert code(files.cancel("conf_1", 1)) == "round_over"
    assert states(files) == ["cancelled"]


@pytest.mark.promise("studio.conference-states")
def test_an_end_that_the_table_does_not_allow_changes_nothing(files: ConferenceFiles) -> None:
    begun = begin(files)
    files.end(begun, replace(begun.round, state="closed"))
    files.end(begun, replace(begun.round, state="cancelled"))
    assert states(files) == ["closed"]


HOLDER = """
import sys
from pathlib import Path
from tallystick.rooms.studio.conference.model import Round
from tallystick.rooms.studio.conference.store import ConferenceFiles
begun = ConferenceFiles(Path(sys.argv[1])).begin("conf_1", lambda number: Round(
    number=number, round_id="r", state="running", begun_at="now", prompt_sha256="00"))
print("begun" if hasattr(begun, "lock") else begun.code, flush=True)
sys.stdin.read()
"""


@pytest.mark.promise("studio.conference-broken-off", "studio.conference-two-processes")
def test_another_process_sees_a_round_run_and_sees_it_broken_off_when_that_one_is_killed(
    files: ConferenceFiles, tmp_path: Path
) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"begun\n"
        assert states(files) == ["running"]
        assert code(files.begin("conf_1", nth)) == "round_running"
        other.kill()
    assert states(files) == ["broken_off"]
    assert begin(files).round.number == 2


ANOTHERS = (
    '{"version":1,"conference_id":"other","name":"","created_at":"","created_by":"","attendees":'
    '[{"agent_id":"assistant","muted":false}],"rounds":[]}'
)


@pytest.mark.parametrize("text", ["{", '{"version":1}', '{"version":2,"conference_id":"conf_1"}', ANOTHERS])
def test_a_damaged_file_is_an_error_with_a_code_and_stays_as_it_is(files: ConferenceFiles, text: str) -> None:
    path = files._path("conf_1") / "conference.json"
    path.write_text(text, encoding="utf-8")
    for use in (lambda: files.get("conf_1"), lambda: files.begin("conf_1", nth)):
        with pytest.raises(ConfigError) as damaged:
            use()
        assert damaged.value.code == "conference_damaged"
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("name", ["nobody", "../x", "", "a/b", "\x00", "x" * 200])
def test_what_is_no_conference_is_unknown(files: ConferenceFiles, name: str) -> None:
    assert code(files.get(name)) == "conference_unknown"
    assert code(files.begin(name, nth)) == "conference_unknown"
    assert code(files.cancel(name, 1)) == "conference_unknown"


def test_only_conferences_are_listed(files: ConferenceFiles, tmp_path: Path) -> None:
    (tmp_path / ".control-room/conferences/empty").mkdir()
    assert files.ids() == ["conf_1"]
    assert ConferenceFiles(tmp_path / "elsewhere").ids() == []
