"""A step of a run, done once: what it gave is in the cache before anybody is told, and is found there the next time.

Whatever goes wrong inside a step becomes a line of `steps.jsonl` with a code. An optional step then counts as failed
and the run goes on; any other ends the run, which can be resumed at this step.
"""

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, NoReturn

from tallystick.agents.problem import Problem
from tallystick.errors import ConfigError, TallyError
from tallystick.gate.session import Session
from tallystick.rooms.studio.runs.folder import Result, RunFolder, digest_of
from tallystick.rooms.studio.runs.ports import caller_of
from tallystick.turns.flow_context import STEP

_log = logging.getLogger(__name__)
MAX_MESSAGE = 500

Before = Mapping[str, Any] | None
"""The last line about a step, if it was begun before."""


class StepStopped(TallyError):  # noqa: N818 - reads as what it is
    """A step that came to nothing; the code says why."""

    code = "step_failed"

    def __init__(self, message: str, code: str, *, receipts: tuple[str, ...] = ()) -> None:
        super().__init__(message[:MAX_MESSAGE], code=code)
        self.receipts = receipts


class Recording:
    """The steps of one run, as its folder keeps them."""

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self._document = folder.document()

    @property
    def inputs(self) -> Mapping[str, Any]:
        """What the run was given."""
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
        """All that a reference may look at now."""
        return self.folder.cache().scope(self.inputs, **more)

    def once(
        self, name: str, do: Callable[[Before], Result], *, slot: str | None, optional: bool = False, **about: Any
    ) -> dict[str, Any]:
        """Do a step unless it was done; gives what the durable engine keeps of it.

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
            # What it did is done and has its receipts; resuming looks there first.
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
