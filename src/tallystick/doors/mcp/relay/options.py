"""Options of `tally mcp wrap`."""

from dataclasses import dataclass

from tallystick.doors.mcp.relay import names


@dataclass(frozen=True, kw_only=True)
class Wrapping:
    """The options with which a server is wrapped."""

    command: tuple[str, ...] = ()
    url: str | None = None
    headers: tuple[str, ...] = ()
    """Each is `Name: value`; `${NAME}` in a value stands for an environment variable."""
    name: str = "server"
    workspace: str = ""
    policy: str | None = None
    strict: bool = False
    trust_new: bool = False
    """Use tools that the server adds later without a review."""
    timeout_s: float = 600.0
    """Per call; long, since tools that build or browse take minutes and clients have limits of their own."""
    start_timeout_s: float = 60.0
    hold_s: float = 45.0
    """Seconds to wait for approval; clients give up after about a minute."""
    max_output: int = 16 * 1024 * 1024
    gateway: bool = False
    """Whether many servers are wrapped at once, as listed in the workspace; tools have their server's name in front."""
    view: str | None = None
    """The view of a gateway that this client gets; None: all servers."""
    port: int | None = None
    """The port of a gateway over HTTP, which all its clients share; None: stdio."""
    quiet: bool = False
    """Print only errors to stderr."""

    @property
    def longest(self) -> int:
        """The longest line that is forwarded in either direction, in bytes."""
        return 2 * self.max_output

    def server_and_name(self, name: str) -> tuple[str, str]:
        """Return a tool's server and its own name there."""
        return names.split_name(name) if self.gateway else (self.name, name)

    def tool_id(self, name: str) -> str:
        """Return the id of a tool in the gate: behind a gateway the same as with its server alone."""
        return names.tool_id(*self.server_and_name(name))

    @property
    def typed_workspace(self) -> str:
        """The workspace, quoted for a shell command."""
        from shlex import quote  # noqa: PLC0415 - not needed to start the server

        return quote(self.workspace)
