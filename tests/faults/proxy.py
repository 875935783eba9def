"""A proxy in front of PostgreSQL that loses a message, loses an answer, or lets nobody through."""

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Literal, Self

import sqlalchemy as sa

Lost = Literal["message", "answer"]
"""What is lost at the cut: the client's message, or the server's answer to it, so that nobody knows what was done."""


class Proxy:
    """Forwards to a server and counts the messages of all clients; `cut` loses one and ends its connection."""

    def __init__(self, url: str) -> None:
        parsed = sa.make_url(url)
        self.target = str(parsed.query["host"])
        self._listener = socket.create_server(("127.0.0.1", 0))
        more = {"sslmode": "disable", "gssencmode": "disable", "connect_timeout": "5"}
        made = parsed.set(host="127.0.0.1", port=self._listener.getsockname()[1], query=more)
        self.url = made.render_as_string(hide_password=False)
        self.messages = 0
        self.cuts = 0
        self._at: int | None = None
        self._lost: Lost = "message"
        self._away = self._goes = False
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._listener.close()
        self.leave()

    def cut(self, nth: int, lost: Lost, *, away: bool = False) -> None:
        """Cut at the n-th message from now on; `away`: from then on nobody is let through until `back`."""
        with self._lock:
            self.messages, self.cuts, self._at, self._lost = 0, 0, nth, lost
            self._goes = away

    def back(self) -> None:
        """Cut no more."""
        with self._lock:
            self._at, self._away = None, False

    def leave(self, target: str | None = None) -> None:
        """End every connection; new ones go to another server, if one is given."""
        with self._lock:
            self.target = target or self.target
            found = list(self._open)
        for one in found:
            _end(one)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                if self._away:
                    client.close()
                    continue
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(f"{self.target}/.s.PGSQL.5432")
                except OSError:
                    server.close()
                    client.close()
                    continue
                with self._lock:
                    self._open |= {client, server}
                lost = threading.Event()
                threading.Thread(target=self._forward, args=(client, server, lost), daemon=True).start()
                threading.Thread(target=self._give_back, args=(server, client, lost), daemon=True).start()

    def _forward(self, client: socket.socket, server: socket.socket, lost: threading.Event) -> None:
        with suppress(OSError):
            while data := client.recv(1 << 16):
                if self._away:
                    break
                with self._lock:
                    self.messages += 1
                    cut = self.messages == self._at
                    if cut:
                        self.cuts += 1
                        self._away = self._goes
                if cut and self._lost == "message":
                    break
                if cut:
                    lost.set()
                server.sendall(data)
        if not lost.is_set():
            self._end_both(client, server)

    def _give_back(self, server: socket.socket, client: socket.socket, lost: threading.Event) -> None:
        with suppress(OSError):
            while (data := server.recv(1 << 16)) and not lost.is_set():
                client.sendall(data)
        self._end_both(client, server)

    def _end_both(self, *ends: socket.socket) -> None:
        with self._lock:
            self._open -= set(ends)
        for one in ends:
            _end(one)


def _end(one: socket.socket) -> None:
    with suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
