"""The shapes of ASGI, as far as the parts around the application need them."""

from collections.abc import Awaitable, Callable, Generator, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

BODY_READY = "tallystick.body_ready"
"""Set in a scope by our own server when the whole body lies ready: then there is nothing left to wait for."""
STATUS = "tallystick.status"
"""Set in a scope by the guard: the status of the answer that was begun."""


class Done:
    """Something to await that is over already: cheaper than a coroutine that does nothing."""

    def __await__(self) -> Generator[None, None, None]:
        """Wait for nothing."""
        return
        yield


DONE = Done()
