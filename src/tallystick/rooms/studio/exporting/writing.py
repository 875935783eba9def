"""Which format gives which bytes."""

from collections.abc import Callable

from tallystick.rooms.studio.exporting.docx import to_docx
from tallystick.rooms.studio.exporting.epub import to_epub
from tallystick.rooms.studio.exporting.gathering import ReadBook
from tallystick.rooms.studio.exporting.markdown import to_markdown

FORMATS: dict[str, Callable[[ReadBook], bytes]] = {"md": to_markdown, "docx": to_docx, "epub": to_epub}
