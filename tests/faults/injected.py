"""Making the n-th call of one kind fail."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tallystick.storage.journal import disk

CALLS = ("write", "pwrite", "fsync", "fdatasync", "ftruncate", "open_file", "replace", "unlink", "mkdir", "fchmod")


class Injected:
    """Counts the calls of one kind and lets some fail."""

    def __init__(self, name: str, *, nth: int, for_ever: bool, code: int = errno.EIO, short: bool = False) -> None:
        self.name = name
        self.nth = nth
        self.for_ever = for_ever
        self.code = code
        self.short = short
        self.calls = 0
        self.real = getattr(disk, name)

    @property
    def hit(self) -> bool:
        return self.calls >= self.nth

    def __call__(self, *args: Any, **more: Any) -> Any:
        self.calls += 1
        if self.calls == self.nth or (self.for_ever and self.calls > self.nth):
            if self.short and self.name in {"write", "pwrite"}:
                # What a full disk does: part of it is written, the next call says why not the rest.
                self.real(args[0], args[1][: len(args[1]) // 2], *args[2:])
            raise OSError(self.code, os.strerror(self.code))
        return self.real(*args, **more)


@contextmanager
def injected(
    name: str, *, nth: int, for_ever: bool = False, code: int = errno.EIO, short: bool = False
) -> Iterator[Injected]:
    """For a while, let the n-th call fail, once or from then on."""
    fault = Injected(name, nth=nth, for_ever=for_ever, code=code, short=short)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk, name, fault)
        yield fault
