"""Run a tool in a separate process, for tools that may never return.

The parent starts `python -m tallystick.gate.execute.child`, sends the tool's import path and arguments on stdin, and
reads one JSON response from a dedicated pipe: the tool's prints are discarded and cannot be taken for a result. The
whole process group is killed after the call, including processes the tool forked.
"""

import asyncio
import contextlib
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import orjson

from tallystick.errors import RegistrationError, ToolError
from tallystick.gate.annotations import codec_of
from tallystick.gate.execute.call import SERVED, Call
from tallystick.gate.execute.limits import within
from tallystick.gate.execute.output import NotJsonError, to_output
from tallystick.gate.execute.typed_calls import typed
from tallystick.gate.session import Caller, Session

_READ = 65_536
_STACK = 8_192
"""Maximum characters of a stack trace, from its end, sent to the parent for the log."""
_ON_PURPOSE = "ToolError"
_NOT_JSON = "not JSON"


@dataclass(frozen=True, kw_only=True, slots=True)
class HandlerPath:
    """Import path of a handler, for the child."""

    module: str
    name: str
    file: str | None = None
    """Path of the module's file, used if it cannot be imported by name (a tools file of the workspace)."""
    typed: bool = False
    """Whether arguments and result are converted according to the handler's annotations."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ChildResponse:
    """The child's response."""

    value: Any
    file_refs: list[Mapping[str, Any]]


class TooMuchOutputError(RuntimeError):
    """The child's response is larger than the tool may return."""


class ChildDiedError(RuntimeError):
    """The child exited without a response."""


class ChildFailedError(RuntimeError):
    """The tool raised an exception in the child; `kind` is its type, `stack` is for the log."""

    def __init__(self, kind: str, stack: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.stack = stack


def handler_path(handler: Callable[..., Any], *, typed: bool = False) -> HandlerPath:
    """Return the import path of a handler, checked at registration so that the child can find it.

    Raises:
        RegistrationError: The handler is not a function of an importable module.
    """
    module, name = getattr(handler, "__module__", None), getattr(handler, "__qualname__", "<locals>")
    if module is None or "<locals>" in name or module == "__main__":
        message = f"{name}: an isolated tool must be a function of an importable module"
        raise RegistrationError(message, code="handler_not_importable")
    file = getattr(sys.modules.get(module), "__file__", None)
    return HandlerPath(module=module, name=name, file=file, typed=typed)


async def run_in_process(
    address: HandlerPath, args: Mapping[str, Any], *, call: Call, timeout_s: float, max_bytes: int
) -> ChildResponse:
    """Run a tool in a child process.

    Raises:
        OutOfTimeError: The tool timed out; its process group, with the processes it started, was killed.
        TooMuchOutputError: The response was larger than `max_bytes`.
        ChildDiedError: The child exited without a response.
        ChildFailedError: The tool raised an exception.
        NotJsonError: The tool returned a value that JSON cannot represent.
        ToolError: The tool raised it to report a failure.
    """
    read_fd, write_fd = os.pipe()
    try:
        process = await _start_child(write_fd)
    except BaseException:
        os.close(read_fd)
        raise
    finally:
        os.close(write_fd)
    request = orjson.dumps({"address": address, "args": dict(args), "call": call}, default=sorted)
    try:
        raw = await within(_exchange(process, request, read_fd, max_bytes), timeout_s)
    finally:
        # ProcessLookupError: the whole group has already exited.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    return _read_answer(raw)


async def _start_child(write_fd: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tallystick.gate.execute.child",
        str(write_fd),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        pass_fds=(write_fd,),
        start_new_session=True,
        env={"PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry), "PATH": os.defpath},
    )


async def _exchange(process: asyncio.subprocess.Process, request: bytes, read_fd: int, max_bytes: int) -> bytes:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read_fd, "rb", buffering=0)
    )
    try:
        assert process.stdin is not None  # noqa: S101 - always set with PIPE; for the type checker
        # A child that exits before reading is reported by its missing response.
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
                # The response is one line. Do not wait for EOF: a process the tool left running keeps the pipe open.
                break
        return bytes(chunks)
    finally:
        transport.close()


def _read_answer(raw: bytes) -> ChildResponse:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        raise ChildDiedError from None
    error = answer.get("error")
    if error is None:
        return ChildResponse(value=answer["value"], file_refs=answer["file_refs"])
    if error["kind"] == _ON_PURPOSE:
        raise ToolError(error["message"], status=error["status"], unavailable=error["unavailable"], hint=error["hint"])
    if error["kind"] == _NOT_JSON:
        raise NotJsonError
    raise ChildFailedError(error["kind"], error["stack"])


def _serve_one(write_fd: int) -> None:
    """Run in the child: read one request, write one response, exit."""
    here = os.getpid()
    request = orjson.loads(sys.stdin.buffer.read())
    call = _call_from(request["call"])
    try:
        answer = _run(HandlerPath(**request["address"]), request["args"], call)
    except ToolError as error:
        answer = _error(
            _ON_PURPOSE, message=str(error), status=error.status, unavailable=error.unavailable, hint=error.hint
        )
    except NotJsonError:
        answer = _error(_NOT_JSON)
    except BaseException as error:  # noqa: BLE001 - report any exception to the parent
        answer = _error(type(error).__name__, stack=traceback.format_exc()[-_STACK:])
    if os.getpid() != here:
        # The tool forked and this is the forked process: only the original may respond.
        os._exit(0)
    with os.fdopen(write_fd, "wb") as pipe:
        pipe.write(answer + b"\n")


def _run(address: HandlerPath, args: dict[str, Any], call: Call) -> bytes:
    handler = _find(address)
    SERVED.set(call)
    value = handler(**args)
    if asyncio.iscoroutine(value):
        value = asyncio.run(value)
    output = to_output(value)
    return orjson.dumps({"file_refs": call.file_refs})[:-1] + b',"value":' + output.data + b"}"


def _error(kind: str, **details: Any) -> bytes:
    return orjson.dumps({"error": {"kind": kind, **details}})


def _call_from(said: dict[str, Any]) -> Call:
    session = said["session"]
    caller = session.pop("caller")
    caller = Caller(subject=caller["subject"], roles=frozenset(caller["roles"]), channel=caller["channel"])
    return Call(
        session=Session(caller=caller, **session),
        tool=said["tool"],
        dry_run=said["dry_run"],
        started_id=said["started_id"],
    )


def _find(address: HandlerPath) -> Callable[..., Any]:
    found: Any = _module(address)
    for part in address.name.split("."):
        found = getattr(found, part)
    # If the function was decorated, the name refers to a Tool, whose `handler` is the function.
    handler: Callable[..., Any] = getattr(found, "handler", found)
    return typed(handler, codec_of(handler)) if address.typed else handler


def _module(address: HandlerPath) -> ModuleType:
    try:
        return import_module(address.module)
    except ModuleNotFoundError as error:
        spec = spec_from_file_location(address.module, address.file) if address.file else None
        if error.name != address.module or spec is None or spec.loader is None:
            raise
    module = module_from_spec(spec)
    sys.modules[address.module] = module
    spec.loader.exec_module(module)
    return module


if __name__ == "__main__":
    _serve_one(int(sys.argv[1]))
