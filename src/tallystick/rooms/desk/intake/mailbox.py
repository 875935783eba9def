"""Takes in new mails from the desk's folder. Each is stored before it is marked as read, so a crash loses none.

A mail that is fetched twice is recognised by its id and creates no second ticket. A mail that cannot be taken in is
marked as read and as important, so that a person sees it in the mail program.
"""

import logging
from typing import Any

from tallystick.mail_port import MailClient, MailFailure, MailServer, UnreadMail
from tallystick.records import record
from tallystick.rooms.desk.intake.mbox_file import MAX_MAIL, event_of_mail
from tallystick.rooms.desk.intake.service import Intake
from tallystick.rooms.desk.options import MailOptions

AT_ONCE = 50
"""Maximum number of mails per check; the next check continues."""
_log = logging.getLogger("tallystick.desk")


@record
class TakenMails:
    """The result of one check of the folder."""

    queued: int = 0
    known: int = 0
    """Number of mails that were already known or need no answer."""
    left: tuple[str, ...] = ()
    """Error codes of mails that could not be taken in; those mails are marked as important."""
    failure: str | None = None
    """Why the folder could not be read or marked."""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {"queued": self.queued, "known": self.known, "left": list(self.left), "failure": self.failure}


class MailboxIntake:
    """Takes in the unread mails of one folder."""

    def __init__(self, mail: MailClient, server: MailServer, options: MailOptions, intake: Intake) -> None:
        self._mail = mail
        self._server = server
        self._options = options
        self._intake = intake

    def take(self) -> TakenMails:
        """Take in unread mails, oldest first."""
        found = self._mail.unread(self._server, self._options.folder, most=AT_ONCE, most_bytes=MAX_MAIL)
        if isinstance(found, MailFailure):
            return self._failed(TakenMails(), found)
        queued: list[str] = []
        known: list[str] = []
        left: dict[str, str] = {}
        for one in found:
            state, reason = self._taken(one)
            if state == "queued":
                queued.append(one.uid)
            elif state == "skipped":
                known.append(one.uid)
            else:
                left[one.uid] = reason
        taken = TakenMails(queued=len(queued), known=len(known), left=tuple(left.values()))
        failure = self._mail.mark_read(self._server, self._options.folder, [*queued, *known], list(left))
        return taken if failure is None else self._failed(taken, failure)

    def _taken(self, one: UnreadMail) -> tuple[str, str]:
        """Whether a mail was queued, skipped or left, and why."""
        if one.data is None:
            return "left", "mail_too_large"
        event = event_of_mail(one.data, own=self._options.address)
        if isinstance(event, str):
            return "left", event
        received = self._intake.take(event)
        return ("left" if received.status == "rejected" else received.status), received.reason or ""

    def _failed(self, taken: TakenMails, failure: MailFailure) -> TakenMails:
        _log.warning("the desk's mails cannot be read: %s", failure.message)
        return TakenMails(queued=taken.queued, known=taken.known, left=taken.left, failure=failure.message)
