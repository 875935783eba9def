"""One ASGI application for API, MCP and page, and the server that runs it."""

import contextlib
import logging
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import uvicorn
from fastapi import FastAPI
from starlette.routing import Route

from tallystick.app.flows import register_flows
from tallystick.app.gate import Gate
from tallystick.app.gc_tuning import stay
from tallystick.doors.http.app import api, guarded
from tallystick.doors.http.asgi import App
from tallystick.doors.http.context import HttpContext
from tallystick.doors.http.guard import refuse_bind
from tallystick.doors.http.protocol import allow_many_connections, uvicorn_options
from tallystick.doors.identity import Identity, StartupToken
from tallystick.doors.mcp.serve.http import PATH as MCP_PATH
from tallystick.doors.mcp.serve.http import McpDoor
from tallystick.doors.presentation.approval_wait import WAIT_S
from tallystick.doors.web.context import PageContext
from tallystick.doors.web.mounting import mount as mount_page
from tallystick.errors import ConfigError
from tallystick.extras import install_command, installed
from tallystick.settings import CONTROL_ROOM, ServerSettings, Settings, load_settings
from tallystick.storage.durable.stored import run_worker
from tallystick.telemetry.logs import Masker, set_up_logs
from tallystick.telemetry.observer import Telemetry
from tallystick.turns.runs import DurableError

BACKLOG = 2048
WORKER_PATIENCE_S = 10
_log = logging.getLogger("tallystick.serve")


class Server:
    """An open workspace behind an HTTP door."""

    def __init__(
        self, workspace: Path, settings: Settings, *, mcp_wait_s: float = WAIT_S, show_receipts: bool = False,
        page: bool = False,
    ) -> None:  # fmt: skip
        """Open everything that can refuse before anything is served.

        Args:
            workspace: The project's folder.
            settings: The configuration.
            mcp_wait_s: How long a held call of an MCP client waits for a person.
            show_receipts: Say the receipt's id in the text of MCP results too.
            page: Serve the page too; once in a process, since its library knows one application only.

        Raises:
            ConfigError: Not loopback without auth, a weak key, a bad configuration.
        """
        refuse_bind(settings)
        self.settings = settings
        with contextlib.ExitStack() as opened:
            self.identity = Identity(settings.auth, folder=workspace)
            self.telemetry = Telemetry.open(settings, control_room=workspace / CONTROL_ROOM)
            opened.callback(self.telemetry.close)
            self.gate = Gate.open(workspace, settings=settings, observer=self.telemetry)
            opened.callback(self.gate.close)
            register_flows(self.gate)
            # Last: a server that does not come up must not take the token of one that runs.
            self.startup = StartupToken.create(state_dir=settings.state_dir(), workspace=workspace)
            opened.callback(self.startup.close)
            desk = HttpContext(gate=self.gate, identity=self.identity, startup=self.startup)
            shown = self.telemetry if settings.telemetry.metrics else None
            app = api(desk)
            if installed("mcp"):
                self._add_mcp(app, McpDoor(self.gate, self.identity, wait_s=mcp_wait_s, show_receipts=show_receipts))
            if page and installed("page"):
                mount_page(app, PageContext(gate=self.gate, identity=self.identity, startup=self.startup))
            self.app: App = guarded(app, desk, shown)
            self._opened = opened.pop_all()

    def _add_mcp(self, app: FastAPI, mcp: McpDoor) -> None:
        app.router.routes.append(Route(MCP_PATH, endpoint=mcp, include_in_schema=False))
        app.router.lifespan_context = mcp.lifespan

    def close(self) -> None:
        """Let go of everything, last things written."""
        self._opened.close()


def run_server(
    workspace: Path, *, host: str | None = None, port: int | None = None, worker: bool = True, **mcp: Any
) -> None:
    """Serve a workspace until interrupted or terminated.

    Args:
        workspace: The project's folder.
        host: Instead of `server.host`.
        port: Instead of `server.port`; 0 takes any that is free.
        worker: Whether to run a durable worker in this process too.
        mcp: `mcp_wait_s` and `show_receipts`, as `Server` takes them.

    Raises:
        ConfigError: What `Server` refuses, or the port is taken.
    """
    settings = load_settings(workspace)
    chosen = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = settings.model_copy(update={"server": settings.server.model_copy(update=chosen)})
    refuse_bind(settings)
    with contextlib.ExitStack() as stack:
        # The port first: a server that cannot have it must not take the token's place of one that runs.
        listening = stack.enter_context(_listen(settings.server))
        server = stack.enter_context(contextlib.closing(Server(workspace, settings, page=True, **mcp)))
        stack.enter_context(_ended_by_sigterm())
        set_up_logs(settings, masker=Masker(names=settings.redact.keys, values=[server.startup.value]))
        for chatty in ("uvicorn.error", "dbos", "mcp"):
            # Their notes of every start say nothing that `_announce` does not, and the SDK's name session ids, which
            # are as good as a password.
            logging.getLogger(chatty).setLevel(logging.WARNING)
        allow_many_connections()
        if worker:
            stack.enter_context(_worker(server))
        _announce(server, listening.getsockname()[1])
        stay()
        uvicorn.Server(uvicorn.Config(**uvicorn_options(server.app, settings.server))).run(sockets=[listening])


def _listen(server: ServerSettings) -> socket.socket:
    """Take the port, so that what is announced is true."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    # The protocol is named: only for TCP by name does the event loop switch off delayed sending.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((server.host, server.port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        message = f"Cannot listen on {server.host}:{server.port}: {error.strerror}. Give another --host or --port."
        raise ConfigError(message, code="cannot_listen") from None
    return listening


@contextlib.contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Let a polite kill unwind like Ctrl-C: the last checkpoint is written, the token's file taken away.

    uvicorn finishes what it is answering and then sends itself the signal once more; by default that would end the
    process on the spot. (Signals can be set in the main thread only; elsewhere whoever started us sees to them.)
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def unwind(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, unwind)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextlib.contextmanager
def _worker(server: Server) -> Iterator[None]:
    """Run one durable worker beside the server."""
    # Without a room that registered flows there is nothing to work on, and the engine need not be loaded.
    if not server.gate.durable.book.flows:
        yield
        return
    stop = threading.Event()
    thread = threading.Thread(target=_work, args=(server, stop), name="tally-worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(timeout=WORKER_PATIENCE_S)


def _work(server: Server, stop: threading.Event) -> None:
    """Without the extra there is nothing to work with; the server serves on."""
    try:
        run_worker(server.gate.durable, stop, worker_id=f"serve-{secrets.token_hex(6)}")
    except DurableError as error:
        _log.warning("no durable worker: %s (%s)", error, error.code)


def _announce(server: Server, port: int) -> None:
    """Say where it listens and give the start-up token once, to the terminal and not to the log."""
    host = server.settings.server.host
    shown = f"[{host}]" if ":" in host else host
    where = "/" if installed("page") else "/api/docs"
    sys.stderr.write(f"Tallystick on http://{shown}:{port}{where}\n")
    if not installed("page"):
        sys.stderr.write(f"Without the page, which is not installed: {install_command('page')}\n")
    if installed("mcp"):
        sys.stderr.write(f"MCP clients: http://{shown}:{port}{MCP_PATH}\n")
    sys.stderr.write(f"Start-up token (approving, policy, keys): {server.startup.value}\n")
    if server.startup.path is not None:
        sys.stderr.write(f"It is also in {server.startup.path}\n")
    sys.stderr.flush()
