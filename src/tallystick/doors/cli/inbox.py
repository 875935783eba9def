"""Find approval requests in all workspaces of this user."""

from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.doors.cli.workspace import MARKS, Here
from tallystick.errors import TallyError

if TYPE_CHECKING:
    from tallystick.gate.decide.approvals import Hold


def places(here: Here) -> list[Here]:
    """Return the named workspace; without `--workspace` the current one and all in which calls were held."""
    if here.named is not None:
        return [here]
    from tallystick.storage.inbox import registered_workspaces

    found = [folder for folder in registered_workspaces(here.settings.state_dir()) if folder != here.workspace]
    current = [here] if any((here.workspace / mark).exists() for mark in MARKS) or not found else []
    return [*current, *(here.elsewhere(folder) for folder in found)]


def holding(here: Here, approval_id: str) -> Here:
    """Return the workspace that holds a request; the current one if none does."""
    every = places(here)
    if len(every) > 1:
        for place in every:
            with place.gate() as gate:
                if gate.approvals.get(approval_id) is not None:
                    return place
    return every[0]


def all_requests(here: Here, state: str | None, limit: int, offset: int) -> "tuple[list[tuple[Path, Hold]], int]":
    """Return one page of the requests of all workspaces, the newest first, and how many there are.

    Raises:
        TallyError: The only workspace cannot be opened.
    """
    found: list[tuple[Path, Hold]] = []
    total, every = 0, places(here)
    for place in every:
        try:
            with place.gate() as gate:
                found += [(place.workspace, hold) for hold in gate.approvals.list(state=state, limit=limit + offset)]
                total += gate.approvals.count(state=state)
        except TallyError as error:
            if len(every) == 1:
                raise
            # One damaged workspace must not hide the requests of the others.
            here.screen.note(f"{place.workspace}: {error}")
    found.sort(key=lambda one: one[1].created, reverse=True)
    return found[offset : offset + limit], total
