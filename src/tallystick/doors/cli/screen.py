"""Output of commands.

Results go to stdout, everything else to stderr. With `--json`, stdout contains one JSON document (or one per line,
where a command says so) and nothing else. All text for people goes through `visible` here, so that no command can
forget it.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Protocol

import typer

from tallystick.doors.cli.exits import Refused
from tallystick.doors.presentation.visible import visible

PROTECTED = frozenset({".control-room", ".git", "tallystick.toml"})
"""No command writes output there, not even with `--force`: that would be another way to change policy or keys."""


class Advance(Protocol):
    """Updates a progress bar."""

    def __call__(self, done: int, total: int | None = None, /) -> None:
        """Set the progress, and the total if it is known."""
        ...


Output = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write to this file. Default: stdout.")
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.", show_default=False)]


@dataclass(frozen=True, kw_only=True)
class Screen:
    """The output of one command."""

    as_json: bool = False
    quiet: bool = False
    """Print only errors; the exit code is the result. Requested documents are still written."""
    there: str = ""
    """Suffix for suggested commands, so that they use the same workspace."""

    def data(self, value: Any) -> None:
        """Print the result for programs as one line of ASCII JSON; nothing without `--json`."""
        if self.as_json:
            _out(json.dumps(value, ensure_ascii=True) + "\n")

    def line(self, text: str = "") -> None:
        """Print one line of the result for people."""
        if not self.as_json and not self.quiet:
            _out(visible(text) + "\n")

    def block(self, text: str) -> None:
        """Print text of several lines for people."""
        for line in text.split("\n"):
            self.line(line)

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Print a table for people."""
        if self.as_json or self.quiet:
            return
        cells = [[visible("" if cell is None else str(cell)) for cell in row] for row in rows]
        if sys.stdout.isatty():
            _draw_table(heads, cells)
        else:
            _out("".join(_aligned([list(heads), *cells])))

    def note(self, text: str) -> None:
        """Print additional information to stderr."""
        if not self.quiet and not self.as_json:
            sys.stderr.write(visible(text) + "\n")

    def document(self, data: bytes, output: Path | None, *, force: bool = False) -> None:
        """Write a requested document to a file, or unchanged to stdout."""
        with self.writing(output, force=force) as file:
            file.write(data)

    @contextmanager
    def writing(self, output: Path | None, *, force: bool = False) -> Iterator[BinaryIO]:
        """Open the target of a document that is written in pieces.

        Raises:
            Refused: `path_protected`, `file_exists` or `file_unwritable`.
        """
        if output is None:
            sys.stdout.flush()
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
            return
        with _open_output(output, force=force) as file:
            yield file
        self.note(f"written: {output}")

    @contextmanager
    def progress(self, what: str, total: int | None) -> Iterator[Advance]:
        """Show a progress bar on stderr if it is a terminal; yield the function that updates it."""
        if self.quiet or self.as_json or not sys.stderr.isatty():
            yield _ignore_progress
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(what, total=total)
            yield lambda done, total=None: bar.update(task, completed=done, total=total)

    @contextmanager
    def progress_of_bytes(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Show a progress bar of transferred bytes; yield the function that adds some."""
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            update(done)

        with self.progress(what, total) as update:
            yield advance


def _ignore_progress(_done: int, _total: int | None = None) -> None:
    """Do nothing: there is no progress bar."""


def _open_output(path: Path, *, force: bool) -> BinaryIO:
    names = {part.casefold().rstrip(" .") for part in (*path.absolute().parts, *path.resolve().parts)}
    if not PROTECTED.isdisjoint(names):
        raise Refused(f"{path}: this location is reserved for the gate. Choose another file.", code="path_protected")
    try:
        return path.open("wb" if force else "xb")
    except FileExistsError:
        raise Refused(f"{path} already exists. Choose another name, or use --force.", code="file_exists") from None
    except OSError as error:
        raise Refused(f"{path} cannot be written: {error.strerror}.", code="file_unwritable") from None


def say_error(code: str, message: str, *, as_json: bool) -> None:
    """Print an error as one line on stderr."""
    if as_json:
        sys.stderr.write(json.dumps({"error": {"code": code, "message": message}}, ensure_ascii=True) + "\n")
    else:
        sys.stderr.write(f"error: {visible(code)}: {visible(message)}\n")


def _out(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _aligned(rows: list[list[str]]) -> Iterator[str]:
    """Align columns for pipes and files: never cut, never wrapped."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"


def _draw_table(heads: Sequence[str], cells: list[list[str]]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # The first column is copied into the next command, so it is never folded.
    first = max(len(row[0]) for row in [list(heads), *cells])
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for place, name in enumerate(heads):
        table.add_column(name, min_width=None if place else first, no_wrap=place == 0)
    for row in cells:
        # Text, not markup: a tool named "[red]" must appear as "[red]".
        table.add_row(*(Text(cell, overflow="fold") for cell in row))
    Console().print(table)
