"""The shapes of ASGI, as far as the parts around the application need them."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
Header = tuple[bytes, bytes]

BODY_READY = "tallystick.body_ready"
"""Set in a scope by our own server when the whole body lies ready: then there is nothing left to wait for."""
