"""Headers sent with each request to an HTTP server: from the user, and from the server's own responses."""

import re

from tallystick.doors.mcp.relay.http_client import can_be_sent
from tallystick.errors import ConfigError
from tallystick.settings import key_variable

LONGEST_KEPT = 4096
"""Maximum characters of a header value that the server supplied."""
_VARIABLE = re.compile(r"\$\{(\w+)\}")


def given_header(text: str) -> tuple[str, str]:
    """Parse a `Name: value` header and insert environment variables, so that config files need not contain tokens.

    Raises:
        ConfigError: A variable is not set, or the header is not valid.
    """
    name, _, value = text.partition(":")

    def variable(found: re.Match[str]) -> str:
        known = key_variable(found[1])
        if known is None:
            message = (
                f"--header {name}: the environment variable {found[1]} is not set. Set it where the client starts."
            )
            raise ConfigError(message, code="variable_not_set")
        return known

    # A variable that was read from a file often ends with a line break.
    made = name.strip(), _VARIABLE.sub(variable, value).strip()
    if not can_be_sent(made[1], name=made[0]):
        # The value may be a secret, so it is not shown.
        message = f"--header {name}: a header holds letters, digits and signs of ASCII, on one line. Correct its value."
        raise ConfigError(message, code="header_unusable")
    return made


def can_be_kept(value: str) -> bool:
    """Return whether a value from the server is valid as a header of later requests."""
    return len(value) <= LONGEST_KEPT and can_be_sent(value)
