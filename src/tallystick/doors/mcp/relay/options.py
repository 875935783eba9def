"""How a server is to be wrapped."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Wrapping:
    """How a server is wrapped, as the command line says."""

    command: tuple[str, ...] = ()
    url: str | None = None
    headers: tuple[str, ...] = ()
    """`Name: value` each; `${NAME}` in a value stands for an environment variable."""
    name: str = "server"
    workspace: str = ""
    policy: str | None = None
    strict: bool = False
    trust_new: bool = False
    """Tools that a server did not have when it was first met are used without a person's look at them."""
    timeout_s: float = 600.0
    """For one call; long, since tools that build or browse take minutes, and clients have limits of their own."""
    start_timeout_s: float = 60.0
    hold_s: float = 45.0
    """Clients give up after about a minute."""
    max_output: int = 16 * 1024 * 1024
    quiet: bool = False
    """Nothing but errors is said beside the messages."""

    @property
    def longest(self) -> int:
        """The longest line that is passed on, in either direction."""
        return 2 * self.max_output

    @property
    def typed_workspace(self) -> str:
        """The workspace as it is typed in a command."""
        from shlex import quote  # noqa: PLC0415 - nothing on the way to the server's start needs it

        return quote(self.workspace)
