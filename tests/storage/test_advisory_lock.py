"""Turns between processes: one at a time, given up by death, and not waited for when nothing moves."""

import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace

import pytest

from tallystick.storage import advisory_lock
from tallystick.storage.advisory_lock import AdvisoryLock

HOLDER = """
import sys
from pathlib import Path
from tallystick.storage.advisory_lock import AdvisoryLock
with AdvisoryLock(Path(sys.argv[1])):
    print("taken", flush=True)
    sys.stdin.read()
"""


class Waiting:
    """Somebody who takes a turn as soon as that can be."""

    def __init__(self, path: Path, patience_s: float) -> None:
        self._turn = AdvisoryLock(path, patience_s)
        self.had = Event()
        self._thread = Thread(target=self._take)
        self._thread.start()

    def _take(self) -> None:
        with self._turn:
            self.had.set()

    def within(self, seconds: float) -> bool:
        return self.had.wait(seconds)

    def end(self) -> None:
        self._thread.join()


@pytest.mark.promise("memory.processes")
def test_one_at_a_time_and_who_has_it_may_take_it_again(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    one = AdvisoryLock(path)
    with one:
        waiting = Waiting(path, 60)
        with one:
            assert one.taken
        assert one.taken
        assert not waiting.within(0.1)
    assert not one.taken
    assert waiting.within(30)
    waiting.end()
    assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.promise("memory.processes")
def test_who_shows_no_sign_of_getting_on_is_not_waited_for_and_who_does_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, clock, signs = tmp_path / "turn", [0.0], 30
    has, waits = AdvisoryLock(path), AdvisoryLock(path, patience_s=1.0)

    def pass_time(_seconds: float) -> None:
        clock[0] += 0.5
        if clock[0] <= signs:
            with has:
                pass

    monkeypatch.setattr(
        advisory_lock, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=pass_time, time_ns=time.time_ns)
    )
    with has:
        with waits:
            assert clock[0] == signs + 1
        # Who went ahead has not taken it from the one that has it, and is no sign of that one.
        with waits:
            assert waits.taken
            assert clock[0] == signs + 2


@pytest.mark.promise("memory.processes")
def test_where_no_file_can_be_made_it_goes_on_without(tmp_path: Path) -> None:
    one = AdvisoryLock(tmp_path / "gone" / "turn")
    with one:
        assert one.taken
    assert not one.taken


@pytest.mark.promise("memory.processes")
def test_a_process_that_dies_has_no_turn_any_more(tmp_path: Path) -> None:
    path = tmp_path / "turn"
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "taken\n"
        waiting = Waiting(path, 600)
        assert not waiting.within(0.1)
        holder.kill()
        assert waiting.within(30)
    waiting.end()
