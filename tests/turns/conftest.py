"""A gate with a few tools over a workspace with a log."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate, tool
from tests.gates import open_gate

LINE = "The keeper wound the lamp at nine and wrote the hour into the book."


class Ran(list[str]):
    """What ran, in order."""


@pytest.fixture
def ran() -> Ran:
    return Ran()


@pytest.fixture
def desk(tmp_path: Path, ran: Ran) -> Iterator[Gate]:
    """`read_log` reads the log for real; `note` writes; `send` must be approved; `breaks` fails; `long` is long."""
    workspace = tmp_path / "desk"
    workspace.mkdir()
    (workspace / "log.md").write_text(f"# Log\n\n{LINE}\n", encoding="utf-8")

    @tool(effect="read")
    async def read_log(line: int = 3) -> str:
        """Read one line of the log."""
        ran.append(f"read_log {line}")
        return (workspace / "log.md").read_text(encoding="utf-8").splitlines()[line - 1]

    @tool(effect="write")
    async def note(text: str) -> str:
        """Write a note."""
        ran.append(f"note {text}")
        return "noted"

    @tool(effect="external")
    async def send(to: str) -> str:
        """Send the log to somebody."""
        ran.append(f"send {to}")
        return "sent"

    @tool(effect="read")
    async def breaks() -> str:
        """Fail."""
        ran.append("breaks")
        raise ValueError("the shelf is empty")

    @tool(effect="read")
    async def long(size: int) -> str:
        """Say much."""
        ran.append(f"long {size}")
        return "x" * size

    opened = open_gate(workspace, read_log, note, send, breaks, long)
    yield opened
    opened.close()
