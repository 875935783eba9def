"""Credits on disk: `.control-room/credits/credits.json`.

The file contains the events. Its balances are for human readers only: they are recomputed from the events on every
read, so editing them has no effect. Old events are archived to `credits-0001.json`, …; their sum is stored in the file
as `opening`.
"""

from pathlib import Path
from typing import Any

from tallystick.agents.credits import CreditEvent, balances, event_problem
from tallystick.agents.problem import Problem
from tallystick.records import record
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.json_file import JsonFile

MOST_EVENTS = 500
"""With this many events the file has a tenth of a megabyte; each new event reads, checks and rewrites it (30 ms)."""
CODE = "credits_damaged"


@record
class Account:
    """Content of the file."""

    events: tuple[CreditEvent, ...] = ()
    """Events that are not archived."""
    opening: dict[str, int]
    """Balances resulting from the archived events."""
    put_away: int = 0
    """Number of archive files."""

    def balances(self) -> dict[str, int]:
        """Return the balance of each agent."""
        return balances(self.events, self.opening)

    def of(self, agent_id: str) -> tuple[CreditEvent, ...]:
        """Return the events of one agent, oldest first."""
        return tuple(event for event in self.events if event.agent_id == agent_id)


class Credits:
    """The credits of one workspace. No door writes them; only the gate's findings do."""

    def __init__(self, workspace: Path) -> None:
        self._folder = workspace / CONTROL_ROOM / "credits"
        self._file = JsonFile(self._folder / "credits.json", code=CODE)

    def load(self) -> Account:
        """Read the account.

        Raises:
            ConfigError: `credits_damaged`; the file is not changed.
        """
        return _read(self._file)

    def balance(self, agent_id: str) -> int:
        """Return the balance of one agent."""
        return self.load().balances().get(agent_id, 0)

    def record(self, event: CreditEvent) -> CreditEvent | Problem:
        """Store an event once; for a duplicate, return the first event."""
        problem = event_problem(event)
        if problem is not None:
            return problem
        with self._file.locked():
            account = self.load()
            before = next((each for each in account.events if each.same_thing == event.same_thing), None)
            if before is not None:
                return before
            self._write(Account(events=(*account.events, event), opening=account.opening, put_away=account.put_away))
        return event

    def history(self) -> list[CreditEvent]:
        """Return every event ever recorded, oldest first; the balances can be recomputed from these alone."""
        account = self.load()
        archives = [_read(self._archive(number)) for number in range(1, account.put_away + 1)]
        return [event for each in (*archives, account) for event in each.events]

    def _write(self, account: Account) -> None:
        if len(account.events) > MOST_EVENTS:
            # Write the archive first, then the shorter file: after a crash in between, the archive is written again.
            number = account.put_away + 1
            self._archive(number).write(_wire(account))
            account = Account(opening=account.balances(), put_away=number)
        self._file.write(_wire(account))

    def _archive(self, number: int) -> JsonFile:
        return JsonFile(self._folder / f"credits-{number:04}.json", code=CODE)


def _wire(account: Account) -> dict[str, Any]:
    return {
        "balances": account.balances(),
        "opening": account.opening,
        "put_away": account.put_away,
        "events": [event.as_dict() for event in account.events],
    }


def _read(file: JsonFile) -> Account:
    found = file.read()
    if found is None:
        return Account(opening={})
    opening, listed, put_away = found.get("opening"), found.get("events"), found.get("put_away")
    is_sound = isinstance(opening, dict) and all(type(points) is int for points in opening.values())
    if not is_sound or not isinstance(listed, list) or type(put_away) is not int or put_away < 0:
        raise file.damaged("it holds 'opening' (whole numbers by agent), 'put_away' (a number) and the list 'events'")
    events: list[CreditEvent] = []
    for place, value in enumerate(listed):
        event = CreditEvent.from_dict(value)
        # An event that this code could not have written was added from outside.
        checked = event if isinstance(event, Problem) else event_problem(event) or event
        if isinstance(checked, Problem):
            raise file.damaged(f"/events/{place}{checked.pointer}: {checked.message}")
        events.append(checked)
    return Account(events=tuple(events), opening=opening or {}, put_away=put_away)
