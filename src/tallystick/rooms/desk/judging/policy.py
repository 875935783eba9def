"""What is decided by configuration: `[rooms.desk.verdict]`."""

from pydantic import BaseModel, ConfigDict, Field


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
    public_contacts: tuple[str, ...] = ()
    """Addresses and numbers that are given to customers, as they stand in the documents: the shop's own."""
