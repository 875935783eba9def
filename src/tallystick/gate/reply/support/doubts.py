"""The result of a support rule: why a claim is not supported."""

from tallystick.records import record


@record
class Doubt:
    """Why a claim is not supported."""

    code: str
    reason: str
    """What is wrong and what to do."""
    unsure: bool = False
    """Whether the claim may be true, but the rules cannot tell."""
