"""Words in an element of one's choice. They are always shown as they are: this takes no HTML."""

from nicegui.elements.mixins.text_element import TextElement


def text(tag: str, words: str) -> TextElement:
    """Show words in a tag, e.g. `h1`, `dt`, `button`."""
    return TextElement(tag=tag, text=words)
