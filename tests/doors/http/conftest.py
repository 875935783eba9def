"""Doors to knock at."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.doors.http.doorway import AUTH, Doorway

OpenDoor = Callable[..., Doorway]


@pytest.fixture
def open_door(tmp_path: Path) -> Iterator[OpenDoor]:
    """Open a workspace behind a door, with other settings than usual; all are closed at the end."""
    opened: list[Doorway] = []

    def make(name: str = "work", **changes: Any) -> Doorway:
        door = Doorway(tmp_path / name, **changes)
        opened.append(door)
        return door

    yield make
    for door in opened:
        door.close()


@pytest.fixture(scope="module")
def well_used(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Doorway]:
    """One door for many questions: whoever asks looks at what is new since."""
    door = Doorway(tmp_path_factory.mktemp("well-used"))
    yield door
    door.close()


@pytest.fixture
def door(open_door: OpenDoor) -> Doorway:
    """Without auth: whoever calls over loopback is the local owner."""
    return open_door()


@pytest.fixture
def locked(open_door: OpenDoor) -> Doorway:
    """With auth: everyone needs a token."""
    return open_door(auth=AUTH)
