"""Runs one step of a run exactly once, and records its result; the ports that steps need.

The result is in the cache before anybody is notified, and is found there on a retry. An error inside a step becomes a
line of `steps.jsonl` with a code. An optional step then counts as failed and the run continues; any other step ends the
run, which can be resumed at this step.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Literal, NoReturn, Protocol

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError, TallyError
from tallystick.gate.session import Caller, Session
from tallystick.records import record
from tallystick.rooms.studio.runs.folder import Result, RunFolder, digest_of
from tallystick.turns.flow_context import STEP

Level = Literal["info", "warn", "error"]

Action = Callable[[Mapping[str, Any]], Any]
"""An idempotent action of the room: arguments → value. Raises `TallyError` on failure."""


class Patches(Protocol):
    """Proposes an agent's draft as a patch, which a person applies or rejects."""

    def __call__(self, path: str, text: str, *, by: str, key: str) -> Mapping[str, Any] | Problem:
        """Propose a file's new text, once per key, and return the proposal's ids."""
        ...


class Notify(Protocol):
    """Notifies a person."""

    def __call__(self, *, level: Level, text: str, run_id: str) -> None:
        """Send the notification."""
        ...


@record
class RunEnvironment:
    """The room around a run."""

    book: Callable[[], dict[str, Any]]
    """`scenes` and `cards` (paths, in reading order) and `outline` (a path or null), as they are now."""
    exists: Callable[[str], bool]
    """Whether a file of the workspace is there."""
    actions: Mapping[str, Action]
    patches: Patches
    notify: Notify
    now: Callable[[], str]
    """RFC 3339."""


def caller_of(document: Mapping[str, Any]) -> Caller:
    """The caller of a run's steps: the user who started it, through a worker."""
    given = document["caller"]
    return Caller(subject=given["subject"], roles=frozenset(given["roles"]), channel="worker")


_log = logging.getLogger(__name__)
MAX_MESSAGE = 500

Before = Mapping[str, Any] | None
"""The last log line of a step that was started before."""


class StepStopped(TallyError):  # noqa: N818 - reads as what it is
    """A step failed; the code says why."""

    code = "step_failed"

    def __init__(self, message: str, code: str, *, receipts: tuple[str, ...] = ()) -> None:
        super().__init__(message[:MAX_MESSAGE], code=code)
        self.receipts = receipts


class StepRecorder:
    """Runs and records the steps of one run."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._document = folder.document()

    @property
    def inputs(self) -> Mapping[str, Any]:
        """The inputs of the run."""
        given: dict[str, Any] = self._document["inputs"]
        return given

    @property
    def exclusive(self) -> Callable[[], AbstractContextManager[None]]:
        """See `RunFolder.exclusive`."""
        return self.folder.exclusive

    def session(self, name: str) -> Session:
        """Where the receipts of a step belong."""
        run_id = self.folder.run_id
        return Session(session_id=run_id, run_id=run_id, caller=caller_of(self._document), extra={STEP: name})

    def scope(self, **more: Any) -> dict[str, Any]:
        """The values that references may use now."""
        return self.folder.cache().scope(self.inputs, **more)

    def once(
        self, name: str, do: Callable[[Before], Result], *, slot: str | None, optional: bool = False, **about: Any
    ) -> dict[str, Any]:
        """Run a step unless it is done, and return the digest for the durable engine.

        Args:
            name: Of the step, or of one item of it.
            do: Does it; is given the last line about it, if it was begun before.
            slot: What its value fills.
            optional: Whether its failure leaves the run going.
            about: What its lines say besides: kind, tool, agent.

        Raises:
            StepStopped: It failed, and with it the run.
        """
        done = self.folder.cache().result(name)
        if done is None:
            made = _caught(do, self.folder.begin(name, **about))
            if made.status == "failed" and not optional:
                self._end(name, made, about)
            done = self._kept(name, made, slot, about)
        kept = {"receipts": list(done.receipts), "sha256": digest_of(done.value)}
        self.folder.tell(name, done.status, code=done.code, message=done.message, **about, **kept)
        return {"status": done.status, "code": done.code, **kept}

    def skip(self, name: str, code: str, message: str, *, slot: str, **about: Any) -> dict[str, Any]:
        """Leave a step out; its slot is null."""
        left_out = Result(status="skipped", code=code, message=message)
        return self.once(name, lambda _before: left_out, slot=slot, **about)

    def _kept(self, name: str, made: Result, slot: str | None, about: Mapping[str, Any]) -> Result:
        try:
            return self.folder.commit(name, made, slot=slot)
        except ConfigError as error:
            # Completed calls have receipts; a resumed run finds them first.
            self._end(name, replace(made, code=error.code, message=str(error)), about)

    def _end(self, name: str, made: Result, about: Mapping[str, Any]) -> NoReturn:
        code = made.code or "step_failed"
        self.folder.tell(name, "failed", code=code, message=made.message, receipts=list(made.receipts), **about)
        self.folder.become("failed", code=code, message=made.message, step=name)
        raise StepStopped(made.message, code=code, receipts=made.receipts)


def stopped_by(problem: Problem) -> StepStopped:
    """A problem that ends a step."""
    return StepStopped(problem.message, code=problem.code)


def _caught(do: Callable[[Before], Result], before: Before) -> Result:
    try:
        return do(before)
    except StepStopped as stop:
        return Result(status="failed", code=stop.code, message=str(stop), receipts=stop.receipts)
    except TallyError as error:
        return Result(status="failed", code=error.code, message=str(error)[:MAX_MESSAGE])
    except Exception as error:  # noqa: BLE001 - whatever a tool's result or a reply holds, the run must say how it ended
        _log.exception("a step of a run broke")
        return Result(status="failed", code="step_broke", message=f"{type(error).__name__}; the log says where.")
