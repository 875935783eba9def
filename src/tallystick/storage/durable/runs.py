"""Client side of runs: start, status, cancel, resume. Needs only the database; workers execute the runs."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dbos import (
    ClientScheduleInput,
    DBOSClient,
    DBOSPortableJSONSerializer,
    EnqueueOptions,
    StepInfo,
)
from dbos._error import (
    DBOSConflictingWorkflowError,
    DBOSException,
    DBOSNonExistentWorkflowError,
    DBOSStreamTimeoutError,
)
from dbos._utils import INTERNAL_QUEUE_NAME

from tallystick.storage.durable.database import SCHEMA, database_errors, open_engine, set_up
from tallystick.storage.durable.flow_registry import FlowRegistry
from tallystick.storage.durable.records import STATES, is_own_step, run_status, step_failed, step_record
from tallystick.storage.durable.stored_values import plain_json, refuse_pickles
from tallystick.storage.durable.worker_table import WorkerTable
from tallystick.turns.runs import (
    FOLLOWS,
    RESUMABLE,
    DurableError,
    Event,
    RunState,
    RunStatus,
    Schedule,
    StepRecord,
)

APPLICATION = "tallystick"
VERSION = "1"
"""Fixed: DBOS recovers only runs of its own version, which by default is derived from the flows' source code."""
EVENTS = "events"
"""Name of the stream to which a run writes its events."""
RUN_ID_CHARS = 200
PRIORITIES = range(2**31)
FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 0.5
"""Polling interval of `wait`: short at first for short runs, growing for long ones."""


class Runs:
    """The runs of one database."""

    def __init__(self, url: str, book: FlowRegistry) -> None:
        self.engine = open_engine(url)
        self.workers = WorkerTable(self.engine)
        self._book = book
        refuse_pickles()
        with _border():
            self._client = DBOSClient(
                system_database_engine=self.engine,
                dbos_system_schema=SCHEMA,
                serializer=DBOSPortableJSONSerializer(),
                application_name=APPLICATION,
                lazy=True,
                retry_connection_errors=False,
            )
            try:
                # A client never migrates by itself, but the first process may have no worker.
                set_up(self.engine, self.workers.tables, self._client._sys_db.run_migrations)  # noqa: SLF001
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """Close the connections."""
        self._client.destroy()
        self.engine.dispose()

    def start(self, flow: str, args: Mapping[str, Any], *, run_id: str, delay_s: float, priority: int) -> str:
        """Enqueue a run if its id is new."""
        card = self._book.card(flow)
        _check_start(run_id, delay_s, priority)
        options: EnqueueOptions = {
            "workflow_name": flow,
            "workflow_id": run_id,
            "queue_name": card.queue,
            "app_version": VERSION,
        }
        if priority:
            options["priority"] = priority
        if delay_s:
            options["delay_seconds"] = delay_s
        with _border():
            self._client.enqueue(options, plain_json(dict(args), f"arguments of '{flow}'"))
        return run_id

    def status(self, run_id: str) -> RunStatus | None:
        """Return one run; None if there is no such run."""
        with _border():
            found = self._client.list_workflows(workflow_ids=[run_id])
        return run_status(found[0], self._book) if found else None

    def wait(self, run_id: str, *, timeout_s: float) -> RunStatus | None:
        """Wait until a run has ended or the timeout has passed; return its status."""
        deadline = time.monotonic() + timeout_s
        pause = FIRST_PAUSE_S
        while True:
            status = self.status(run_id)
            left = deadline - time.monotonic()
            if status is None or status.ended or left <= 0:
                return status
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, LONGEST_PAUSE_S)

    def runs(
        self, *, flow: str | None, states: Sequence[RunState], prefix: str | None, limit: int, offset: int
    ) -> list[RunStatus]:
        """Return the matching runs, newest first."""
        with _border():
            found = self._client.list_workflows(
                name=flow,
                status=[word for word, state in STATES.items() if state in states] or None,
                workflow_id_prefix=prefix,
                limit=limit,
                offset=offset,
                sort_desc=True,
            )
        return [run_status(one, self._book) for one in found]

    def steps(self, run_id: str) -> list[StepRecord]:
        """Return the flow's own steps, without sleeps and events."""
        return [step_record(step) for step in self._step_rows(run_id) if is_own_step(step)]

    def events(self, run_id: str, *, after: int) -> list[Event]:
        """Return the events after `after` that exist now, without waiting for more as the engine would."""
        events: list[Event] = []
        with _border():
            try:
                for data in self._client.read_stream(run_id, EVENTS, offset=after + 1, timeout_seconds=0):
                    events.append(Event(seq=after + 1 + len(events), data=data))
            except (DBOSStreamTimeoutError, DBOSNonExistentWorkflowError):
                pass
        return events

    def cancel(self, run_id: str) -> RunStatus | None:
        """Cancel a run that has not ended."""
        status = self.status(run_id)
        if status is None or "cancelled" not in FOLLOWS[status.state]:
            return status
        with _border():
            self._client.cancel_workflow(run_id)
        return self.status(run_id)

    def resume(self, run_id: str) -> RunStatus | None:
        """Resume a run that ended without success."""
        status = self.status(run_id)
        if status is None or status.state not in RESUMABLE:
            return status
        queue = self._book.card(status.flow).queue
        with _border():
            if status.state == "failed":
                self._client.rewind_workflow(run_id, start_step=self._first_bad_step(run_id), queue_name=queue)
            else:
                self._client.resume_workflow(run_id, queue_name=queue)
        return self.status(run_id)

    def forget(self, run_id: str) -> bool:
        """Delete an ended run; False if it does not exist or has not ended."""
        status = self.status(run_id)
        if status is None or not status.ended:
            return False
        with _border():
            self._client.delete_workflow(run_id)
        return True

    def unschedule(self, name: str) -> None:
        """Delete a schedule."""
        with _border():
            self._client.delete_schedule(name)

    def declare(self, *, poll_s: float) -> None:
        """Store the book's queues and schedules for the workers."""
        with _border():
            for queue in self._book.queues.values():
                self._client.register_queue(
                    queue.name,
                    global_concurrency=queue.concurrency,
                    worker_concurrency=_at_most(queue.per_worker, queue.concurrency),
                    limiter=None if queue.starts is None else {"limit": queue.starts, "period": queue.per_s},
                    polling_interval_sec=poll_s,
                )
            schedules = self._book.schedules.values()
            try:
                self._client.apply_schedules([self._schedule_row(one) for one in schedules])
            except DBOSException as error:
                named = ", ".join(one.name for one in schedules if repr(one.cron) in error.message) or "a schedule"
                raise DurableError(f"{named}: {error.message}", code="durable_refused") from None

    def running(self) -> list[RunStatus]:
        """Return all runs that a worker has started and that have not ended."""
        with _border():
            found = self._client.list_workflows(status="PENDING", load_input=False, load_output=False)
        return [run_status(one, self._book) for one in found]

    def owner(self, run_id: str) -> str | None:
        """Return the token of the run's owner, who alone may record; None: it is queued or has ended."""
        with _border():
            return self._client._sys_db.get_workflow_owner(run_id)  # noqa: SLF001 - the engine's own fencing token

    def release(self, run_id: str, *, worker: str) -> bool:
        """Put a run started by `worker` back into the queue; False: it has ended or has another owner."""
        with _border():
            # DBOS recovers an executor's runs with this function, but only at its start and for its own id.
            return self._client._sys_db.reenqueue_for_recovery(run_id, [worker], INTERNAL_QUEUE_NAME)  # noqa: SLF001

    def bury(self, run: RunStatus) -> None:
        """Move a run that cannot be started to the dead-letter state."""
        with _border():
            self._client._sys_db.dead_letter_workflows([run.id], min_recovery_attempts=run.attempts)  # noqa: SLF001

    def _first_bad_step(self, run_id: str) -> int:
        """Return the step to resume at: the last failed step, or the one after the last if the flow itself failed."""
        rows = self._step_rows(run_id)
        failed = [row["function_id"] for row in rows if step_failed(row)]
        return failed[-1] if failed else max((row["function_id"] for row in rows), default=0) + 1

    def _step_rows(self, run_id: str) -> list[StepInfo]:
        with _border():
            return self._client.list_workflow_steps(run_id)

    def _schedule_row(self, schedule: Schedule) -> ClientScheduleInput:
        return {
            "schedule_name": schedule.name,
            "workflow_name": schedule.flow,
            "schedule": schedule.cron,
            "context": plain_json(dict(schedule.args), f"arguments of schedule '{schedule.name}'"),
            "cron_timezone": schedule.timezone,
            "queue_name": self._book.card(schedule.flow).queue,
        }


def _check_start(run_id: str, delay_s: float, priority: int) -> None:
    if not run_id.strip() or len(run_id) > RUN_ID_CHARS or not run_id.isprintable():
        raise DurableError(f"a run's id has 1 to {RUN_ID_CHARS} printable characters", code="run_id_invalid")
    if delay_s < 0 or priority not in PRIORITIES:
        raise DurableError("delay_s and priority begin at 0", code="start_invalid")


def _at_most(limit: int | None, most: int | None) -> int | None:
    return limit if most is None or limit is None else min(limit, most)


@contextmanager
def _border() -> Iterator[None]:
    """Translate the engine's and the database's errors into ours."""
    with database_errors():
        try:
            yield
        except DBOSConflictingWorkflowError:
            raise DurableError("this id is another flow's run; use an id of its own", code="run_id_taken") from None
        except DBOSException as error:
            raise DurableError(error.message, code="durable_refused") from None
