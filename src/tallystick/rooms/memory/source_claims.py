"""What a caller may claim of a source: its class is capped by who calls, its independence is the caller's own."""

from collections.abc import Mapping
from typing import Any

from tallystick.records import record
from tallystick.rooms.memory.nouns import CLASSES, SourceClass
from tallystick.rooms.memory.policy import Policy
from tallystick.rooms.memory.speakers import Speaker

CAPPED = "the caller may not claim this class of source"
GROUPED = "all that one caller reports is one independent source"
_RANK = {name: rank for rank, name in enumerate(CLASSES)}


@record
class BoundClaim:
    """The arguments of a proposal with what the caller may claim, and why they differ from what was claimed."""

    args: Mapping[str, Any]
    reason: str = ""
    pointer: str | None = None


def lowest_class(*classes: SourceClass) -> SourceClass:
    """The one that is believed least."""
    return max(classes, key=_RANK.__getitem__)


def highest_claim(claimed: SourceClass, by: Speaker, policy: Policy) -> SourceClass:
    """The class that is claimed, or the best that this speaker may claim."""
    if not by.is_program or "agent_ceiling" in policy.off:
        return claimed
    return lowest_class(claimed, policy.agent_ceiling)


def bind_source(args: Mapping[str, Any], by: Speaker, policy: Policy) -> BoundClaim:
    """The arguments with the source that the speaker may claim; those without a source stay as they are."""
    source: Mapping[str, str] | None = args.get("source")
    # A claimed test result is refused, not capped: it comes through a tool of its own.
    if source is None or by.is_owner or source["class"] == "test_result":
        return BoundClaim(args=args)
    claimed: SourceClass = source["class"]  # type: ignore[assignment]
    bound = {**source, "class": highest_claim(claimed, by, policy)}
    if by.subject is not None and by.group is not None:
        bound["group"] = by.group
    if bound == source:
        return BoundClaim(args=args)
    capped = bound["class"] != claimed
    return BoundClaim(
        args={**args, "source": bound},
        reason=CAPPED if capped else GROUPED,
        pointer="/source/class" if capped else "/source/group",
    )
