"""The settings of the search engine, `[rooms.desk.web]`."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tallystick.errors import ConfigError


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


def parse_web(raw: object) -> WebOptions:
    """Check plain data.

    Raises:
        ConfigError: They cannot be meant; the message names the key.
    """
    if not isinstance(raw, Mapping):
        raise ConfigError("rooms.desk.web: give a table with endpoint and hosts.", code="config_bad_value")
    given: dict[str, Any] = dict(raw)
    try:
        return WebOptions.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"rooms.desk.web.{key}: {first['msg']}.", code="config_bad_value") from None
