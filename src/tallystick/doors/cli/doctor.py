"""`tally doctor`: check the installation, the workspace and its rooms, and advise what to fix."""

import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit
from tallystick.doors.cli.findings import Finding, Health
from tallystick.doors.cli.workspace import Here, running_tools
from tallystick.errors import ConfigError, TallyError

if TYPE_CHECKING:
    from tallystick.doors.cli.workspace import Here
    from tallystick.plugin import Manifest


def add_to(app: typer.Typer) -> None:
    """Add this command."""
    command(app, "doctor")(doctor)


def doctor(here: Here) -> Exit:
    """Check the installation and the workspace.

    Prints one line per check: ok, warn or fail, with what to do. Changes nothing.
    """
    findings = list(examine(here))
    failed = any(finding.health == "fail" for finding in findings)
    here.screen.data(
        {
            "ok": not failed,
            "checks": [{"check": f.what, "status": f.health, "message": f.says} for f in findings],
        }
    )
    here.screen.table(["", "check", "finding"], [(f.health, f.what, f.says) for f in findings])
    return Exit.REFUSED if failed else Exit.OK


MIN_PYTHON = (3, 11)
MIN_FREE_BYTES = 64 * 1024 * 1024
"""With less free space than this the ledger may soon be unable to write."""
EARLIEST = datetime(2025, 1, 1, tzinfo=UTC).timestamp()
"""A clock before this date was never set."""
AHEAD_S = 60
"""A last receipt this many seconds in the future means that the clock was set back."""
_RECORD_BYTES = 1000
QUICK_BYTES = 64 * 1024 * 1024
"""A journal up to this size is verified completely, which takes about a second."""
TAIL_BYTES = 1 << 20
Answer = tuple[Health, str]


def examine(here: Here) -> Iterator[Finding]:
    """Run every check; a check that cannot run is itself a finding."""
    told: set[str] = set()
    for what, check in CHECKS:
        try:
            health, says = check(here)
        except TallyError as error:
            health, says = "fail", f"{error.code}: {error}"
            # Most checks read the configuration; say only once what is wrong with it.
            says = f"not checked: {error.code}, see above" if says in told else says
            told.add(says)
        except OSError as error:
            health, says = "fail", f"{error.filename or what}: {error.strerror or error}"
        yield Finding(what=what, health=health, says=says)
    yield from room_findings(here)
    yield from _extras()


def _extras() -> Iterator[Finding]:
    """Yield a finding for every optional part that is not installed."""
    from tallystick.extras import missing, not_installed

    without = [extra.name for extra in missing()]
    for name in without:
        yield Finding(what=f"extra {name}", health="ok", says=str(not_installed(name)))
    if not without:
        yield Finding(what="extras", health="ok", says="all installed")


def _python(_here: Here) -> Answer:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < MIN_PYTHON:
        return "fail", f"{version}; 3.11 or newer is needed"
    return "ok", version


def _workspace(here: Here) -> Answer:
    folder = here.workspace
    if not folder.is_dir():
        return "fail", f"{folder} is not a folder; give --workspace DIR"
    room = folder / ".control-room"
    if not os.access(room if room.exists() else folder, os.W_OK | os.X_OK):
        return "fail", f"{folder} cannot be written; nothing can be recorded. Change its rights"
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        return "warn", f"only {free // 1024 // 1024} MB free; the ledger may soon take no more. Make room"
    if not room.exists():
        return "ok", f"{folder} (nothing recorded yet)"
    return "ok", str(folder)


def _configuration(here: Here) -> Answer:
    from tallystick.doors.mcp.relay.workspace import as_taken
    from tallystick.gate.decide.policy import Policy

    policy = Policy.from_settings(here.settings)
    taken = Policy.from_settings(as_taken(here.settings, here.workspace))
    says = f"policy {taken.digest[:16]}"
    if taken.digest != policy.digest:
        says += " for the wrapped server, where writing asks unless the configuration says otherwise"
        says += f"; {policy.digest[:16]} for all other calls"
    there = (here.workspace / "tallystick.toml").exists()
    return "ok", says + ("" if there else " (no tallystick.toml: defaults)")


def _tools(here: Here) -> Answer:
    from tallystick.app.tool_files import load_tools
    from tallystick.doors.mcp.relay.workspace import relayed
    from tallystick.gate.decide.policy import Policy

    with running_tools():
        names = [tool.card.name for tool in load_tools(here.workspace, here.settings.gate.tools)]
    policy = Policy.from_settings(here.settings)
    unknown = set(policy.unknown_tools(names)) - relayed(policy.tools, here.workspace)
    if unknown:
        return "warn", f"{len(names)} from the configuration; rules name others: {', '.join(sorted(unknown))}"
    return "ok", f"{len(names)} from the configuration"


def _keys(here: Here) -> Answer:
    from tallystick.storage.keys import LOG, SECRET, read_key
    from tallystick.storage.ledger import audit_folder

    audit = audit_folder(here.workspace)
    missing = [name for name in (SECRET, LOG) if not (audit / name).exists()]
    if missing and any(path.stat().st_size for path in _segments(here.workspace)):
        return "fail", f"{', '.join(missing)} is gone, but the journal was signed with it. Bring it back from a copy"
    if missing:
        return "ok", "none yet; they are made with the first receipt"
    for name in (SECRET, LOG):
        read_key(audit / name)
    return "ok", "for your eyes only"


def _ledger(here: Here) -> Answer:
    if here.settings.storage.journal == "postgres":
        from tallystick.storage.shared_journal.shared_ledger import records_in

        size = records_in(here.workspace, here.settings) * _RECORD_BYTES
    else:
        size = sum(path.stat().st_size for path in _segments(here.workspace))
    if size == 0:
        return "ok", "nothing recorded yet"
    if size > QUICK_BYTES:
        return "ok", f"{size // 1024 // 1024} MB; too much for a quick look, `tally audit verify` examines all of it"
    from tallystick.storage.ledger import verify_workspace

    report = verify_workspace(here.workspace, here.settings)
    if report.problems:
        first = report.problems[0]
        return "fail", f"{first.code}: {first.reason}. `tally audit verify` says more"
    notes = sorted({note.code for note in report.notes})
    return "ok", f"{report.size} records verify" + (f" ({', '.join(notes)})" if notes else "")


def _state_folder(here: Here) -> Answer:
    state = here.settings.state_dir()
    if state.resolve().is_relative_to(here.workspace.resolve()):
        return "warn", f"{state} lies in the workspace, where its tools may reach it. Set storage.state_dir"
    if not _can_be_made(state):
        return "fail", f"{state} cannot be written. Set storage.state_dir"
    return "ok", str(state)


def _mirror(here: Here) -> Answer:
    from tallystick.storage.ledger import audit_folder, mirror_path

    path = mirror_path(audit_folder(here.workspace), here.settings)
    if path is None:
        return "warn", "switched off: a journal that was rolled back cannot be noticed here. Set ledger.mirror"
    if path.resolve().is_relative_to(here.workspace.resolve()):
        return "warn", f"{path} lies in the workspace and would be rolled back with it. Set ledger.mirror"
    if not (os.access(path, os.W_OK) if path.exists() else _can_be_made(path.parent)):
        return "fail", f"{path} cannot be written. Change its rights, or set ledger.mirror"
    return "ok", str(path) if path.exists() else f"{path} (made with the first receipt)"


def _witnesses(here: Here) -> Answer:
    from tallystick.providers.net.client import PinnedHttpClient
    from tallystick.storage.journal.witnesses import parse_witnesses, witness_files

    texts = here.settings.ledger.witnesses
    try:
        found = parse_witnesses(texts, PinnedHttpClient())
    except ConfigError as error:
        return "fail", str(error)
    root = here.workspace.resolve()
    inside = [path.name for path in witness_files(texts) if path.resolve().is_relative_to(root)]
    if inside:
        return "warn", f"{inside[0]} lies in the workspace and would be rolled back with it. Change ledger.witnesses"
    return "ok", ", ".join(witness.shown for witness in found) or "none; ledger.witnesses names them"


def _database(here: Here) -> Answer:
    from tallystick.settings import DATABASE_NAME
    from tallystick.storage.database import open_engine, schema_version
    from tallystick.storage.migrations import HEAD

    if here.settings.storage.database_url is None and not (here.workspace / ".control-room" / DATABASE_NAME).exists():
        return "ok", "SQLite, made when it is first needed"
    from sqlalchemy.exc import SQLAlchemyError

    engine = open_engine(here.settings, here.workspace)
    try:
        version = schema_version(engine)
    except SQLAlchemyError as error:
        return "fail", f"cannot be used ({type(error).__name__}). Check that it is there and that the URL is right"
    finally:
        engine.dispose()
    if version not in {None, HEAD}:
        return "warn", f"stands at {version}, this program at {HEAD}; it is brought up to date when first used"
    return "ok", f"{engine.dialect.name}, {'new' if version is None else version}"


def _retrieval(here: Here) -> Answer:
    from tallystick.providers.embeddings.selection import reading_grade
    from tallystick.providers.models.store import ModelStore

    return "ok", reading_grade(ModelStore(here.settings.models_dir()))


def _clock(here: Here) -> Answer:
    now = time.time()
    if now < EARLIEST:
        return "warn", f"says {_utc(now)}; receipts would bear wrong times. Set it"
    last = _last_timestamp(here.workspace)
    if last is not None and last > now + AHEAD_S:
        return "warn", f"says {_utc(now)}, before the last receipt ({_utc(last)}); new receipts will be flagged. Set it"
    return "ok", _utc(now)


CHECKS: tuple[tuple[str, Callable[[Here], Answer]], ...] = (
    ("python", _python),
    ("workspace", _workspace),
    ("configuration", _configuration),
    ("tools", _tools),
    ("keys", _keys),
    ("ledger", _ledger),
    ("state folder", _state_folder),
    ("mirror", _mirror),
    ("witnesses", _witnesses),
    ("database", _database),
    ("retrieval", _retrieval),
    ("clock", _clock),
)


def _can_be_made(folder: Path) -> bool:
    """Return whether a folder, or its nearest existing parent, is writable."""
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def _utc(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, tz=UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _last_timestamp(workspace: Path) -> float | None:
    """Return the timestamp of the last complete record, unverified."""
    segments = _segments(workspace)
    if not segments:
        return None
    with segments[-1].open("rb") as file:
        file.seek(max(0, segments[-1].stat().st_size - TAIL_BYTES))
        lines = file.read().split(b"\n")
    for line in reversed(lines[:-1]):
        try:
            return datetime.fromisoformat(json.loads(line.split(b"\t")[0])["timestamp"]).timestamp()
        except (ValueError, KeyError, TypeError):
            continue
    return None


def _segments(workspace: Path) -> list[Path]:
    from tallystick.storage.ledger import audit_folder

    return sorted((audit_folder(workspace) / "journal").glob("*.log"))


def room_findings(here: "Here") -> Iterator[Finding]:
    """Yield the state of every room that is installed or named: on, off or missing."""
    from tallystick.app.discovery import manifests, unavailable
    from tallystick.app.room_switch import room_states, unused_sections

    try:
        found = manifests()
    except TallyError as error:
        yield Finding(what="rooms", health="fail", says=f"{error.code}: {error}")
        return
    if not _is_configured(here):
        # The check of the configuration says why; without it nobody knows which rooms are on.
        for name, manifest in found.items():
            says = str(unavailable(manifest)) if manifest.missing() else "installed"
            yield Finding(what=f"room {name}", health="ok", says=says)
        return
    for notice in unused_sections(here.settings):
        yield Finding(what="rooms", health="warn", says=notice)
    for room in room_states(here.workspace, here.settings):
        what = f"room {room.name}"
        # A room that is on and cannot open is a fault; one that is off bothers nobody.
        health: Health = "warn" if room.state in {"missing", "unknown"} else "ok"
        yield Finding(what=what, health=health, says=room.advice or room.state)
        if room.state == "on":
            yield from (replace(each, what=f"{what}: {each.what}") for each in _examined(here, found[room.name]))


def _is_configured(here: "Here") -> bool:
    """Return whether the configuration can be read; if not, its own check reports it once for all rooms."""
    try:
        return here.settings is not None
    except TallyError:
        return False


def _examined(here: "Here", manifest: "Manifest") -> Iterator[Finding]:
    """Yield a finding if a room's settings are wrong, then its own checks. A check that cannot run is a finding."""
    from tallystick.app.discovery import resolve

    try:
        here.options_of(manifest)
        _check_parts(manifest)
        if manifest.doctor is not None:
            yield from resolve(manifest, "doctor", manifest.doctor)(here)
    except TallyError as error:
        yield Finding(what="check", health="fail", says=f"{error.code}: {error}")
    except Exception as error:  # noqa: BLE001 - third-party code: its failure must not hide the other findings
        says = f"failed with {type(error).__name__}. Report it to the authors of the room {manifest.name}"
        yield Finding(what="check", health="fail", says=says)


def _check_parts(manifest: "Manifest") -> None:
    """Check that every reference of a room's manifest leads somewhere, and that its migrations end at their head.

    Raises:
        ConfigError: One does not; the message names room and field.
    """
    from importlib import import_module

    from tallystick.app.discovery import resolve

    for field, reference in manifest.references():
        # Routes and pages load a web framework, which is too slow here; the server names the field if they fail.
        if field not in {"http", "web"}:
            resolve(manifest, field, reference)
    if manifest.migrations is not None:
        from tallystick.storage.migrations import history_of

        history_of(manifest.name, import_module(manifest.migrations))
