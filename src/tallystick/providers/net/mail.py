"""SMTP and IMAP with the standard library; certificates are checked."""

import contextlib
import imaplib
import smtplib
import ssl
from collections.abc import Iterator, Sequence

from tallystick.mail_port import MailFailure, MailServer, UnreadMail

_PERMANENT = range(500, 600)
_SMTP_FAULTS = (smtplib.SMTPException, OSError, ValueError)
_IMAP_FAULTS = (imaplib.IMAP4.error, OSError, ValueError)


class NetMailClient:
    """A `MailClient` that opens a new connection for each operation."""

    def send(self, server: MailServer, *, sender: str, recipient: str, data: bytes) -> MailFailure | None:
        """See `MailClient`."""
        try:
            connection = _smtp(server)
        except _SMTP_FAULTS as error:
            return MailFailure(message=_why(error))
        with contextlib.closing(connection):
            try:
                for code, _ in (connection.mail(sender), connection.rcpt(recipient)):
                    if code not in {250, 251}:
                        return MailFailure(message=f"the server answered {code}", refused=code in _PERMANENT)
            except _SMTP_FAULTS as error:
                return MailFailure(message=_why(error))
            try:
                code, _ = connection.data(data)
            except _SMTP_FAULTS as error:
                refused = isinstance(error, smtplib.SMTPDataError)
                return MailFailure(message=_why(error), unclear=not refused, refused=refused)
            if code != 250:  # noqa: PLR2004 - SMTP's code for "done"
                return MailFailure(message=f"the server answered {code}", refused=code in _PERMANENT)
            with contextlib.suppress(*_SMTP_FAULTS):
                connection.quit()
        return None

    def unread(self, server: MailServer, folder: str, *, most: int, most_bytes: int) -> list[UnreadMail] | MailFailure:
        """See `MailClient`."""
        try:
            with _folder(server, folder, readonly=True) as mailbox:
                found = _words(mailbox.uid("SEARCH", "UNSEEN"))[:most]
                return [_unread(mailbox, uid, most_bytes) for uid in found]
        except _IMAP_FAULTS as error:
            return MailFailure(message=_why(error))

    def mark_read(
        self, server: MailServer, folder: str, read: Sequence[str], flagged: Sequence[str] = ()
    ) -> MailFailure | None:
        """See `MailClient`."""
        if not read and not flagged:
            return None
        try:
            with _folder(server, folder, readonly=False) as mailbox:
                for uids, flags in ((read, r"(\Seen)"), (flagged, r"(\Seen \Flagged)")):
                    if uids:
                        mailbox.uid("STORE", ",".join(uids), "+FLAGS.SILENT", flags)
        except _IMAP_FAULTS as error:
            return MailFailure(message=_why(error))
        return None


def _smtp(server: MailServer) -> smtplib.SMTP:
    """Connect, encrypt and log in; raises what `smtplib` raises."""
    if server.security == "tls":
        context = ssl.create_default_context()
        connection: smtplib.SMTP = smtplib.SMTP_SSL(server.host, server.port, timeout=server.within_s, context=context)
    else:
        connection = smtplib.SMTP(server.host, server.port, timeout=server.within_s)
    try:
        if server.security == "starttls":
            connection.starttls(context=ssl.create_default_context())
        connection.ehlo_or_helo_if_needed()
        if server.user is not None:
            connection.login(server.user, server.password or "")
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _folder(server: MailServer, folder: str, *, readonly: bool) -> Iterator[imaplib.IMAP4]:
    """Connect, encrypt, log in and open a folder; raises what `imaplib` raises."""
    if server.security == "tls":
        context = ssl.create_default_context()
        mailbox: imaplib.IMAP4 = imaplib.IMAP4_SSL(
            server.host, server.port, ssl_context=context, timeout=server.within_s
        )
    else:
        mailbox = imaplib.IMAP4(server.host, server.port, timeout=server.within_s)
    try:
        if server.security == "starttls":
            mailbox.starttls(ssl.create_default_context())
        if server.user is not None:
            mailbox.login(server.user, server.password or "")
        escaped = folder.replace("\\", "\\\\").replace('"', '\\"')
        status, _ = mailbox.select(f'"{escaped}"', readonly=readonly)
        if status != "OK":
            raise imaplib.IMAP4.error("there is no such folder")
        yield mailbox
    finally:
        with contextlib.suppress(*_IMAP_FAULTS):
            mailbox.logout()


def _words(answer: tuple[str, list[bytes | None]]) -> list[str]:
    status, found = answer
    if status != "OK":
        raise imaplib.IMAP4.error("the server did not search")
    return (found[0] or b"").decode("ascii").split() if found else []


def _unread(mailbox: imaplib.IMAP4, uid: str, most_bytes: int) -> UnreadMail:
    """Fetch one mail, unless it is too large."""
    size = _size(mailbox.uid("FETCH", uid, "(RFC822.SIZE)"))
    if size > most_bytes:
        return UnreadMail(uid=uid, size=size, data=None)
    _, found = mailbox.uid("FETCH", uid, "(BODY.PEEK[])")
    data = next((part[1] for part in found if isinstance(part, tuple)), None)
    return UnreadMail(uid=uid, size=size, data=data)


def _size(answer: tuple[str, list[bytes | tuple[bytes, bytes] | None]]) -> int:
    for part in answer[1]:
        line = part[0] if isinstance(part, tuple) else part or b""
        _, sign, rest = line.partition(b"RFC822.SIZE ")
        digits = rest.split(b")")[0].split(b" ")[0]
        if sign and digits.isdigit():
            return int(digits)
    return 0


def _why(error: Exception) -> str:
    """Return the cause of a failure, without the address or the login."""
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return "the server refused the login"
    if isinstance(error, smtplib.SMTPResponseException):
        return f"the server answered {error.smtp_code}"
    if isinstance(error, ssl.SSLError):
        return "no TLS connection"
    if isinstance(error, TimeoutError):
        return "timed out"
    if isinstance(error, OSError) and not isinstance(error, smtplib.SMTPException):
        return "no connection"
    return "the server did not accept it"
