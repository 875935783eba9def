"""Issues: what is to be settled, what agents remember of it, and what stops them from talking in circles."""

from tallystick.rooms.studio.issues.nouns import Change, Comment, Heading, Issue, Link, NewComment, NewIssue, Wanted
from tallystick.rooms.studio.issues.store import Issues

__all__ = ["Change", "Comment", "Heading", "Issue", "Issues", "Link", "NewComment", "NewIssue", "Wanted"]
