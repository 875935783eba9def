"""Words in an element of one's choice. They are always shown as they are: this takes no HTML."""

from nicegui.elements.mixins.text_element import TextElement


def text(tag: str, words: str) -> TextElement:
    """Show words in a tag, e.g. `h1`, `dt`, `button`."""
    return TextElement(tag=tag, text=words)


def block(words: str) -> TextElement:
    """Show words as they stand, in a box of their own. It scrolls when they are long, so the keyboard can reach it."""
    return text("div", words).classes("tally-code").props('tabindex="0"')
