"""The file that a call names: a scene or an outline of the book, or a clear word that there is none."""

from tallystick.errors import PathRefused, ToolError
from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.naming import slug_of, slugged, without_number
from tallystick.rooms.studio.book.nouns import Book, Outline, Scene
from tallystick.rooms.studio.book.outline import parse_outline
from tallystick.rooms.studio.book.reading import BookShelf
from tallystick.rooms.studio.book.scenes import parse_scene


def asked_scene(shelf: BookShelf, book: Book, path: str) -> Scene:
    """The scene of that path; any text of the workspace can be looked at as one.

    Raises:
        ToolError: There is no such file, or it holds no text.
    """
    source = _read(shelf, path)
    if source is None:
        raise ToolError("There is no such scene.", status=404, hint=_near(book, path))
    known = next((scene for scene in book.scenes if scene.path == source.path), None)
    return known or parse_scene(source, order=len(book.scenes))


def asked_outline(shelf: BookShelf, book: Book, path: str | None) -> Outline:
    """The outline of that path, or the book's own.

    Raises:
        ToolError: There is none.
    """
    if path is None:
        if book.outline is None:
            hint = "Write one as Story/SCN-outline.md: a heading or a list entry for each scene."
            raise ToolError("The project has no outline.", status=404, hint=hint)
        return book.outline
    source = _read(shelf, path)
    if source is None:
        hint = f"The project's outline is {book.outline.path}." if book.outline else "file_locator finds the files."
        raise ToolError("There is no such outline.", status=404, hint=hint)
    if book.outline is not None and book.outline.path == source.path:
        return book.outline
    return parse_outline(source)


def _read(shelf: BookShelf, path: str) -> Source | None:
    try:
        return shelf.sources.read(path)
    except PathRefused as refused:
        raise ToolError(str(refused), status=404, hint="Name a text file inside the workspace.") from None


def _near(book: Book, path: str) -> str:
    wanted = without_number(slugged(slug_of(path)))
    for scene in book.scenes:
        if wanted and wanted in {without_number(slugged(scene.slug)), slugged(scene.title)}:
            return f"Did you mean {scene.path}?"
    return "file_locator finds the scenes there are."
