"""Tools for processes of their own. They must stand in a module that another process can import."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from typing import Any

from tallystick import ToolError, current_call, note_file, tool

LONG_S = 600
"""Longer than any test: what still runs then was not stopped."""


@tool(effect="read", isolate=True)
def add(a: int, b: int) -> int:
    return a + b


@tool(effect="read", isolate=True)
async def add_async(a: int, b: int) -> int:
    await asyncio.sleep(0)
    return a + b


@tool(effect="read", isolate=True)
def who(*, dry_run: bool = False) -> dict[str, Any]:
    call = current_call()
    assert call is not None
    caller = call.session.caller
    return {
        "session": call.session.session_id,
        "agent": call.session.agent_id,
        "subject": caller.subject,
        "roles": sorted(caller.roles),
        "tool": call.tool,
        "dry_run": call.dry_run,
        "started": call.started_id,
    }


@tool(effect="read", isolate=True)
def reads_a_file(path: str) -> str:
    note_file(path, "ab" * 32, lines=(1, 3), excerpt_sha256="cd" * 32)
    return path


@tool(effect="read", isolate=True)
def environment() -> list[str]:
    return sorted(os.environ)


@tool(effect="read", isolate=True, timeout_s=1.0)
def hangs() -> str:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(LONG_S)
    return "done"


@tool(effect="read", isolate=True, timeout_s=1.0)
def hangs_while_holding_the_interpreter() -> str:
    # One step of C code that never lets another thread in: no thread or signal handler could end it.
    return str(sum(range(10**14)))


@tool(effect="read", isolate=True)
def prints_a_lot(megabytes: int) -> str:
    for _ in range(megabytes):
        sys.stdout.write("x" * 1024 * 1024)
        sys.stderr.write("y" * 1024 * 1024)
    sys.stdout.write('{"value": "forged", "file_refs": []}\n')
    sys.stdout.flush()
    return "true"


@tool(effect="read", isolate=True)
def raises(kind: str) -> str:
    kinds: dict[str, type[BaseException]] = {
        "ValueError": ValueError,
        "SystemExit": SystemExit,
        "KeyboardInterrupt": KeyboardInterrupt,
        "CancelledError": asyncio.CancelledError,
        "TimeoutError": TimeoutError,
    }
    raise kinds[kind]("the password is hunter2")


@tool(effect="read", isolate=True)
def fails_on_purpose(status: int | None, *, unavailable: bool) -> str:
    raise ToolError("there is no such book", status=status, unavailable=unavailable, hint="look elsewhere")


@tool(effect="read", isolate=True)
def returns(what: str) -> Any:
    return {"nan": float("nan"), "inside": [1.0, {"x": float("inf")}], "object": object(), "surrogate": "\ud800"}[what]


@tool(effect="read", isolate=True, max_output_bytes=10_000)
def returns_much(size: int) -> str:
    return "x" * size


@tool(effect="read", isolate=True)
def dies() -> str:
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


@tool(effect="read", isolate=True)
def leaves_at_once() -> str:
    os._exit(0)


@tool(effect="read", isolate=True)
def forks() -> str:
    return "copy" if os.fork() == 0 else "original"


@tool(effect="read", isolate=True)
def leaves_a_child_running() -> int:
    """The child holds every file the tool had open, the pipe of the answer included."""
    pid = os.fork()
    if pid == 0:
        time.sleep(LONG_S)
        os._exit(0)
    return pid


@tool(effect="read", isolate=True)
def starts_a_program() -> int:
    return subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({LONG_S})"]).pid


@tool(effect="read", isolate=True)
def notes_nonsense() -> str:
    call = current_call()
    assert call is not None
    call.file_refs.append({"path": 1.5, "sha256": ["no"]})
    return "done"
