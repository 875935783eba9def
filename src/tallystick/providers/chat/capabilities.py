"""Remember what endpoints refused, so that it is tried once and not on every step.

Servers change, so entries expire and are tried again. The file is a cache: if it is damaged or not writable, that costs
one refused request per endpoint, never a turn.
"""

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from tallystick.records import record
from tallystick.storage.journal.disk import make_folder, read_whole, write_whole

FILE = Path("agents", "capabilities.json")
"""In the control room."""
FORGOTTEN_AFTER_S = 7 * 24 * 3600
"""A week: servers are updated about as often, and trying again costs one refused request."""
_MAX_ENDPOINTS = 256


@record
class Learnt:
    """What one endpoint accepts."""

    form: str | None = None
    """The best form of `response_format` that worked; None if nothing was refused so far."""
    without: frozenset[str] = frozenset()
    """Request fields that it refused."""
    at: float = 0.0
    """When it was learnt, in seconds since 1970."""


class CapabilityBook:
    """What was learnt about each endpoint, in memory and, if a file is given, across processes."""

    def __init__(self, file: Path | None = None, *, clock: Callable[[], float] = time.time) -> None:
        self._file = file
        self._clock = clock
        self._lock = threading.Lock()
        self._learnt = {} if file is None else _read(file)

    def of(self, key: str) -> Learnt:
        """Return what is known about an endpoint."""
        learnt = self._learnt.get(key)
        # If the clock was set back, entries from the future must not stay for years.
        if learnt is None or not 0 <= self._clock() - learnt.at < FORGOTTEN_AFTER_S:
            return Learnt()
        return learnt

    def takes(self, key: str, form: str) -> None:
        """Store that an endpoint accepted this form after it refused better ones."""
        self._note(key, replace(self.of(key), form=form))

    def refuses(self, key: str, fields: frozenset[str]) -> None:
        """Store that an endpoint refused these request fields."""
        known = self.of(key)
        self._note(key, replace(known, without=known.without | fields))

    def _note(self, key: str, learnt: Learnt) -> None:
        with self._lock:
            self._learnt[key] = replace(learnt, at=self._clock())
            while len(self._learnt) > _MAX_ENDPOINTS:
                del self._learnt[min(self._learnt, key=lambda each: self._learnt[each].at)]
            if self._file is not None:
                _write(self._file, self._learnt)


def _read(file: Path) -> dict[str, Learnt]:
    try:
        whole = orjson.loads(read_whole(file) or b"{}")
    except (OSError, ValueError):
        return {}
    entries = whole.items() if isinstance(whole, dict) else ()
    return {key: learnt for key, value in entries if (learnt := _entry(value)) is not None}


def _entry(value: Any) -> Learnt | None:
    if not isinstance(value, dict):
        return None
    form, without, at = value.get("form"), value.get("without", []), value.get("at")
    if not isinstance(form, str | None) or not isinstance(without, list) or not isinstance(at, int | float):
        return None
    return Learnt(form=form, without=frozenset(map(str, without)), at=float(at))


def _write(file: Path, learnt: Mapping[str, Learnt]) -> None:
    plain = {key: {"form": each.form, "without": sorted(each.without), "at": each.at} for key, each in learnt.items()}
    try:
        make_folder(file.parent)
        write_whole(file, orjson.dumps(plain, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS), durable=False)
    except OSError:
        # The entry stays in memory; the file is only a cache.
        return
