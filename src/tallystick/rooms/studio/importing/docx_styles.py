"""What the styles of a Word document mean: heading or not, quote or not, italic, bold."""

import re
from typing import Any

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
MAX_PARENTS = 12
"""Styles that styles are based on; a circle ends here too."""
_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo) ?([1-6])")
_TITLE = frozenset({"title", "titel", "titre"})
_QUOTES = frozenset({"quote", "intense quote", "block text", "blockquote", "block quotation", "quotations"})
_LIST_TEXT = "list paragraph"


class Styles:
    """The style sheet of one document."""

    def __init__(self, sheet: Any | None) -> None:
        self._styles = {} if sheet is None else {style.get(f"{W}styleId"): style for style in sheet.iter(f"{W}style")}

    def level(self, form: Any | None) -> int | None:
        """Of a heading its level, 0 for the book's title; None: no heading.

        Args:
            form: The paragraph's properties.
        """
        own = value_of(form, "outlineLvl")
        if own is not None and own.isdigit() and int(own) < _BODY_LEVEL:
            return int(own) + 1
        for style in self._chain(value_of(form, "pStyle")):
            name = (value_of(style, "name") or "").casefold()
            found = _HEADING.fullmatch(name)
            if found:
                return int(found.group(1))
            if name in _TITLE:
                return 0
            level = value_of(style.find(f"{W}pPr"), "outlineLvl")
            if level is not None and level.isdigit() and int(level) < _BODY_LEVEL:
                return int(level) + 1
        return None

    def is_quote(self, form: Any | None) -> bool:
        """Whether a paragraph is a quotation."""
        return any(
            (value_of(style, "name") or "").casefold() in _QUOTES for style in self._chain(value_of(form, "pStyle"))
        )

    def stands_apart(self, form: Any | None) -> bool:
        """Whether a paragraph itself asks for a gap before it, beyond what its style has."""
        found = None if form is None else form.find(f"{W}spacing")
        return found is not None and found.get(f"{W}before", "0") != "0"

    def is_list_text(self, form: Any | None) -> bool:
        """Whether a paragraph is set as an entry of a list whose number, if any, is typed."""
        return any(
            (value_of(style, "name") or "").casefold() == _LIST_TEXT for style in self._chain(value_of(form, "pStyle"))
        )

    def is_listed(self, form: Any | None) -> bool:
        """Whether a paragraph is an entry of a list, by itself or by its style."""
        held = [form, *(style.find(f"{W}pPr") for style in self._chain(value_of(form, "pStyle")))]
        return any(properties is not None and properties.find(f"{W}numPr") is not None for properties in held)

    def emphasis(self, form: Any | None) -> tuple[bool, bool]:
        """Italic and bold of a run.

        Args:
            form: The run's properties.
        """
        chain = self._chain(value_of(form, "rStyle"))
        return tuple(self._has(form, chain, name) for name in ("i", "b"))  # type: ignore[return-value]

    def _has(self, form: Any | None, chain: list[Any], name: str) -> bool:
        for properties in (form, *(style.find(f"{W}rPr") for style in chain)):
            if properties is not None and properties.find(f"{W}{name}") is not None:
                return is_on(properties, name)
        return False

    def _chain(self, style_id: str | None) -> list[Any]:
        """A style and those it is based on."""
        chain: list[Any] = []
        while style_id in self._styles and len(chain) < MAX_PARENTS:
            chain.append(self._styles[style_id])
            style_id = value_of(chain[-1], "basedOn")
        return chain


_BODY_LEVEL = 6
"""Levels from here on are no headings that anyone sees."""


def value_of(properties: Any | None, name: str) -> str | None:
    """The value of one property."""
    found = None if properties is None else properties.find(f"{W}{name}")
    return None if found is None else found.get(f"{W}val")


def is_on(properties: Any | None, name: str) -> bool:
    """Whether a switch is set: it is there, and not said to be off."""
    found = None if properties is None else properties.find(f"{W}{name}")
    return found is not None and found.get(f"{W}val", "true").lower() not in {"0", "false", "off", "none"}
