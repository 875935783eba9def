"""The ASGI application for API, MCP and page, and the server that runs it."""

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
from tallystick.doors.web.application import mount as mount_page
from tallystick.doors.web.context import PageContext
from tallystick.errors import ConfigError
from tallystick.extras import install_command, installed
from tallystick.settings import CONTROL_ROOM, ServerSettings, Settings, load_settings
from tallystick.storage.durable.stored import run_worker
from tallystick.telemetry.logs import Masker, set_up_logs
from tallystick.telemetry.observer import Telemetry
from tallystick.turns.runs import DurableError

BACKLOG = 2048
WORKER_PATIENCE_S = 10
WORKER_RETRY_S = 5.0
_FINAL = frozenset({"durable_one_per_process", "durable_not_installed"})
"""Codes after which another try would end the same way, and the server goes on without a worker."""
_log = logging.getLogger("tallystick.serve")


class Server:
    """An open workspace and its HTTP application."""

    def __init__(
        self,
        workspace: Path,
        settings: Settings,
        *,
        mcp_wait_s: float = WAIT_S,
        show_receipts: bool = False,
        page: bool = False,
    ) -> None:
        """Open everything that can fail before serving starts.

        Args:
            workspace: The project's folder.
            settings: The configuration.
            mcp_wait_s: Seconds that a held call of an MCP client waits for approval.
            show_receipts: Also include the receipt's id in the text of MCP results.
            page: Also serve the page; only once in a process, since its library supports a single application.

        Raises `ConfigError` for a non-loopback address without auth, a weak key or an invalid configuration.
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
            # Last, so that a server that fails to start does not replace the token of a running one.
            self.startup = StartupToken.create(state_dir=settings.state_dir(), workspace=workspace)
            opened.callback(self.startup.close)
            context = self.context = HttpContext(gate=self.gate, identity=self.identity, startup=self.startup)
            app = api(context)
            if installed("mcp"):
                self._add_mcp(app, McpDoor(self.gate, self.identity, wait_s=mcp_wait_s, show_receipts=show_receipts))
            if page and installed("page"):
                mount_page(app, PageContext(gate=self.gate, identity=self.identity, startup=self.startup))
            self.app: App = guarded(app, context, self.telemetry if settings.telemetry.metrics else None)
            self._opened = opened.pop_all()

    def _add_mcp(self, app: FastAPI, mcp: McpDoor) -> None:
        app.router.routes.append(Route(MCP_PATH, endpoint=mcp, include_in_schema=False))
        app.router.lifespan_context = mcp.lifespan

    def close(self) -> None:
        """Flush pending writes and release all resources."""
        self._opened.close()


def run_server(
    workspace: Path, *, host: str | None = None, port: int | None = None, worker: bool = True, **mcp: Any
) -> None:
    """Serve a workspace until interrupted or terminated.

    Args:
        workspace: The project's folder.
        host: Overrides `server.host`.
        port: Overrides `server.port`; 0 chooses a free port.
        worker: Whether to also run a durable worker in this process.
        mcp: `mcp_wait_s` and `show_receipts` of `Server`.

    Raises:
        ConfigError: As for `Server`, or the address cannot be bound.
    """
    settings = load_settings(workspace)
    chosen = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = settings.model_copy(update={"server": settings.server.model_copy(update=chosen)})
    refuse_bind(settings)
    with contextlib.ExitStack() as stack:
        # Bind the port first, so that a server that cannot get it does not replace the token of a running one.
        listening = stack.enter_context(_listen(settings.server))
        server = stack.enter_context(contextlib.closing(Server(workspace, settings, page=True, **mcp)))
        stack.enter_context(_ended_by_sigterm())
        set_up_logs(settings, masker=Masker(names=settings.redact.keys, values=[server.startup.value]))
        for chatty in ("uvicorn.error", "dbos", "mcp"):
            # Their start-up messages repeat `_announce`, and the MCP SDK logs session ids, which work like passwords.
            logging.getLogger(chatty).setLevel(logging.WARNING)
        allow_many_connections()
        if worker:
            stack.enter_context(_worker(server))
        for room in server.gate.rooms().values():
            room.served()
        _announce(server, listening.getsockname()[1])
        stay()
        uvicorn.Server(uvicorn.Config(**uvicorn_options(server.app, settings.server))).run(sockets=[listening])


def _listen(server: ServerSettings) -> socket.socket:
    """Bind the port before it is announced."""
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    # Pass IPPROTO_TCP explicitly: the event loop sets TCP_NODELAY only on sockets created with it.
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
    """Make SIGTERM unwind like Ctrl-C, so that the last checkpoint is written and the token file removed.

    uvicorn finishes its requests and then raises the signal again, which by default would kill the process at once.
    Signal handlers can only be set in the main thread; in other threads the embedding program must handle signals.
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
    """Run one durable worker in a thread beside the server."""
    # Do not load the engine if no room has registered flows.
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
    """Run the worker. One that cannot start, as on a full disk, is tried again, and `/health` says so until it runs."""

    def started() -> None:
        server.context.worker_fault = None

    while not stop.is_set():
        try:
            run_worker(server.gate.durable, stop, worker_id=f"serve-{secrets.token_hex(6)}", ready=started)
        except DurableError as error:
            _log.warning("no durable worker: %s (%s)", error, error.code)
            if error.code in _FINAL:
                return
            server.context.worker_fault = error.code
        except Exception as error:  # noqa: BLE001 - see below
            # Whatever the database's driver raises: a thread that dies unseen leaves every run waiting.
            _log.exception("the durable worker stopped and is tried again")
            server.context.worker_fault = type(error).__name__
        stop.wait(WORKER_RETRY_S)


def _announce(server: Server, port: int) -> None:
    """Print the address and the start-up token once, to stderr and not to the log."""
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
