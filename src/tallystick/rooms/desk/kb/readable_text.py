"""The wording of a passage as a customer can read it: whole sentences, without markup.

A row of a table is told with the names of its columns, an item below what leads into it.
"""

import re

from tallystick.rooms.desk.kb.passages import cells_of
from tallystick.rooms.desk.language.sentences import own_words

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
_MARKS = re.compile(r"(\*\*|__|`|(?<!\w)[*_])(\S(?:.*?\S)?)\1")
_ITEM = re.compile(r"^\s*[-*+•]\s+")
_STEP = re.compile(r"(?<!\s)[^\S\n]*+\n\s*+(?=\d{1,3}[.)]\s)")


def read_passage(snippet: str, lead: str = "") -> str:
    """Return what a passage says.

    Args:
        snippet: Verbatim.
        lead: What leads into it: a sentence that ends with a colon, or the names of a table's columns.
    """
    if snippet.lstrip().startswith("|") or (" | " in snippet and " | " in lead):
        return _row(cells_of(plain(snippet)), cells_of(plain(lead)) if lead else [])
    said = own_words(snippet)
    if _STEP.search(f"\n{said}"):
        steps = [" ".join(plain(step).split()) for step in _STEP.split(f"\n{said}") if step.strip()]
        return "\n".join(([plain(lead)] if lead else []) + steps)
    text = " ".join(plain(_ITEM.sub("", said)).split())
    return f"{plain(lead)} {text}" if lead and text else text


def plain(text: str) -> str:
    """Return a text without Markdown's marks."""
    return _MARKS.sub(r"\2", _MARKS.sub(r"\2", _LINK.sub(r"\1", text.replace("\n", " \n")))).strip()


def _row(cells: list[str], names: list[str]) -> str:
    first, *others = cells
    if len(names) != len(cells) or len(others) == 1:
        return f"{first}: {', '.join(each for each in others if each)}"
    told = [f"{_lower(name)} {cell}".strip() for name, cell in zip(names[1:], others, strict=True) if cell]
    return f"{first}: {'; '.join(told)}"


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:] if name[1:2].islower() or name[1:2] == " " else name
