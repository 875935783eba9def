"""`tally doctor`: what is in order here, what is not, and what to do about it. It changes nothing."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.workspace import Here
from tallystick.errors import TallyError

if TYPE_CHECKING:
    from tallystick.settings import Settings

MIN_PYTHON = (3, 11)
MIN_FREE_BYTES = 64 * 1024 * 1024
"""Less room than this and the ledger may stop taking records soon."""
EARLIEST = 1_735_689_600
"""2025-01-01: a clock before this was never set."""
EXTRAS = (("durable", "dbos", "durable work"), ("postgres", "psycopg", "PostgreSQL"), ("tracing", "opentelemetry.sdk", "traces"))
"""Optional parts: the extra's name, the module to look for, what it is for."""

Health = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the answer."""

    what: str
    health: Health
    says: str
    """How it is, and for anything but ok what to do."""


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "doctor")(doctor)


def doctor(here: Here) -> Exit:
    """Look at everything this workspace needs: one line each, ok, warn or fail, with what to do."""
    findings = list(_examine(here))
    worst = max((("ok", "warn", "fail").index(finding.health) for finding in findings), default=0)
    here.screen.data(
        {
            "ok": worst < 2,  # noqa: PLR2004 - no fail among them
            "checks": [{"check": f.what, "status": f.health, "message": f.says} for f in findings],
        }
    )
    here.screen.table(["", "check", ""], [(f.health, f.what, f.says) for f in findings])
    return Exit.REFUSED if worst == 2 else Exit.OK  # noqa: PLR2004
