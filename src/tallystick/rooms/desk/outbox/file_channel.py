"""Replies as files in a folder: one JSON file and one `.eml` each, named by the key, so that none is there twice.

The JSON file is written last and whole: a program that picks messages up waits for it and finds everything in place.
"""

from email.message import EmailMessage
from email.policy import SMTP
from email.utils import parseaddr
from pathlib import Path

import orjson

from tallystick.rooms.desk.nouns import Outgoing
from tallystick.storage.journal import disk
from tallystick.storage.journal.posting import Undelivered

SUBJECT = "Re: your message"
NOBODY = "undisclosed-recipients:;"


class FileChannel:
    """One folder."""

    repeatable = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def deliver(self, message: Outgoing) -> None:
        """See `Channel`."""
        whole = self._folder / f"{message.key}.json"
        try:
            disk.make_folder(self._folder)
            # Whoever sent it before wrote the same; it may have been picked up and answered since.
            if disk.read_whole(whole) is not None:
                return
            disk.write_whole(self._folder / f"{message.key}.eml", _mail(message))
            disk.write_whole(whole, orjson.dumps({"key": message.key, **message.payload}))
        except OSError as error:
            raise Undelivered(f"the folder cannot be written ({error.strerror or 'unknown'})") from None


def _mail(message: Outgoing) -> bytes:
    mail = EmailMessage(policy=SMTP)
    given = str(message.payload.get("to") or "")
    _, address = parseaddr(given)
    # A line break would begin another header, and a name that is no address would be one that nobody can read.
    plain = given.isprintable() and address.isascii() and address.count("@") == 1 and " " not in address
    mail["To"] = address if plain else NOBODY
    mail["Subject"] = SUBJECT
    mail["Message-ID"] = f"<{message.key}@tallystick.invalid>"
    mail["X-Tally-Idempotency-Key"] = message.key
    mail.set_content(str(message.payload.get("text", "")))
    return mail.as_bytes()
