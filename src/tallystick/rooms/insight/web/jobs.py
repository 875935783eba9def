"""Jobs of the page: import, embed, cluster, ask. Each step is a call through the gate.

It goes on when the window is closed, and every window shows how far it is.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from nicegui import background_tasks, ui
from starlette.requests import Request

from tallystick.doors.web.kit import PageContext, propose, trouble
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.execute.progress import Progress

QUESTION = "How many tickets are there per theme?"
KEPT = 50
"""Works that are remembered once they are over."""
ICONS = {"waiting": "radio_button_unchecked", "running": "pending", "done": "check_circle", "failed": "error"}


@dataclass(kw_only=True)
class Step:
    """One step of a job."""

    tool: str
    title: str
    args: Callable[[int], Mapping[str, Any]]
    """The dataset's id → arguments."""
    optional: bool = False
    """The others go on without it: a handful of tickets cannot be grouped, and can be asked about."""
    state: str = "waiting"
    words: str = ""
    hint: str = ""
    share: float | None = None
    """How far it is, from 0 to 1; None: that is not known."""

    def heard(self, progress: Progress) -> None:
        """Take a report; on the tool's own thread."""
        self.share = min(1.0, progress.done / progress.total) if progress.total else None
        self.words = progress.message or ""


@dataclass(kw_only=True)
class Job:
    """Steps that run one after the other."""

    steps: list[Step]
    dataset_id: int = 0
    """0: not known yet."""
    results: dict[str, Any] = field(default_factory=dict[str, Any])
    over: bool = False
    version: int = 0
    """Grows with every change that a window should show."""

    @property
    def failed(self) -> bool:
        """Whether a step failed."""
        return self.over and any(step.state == "failed" and not step.optional for step in self.steps)


class Jobs:
    """The running jobs of one workspace."""

    def __init__(self, house: PageContext) -> None:
        self._house = house
        self._works: dict[int, Job] = {}

    def of(self, dataset_id: int) -> Job | None:
        """The latest work on a dataset."""
        return self._works.get(dataset_id)

    def begin(self, steps: list[Step], request: Request, *, dataset_id: int = 0) -> Job:
        """Start a job; a dataset with a running job keeps that one."""
        running = self._works.get(dataset_id)
        if running is not None and not running.over:
            return running
        work = Job(steps=steps, dataset_id=dataset_id)
        self._keep(work)
        background_tasks.create(self._run(work, request), name="insight")
        return work

    async def _run(self, work: Job, request: Request) -> None:
        try:
            for step in work.steps:
                if not await self._step(work, step, request) and not step.optional:
                    break
        finally:
            work.over = True
            work.version += 1

    async def _step(self, work: Job, step: Step, request: Request) -> bool:
        step.state = "running"
        work.version += 1
        outcome: Outcome | None = None
        try:
            outcome = await propose(self._house, request, step.tool, step.args(work.dataset_id), heard=step.heard)
            wrong = trouble(outcome)
        except Exception as error:  # noqa: BLE001 - whatever it is, the window says so
            wrong = (f"It broke off: {type(error).__name__}", "Try again; `tally doctor` looks for a cause.")
        step.share = None
        if wrong is not None or outcome is None:
            step.state, (step.words, step.hint) = "failed", wrong or ("Nothing came back.", "Try again.")
        else:
            step.state, step.words = "done", ""
            work.results[step.tool] = outcome.result
            work.dataset_id = int(outcome.result.get("dataset_id", work.dataset_id))
            self._keep(work)
        work.version += 1
        return step.state == "done"

    def _keep(self, work: Job) -> None:
        if work.dataset_id:
            self._works[work.dataset_id] = work
            for old in [key for key, each in self._works.items() if each.over][:-KEPT]:
                del self._works[old]


def import_job(file_path: str, name: str) -> Step:
    """Take a file."""
    args = {"file_path": file_path, "dataset_name": name}
    return Step(tool="tool.ingest.upload", title="Read the file", args=lambda _: args)


def report_job(question: str = QUESTION) -> list[Step]:
    """Everything that a report rests on."""
    return [
        Step(tool="tool.embed.run", title="Make vectors", args=lambda one: {"dataset_id": one}, optional=True),
        cluster_job(),
        question_job(question),
    ]


def cluster_job() -> Step:
    """Group the tickets."""
    return Step(
        tool="tool.cluster.run",
        title="Group by what they say",
        optional=True,
        args=lambda one: {"dataset_id": one, "algorithm": "ward"},
    )


def question_job(question: str, compare: int | None = None) -> Step:
    """Ask a question."""
    return Step(
        tool="tool.analysis.run",
        title="Answer the question",
        args=lambda one: {"dataset_id": one, "question": question, "compare_dataset_id": compare},
    )


def show_steps(work: Job) -> None:
    """Show how far it is, as it is now."""
    with ui.column().classes("tally-card gap-1").props('role="status" aria-label="Progress"'):
        for step in work.steps:
            with ui.row().classes("tally-row tally-step"):
                tone = {"done": "tally-good", "failed": "tally-bad", "running": "tally-warn"}.get(
                    step.state, "tally-soft"
                )
                ui.icon(ICONS[step.state]).classes(tone).props('aria-hidden="true"')
                ui.label(step.title).classes("text-weight-medium")
                ui.label(step.words or {"waiting": "", "done": "done"}.get(step.state, "…")).classes(
                    f"tally-text {'tally-bad' if step.state == 'failed' else 'tally-soft'}"
                )
            if step.state == "running":
                bar = ui.linear_progress(value=step.share or 0, show_value=False)
                bar.props("rounded" + (" indeterminate" if step.share is None else ""))
                bar.props["aria-label"] = step.title
            if step.hint:
                ui.label(step.hint).classes("tally-soft tally-text")
