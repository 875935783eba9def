"""The files of a workspace, which tools read and write and replies may cite.

Every file is opened folder by folder from the workspace down, never through a link, so no file outside is read even if
the tree changes meanwhile. Links inside the workspace are not followed either: a link would be a second name of a
file. Two spellings are the same name if they agree in NFC; if two entries do, the one stored in NFC is used. Receipts
always contain the NFC form.
"""

import os
import time
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from pathlib import Path

from tallystick.errors import PathRefused
from tallystick.gate.reply.sources import Source
from tallystick.storage.file_cache import FileCache, is_settled, latest_change, signature_of
from tallystick.storage.openat import (
    check_plain,
    open_file,
    open_folder,
    read_up_to,
    remove_file,
    replace_file,
    stored_name,
)
from tallystick.storage.paths import (
    CANON,
    CANON_FILE,
    CANON_NAMES,
    Parts,
    check_writable,
    is_pattern,
    is_protected,
    matches,
    nameable,
    path_parts,
    pattern_parts,
)
from tallystick.text.encoding import decode_text

MAX_BYTES = 16 * 1024 * 1024
"""Maximum bytes read of one file: several times the longest novel."""
OUTLINE = "Story/SCN-outline.md"


@dataclass(frozen=True, kw_only=True, slots=True)
class FileBytes:
    """Bytes read from a file, with the size and hash of the whole."""

    path: str
    data: bytes
    size: int
    """Size of the whole file."""
    truncated: bool
    sha256: str | None
    """Hash of the whole file; None if it exceeds the read limit."""


class FileSources:
    """The files of one workspace; implements `Sources`."""

    def __init__(
        self,
        root: Path,
        *,
        max_bytes: int = MAX_BYTES,
        records: Mapping[str, Callable[[str], str | None]] | None = None,
        figures: Callable[[str], Decimal | None] | None = None,
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        """Open a workspace.

        Args:
            root: Its folder; it must exist.
            max_bytes: Maximum bytes read of one file.
            records: Prefix → function that returns the text of a record, provided by rooms (`{"ticket": …}`).
            figures: Function that recomputes a figure from its query.
            clock_ns: The wall clock to compare file timestamps with.
        """
        self.root = root.resolve()
        self._max_bytes = max_bytes
        self._records = records or {}
        self._figures = figures
        self._clock_ns = clock_ns
        self._cache = FileCache()

    def read(self, path: str) -> Source | None:
        """Return the file as text; None if it does not exist. An unchanged file is not read again."""
        named = path_parts(path)
        try:
            with self._opened(named) as (descriptor, parts):
                return self._source("/".join(parts), descriptor)
        except PathRefused as refused:
            if refused.code == "not_found":
                return None
            raise

    def read_bytes(self, path: str, limit: int | None = None) -> FileBytes:
        """Return the first bytes of a file, with the size and hash of the whole.

        Raises:
            PathRefused: `not_found`, `not_a_file`, `file_unusable`, or the path itself is refused.
        """
        named = path_parts(path)
        with self._opened(named) as (descriptor, parts):
            size = os.fstat(descriptor).st_size
            whole = read_up_to(descriptor, self._max_bytes + 1)
        budget = self._max_bytes if limit is None else min(limit, self._max_bytes)
        digest = sha256(whole).hexdigest() if len(whole) <= self._max_bytes else None
        size = len(whole) if digest else max(size, len(whole))
        data = whole[:budget]
        return FileBytes(path="/".join(parts), data=data, size=size, truncated=len(data) < size, sha256=digest)

    def paths(self, pattern: str = "**") -> list[str]:
        """Return the files that match a glob, sorted; hidden ones only if the pattern contains the dot."""
        wanted = pattern_parts(pattern)
        hidden = any(part.startswith(".") for part in wanted)
        found = {parts for parts in self._walk(hidden=hidden) if matches(wanted, parts)}
        if matches(wanted, CANON) and self._exists(CANON_FILE):
            found = {parts for parts in found if parts not in CANON_NAMES} | {CANON}
        return sorted("/".join(parts) for parts in found)

    def expand(self, scope: str) -> list[str]:
        """Return the files that a path, a folder or a glob refers to."""
        if is_pattern(scope):
            return self.paths(scope)
        parts = path_parts(scope)
        real = self._real(parts)
        if self._exists(real):
            return ["/".join(CANON if real == CANON_FILE else parts)]
        return self.paths("/".join((*parts, "**")))

    def outline(self) -> Source | None:
        """Return `Story/SCN-outline.md`, or the first Markdown file with "outline" in its name."""
        found = self.read(OUTLINE)
        if found is not None:
            return found
        named = [path for path in self.paths("**/*.md") if "outline" in path.rpartition("/")[2].casefold()]
        return self.read(named[0]) if named else None

    def resolve(self, reference: str) -> str | None:
        """Return the text of a record, from the room that owns it."""
        prefix, _, record_id = reference.partition(":")
        room = self._records.get(prefix)
        return room(record_id) if room else None

    def recompute(self, query: str) -> Decimal | None:
        """Return the figure, recomputed by the room that owns the query."""
        return self._figures(query) if self._figures else None

    def write(self, path: str, data: bytes, *, base_sha256: str | None = None) -> str:
        """Create or replace a file atomically: readers see the old or the new content, never a part.

        Args:
            path: Inside the workspace; folders are created as needed. The canon cannot be written, it is compiled.
            data: The whole content.
            base_sha256: Write only if the file still has this hash; `""`: only if it does not exist.

        Returns:
            The SHA-256 of the written content.

        Raises:
            PathRefused: `changed_meanwhile`, `name_taken`, `path_protected`, `path_outside`, `not_a_file`, `bad_path`.
        """
        parts = self._to_change(path, base_sha256)
        with self._folder(parts[:-1], make=True) as folder:
            replace_file(folder, parts[-1], data)
        return sha256(data).hexdigest()

    def remove(self, path: str, *, base_sha256: str) -> None:
        """Delete a file if it still has this hash.

        Raises:
            PathRefused: As for `write`, or `not_found`.
        """
        parts = self._to_change(path, base_sha256)
        with self._folder(parts[:-1]) as folder:
            remove_file(folder, parts[-1])

    def _to_change(self, path: str, base_sha256: str | None) -> Parts:
        parts = path_parts(path)
        check_writable(parts)
        if base_sha256 is not None and base_sha256 != (self._sha256(parts) or ""):
            message = "The file is not what the change was made against; read it again."
            raise PathRefused(message, code="changed_meanwhile")
        return parts

    def _sha256(self, parts: Parts) -> str | None:
        try:
            return self.read_bytes("/".join(parts)).sha256
        except PathRefused as refused:
            if refused.code == "not_found":
                return None
            raise

    def _real(self, parts: Parts) -> Parts:
        return CANON_FILE if parts in CANON_NAMES and self._exists(CANON_FILE) else parts

    def _exists(self, parts: Parts) -> bool:
        try:
            with self._folder(parts[:-1]) as folder:
                check_plain(folder, stored_name(folder, parts[-1]))
        except PathRefused as refused:
            if refused.code in {"not_found", "not_a_file"}:
                return False
            raise
        return True

    @contextmanager
    def _opened(self, named: Parts) -> Iterator[tuple[int, Parts]]:
        """Open a file; yield its descriptor and the name under which it is reported."""
        real = self._real(named)
        with self._folder(real[:-1]) as folder:
            descriptor = open_file(folder, real[-1])
        try:
            yield descriptor, CANON if real == CANON_FILE else named
        finally:
            os.close(descriptor)

    @contextmanager
    def _folder(self, parts: Parts, *, make: bool = False) -> Iterator[int]:
        descriptor = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for part in parts:
                inner = open_folder(descriptor, part, make=make)
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)

    def _walk(self, parts: Parts = (), *, hidden: bool) -> Iterator[Parts]:
        try:
            found = self._entries(parts)
        except PathRefused:
            # The folder was deleted or made inaccessible meanwhile: nothing to list.
            return
        for name, is_folder, is_file in found:
            inner = (*parts, unicodedata.normalize("NFC", name))
            if is_protected(inner) or (name.startswith(".") and not hidden):
                continue
            if is_file:
                yield inner
            elif is_folder:
                yield from self._walk(inner, hidden=hidden)

    def _entries(self, parts: Parts) -> list[tuple[str, bool, bool]]:
        with self._folder(parts) as folder, os.scandir(folder) as entries:
            return [
                (entry.name, entry.is_dir(follow_symlinks=False), entry.is_file(follow_symlinks=False))
                for entry in entries
                if nameable(entry.name)
            ]

    def _source(self, path: str, descriptor: int) -> Source:
        seen_ns = self._clock_ns()
        before = signature_of(os.fstat(descriptor))
        held = self._cache.get(path, before)
        if held is not None:
            return held
        data = read_up_to(descriptor, self._max_bytes + 1)
        if len(data) > self._max_bytes:
            message = f"The file is larger than {self._max_bytes} bytes, the most that is read of one."
            raise PathRefused(message, code="too_large")
        digest = sha256(data).hexdigest()
        source = Source(path=path, text=decode(data), sha256=digest, changed_ns=latest_change(before))
        if before == signature_of(os.fstat(descriptor)) and is_settled(before, seen_ns):
            self._cache.put(path, before, source)
        return source


def decode(data: bytes) -> str:
    """Decode a file's text, without its byte order mark.

    Raises:
        PathRefused: `not_text`.
    """
    found = decode_text(data)
    if found is None:
        raise PathRefused("The file holds no text.", code="not_text")
    return found.text.removeprefix("\ufeff")
