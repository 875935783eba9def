"""The checks of one workspace: reads the book once and keeps the reading as long as the files are the same."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from tallystick.errors import ConfigError, ToolError
from tallystick.rooms.studio.book.model import Book, CanonCard, Complaint, Scene
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.continuity.findings import Finding, Findings
from tallystick.rooms.studio.continuity.rules import Focus
from tallystick.rooms.studio.continuity.waivers import Waiver, stored_waivers, waivers_of

if TYPE_CHECKING:
    from tallystick.reading.parser import Parser
    from tallystick.rooms.studio.continuity.book_check import BookReading

Key = tuple[tuple[str, str], ...]


class ContinuityService:
    """Where the tools and the pipeline ask."""

    def __init__(self, books: BookReader, workspace: Path, models: Path) -> None:
        self.books = books
        self._workspace, self._models = workspace, models
        self._lock = Lock()
        self._held: tuple[Key, BookReading] | None = None

    def check_book(self, focus: Focus = "general") -> Findings:
        """The whole book against itself and its cards.

        Raises:
            ToolError: The list of waivers is damaged.
        """
        return self._reading(self.books.book()).findings(focus, waivers=self.waivers())

    def check_files(self, book: Book, scenes: Sequence[Scene], cards: Sequence[CanonCard], focus: Focus) -> Findings:
        """Some files against each other and against the scenes before them.

        Every contradiction of a book is found by asking for each of its files once, however they are grouped.
        """
        given = {*(scene.path for scene in scenes), *(card.path for card in cards)}
        reading = self._reading(_with(book, scenes, cards))
        found = reading.findings(focus, waivers=self.waivers(), cards={card.path for card in cards})
        findings = tuple(finding for finding in found.findings if finding.second.path in given)
        return Findings(findings=findings, looked_at=found.looked_at, not_checked=found.not_checked)

    def check_scene(self, book: Book, scene: Scene, cards: Iterable[CanonCard], *, hard_only: bool) -> Findings:
        """One scene against some cards."""
        asked = list(cards)
        reading = self._reading(_with(book, [scene], asked))
        return reading.against(scene.path, [card.path for card in asked], hard_only=hard_only, waivers=self.waivers())

    def statements_of(self, cards: Iterable[str]) -> int:
        """How many statements of known fields some cards make, as far as they were read last."""
        wanted = set(cards)
        held = self._held
        known = (one for one in held[1].settled if one.field and one.field != "named") if held else ()
        return sum(one.path in wanted for one in known)

    def waivers(self) -> list[Waiver]:
        """The book's list of waivers.

        Raises:
            ToolError: It is damaged.
        """
        try:
            return stored_waivers(self._workspace)
        except ConfigError as damaged:
            raise ToolError(str(damaged), hint="Repair the file, or move it away.") from None

    def reading(self) -> "BookReading":
        """The book as the check reads it."""
        return self._reading(self.books.book())

    def _reading(self, book: Book) -> "BookReading":
        from tallystick.rooms.studio.continuity.book_check import BookReading  # noqa: PLC0415 - only checks need it

        files: list[Scene | CanonCard] = [*book.scenes, *book.cards]
        key = tuple((file.path, file.source.sha256) for file in files)
        with self._lock:
            if self._held is None or self._held[0] != key:
                self._held = (key, BookReading(book, parser_in(self._models)))
            return self._held[1]


def parser_in(models: Path) -> "Parser | None":
    """The grammar, if it is installed."""
    from tallystick.reading.parser import ParserMissingError, open_parser  # noqa: PLC0415 - loads spaCy

    try:
        return open_parser(models)
    except ParserMissingError:
        return None


def complaints_of(book: Book) -> list[Complaint]:
    """What of a book a check does not see, or not as it is meant."""
    return [*book.complaints, *waivers_of(book)[1]]


def places_of(findings: Iterable[Finding]) -> list[tuple[str, int, int]]:
    """Path, first and last line of every quote."""
    cited = [cited for finding in findings for cited in (finding.first, finding.second)]
    return [(one.path, one.line, one.end_line) for one in cited]


def _with(book: Book, scenes: Sequence[Scene], cards: Sequence[CanonCard]) -> Book:
    """The book, with files that are not part of it put behind."""
    known = {*(scene.path for scene in book.scenes), *(card.path for card in book.cards)}
    return Book(
        scenes=(*book.scenes, *(scene for scene in scenes if scene.path not in known)),
        cards=(*book.cards, *(card for card in cards if card.path not in known)),
        outline=book.outline,
        complaints=book.complaints,
    )
