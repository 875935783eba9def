"""mbox: one event per mail. The first mail names the thread; quoted earlier mails are removed."""

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from email.utils import parseaddr
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.rooms.desk.intake.file_event import FileEvent, SkippedItem, whole

MAX_MAIL = 32 * 1024 * 1024
"""Bytes of one mail; larger ones are attachments with a greeting."""
_ID = re.compile(r"<[^<>\s]{1,300}>")
_INTRODUCES = re.compile(r"^(?:On|Am|Le|El|Il)\b.{5,200}(?:wrote|schrieb|a écrit|escribió|ha scritto)\s*:\s*$")
_HIDDEN = frozenset({"script", "style", "head", "title", "template"})
_BREAKS = frozenset({"p", "div", "br", "li", "tr", "h1", "h2", "h3", "h4", "blockquote"})


def mbox_events(path: Path, _limits: ImportLimits = DEFAULT) -> Iterator[FileEvent | SkippedItem]:
    """The events of a file."""
    for number, data in enumerate(_mails(path), start=1):
        place = f"message {number}"
        if data is None:
            yield SkippedItem(place=place, reason="mail_too_large")
            continue
        event = event_of_mail(data)
        yield SkippedItem(place=place, reason=event) if isinstance(event, str) else FileEvent(place=place, event=event)


def event_of_mail(data: bytes, *, own: str | None = None) -> dict[str, Any] | str:
    """The event of one mail, or an error code.

    Args:
        data: The mail.
        own: The desk's address; if given, mails from it and automatic mails are rejected.
    """
    try:
        mail = message_from_bytes(data, policy=default)
        if own is not None and _is_automatic(mail, own):
            return "mail_automatic"
        return _event(mail)
    except (ValueError, LookupError, AttributeError, TypeError, IndexError):
        # The library raises all of these for malformed headers and encodings.
        return "mail_malformed"


def _is_automatic(mail: EmailMessage, own: str) -> bool:
    """Whether a reply could start a mail loop: an out-of-office reply, a bounce, a mailing list, or our own mail."""
    sent_by = str(mail.get("Auto-Submitted") or "no").partition(";")[0].strip().lower()
    kind = str(mail.get("Precedence") or "").strip().lower()
    sender = parseaddr(str(mail.get("From") or ""))[1].lower()
    bounced = str(mail.get("Return-Path") or "").strip() == "<>" or sender.startswith(("mailer-daemon@", "postmaster@"))
    return sent_by != "no" or kind in {"bulk", "junk", "list"} or "List-Id" in mail or bounced or sender == own.lower()


def _mails(path: Path) -> Iterator[bytes | None]:
    """The bytes of each mail; None: too many. Mails begin at a `From ` line behind an empty one."""
    lines: list[bytes] = []
    size, begun, empty = 0, False, True
    with path.open("rb") as opened:
        for line in opened:
            if empty and line.startswith(b"From "):
                if begun:
                    yield b"".join(lines) if size <= MAX_MAIL else None
                lines, size, begun = [], 0, True
                continue
            size += len(line)
            if size <= MAX_MAIL:
                lines.append(line[1:] if line.lstrip(b">").startswith(b"From ") and line.startswith(b">") else line)
            empty = line in {b"\n", b"\r\n"}
    if begun:
        yield b"".join(lines) if size <= MAX_MAIL else None


def _event(mail: EmailMessage) -> dict[str, Any]:
    own = _ids(mail.get("Message-ID"))
    thread = (_ids(mail.get("References")) or _ids(mail.get("In-Reply-To")) or own)[:1]
    date = mail.get("Date")
    written = getattr(date, "datetime", None)
    subject = whole(str(mail.get("Subject") or "")).strip()
    text = _without_quoted(_text(mail))
    content = f"{subject}\n\n{text}" if subject and subject not in text else text
    told = {
        "event_id": own[0] if own else None,
        "thread_id": thread[0] if thread else None,
        "actor": whole(parseaddr(str(mail.get("From") or ""))[1]) or None,
        "timestamp": None if written is None else written.isoformat(),
    }
    return {"type": "email", "content": content.strip(), **{name: value for name, value in told.items() if value}}


def _ids(header: Any) -> list[str]:
    return _ID.findall(whole(str(header or "")))


def _text(mail: EmailMessage) -> str:
    body = mail.get_body(preferencelist=("plain", "html"))
    if body is None:
        return ""
    text = whole(str(body.get_content()))
    return _plain(text) if body.get_content_type() == "text/html" else text


def _without_quoted(text: str) -> str:
    kept = [line for line in text.splitlines() if not line.startswith(">") and not _INTRODUCES.match(line)]
    return "\n".join(kept).strip()


def _plain(html: str) -> str:
    reader = _Words()
    reader.feed(html)
    reader.close()
    lines = (" ".join(line.split()) for line in "".join(reader.parts).splitlines())
    return "\n".join(line for line in lines if line)


class _Words(HTMLParser):
    """The words that a reader of the mail sees."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - their signature
        """Begin."""
        self._hidden += tag in _HIDDEN
        if tag in _BREAKS:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        """End."""
        if tag in _HIDDEN and self._hidden:
            self._hidden -= 1
        if tag in _BREAKS:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        """Words."""
        if not self._hidden:
            self.parts.append(data)
