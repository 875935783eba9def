"""The room's settings: `[rooms.tastings]`."""

from pydantic import BaseModel, ConfigDict, Field


class Options(BaseModel):
    """`[rooms.tastings]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    scale: int = Field(default=100, ge=1, le=1000)
    """The highest score."""
    most: int = Field(default=10, ge=1)
    """How often one wine may be logged."""
    inbox: str = Field(default="inbox", min_length=1)
    """The folder in the workspace that files are imported from."""
