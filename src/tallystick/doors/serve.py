"""One ASGI application for API, MCP and page, and the server that runs it."""

import logging
import secrets
import sys
import threading
from pathlib import Path

import uvicorn

from tallystick.bootstrap import Gate
from tallystick.doors.http.app import api, guarded
from tallystick.doors.http.asgi import App
from tallystick.doors.http.desk import FrontDesk
from tallystick.doors.http.guard import refuse_bind
from tallystick.doors.http.protocol import allow_many_connections, uvicorn_options
from tallystick.doors.identity import Identity, StartupToken
from tallystick.settings import Settings, load_settings
from tallystick.storage.durable.stored import run_worker
from tallystick.telemetry.logs import Masker, set_up_logs
from tallystick.telemetry.observer import Telemetry
from tallystick.turns.runs import DurableError

_log = logging.getLogger("tallystick.serve")


class Server:
    """An open workspace behind an HTTP door."""

    def __init__(self, workspace: Path, settings: Settings) -> None:
        """Open everything that can refuse before the port is taken.

        Raises:
            ConfigError: Not loopback without auth, a weak key, a bad configuration.
        """
        refuse_bind(settings)
        self.settings = settings
        self.identity = Identity(settings.auth, folder=workspace)
        self.startup = StartupToken.create(state_dir=settings.state_dir(), workspace=workspace)
        self.telemetry = Telemetry.open(settings, control_room=workspace / ".control-room")
        self.gate = Gate.open(workspace, settings=settings, observer=self.telemetry)
        desk = FrontDesk(gate=self.gate, identity=self.identity, startup=self.startup)
        shown = self.telemetry if settings.telemetry.metrics else None
        self.app: App = guarded(api(desk), desk, shown)

    def close(self) -> None:
        """Let go of everything, last things written."""
        self.gate.close()
        self.telemetry.close()
        self.startup.close()


def run_server(workspace: Path, *, host: str | None = None, port: int | None = None, worker: bool = True) -> None:
    """Serve a workspace until interrupted.

    Args:
        workspace: The project's folder.
        host: Instead of `server.host`.
        port: Instead of `server.port`.
        worker: Whether to run a durable worker in this process too.
    """
    settings = load_settings(workspace)
    chosen = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = settings.model_copy(update={"server": settings.server.model_copy(update=chosen)})
    server = Server(workspace, settings)
    set_up_logs(settings, masker=Masker(names=settings.redact.keys, values=[server.startup.value]))
    for chatty in ("uvicorn.error", "dbos"):
        # Their notes of every start say nothing that `_announce` does not.
        logging.getLogger(chatty).setLevel(logging.WARNING)
    allow_many_connections()
    stop = threading.Event()
    thread: threading.Thread | None = None
    # Without a room that registered flows there is nothing to work on, and the engine need not be loaded.
    if worker and server.gate.durable.book.flows:
        thread = threading.Thread(target=_work, args=(server, stop), name="tally-worker", daemon=True)
        thread.start()
    try:
        _announce(server)
        uvicorn.Server(uvicorn.Config(**uvicorn_options(server.app, settings.server))).run()
    finally:
        stop.set()
        if thread is not None:
            thread.join(timeout=10)
        server.close()


def _work(server: Server, stop: threading.Event) -> None:
    """Run one durable worker beside the server; without the extra there is nothing to work on."""
    try:
        run_worker(server.gate.durable, stop, worker_id=f"serve-{secrets.token_hex(6)}")
    except DurableError as error:
        _log.warning("no durable worker: %s (%s)", error, error.code)


def _announce(server: Server) -> None:
    """Say where it listens and give the start-up token once, to the terminal and not to the log."""
    where = server.settings.server
    sys.stderr.write(f"Tallystick on http://{where.host}:{where.port}/api/docs\n")
    sys.stderr.write(f"Start-up token (approving, policy, keys): {server.startup.value}\n")
    if server.startup.path is not None:
        sys.stderr.write(f"It is also in {server.startup.path}\n")
    sys.stderr.flush()
