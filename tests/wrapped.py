"""`tally mcp wrap` in a process of its own, and a client that speaks lines with it."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tallystick import Gate
from tallystick.gate.record.receipt import Receipt
from tests.verifying import verify

SCRIPT = Path(__file__).with_name("upstream_script.py")
QUICK = '[ledger]\ndurability = "os"\n'
PATIENCE_S = 60
"""Far more than anything takes; a test that reaches it has found a hang."""


def server(*options: str) -> list[str]:
    return [sys.executable, "-S", "-E", str(SCRIPT), *options]


class Client:
    """One client and whatever it started."""

    def __init__(self, command: Sequence[str], *, home: Path, hello: dict[str, Any] | None = None) -> None:
        environ = {**os.environ, "HOME": str(home)}
        self.process = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ
        )
        self._lines: queue.Queue[bytes | None] = queue.Queue()
        self._errors: list[bytes] = []
        self._threads = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_errors, daemon=True),
        ]
        for thread in self._threads:
            thread.start()
        self._number = 0
        self.others: list[dict[str, Any]] = []
        """Everything that came and was no answer to what was asked."""
        self.on_request: Callable[[dict[str, Any]], dict[str, Any]] | None = None
        if hello is not None:
            self.hello(hello)

    def hello(self, capabilities: dict[str, Any]) -> dict[str, Any]:
        said = {
            "protocolVersion": "2025-06-18",
            "capabilities": capabilities,
            "clientInfo": {"name": "t", "version": "1"},
        }
        answer = self.ask("initialize", said)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer

    def send(self, message: dict[str, Any] | list[Any] | bytes) -> None:
        assert self.process.stdin is not None
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        self.process.stdin.write(data + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes | None:
        """The next line; None at the end."""
        return self._lines.get(timeout=PATIENCE_S)

    def answer_line(self, ident: Any) -> bytes:
        """The line that answers this id; what comes before it is kept or answered."""
        while (line := self.line()) is not None:
            message = json.loads(line)
            if "method" not in message and message.get("id") == ident:
                return line
            self.others.append(message)
            if "id" in message and "method" in message and self.on_request is not None:
                self.send({"jsonrpc": "2.0", "id": message["id"], "result": self.on_request(message)})
        raise AssertionError(f"ended without an answer: {self.errors}")

    def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        return json.loads(self.answer_line(self.begin(method, params)))

    def begin(self, method: str, params: dict[str, Any] | None = None) -> int:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}})
        return self._number

    def call(self, name: str, args: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        return self.ask("tools/call", {"name": name, "arguments": args or {}, **more})

    @property
    def errors(self) -> str:
        return b"".join(self._errors).decode()

    def close(self) -> int:
        assert self.process.stdin is not None
        if not self.process.stdin.closed:
            with suppress(BrokenPipeError):  # what a process that has ended did not read
                self.process.stdin.close()
        code = self.process.wait(timeout=PATIENCE_S)
        for thread in self._threads:
            thread.join(timeout=PATIENCE_S)
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdout.close()
        self.process.stderr.close()
        return code

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _read_errors(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._errors.append(line)


class House:
    """A home folder with one workspace, and wrapped servers in it."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.workspace = folder / "ws"
        self.home.mkdir()

    def policy(self, text: str) -> None:
        self.workspace.mkdir(exist_ok=True)
        (self.workspace / "tallystick.toml").write_text(QUICK + text)

    def command(self, *options: str, command: Sequence[str] | None = None) -> list[str]:
        own = [sys.executable, "-m", "tallystick", "mcp", "wrap", "--workspace", str(self.workspace), "--name", "s"]
        return [*own, *options, *(["--", *(command or server())] if command != [] else [])]

    def wrap(self, *options: str, command: Sequence[str] | None = None, hello: dict[str, Any] | None = None) -> Client:
        chosen = {} if hello is None else hello
        return Client(self.command(*options, command=command), home=self.home, hello=chosen)

    def receipts(self, kind: str | None = None) -> list[Receipt]:
        with Gate.open(self.workspace, plugins=False) as gate:
            return [one for one in gate.ledger.read() if kind is None or one.header["kind"] == kind]

    def verified(self) -> bool:
        return verify(self.workspace).ok


def text_of(answer: dict[str, Any]) -> str:
    return str(answer["result"]["content"][0]["text"])


def refusal(answer: dict[str, Any]) -> dict[str, Any]:
    """What a refused call says for programs."""
    assert answer["result"]["isError"] is True
    return {name.removeprefix("tallystick/"): value for name, value in answer["result"]["_meta"].items()}
