"""The child process that serves a local model: started on demand, one per weights file."""

import atexit
import contextlib
import json
import secrets
import subprocess
import sys
import threading
from dataclasses import field
from http import HTTPStatus
from pathlib import Path
from queue import Empty, Queue

from tallystick.http_port import HttpRequest, HttpResponse, parse_address
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.records import record
from tallystick.turns.model import ModelError

START_S = 60.0
"""Enough for some gigabytes of weights on a slow disk."""
_HEALTH_S = 5.0
COMMAND = (sys.executable, "-m", "tallystick.providers.local.server_process")


@record
class Served:
    """The address of a running local model."""

    address: str
    key: str = field(repr=False)
    """Generated for this process, so that other users of the machine cannot use the server."""
    pid: int


class LocalServer:
    """One server, restarted if it has ended."""

    def __init__(self, weights: Path, name: str, *, command: tuple[str, ...] = COMMAND) -> None:
        self._weights = weights
        self._name = name
        self._command = command
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None
        self._served: Served | None = None

    def ready(self) -> Served | ModelError:
        """Return the server's address, starting it if necessary. Blocks while it starts."""
        with self._lock:
            if self._child is not None and self._child.poll() is None and self._served is not None:
                return self._served
            self._stop()
            return self._start()

    def stop(self) -> None:
        """Stop the child process."""
        with self._lock:
            self._stop()

    def _start(self) -> Served | ModelError:
        key = secrets.token_urlsafe(24)
        self._child = child = subprocess.Popen(  # noqa: S603 - our own command, no input of a caller
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        given = {"weights": str(self._weights), "name": self._name, "key": key}
        address = _told(child, json.dumps(given))
        if address is None or not _healthy(address):
            self._stop()
            message = "The local model did not start. Check that the file of weights is whole and that memory is free."
            return ModelError(code="endpoint_failed", message=message)
        self._served = Served(address=address, key=key, pid=child.pid)
        return self._served

    def _stop(self) -> None:
        child, self._child, self._served = self._child, None, None
        if child is None:
            return
        child.kill()
        child.wait()
        for pipe in (child.stdin, child.stdout):
            if pipe is not None:
                # Closing may fail to flush data that the child never read; the pipe is closed anyway.
                with contextlib.suppress(OSError):
                    pipe.close()


_servers: dict[Path, LocalServer] = {}
_making = threading.Lock()


def server_for(weights: Path, name: str) -> LocalServer:
    """Return this process's server for a weights file."""
    with _making:
        if weights not in _servers:
            _servers[weights] = LocalServer(weights, name)
            # The closed pipe would end it too; this happens before the interpreter is partly torn down.
            atexit.register(_servers[weights].stop)
        return _servers[weights]


def _told(child: "subprocess.Popen[str]", given: str) -> str | None:
    """Return the address that the child prints; None if it ends or does not respond."""
    lines: Queue[str] = Queue()
    assert child.stdin is not None and child.stdout is not None  # noqa: S101, PT018 - both are pipes
    output = child.stdout
    # In a thread, because reading a pipe has no timeout; it ends with the child.
    threading.Thread(target=lambda: lines.put(output.readline()), daemon=True).start()
    try:
        child.stdin.write(given + "\n")
        child.stdin.flush()
        return str(json.loads(lines.get(timeout=START_S))["address"])
    except (OSError, ValueError, KeyError, Empty):
        return None


def _healthy(address: str) -> bool:
    place = parse_address(f"{address}/health", private=False)
    if place is None:
        return False
    answer = PinnedHttpClient().send_sync(HttpRequest(method="GET", address=place, within_s=_HEALTH_S))
    return isinstance(answer, HttpResponse) and answer.status == HTTPStatus.OK
