"""A file that cannot be taken: why, in a fixed word, and what to do about it."""

from tallystick.errors import ToolError


class Unusable(ToolError):  # noqa: N818 - reads as what it is
    """What was given is at fault; nothing was stored."""

    def __init__(self, code: str, message: str, *, hint: str, status: int = 400) -> None:
        super().__init__(message, status=status, hint=hint)
        self.code = code
