"""A webhook on loopback that answers from a script and keeps what it was sent."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Answer = bytes | Callable[[socket.socket], None]
"""What is sent back, or what is done with the connection instead."""

OK = b"HTTP/1.1 204 No Content\r\n\r\n"
BUSY = b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n"
PATIENCE_S = 20.0
"""A test that waits longer has failed."""


@dataclass
class Webhook:
    """What came, and what will be answered; the last answer is given from then on."""

    answers: list[Answer]
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    port: int = 0
    _came: threading.Condition = field(default_factory=threading.Condition)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/notes"

    def wait_for(self, fits: Callable[["Webhook"], bool]) -> None:
        """Wait until what came is enough."""
        with self._came:
            assert self._came.wait_for(lambda: fits(self), PATIENCE_S)

    def serve(self, listening: socket.socket) -> None:
        while True:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            with peer:
                peer.settimeout(PATIENCE_S)
                self._take(peer)

    def _take(self, peer: socket.socket) -> None:
        data = b""
        try:
            while b"\r\n\r\n" not in data:
                data += _more(peer)
            head, _, body = data.partition(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            while len(body) < length:
                body += _more(peer)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
            with self._came:
                self.heads.append(head.decode())
                self.bodies.append(body)
                self._came.notify_all()
            if callable(answer):
                answer(peer)
            else:
                peer.sendall(answer)
        except OSError:
            return  # whoever sent it went away


def _more(peer: socket.socket) -> bytes:
    data = peer.recv(65536)
    if not data:
        raise ConnectionResetError
    return data


@contextmanager
def webhook(*answers: Answer) -> Iterator[Webhook]:
    """A webhook that is there for a while."""
    hook = Webhook(list(answers) or [OK])
    with socket.create_server(("127.0.0.1", 0)) as listening:
        hook.port = listening.getsockname()[1]
        thread = threading.Thread(target=hook.serve, args=(listening,), daemon=True)
        thread.start()
        try:
            yield hook
        finally:
            listening.shutdown(socket.SHUT_RDWR)
    thread.join(PATIENCE_S)


def free_port() -> int:
    """A port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
