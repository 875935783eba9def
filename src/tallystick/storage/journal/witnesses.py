"""Witnesses of the head: every new checkpoint is also sent out of reach of an attacker on this machine.

A webhook receives each note as the body of a POST; a file witness is a log to which each note is appended. Their copies
reveal that journal and mirror were rolled back together.
"""

import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from time import monotonic

from tallystick.errors import ConfigError
from tallystick.gate.record.journal import Incident
from tallystick.http_port import SUCCESS, HttpAddress, HttpClient, HttpFailure, HttpRequest, parse_address
from tallystick.storage.journal import disk
from tallystick.storage.journal.courier import Courier, Undelivered, Witness

LAST_TRY_S = 2.0
"""Maximum delay of process exit, for all witnesses together."""
_HEADERS = {"Content-Type": "text/plain; charset=utf-8"}
_KEPT_FOR_FILES = 1024
"""Maximum number of notes queued for a file that cannot be written; a log should contain every note."""


def parse_witnesses(texts: Sequence[str], http: HttpClient) -> tuple[Witness, ...]:
    """Parse the witnesses named in the settings.

    Args:
        texts: URLs and paths.
        http: Sends the checkpoints to webhooks.

    Raises:
        ConfigError: An entry is neither an allowed URL nor an absolute path.
    """
    return tuple(_parse(text, number, http) for number, text in enumerate(texts, 1))


def witness_files(texts: Sequence[str]) -> list[Path]:
    """Return the witnesses that are local files."""
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
        """Return incidents for unreachable witnesses that were not reported before."""
        return [incident for courier in self._couriers for incident in courier.reports()]

    def finish(self) -> list[Incident]:
        """Make one final attempt to send queued notes, then stop; return incidents for unreachable witnesses."""
        ends = monotonic() + LAST_TRY_S
        for courier in self._couriers:
            courier.try_last(ends)
        for courier in self._couriers:
            courier.wait()
        return self.reports()


def _parse(text: str, number: int, http: HttpClient) -> Witness:
    # A witness may stand in the owner's own network: only the settings name it.
    address = parse_address(text, private=True) if "://" in text else None
    if address is not None:
        return Witness(number=number, shown=address.shown, deliver=partial(_post, http, address))
    path = Path(text).expanduser()
    if "://" in text or not path.is_absolute():
        # The message does not repeat the text, which may contain a password.
        message = f"'ledger.witnesses': number {number} cannot be used. Give an https:// URL or an absolute path"
        raise ConfigError(f"{message}; http:// only leads to this machine.", code="config_bad_value")
    return Witness(number=number, shown=path.name, deliver=partial(_append, path), kept=_KEPT_FOR_FILES)


def _post(http: HttpClient, address: HttpAddress, note: bytes, within_s: float) -> None:
    request = HttpRequest(method="POST", address=address, headers=_HEADERS, body=note, within_s=within_s)
    answer = http.send_sync(request)
    if isinstance(answer, HttpFailure):
        raise Undelivered(answer.message)
    if answer.status not in SUCCESS:
        raise Undelivered(f"status {answer.status}")


def _append(path: Path, note: bytes, _within_s: float) -> None:
    """Append a note to a file that other processes may also append to."""
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
            # Unlock explicitly: a child forked just now shares the open file and would keep the lock.
            disk.unlock(fd)
            os.close(fd)
    except OSError as error:
        raise Undelivered(error.strerror or "cannot be written") from None
