"""A process of its own for a tool that is not trusted to return.

The parent starts `python -m tallystick.gate.execute.child`, hands over the tool's import path and arguments on stdin,
and reads one JSON answer from a pipe of its own: what the tool prints goes nowhere, and nothing it prints can pass for
a result. The whole process group is killed when the call is over, so what the tool forked dies with it.
"""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import orjson

from tallystick.errors import RegistrationError, ToolError
from tallystick.gate.execute.call import Call, serve
from tallystick.gate.session import Session

_READ = 65_536


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the child said."""

    value: Any
    file_refs: list[Mapping[str, Any]]


class TooMuchOutputError(RuntimeError):
    """The child's answer is larger than the tool may return."""


class ChildDiedError(RuntimeError):
    """The child ended without an answer."""


def import_path(handler: Callable[..., Any]) -> str:
    """`module:name` of a handler, checked at registration so that the child will find it."""
    module, name = getattr(handler, "__module__", None), getattr(handler, "__qualname__", "<locals>")
    if module is None or "<locals>" in name or module == "__main__":
        raise RegistrationError(f"{name}: an isolated tool must be a function of an importable module")
    return f"{module}:{name}"


async def run_in_process(
    path: str, args: Mapping[str, Any], *, call: Call, timeout_s: float, max_bytes: int
) -> Answer:
    """Run the tool at an import path in a child process.

    Raises:
        TimeoutError: It took too long; it and all it started are gone.
        TooMuchOutputError: Its answer was larger than `max_bytes`.
        ChildDiedError: It ended without an answer.
        ToolError: It failed on purpose.
    """
    read_fd, write_fd = os.pipe()
    try:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tallystick.gate.execute.child", str(write_fd),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
            pass_fds=(write_fd,), start_new_session=True,
            env={"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry), "PATH": os.defpath},
        )  # fmt: skip
    except BaseException:
        os.close(read_fd)
        raise
    finally:
        os.close(write_fd)
    request = orjson.dumps(
        {"path": path, "args": dict(args), "session_id": call.session.session_id, "tool": call.tool,
         "dry_run": call.dry_run}
    )  # fmt: skip
    try:
        async with asyncio.timeout(timeout_s):
            raw = await _exchange(process, request, read_fd, max_bytes)
    finally:
        # ProcessLookupError: the whole group is already gone.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return _read_answer(raw)


async def _exchange(process: asyncio.subprocess.Process, request: bytes, read_fd: int, max_bytes: int) -> bytes:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_fd, "rb", buffering=0)
    )
    try:
        assert process.stdin is not None  # noqa: S101 - asked for above; for the type checker
        # A child that dies before reading is reported by its missing answer.
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(request)
            await process.stdin.drain()
            process.stdin.close()
        chunks = bytearray()
        while chunk := await reader.read(_READ):
            chunks += chunk
            if len(chunks) > max_bytes:
                raise TooMuchOutputError
            if chunks.endswith(b"\n"):
                # The answer is one line; what the tool left running must not keep us waiting.
                break
        return bytes(chunks)
    finally:
        transport.close()


def _read_answer(raw: bytes) -> Answer:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise ChildDiedError from None
    if "error" in answer:
        error = answer["error"]
        if error["on_purpose"]:
            raise ToolError(
                error["message"], status=error["status"], unavailable=error["unavailable"], hint=error["hint"]
            )
        raise RuntimeError(error["message"])
    return Answer(value=answer["value"], file_refs=answer["file_refs"])


def _serve_one(write_fd: int) -> None:
    """The child's side: one request, one answer, end."""
    request = orjson.loads(sys.stdin.buffer.read())
    call = Call(
        session=Session(session_id=request["session_id"]), tool=request["tool"], dry_run=request["dry_run"]
    )
    try:
        handler = _find(request["path"])
        serve(call)
        value = handler(**request["args"])
        if asyncio.iscoroutine(value):
            value = asyncio.run(value)
        answer = orjson.dumps({"value": value, "file_refs": call.file_refs})
    except ToolError as error:
        answer = orjson.dumps(
            {"error": {"on_purpose": True, "message": str(error), "status": error.status,
                       "unavailable": error.unavailable, "hint": error.hint}}
        )  # fmt: skip
    except BaseException as error:  # noqa: BLE001 - whatever it was, the parent is told
        answer = orjson.dumps({"error": {"on_purpose": False, "message": type(error).__name__}})
    with os.fdopen(write_fd, "wb") as pipe:
        pipe.write(answer + b"\n")


def _find(path: str) -> Callable[..., Any]:
    module, _, name = path.partition(":")
    found: Any = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    # The decorator put a Tool in the function's place; its handler is the function.
    handler: Callable[..., Any] = getattr(found, "handler", found)
    return handler


if __name__ == "__main__":
    _serve_one(int(sys.argv[1]))
