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
        str | None, typer.Option("--host", metavar="HOST", help="Where to listen. Default: this machine only.")
    ] = None,
    port: Annotated[
        int | None, typer.Option("--port", "-p", metavar="N", min=0, max=65535, help="Default: 8787.")
    ] = None,
    no_worker: Annotated[bool, typer.Option("--no-worker", help="Do no durable work in this process.")] = False,
) -> Exit:
    """Serve the workspace over HTTP.

    Prints the start-up token once; answering held calls, policy and keys need it, on this machine too.
    """
    from tallystick.doors.serve import run_server

    run_server(here.open_workspace(), host=host, port=port, worker=not no_worker)
    return Exit.OK


def worker(
    here: Here,
    worker_id: Annotated[
        str | None, typer.Option("--id", metavar="ID", help="An id of its own. Default: made up.")
    ] = None,
) -> Exit:
    """Carry out durable work until stopped.

    Tickets, runs, rounds; start as many workers as you like.
    Ctrl-C or SIGTERM lets steps that are under way come to their end; killing it loses nothing either.
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
            here.screen.note("warning: no installed room has durable work, so this worker will find nothing to do")
        ready = f"worker {chosen} takes runs; Ctrl-C to stop"
        stay()
        left = run_worker(durable, stop, worker_id=chosen, ready=lambda: here.screen.note(ready))
    here.screen.data({"worker": chosen, "left": sorted(left)})
    if left:
        here.screen.note(f"{counted(len(left), 'run')} in the middle of a step; another worker does that step again")
    return Exit.OK
