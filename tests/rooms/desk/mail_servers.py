"""Real mail servers on this machine: SMTP that keeps what it takes, and IMAP with one mailbox."""

import imaplib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session

USER, PASSWORD = "desk", "a long password"
FOLDER = "INBOX"
PATIENCE_S = 60


class Post:
    """What the SMTP server does with mails."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []
        self.recipients: list[str] = []
        self.answer = "250 taken"
        self.hangs_up = False

    async def handle_RCPT(
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        if address.startswith("nobody@"):
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 ok"

    async def handle_DATA(self, server: SMTP, _session: Session, envelope: Envelope) -> str:
        content = envelope.content
        assert isinstance(content, bytes)
        self.mails.append(message_from_bytes(content, policy=default))
        self.recipients += envelope.rcpt_tos
        if self.hangs_up:
            assert server.transport is not None
            server.transport.abort()
        return self.answer


@contextmanager
def smtp_server(post: Post, **options: Any) -> Iterator[int]:
    """Serve until the end; gives the port."""

    def known(*_: Any) -> AuthResult:
        given = _[4]
        good = isinstance(given, LoginPassword) and (given.login, given.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=good)

    controller = Controller(
        post, hostname="127.0.0.1", port=free_port(), authenticator=known, auth_require_tls=False, **options
    )
    controller.start()
    try:
        yield controller.port
    finally:
        controller.stop()


@contextmanager
def imap_server() -> Iterator[int]:
    """Serve one empty mailbox until the end; gives the port."""
    port = free_port()
    words = ["--host", "127.0.0.1", "--port", str(port), "--no-tls", "--no-service", "admin", "dict", "--demo-data"]
    login = ["--demo-user", USER, "--demo-password", PASSWORD]
    program = "import sys; from pymap.main import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", program, *words, *login], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            _wait_for(port)
            with mailbox(port) as opened:
                opened.store("1:*", "+FLAGS", r"(\Deleted)")
                opened.expunge()
            yield port
        finally:
            process.kill()


@contextmanager
def mailbox(port: int) -> Iterator[imaplib.IMAP4]:
    """The mailbox, opened as its owner's mail program does."""
    opened = imaplib.IMAP4("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        opened.login(USER, PASSWORD)
        opened.select(FOLDER)
        yield opened
    finally:
        opened.logout()


def put_mail(port: int, body: str, **headers: str) -> None:
    """Deliver a mail to the mailbox; underscores in names of headers are hyphens."""
    mail = EmailMessage()
    for name, value in headers.items():
        mail[name.replace("_", "-")] = value
    mail.set_content(body)
    with mailbox(port) as opened:
        opened.append(FOLDER, "", "", mail.as_bytes())


def flags(port: int) -> list[str]:
    """The flags of each mail, in order."""
    with mailbox(port) as opened:
        _, found = opened.fetch("1:*", "(FLAGS)")
    return [_flag_names(each) for each in found if isinstance(each, bytes)]


def _flag_names(line: bytes) -> str:
    names = (flag.decode().lstrip("\\") for flag in imaplib.ParseFlags(line))
    return " ".join(sorted(name for name in names if name != "Recent"))


def free_port() -> int:
    with closing(socket.socket()) as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert time.monotonic() < deadline, "the IMAP server did not start"
        else:
            return
