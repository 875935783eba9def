"""Plain text in any element; HTML is never interpreted."""

from nicegui.elements.mixins.text_element import TextElement


def text(tag: str, words: str) -> TextElement:
    """Show text in a tag, e.g. `h1`, `dt`, `button`."""
    return TextElement(tag=tag, text=words)


def block(words: str) -> TextElement:
    """Show preformatted text in a box, which is focusable so that long text can be scrolled by keyboard."""
    return text("div", words).classes("tally-code").props('tabindex="0"')
