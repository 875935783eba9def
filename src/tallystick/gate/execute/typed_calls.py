"""Wrap a handler with annotated types so that the runner can call it with JSON and gets JSON back."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from tallystick.gate.annotations import Codec
from tallystick.gate.execute.output import NotJsonError


def typed(handler: Callable[..., Any], codec: Codec | None) -> Callable[..., Any]:
    """Wrap the handler to decode its arguments and encode its result; without a codec, return it unchanged.

    The conversions run where the handler runs (thread or process), because validators are the tool's own code.
    """
    if codec is None:
        return handler
    if inspect.iscoroutinefunction(handler):

        @wraps(handler)
        async def call_async(**args: Any) -> Any:
            return _encoded(codec, await handler(**codec.decode(args)))

        return call_async

    @wraps(handler)
    def call(**args: Any) -> Any:
        return _encoded(codec, handler(**codec.decode(args)))

    return call


def _encoded(codec: Codec, value: Any) -> Any:
    try:
        return codec.encode(value)
    except ValueError as error:
        raise NotJsonError(type(error).__name__) from None
