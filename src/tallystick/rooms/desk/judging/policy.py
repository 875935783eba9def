"""What is decided by configuration: `[rooms.desk.verdict]`."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from tallystick.errors import ConfigError

DOCUMENT_TOOLS = ("kb.search", "kb.read")
"""What reads the owner's documents."""
_WRITTEN_BY_OTHERS = ("mem.", "insight.", "logs.", "tool.")
_PROPOSALS = frozenset({
    "record_observation", "create_or_link_entity_candidate", "propose_proposition", "attach_support",
    "attach_contradiction", "propose_test", "execute_test_result_ingest", "request_consolidation", "archive_episode",
})  # fmt: skip


class VerdictPolicy(BaseModel):
    """The bounds of the rules; the rules themselves are code."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    threshold: float = Field(default=0.4, ge=0, le=1)
    """How much of a need one sentence, with its headings, must speak of to cover it."""
    defer_categories: tuple[str, ...] = ("refund", "legal", "security")
    forbidden_topics: tuple[str, ...] = ()
    """Words or phrases; a customer's text that holds one is not answered."""
    sources: tuple[str, ...] = ("thread_id", "actor")
    """Fields of the event that a write or external call may take its values from."""
    answer_sources: tuple[str, ...] = DOCUMENT_TOOLS
    """Tools whose results answer customers; those of all others are context for people."""
    log_fields: tuple[str, ...] = ()
    """Fields of a JSON log record that may be quoted to a customer; the rest of a log is for people."""
    public_contacts: tuple[str, ...] = ()
    """Addresses and numbers that are given to customers, as they stand in the documents: the shop's own."""

    @field_validator("answer_sources")
    @classmethod
    def _no_words_of_others(cls, named: tuple[str, ...]) -> tuple[str, ...]:
        """Refuse tools that give what agents, customers or programs wrote."""
        for name in named:
            if name.startswith(_WRITTEN_BY_OTHERS) or name in _PROPOSALS:
                raise ValueError(f"{name} gives what agents, customers or programs wrote; it cannot answer customers")
        return named


def parse_verdict_policy(raw: Mapping[str, Any]) -> VerdictPolicy:
    """Check plain data.

    Raises:
        ConfigError: A wrong value; the message names its key.
    """
    try:
        return VerdictPolicy.model_validate(dict(raw.get("verdict", {})))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(("rooms", "desk", "verdict", *(str(part) for part in first["loc"])))
        raise ConfigError(f"tallystick.toml: '{key}': {first['msg']}.", code="config_bad_value") from None
