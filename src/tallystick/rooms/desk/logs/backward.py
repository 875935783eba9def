"""The lines of a file from its end to its beginning, without holding more of it than a block."""

import os
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = 256 * 1024
MAX_LINE = 64 * 1024
"""What is kept of one line; longer ones are cut at the end."""


@dataclass(kw_only=True)
class Budget:
    """How many bytes may still be read, over all files of a search."""

    left: int

    def take(self, wanted: int) -> int:
        """As many as there are."""
        given = min(wanted, self.left)
        self.left -= given
        return given


def lines_from_end(descriptor: int, budget: Budget) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each line, the last first; ends early when the budget does."""
    at = os.fstat(descriptor).st_size
    tail = b""
    while at > 0 and (size := budget.take(min(BLOCK, at))) > 0:
        at -= size
        block = os.pread(descriptor, size, at)
        # A line that goes on for megabytes is never gathered whole.
        data = block + tail[:MAX_LINE]
        end = len(data)
        while (cut := data.rfind(b"\n", 0, end)) >= 0:
            yield at + cut + 1, data[cut + 1 : min(end, cut + 1 + MAX_LINE)]
            end = cut
        tail = data[:end]
    if at == 0 and tail:
        yield 0, tail[:MAX_LINE]
