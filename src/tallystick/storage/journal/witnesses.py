"""Witnesses of the head: every new checkpoint also goes where whoever changes this machine cannot reach it.

A webhook gets each note as the body of a POST; another log is a file to which each note is appended. What they kept is
what shows that journal and mirror were rolled back together.
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import monotonic

from tallystick.errors import ConfigError
from tallystick.gate.record.journal import Incident
from tallystick.storage.journal import disk
from tallystick.storage.journal.courier import Courier, Witness
from tallystick.storage.journal.posting import Undelivered, parse_address, post

LAST_TRY_S = 2.0
"""All witnesses together hold up the end of a process by no more."""
_KEPT_FOR_FILES = 1024
"""Notes that wait for a file that cannot be written; a log should have each of them."""


def parse_witnesses(texts: Sequence[str]) -> tuple[Witness, ...]:
    """The witnesses that the settings name.

    Raises:
        ConfigError: One is neither a URL that may be used nor an absolute path.
    """
    return tuple(_parse(text, number) for number, text in enumerate(texts, 1))


def witness_files(texts: Sequence[str]) -> list[Path]:
    """Those of them that are files here."""
    return [Path(text).expanduser() for text in texts if "://" not in text]


class Witnesses:
    """All witnesses of one open journal."""

    def __init__(self, witnesses: Sequence[Witness]) -> None:
        self._couriers = [Courier(witness) for witness in witnesses]

    def send(self, note: bytes) -> None:
        """Send a new checkpoint to all; returns at once."""
        for courier in self._couriers:
            courier.send(note)

    def reports(self) -> list[Incident]:
        """Who cannot be reached, of whom that was not said before."""
        return [incident for courier in self._couriers for incident in courier.reports()]

    def finish(self) -> list[Incident]:
        """One last try for what was not sent, then no more; who could not be reached."""
        ends = monotonic() + LAST_TRY_S
        for courier in self._couriers:
            courier.try_last(ends)
        for courier in self._couriers:
            courier.wait()
        return self.reports()


def _parse(text: str, number: int) -> Witness:
    address = parse_address(text) if "://" in text else None
    if address is not None:
        return Witness(number=number, shown=address.shown, deliver=partial(post, address))
    path = Path(text).expanduser()
    if "://" in text or not path.is_absolute():
        # The text itself is not repeated: there may be a password in it.
        message = f"'ledger.witnesses': number {number} cannot be used. Give an https:// URL or an absolute path"
        raise ConfigError(f"{message}; http:// only leads to this machine.", code="config_bad_value")
    return Witness(number=number, shown=path.name, deliver=partial(_append, path), kept=_KEPT_FOR_FILES)


def _append(path: Path, note: bytes, _within_s: float) -> None:
    """Add a note to a file, which others may be adding to."""
    try:
        disk.make_folder(path.parent)
        fd = disk.open_file(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, disk.FILE_MODE)
        try:
            disk.lock(fd)
            size = os.fstat(fd).st_size
            try:
                disk.write_all(fd, note + b"\n")
            except OSError:
                disk.ftruncate(fd, size)
                raise
        finally:
            # Let go of by name: a child that was forked just now has the open file too, and would keep the lock.
            disk.unlock(fd)
            os.close(fd)
    except OSError as error:
        raise Undelivered(error.strerror or "cannot be written") from None
