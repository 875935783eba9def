"""Which issues an agent looks for: by what all see of them, and by what one agent makes of them."""

from collections.abc import Mapping, Sequence

from tallystick.records import record
from tallystick.rooms.studio.issues.nouns import Heading, Wanted
from tallystick.rooms.studio.issues.recollection import View


@record
class Personal:
    """What one agent makes of issues."""

    agent_id: str
    views: Mapping[str, View]
    tags: tuple[str, ...] = ()
    """All of them must be there."""
    without: tuple[str, ...] = ()
    """None of them may be there."""
    min_interest: int | None = None

    def fits(self, issue_id: str) -> bool:
        """Whether an issue is looked for; what the agent does not remember has no tags of its own and no level."""
        view = self.views.get(issue_id)
        tags = frozenset[str]() if view is None else frozenset(view.personal_tags)
        interest = 0 if view is None else view.interest
        return (
            tags.issuperset(self.tags)
            and tags.isdisjoint(self.without)
            and (self.min_interest is None or interest >= self.min_interest)
        )


_URGENCY = {"urgent": 0, "high": 1, "normal": 2, "low": 3}


def search(headings: Sequence[Heading], wanted: Wanted, personal: Personal | None) -> list[Heading]:
    """The issues that fit: the most urgent first, then what the agent cares for most, then the newest.

    Args:
        headings: All there are, the newest first.
        wanted: What all see.
        personal: What one agent makes of them; None: nobody is asked.
    """
    found = [each for each in headings if wanted.fits(each) and (personal is None or personal.fits(each.issue_id))]
    views = {} if personal is None else personal.views
    return sorted(found, key=lambda each: (_URGENCY[each.priority], -_interest(views.get(each.issue_id))))


def _interest(view: View | None) -> int:
    return 0 if view is None else view.interest
