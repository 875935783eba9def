"""What an agent keeps of an issue, by how much it still cares: five forms, from the whole transcript to one line.

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

from tallystick.rooms.studio.issues.nouns import Comment, Issue
from tallystick.turns.thinking import put_aside

BOUNDS: dict[int, int | None] = {1: 160, 2: 600, 3: 2_400, 4: 12_000, 5: None}
"""Characters of each form at most; None: all there is."""
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+")  # noqa: RUF001
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
    """A form within its bound; L1 is one line whatever it is made of."""
    plain = " ".join(text.split()) if level == 1 else text.strip()
    most = BOUNDS[level]
    return plain if most is None else cut(plain, most)


def without_thinking(text: str) -> str:
    """A text without thinking blocks, wherever they stand; one that is never closed goes to the end."""
    return _THINKING.sub(" ", put_aside(text)[0]).strip()


def cut(text: str, most: int) -> str:
    """The beginning of a text: whole sentences if at least one fits, else with a mark where it was cut."""
    if len(text) <= most:
        return text
    ends = [found.start() for found in _SENTENCE.finditer(text, 0, most)]
    return text[: ends[-1]].rstrip() if ends and ends[-1] > most // 3 else text[: most - 1].rstrip() + "…"


def sentences(text: str, number: int) -> str:
    """The first sentences of a text, in one line."""
    plain = " ".join(line.strip(" #*_>") for line in text[:8_000].splitlines() if line.strip(" #*_>-"))
    return " ".join(_SENTENCE.split(plain, maxsplit=number)[:number])


def _head(issue: Issue) -> str:
    tags = f", tags {', '.join(issue.tags)}" if issue.tags else ""
    owner = f", assigned to {issue.assigned_to}" if issue.assigned_to else ""
    return f"#{issue.number} {issue.title} ({issue.status}, {issue.priority}{owner}{tags})"


def _transcript(issue: Issue) -> str:
    return _told(issue, 5, without_thinking(issue.body), map(_said, issue.comments))


def _shortened(issue: Issue) -> str:
    said = (_said(each, _COMMENT_L4) for each in issue.comments)
    return _told(issue, 4, cut(without_thinking(issue.body), _BODY_L4), said)


def _gist(issue: Issue) -> str:
    last = [each for each in issue.comments if each.body.strip()][-_SAID_L3:]
    said = (f"{each.author}: {sentences(without_thinking(each.body), 1)}" for each in last)
    return _told(issue, 3, sentences(without_thinking(issue.body), 3), said)


def _standing(issue: Issue) -> str:
    words = [f"{_head(issue)}. {sentences(without_thinking(issue.body), 2)}".strip()]
    last = next((each for each in reversed(issue.comments) if each.body.strip()), None)
    if last is not None:
        words.append(f"Last, {last.author}: {sentences(without_thinking(last.body), 1)}")
    return "\n".join(words)


def _line(issue: Issue) -> str:
    return f"#{issue.number} {issue.title} ({issue.status}): {sentences(without_thinking(issue.body), 1)}"


def _told(issue: Issue, level: int, body: str, said: Iterable[str]) -> str:
    shown = issue.receipts[: _RECEIPTS[level]]
    receipts = f"Receipts: {', '.join(shown)}" + (" …" if len(shown) < len(issue.receipts) else "")
    parts = [f"# {_head(issue)}", receipts if shown else "", body, *said]
    return "\n\n".join(part for part in parts if part)


def _said(comment: Comment, most: int | None = None) -> str:
    words = without_thinking(comment.body)
    return f"## {comment.author} ({comment.kind}, {comment.at})\n{words if most is None else cut(words, most)}"


_FORMS: dict[int, Callable[[Issue], str]] = {1: _line, 2: _standing, 3: _gist, 4: _shortened, 5: _transcript}
