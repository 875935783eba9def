"""A process that is killed in the middle of a round: broken off, nothing lost, and the prompt can be sent again."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conferences import ABSTAIN, PROMPT, Meeting, says, tools
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import HangsAndTells
from tests.house.sources import ROOT
from tests.scripted_server import Behaviour, ScriptedServer
from tests.verifying import verify

COMMAND = """
import sys
from tallystick.__main__ import main
sys.argv = ["tally", "--json", "conference", "--id", sys.argv[1], sys.argv[2]]
main()
"""


def started(meeting: Meeting) -> "subprocess.Popen[bytes]":
    """Another process that holds a round of this conference."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TALLY_STATE_DIR": str(meeting.door.state)}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, meeting.id, PROMPT], cwd=meeting.door.workspace, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


@pytest.mark.promise("studio.conference-broken-off", "studio.conference-two-processes")
@pytest.mark.parametrize(("before", "told"), [(1, ["prompt"]), (3, ["prompt", "reply"])], ids=["tools", "speaking"])
def test_a_round_whose_process_is_killed_is_broken_off_and_can_be_sent_again(
    tmp_path: Path, before: int, told: list[str]
) -> None:
    door = Doorway(tmp_path / "work")
    try:
        meeting = Meeting(door, "critic")
        hangs = HangsAndTells()
        script: list[Behaviour] = [*tools(), says("One.")]
        with ScriptedServer(*script[:before], hangs, *tools(), says("She stays ashore."), ABSTAIN) as server:
            meeting.served(server)
            with started(meeting) as other:
                assert hangs.asked.wait(60)
                # Seen from here, it runs: nobody else may begin one.
                assert meeting.get()["rounds"][0]["state"] == "running"
                busy = door.post(f"{meeting.path}/rounds", {"prompt": "another"})
                assert busy.json()["error"]["message"] == "round_running"
                other.send_signal(signal.SIGKILL)
                assert other.wait() == -signal.SIGKILL
            (broken,) = meeting.get()["rounds"]
            assert (broken["state"], broken["issue_id"], broken["receipts"]) == ("broken_off", None, [])
            assert [line["kind"] for line in meeting.transcript()] == told
            # What ran has its receipt, whatever became of the round.
            assert len(meeting.ran()) == 1
            again = door.post(f"{meeting.path}/rounds", {"again": 1}).json()
        assert (again["number"], again["state"]) == (2, "closed")
        assert [reply["text"].split("\n")[0] for reply in again["replies"]] == ["She stays ashore."]
        assert [each["state"] for each in meeting.get()["rounds"]] == ["broken_off", "closed"]
        assert [line["text"] for line in meeting.transcript() if line["kind"] == "prompt"] == [PROMPT, PROMPT]
    finally:
        door.close()
    assert verify(door.workspace).ok


@pytest.mark.promise("studio.conference-two-processes", "studio.conference-cancel")
def test_a_round_of_another_process_is_cancelled_from_here_and_its_round_is_read_here(tmp_path: Path) -> None:
    door = Doorway(tmp_path / "work")
    try:
        meeting = Meeting(door, "critic")
        hangs = HangsAndTells()
        with ScriptedServer(*tools(), says("One."), hangs) as server:
            meeting.served(server)
            with started(meeting) as other:
                assert hangs.asked.wait(60)
                wished = door.post(f"{meeting.path}/rounds/1/cancel")
                assert wished.json()["state"] == "cancelling"
                out, _ = other.communicate(timeout=60)
                assert other.returncode == 1
        assert b'"state": "cancelled"' in out
        (ended,) = meeting.get()["rounds"]
        assert (ended["state"], len(ended["receipts"])) == ("cancelled", 1)
        assert ended["issue_id"]
    finally:
        door.close()
