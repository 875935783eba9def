"""The whole book checked at once, as an action of pipeline runs.

The tool takes ten files a call, and contradictions stand anywhere in a book. So the whole is checked here first, and
the files of what was found are put together in groups that the tool can take: the agent that reports then has the
tool's receipts to cite, for a few calls instead of one for every pair of scenes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from tallystick.errors import ToolError
from tallystick.rooms.studio.book.complaints import told
from tallystick.rooms.studio.book.nouns import Book
from tallystick.rooms.studio.continuity.checking import check_book
from tallystick.rooms.studio.continuity.desk import complaints_of
from tallystick.rooms.studio.continuity.rules import Focus
from tallystick.rooms.studio.continuity.waivers import stored_waivers

MAX_GROUP = 10
"""Files that `consistency_checker` takes at once."""
MAX_FINDINGS = 200
"""Shown of all; nobody reads more before mending some."""


def check_whole(book: Book, workspace: Path, args: Mapping[str, Any]) -> dict[str, Any]:
    """Check every scene against every other and against the cards.

    Args:
        book: As it is now.
        workspace: Where waivers are kept.
        args: `focus`, as the tool takes it.

    Raises:
        ToolError: There is no such focus.
    """
    focus = next((known for known in get_args(Focus) if known == args.get("focus", "general")), None)
    if focus is None:
        raise ToolError("There is no such focus.", status=404, hint=f"One of {', '.join(get_args(Focus))}.")
    found = check_book(book, focus, waivers=stored_waivers(workspace))
    shown = found.open[:MAX_FINDINGS]
    first = [scene.path for scene in book.scenes[:MAX_GROUP]]
    return {
        "findings": [finding.shown() for finding in shown],
        "findings_total": len(found.open),
        "waived": len(found.findings) - len(found.open),
        "looked_at": asdict(found.looked_at),
        **told(complaints_of(book)),
        # Nothing found: one call on the beginning, so that the report rests on something.
        "groups": grouped(({one.first.path, one.second.path} for one in shown), MAX_GROUP)
        or ([first] if first else []),
    }


def grouped(together: Iterable[set[str]], most: int) -> list[list[str]]:
    """Put sets of files into few groups of at most so many, each set whole in one of them."""
    groups: list[set[str]] = []
    for files in together:
        home = next((group for group in groups if len(group | files) <= most), None)
        if home is None:
            groups.append(set(files))
        else:
            home |= files
    return [sorted(group) for group in groups]
