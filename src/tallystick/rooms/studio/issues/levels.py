"""What an agent remembers of an issue, by its interest: five forms, from the whole transcript to one line.

    L5  everything that was said, with the receipts
    L4  everything, long texts cut at a sentence
    L3  what it is about, and what each said last, a sentence each
    L2  what it is about, and how it stands
    L1  one line

All of them are made from the issue itself by fixed rules: the same issue gives the same words. A model may word L1 to
L4 instead; then the bounds below hold for its words too. Thinking is no part of any of them.
"""

import re
from collections.abc import Callable, Iterable

from tallystick.rooms.studio.issues.model import Comment, Issue
from tallystick.text.sentences import cut_to_sentences, first_sentences
from tallystick.turns.thought_blocks import put_aside

BOUNDS: dict[int, int | None] = {1: 160, 2: 600, 3: 2_400, 4: 12_000, 5: None}
"""Maximum characters of each form; None: no limit."""
_THINKING = re.compile(
    r"<think>.*?(?:</think>|\Z)|<thinking>.*?(?:</thinking>|\Z)|\[thinking\].*?(?:\[/thinking\]|\Z)",
    re.IGNORECASE | re.DOTALL,
)
_BODY_L4, _COMMENT_L4 = 4_000, 800
_SAID_L3 = 8
_RECEIPTS = {5: None, 4: 40, 3: 12}


def form_of(issue: Issue, level: int) -> str:
    """The form of an issue at a level, by rules.

    Args:
        issue: The issue.
        level: 1 to 5.
    """
    return bounded(_FORMS[level](issue), level)


def bounded(text: str, level: int) -> str:
    """A form cut to its maximum; L1 is always one line."""
    plain = " ".join(text.split()) if level == 1 else text.strip()
    most = BOUNDS[level]
    return plain if most is None else cut_to_sentences(plain, most)


def without_thinking(text: str) -> str:
    """A text without thinking blocks; an unclosed block extends to the end."""
    return _THINKING.sub(" ", put_aside(text)[0]).strip()


def opening(text: str, number: int) -> str:
    """The first sentences of a text, in one line."""
    plain = " ".join(line.strip(" #*_>") for line in text[:8_000].splitlines() if line.strip(" #*_>-"))
    return first_sentences(plain, number)


def _head(issue: Issue) -> str:
    tags = f", tags {', '.join(issue.tags)}" if issue.tags else ""
    owner = f", assigned to {issue.assigned_to}" if issue.assigned_to else ""
    return f"#{issue.number} {issue.title} ({issue.status}, {issue.priority}{owner}{tags})"


def _transcript(issue: Issue) -> str:
    return _told(issue, 5, without_thinking(issue.body), map(_said, issue.comments))


def _shortened(issue: Issue) -> str:
    said = (_said(each, _COMMENT_L4) for each in issue.comments)
    return _told(issue, 4, cut_to_sentences(without_thinking(issue.body), _BODY_L4), said)


def _gist(issue: Issue) -> str:
    last = [each for each in issue.comments if each.body.strip()][-_SAID_L3:]
    said = (f"{each.author}: {opening(without_thinking(each.body), 1)}" for each in last)
    return _told(issue, 3, opening(without_thinking(issue.body), 3), said)


def _standing(issue: Issue) -> str:
    words = [f"{_head(issue)}. {opening(without_thinking(issue.body), 2)}".strip()]
    last = next((each for each in reversed(issue.comments) if each.body.strip()), None)
    if last is not None:
        words.append(f"Last, {last.author}: {opening(without_thinking(last.body), 1)}")
    return "\n".join(words)


def _line(issue: Issue) -> str:
    return f"#{issue.number} {issue.title} ({issue.status}): {opening(without_thinking(issue.body), 1)}"


def _told(issue: Issue, level: int, body: str, said: Iterable[str]) -> str:
    shown = issue.receipts[: _RECEIPTS[level]]
    receipts = f"Receipts: {', '.join(shown)}" + (" …" if len(shown) < len(issue.receipts) else "")
    parts = [f"# {_head(issue)}", receipts if shown else "", body, *said]
    return "\n\n".join(part for part in parts if part)


def _said(comment: Comment, most: int | None = None) -> str:
    words = without_thinking(comment.body)
    shown = words if most is None else cut_to_sentences(words, most)
    return f"## {comment.author} ({comment.kind}, {comment.at})\n{shown}"


_FORMS: dict[int, Callable[[Issue], str]] = {1: _line, 2: _standing, 3: _gist, 4: _shortened, 5: _transcript}
