"""A TCP proxy on this machine that cuts, delays or swallows what passes it."""

import contextlib
import select
import socket
import time
from threading import Lock, Thread


class TcpProxy:
    """Passes every connection on to a port."""

    def __init__(self, to_port: int) -> None:
        self._to = to_port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._server.getsockname()[1])
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._lock = Lock()
        self.delay_s = 0.0
        self.silent = False
        """Whether bytes are kept back while connections stay open, as by a network that is split."""
        self._closed = False
        Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close every connection at once."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for end in pair:
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._closed = True
        self._server.close()
        self.cut()

    def _accept(self) -> None:
        while not self._closed:
            try:
                client, _ = self._server.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._to), timeout=2)
            except OSError:
                client.close()
                continue
            with self._lock:
                self._pairs.append((client, server))
            Thread(target=self._pass, args=(client, server), daemon=True).start()

    def _pass(self, client: socket.socket, server: socket.socket) -> None:
        other = {client: server, server: client}
        with client, server, contextlib.suppress(OSError):
            while True:
                for end in select.select([client, server], [], [])[0]:
                    data = end.recv(65_536)
                    if not data:
                        return
                    if self.delay_s:
                        time.sleep(self.delay_s)
                    while self.silent and not self._closed:
                        time.sleep(0.02)
                    other[end].sendall(data)
