"""One run's files: `.control-room/runs/<runId>/run.json`, `steps.jsonl` and `cache.json`.

`run.json` says what the run is and how it stands, `steps.jsonl` what happened line by line, `cache.json` what the steps
gave. A step's result in the cache is what makes it done: it is written once, whole, before anybody is told, and
whoever does the step again finds it there. Two processes may have the same run open.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from tallystick.errors import ConfigError
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.session import valid_session_id
from tallystick.records import record
from tallystick.rooms.studio.runs.recipe import INPUTS
from tallystick.rooms.studio.runs.states import ENDED, Status, StepStatus, may_become
from tallystick.storage.journal import disk
from tallystick.storage.json_file import JsonFile, open_lock
from tallystick.storage.json_lines import JsonLines

RUNS = "runs"
MAX_VALUE = 16 * 1024 * 1024
"""Bytes of one result in the cache: as much as a tool may give."""


MAX_CACHE = 48 * 1024 * 1024
"""Of all results together, well below what can be read back."""


@record
class Result:
    """The result of a step, or of one of its items."""

    status: StepStatus
    value: Any = None
    receipts: tuple[str, ...] = ()
    code: str | None = None
    message: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As the cache keeps it."""
        kept: dict[str, Any] = {"status": self.status, "value": self.value, "receipts": list(self.receipts)}
        return kept if self.code is None else kept | {"code": self.code, "message": self.message}

    @classmethod
    def from_dict(cls, kept: Mapping[str, Any]) -> "Result":
        """As it was kept."""
        return cls(
            status=kept["status"],
            value=kept["value"],
            receipts=tuple(kept["receipts"]),
            code=kept.get("code"),
            message=kept.get("message", ""),
        )


class RunFolder:
    """The files of one run."""

    def __init__(self, control_room: Path, run_id: str, *, now: Callable[[], str]) -> None:
        """Name a run; its folder need not be there.

        Raises:
            ConfigError: `run_id_invalid`, the id cannot name a folder.
        """
        if not valid_session_id(run_id):
            raise ConfigError("A run's id has letters, digits, dot, dash and underscore.", code="run_id_invalid")
        self.run_id = run_id
        self.path = control_room / RUNS / run_id
        self._now = now
        self._run = JsonFile(self.path / "run.json", code="run_damaged")
        self._cache = JsonFile(self.path / "cache.json", code="run_damaged")
        self._steps = JsonLines(self.path / "steps.jsonl")

    # -- run.json ------------------------------------------------------------------------------------------------------

    def create(self, document: Mapping[str, Any]) -> None:
        """Write a new run down, as queued."""
        with self._run.locked():
            if self._run.read() is None:
                head = {"run_id": self.run_id, "status": "queued", "created_at": self._now()}
                self._run.write({**head, **document})

    def read(self) -> dict[str, Any] | None:
        """The content of `run.json`; None if there is no such run.

        Raises:
            ConfigError: `run_damaged`.
        """
        return self._run.read()

    def document(self) -> dict[str, Any]:
        """The same, of a run that must be there.

        Raises:
            ConfigError: `run_damaged`, also when it is gone.
        """
        found = self._run.read()
        if found is None:
            raise ConfigError(f"run.json of {self.run_id} is gone, so the run cannot continue.", code="run_damaged")
        return found

    def become(self, status: Status, **more: Any) -> bool:
        """Change the run's status, with what belongs to it; False: it may not become that now."""
        with self._run.locked():
            found = self.document()
            if not may_become(found["status"], status):
                return False
            cleared = () if status in ENDED else ("code", "message", "ended_at")
            changed = {name: value for name, value in found.items() if name not in {*cleared, "version"}}
            changed |= {"status": status, **more}
            if status in ENDED:
                changed["ended_at"] = self._now()
            elif status == "running":
                changed.setdefault("started_at", self._now())
            self._run.write(changed)
        return True

    def put(self, **more: Any) -> None:
        """Add fields to `run.json`, in any status."""
        with self._run.locked():
            found = self.document()
            self._run.write({name: value for name, value in found.items() if name != "version"} | more)

    # -- steps.jsonl ---------------------------------------------------------------------------------------------------

    def begin(self, name: str, **more: Any) -> dict[str, Any] | None:
        """Log the start of a step, and return its last log line, if any."""
        last = self._last(name)
        self.become("running", step=name)
        self.tell(name, "running", **more)
        return last

    def tell(self, name: str, status: StepStatus, **more: Any) -> None:
        """Append a line to the step log; the same end is logged once."""
        line = {"at": self._now(), "step": name, "status": status}
        line |= {key: value for key, value in more.items() if value not in (None, "", [], ())}
        with self._locked("steps.jsonl"):
            last = self._last(name)
            if status != "running" and last is not None and last["status"] == status:
                return
            self._steps.append(line)

    def log(self) -> list[dict[str, Any]]:
        """All lines; one that a dying process left half-written is left out."""
        return [line for line in self._steps.read() if {"step", "status"} <= line.keys()]

    # -- cache.json ----------------------------------------------------------------------------------------------------

    def commit(self, name: str, result: Result, *, slot: str | None = None) -> Result:
        """Store the result of a step; an earlier stored result takes precedence.

        Raises:
            ConfigError: `value_unfit` or `cache_full`, it cannot be kept.
        """
        _check_fit(name, result.value)
        with self._cache.locked():
            found = self._cache.read() or {"slots": {}, "results": {}}
            if name in found["results"]:
                return Result.from_dict(found["results"][name])
            found["results"][name] = result.as_dict()
            if slot is not None:
                found["slots"][slot] = name
            whole = {"slots": found["slots"], "results": found["results"]}
            if len(orjson.dumps(whole)) > MAX_CACHE:
                message = (
                    f"the run's results have more than {MAX_CACHE >> 20} MiB; split the recipe, or narrow its steps"
                )
                raise ConfigError(message, code="cache_full")
            self._cache.write(whole)
        return result

    def join(self, slot: str, names: list[str]) -> None:
        """Fill a slot with a list of results."""
        with self._cache.locked():
            found = self._cache.read() or {"slots": {}, "results": {}}
            found["slots"][slot] = names
            self._cache.write({"slots": found["slots"], "results": found["results"]})

    def cache(self) -> "Cache":
        """The results so far."""
        found = self._cache.read() or {"slots": {}, "results": {}}
        return Cache(slots=found["slots"], results=found["results"])

    @contextmanager
    def exclusive(self) -> Iterator[None]:
        """A lock around a step that must not run twice concurrently."""
        with self._locked("effect"):
            yield

    def _last(self, name: str) -> dict[str, Any] | None:
        return next((line for line in reversed(self.log()) if line["step"] == name), None)

    @contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        fd = open_lock(self.path / name)
        try:
            disk.lock(fd)
            yield
        finally:
            os.close(fd)


@record
class Cache:
    """What is in the cache."""

    slots: Mapping[str, str | list[str]]
    results: Mapping[str, Mapping[str, Any]]

    def result(self, name: str) -> Result | None:
        """The result of a step."""
        kept = self.results.get(name)
        return None if kept is None else Result.from_dict(kept)

    def value(self, slot: str) -> Any:
        """The value of a slot; null if the step was skipped or failed."""
        names = self.slots[slot]
        if isinstance(names, str):
            return self.results[names]["value"]
        return [self.results[name]["value"] for name in names]

    def receipts(self, slot: str) -> tuple[str, ...]:
        """The receipts behind a slot, in order."""
        names = self.slots.get(slot, ())
        of = [names] if isinstance(names, str) else names
        return tuple(receipt for name in of for receipt in self.results[name]["receipts"])

    def scope(self, inputs: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """All that a reference may look at."""
        return {INPUTS: dict(inputs), **{slot: self.value(slot) for slot in self.slots}, **more}


def digest_of(value: Any) -> str:
    """SHA-256 of a value: what the durable engine keeps of it."""
    return sha256(orjson.dumps(value, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _check_fit(name: str, value: Any) -> None:
    """Refuse a value that could not be read back: it would damage the whole cache."""
    unfit = parse_json_object(orjson.dumps({"value": {"deeper": {"value": value}}}), MAX_VALUE)
    if isinstance(unfit, Rejection):
        raise ConfigError(f"what step '{name}' gave cannot be stored: {unfit.reason}", code="value_unfit")
