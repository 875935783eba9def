"""The settings of the search engine, `[rooms.desk.web]`."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator


class WebOptions(BaseModel):
    """Where to search, and whose pages may be given on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    endpoint: str
    """The engine's address: https, or http to this machine."""
    engine: Literal["searxng", "brave"] = "searxng"
    """How the engine is asked and how it answers."""
    hosts: tuple[str, ...] = Field(min_length=1)
    """Hosts whose pages may be given on; a name stands for its subdomains too. `*`: any, which is rarely wise."""
    key_variable: str | None = None
    """The environment variable that holds the engine's key."""
    private: bool = False
    """Whether the endpoint's name may lead to an address inside: an engine of your own in your own network."""
    within_s: float = Field(default=10.0, gt=0, le=60)

    @field_validator("hosts")
    @classmethod
    def _plain(cls, hosts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(host.strip().lower().removeprefix("*.").rstrip(".") for host in hosts)

    def allows(self, host: str) -> bool:
        """Whether pages of this host may be given on."""
        name = host.lower().rstrip(".")
        return any(each in {"*", name} or name.endswith(f".{each}") for each in self.hosts)
