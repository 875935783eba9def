"""Finds the scene, card or outline that a tool call names, or explains why there is none."""

from collections.abc import Sequence

from tallystick.errors import PathRefused, ToolError
from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.cards import kind_of, parse_card
from tallystick.rooms.studio.book.front_matter import read_front_matter
from tallystick.rooms.studio.book.model import Book, CanonCard, Complaint, Outline, Scene
from tallystick.rooms.studio.book.outline import parse_outline
from tallystick.rooms.studio.book.paths import is_prose_file, slug_of, slugged, without_number
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.book.scenes import parse_scene

_CANON_NAMES = frozenset({"canon.md", "story/compendium/canon.md", "compendium/canon.md"})
_NO_CARDS = "Write cards under Compendium/, or let `tally studio cards --write` propose them from the text."
_HINTS = {
    "too_large": "Split it into scenes.",
    "not_text": "Save it as UTF-8 text.",
}


def find_source(books: BookReader, path: str) -> Source | None:
    """The file at a path; None if there is none.

    Raises:
        ToolError: It cannot be read.
    """
    try:
        return books.sources.read(path)
    except PathRefused as refused:
        hint = _HINTS.get(refused.code, "Name a text file inside the workspace.")
        raise ToolError(f"{path:.200}: {refused}", status=404, hint=hint) from None


def find_scene(books: BookReader, book: Book, path: str) -> Scene:
    """The scene at a path; any text file of the workspace can be read as one.

    Raises:
        ToolError: There is no such file, or it holds no text.
    """
    source = find_source(books, path)
    if source is None:
        raise ToolError("There is no such scene.", status=404, hint=_near(book, path))
    known = next((scene for scene in book.scenes if scene.path == source.path), None)
    return known or parse_scene(source, order=len(book.scenes))


def find_prose(books: BookReader, book: Book, path: str) -> Scene:
    """Like `find_scene`, but refuse files that are not prose.

    Raises:
        ToolError: There is no such file, or it is a card, the outline, the canon index or no prose at all.
    """
    scene = find_scene(books, book, path)
    what = _other_than_prose(book, scene.path)
    if what is not None:
        raise ToolError(f"{scene.path:.200} is {what}, not prose.", status=400, hint="Name scenes.")
    return scene


def _other_than_prose(book: Book, path: str) -> str | None:
    if names_all_cards(path):
        return "the canon index"
    if book.outline is not None and book.outline.path == path:
        return "the outline"
    if any(card.path == path for card in book.cards) or any(
        one.path == path and one.left_out == "card" for one in book.complaints
    ):
        return "a card"
    return None if is_prose_file(path) else "a file of another kind"


def names_all_cards(path: str) -> bool:
    """Whether a path names the canon index, which represents all cards."""
    return path.strip("/").casefold() in _CANON_NAMES


def find_cards(books: BookReader, book: Book, paths: Sequence[str]) -> list[CanonCard]:
    """The cards at the given paths; without paths, all cards.

    Raises:
        ToolError: There are none, or one of them is not there or is no card.
    """
    cards = {card.path: card for card in book.cards}
    asked: dict[str, CanonCard] = {}
    for path in paths:
        if names_all_cards(path):
            asked |= cards
        else:
            card = cards.get(path) or _other_card(books, book, path)
            asked[card.path] = card
    found = list(asked.values()) if paths else list(cards.values())
    if not found:
        raise ToolError("There are no canon files to compare with.", status=409, hint=_NO_CARDS)
    return found


def _other_card(books: BookReader, book: Book, path: str) -> CanonCard:
    """A card outside the compendium, if its front matter declares it as one."""
    source = find_source(books, path)
    if source is None:
        raise ToolError(f"There is no card {path:.200}.", status=404, hint="file_locator finds the cards there are.")
    known = next((card for card in book.cards if card.path == source.path), None)
    if known is not None:
        return known
    of_the_story = {scene.path for scene in book.scenes} | ({book.outline.path} if book.outline else set())
    if source.path in of_the_story or kind_of(source.path, read_front_matter(source).fields) is None:
        raise ToolError(f"{source.path:.200} is no canon card.", status=409, hint=_NO_CARDS)
    card = parse_card(source)
    if isinstance(card, Complaint):
        raise ToolError(f"{card.path:.200}: {card.message}", status=409, hint=f"See line {card.line}.")
    return card


def find_outline(books: BookReader, book: Book, path: str | None) -> Outline:
    """The outline at a path, or the book's own.

    Raises:
        ToolError: There is none.
    """
    if path is None:
        if book.outline is None:
            hint = "Write one as Story/SCN-outline.md: a heading or a list entry for each scene."
            raise ToolError("The project has no outline.", status=404, hint=hint)
        return book.outline
    source = find_source(books, path)
    if source is None:
        hint = f"The project's outline is {book.outline.path}." if book.outline else "file_locator finds the files."
        raise ToolError("There is no such outline.", status=404, hint=hint)
    if book.outline is not None and book.outline.path == source.path:
        return book.outline
    return parse_outline(source)


def _near(book: Book, path: str) -> str:
    wanted = without_number(slugged(slug_of(path)))
    for scene in book.scenes:
        if wanted and wanted in {without_number(slugged(scene.slug)), slugged(scene.title)}:
            return f"Did you mean {scene.path}?"
    return "file_locator finds the scenes there are."
