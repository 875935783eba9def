"""Times as the wire has them."""

from datetime import UTC, datetime

from tallystick.errors import ToolError


def rfc3339(epoch: int) -> str:
    """Epoch seconds as a date-time."""
    return datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z")


def epoch_of(text: str) -> int:
    """A date-time as epoch seconds; one without an offset is UTC.

    Raises:
        ToolError: It is none.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        hint = "Write it as 2024-03-01T00:00:00Z."
        raise ToolError("A date-time cannot be read.", status=400, hint=hint) from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
