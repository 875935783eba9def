"""The studio's settings: `[rooms.studio]` in `tallystick.toml`."""

from pydantic import BaseModel, ConfigDict

from tallystick.rooms.studio.issues.tracker import IssueSettings


class StudioSettings(BaseModel):
    """`[rooms.studio]`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    parallel: bool = False
    """Whether the agents of a conference answer at the same time."""
    conference_log: bool = False
    """Whether all prompts and answers of a conference are also written to `private/conference_log.md`."""
    issues: IssueSettings = IssueSettings()
    """Limits for agents' comments, and the decay of their interest."""
