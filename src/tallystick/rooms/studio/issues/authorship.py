"""Who wrote what searches show of issues."""

from collections.abc import Iterator
from itertools import islice

from tallystick.rooms.studio.issues.store import Issues

CHAT = "chat"
"""The tag of an issue that was made of a conversation."""
MOST_CHATS = 200
"""Conversations that are looked through, the latest."""


def texts_of(issues: Issues, agent_id: str) -> Iterator[str]:
    """What an agent wrote of titles and bodies: of issues that it opened, and in chats that were kept as issues."""
    headings = issues.matching()
    for heading in headings:
        if heading.opened_by == agent_id:
            yield f"{heading.title}\n{heading.summary}"
    chats = (each for each in headings if CHAT in each.tags and agent_id in each.summary)
    for heading in islice(chats, MOST_CHATS):
        issue = issues.get(heading.issue_id)
        for part in [] if issue is None else issue.body.split("\n\n## "):
            name, _, said = part.partition("\n\n")
            if name == agent_id:
                yield said
