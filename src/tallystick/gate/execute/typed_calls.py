"""A handler that takes and gives annotated types, as the runner calls it: JSON in, JSON out."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

from tallystick.gate.annotations import Codec
from tallystick.gate.execute.output import NotJsonError


def typed(handler: Callable[..., Any], codec: Codec | None) -> Callable[..., Any]:
    """The handler between its conversions; itself, where there are none.

    They run where the handler runs (on its thread, in its process): a validator is the tool's own code.
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
