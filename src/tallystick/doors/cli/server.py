"""`tally serve` and `tally worker`: commands that run until they are stopped."""

import os
from typing import Annotated

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.workspace import Here
from tallystick.doors.presentation.counts import counted


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    command(app, "serve")(serve)
    command(app, "worker")(worker)


def serve(
    here: Here,
    host: Annotated[
        str | None, typer.Option("--host", metavar="HOST", help="Address to listen on. Default: this computer only.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", "-p", metavar="N", min=0, max=65535, help="Default: 8787.")
    ] = None,
    no_worker: Annotated[bool, typer.Option("--no-worker", help="Run no durable work in this process.")] = False,
) -> Exit:
    """Serve the workspace over HTTP.

    Prints the start-up token once. Approvals, policy and keys require it, even on this computer.
    """
    from tallystick.doors.serve import run_server

    run_server(here.open_workspace(), host=host, port=port, worker=not no_worker)
    return Exit.OK


def worker(
    here: Here,
    worker_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="The worker's id. Default: generated.")
    ] = None,
) -> Exit:
    """Run durable work until stopped.

    Start as many workers as needed.
    Ctrl-C or SIGTERM lets running steps finish; killing it loses nothing either.
    """
    import secrets
    import signal
    import socket
    import threading

    from tallystick.app.flows import register_flows
    from tallystick.app.gc_tuning import stay
    from tallystick.storage.durable.stored import run_worker

    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    chosen = worker_id or f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
    with here.gate(plugins=True, make=True) as gate:
        register_flows(gate)
        durable = gate.durable
        if not durable.book.flows:
            here.screen.note("warning: no installed room has durable work, so this worker has nothing to do")
        ready = f"worker {chosen} is running; Ctrl-C to stop"
        stay()
        left = run_worker(durable, stop, worker_id=chosen, ready=lambda: here.screen.note(ready))
    here.screen.data({"worker": chosen, "left": sorted(left)})
    if left:
        here.screen.note(f"{counted(len(left), 'run')} stopped within a step; another worker repeats that step")
    return Exit.OK
