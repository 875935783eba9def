"""Analyses, reports, prompts and history of one workspace, as tools and doors ask for them.

What is heavy loads when it is first used: most workspaces hold no tickets.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError
from tallystick.gate.execute.call import current_call
from tallystick.gate.session import Session
from tallystick.rooms.insight.times import epoch_of
from tallystick.settings import key_variable

if TYPE_CHECKING:
    from decimal import Decimal

    from tallystick.plugin import RoomContext
    from tallystick.rooms.insight.analysis.about import Find
    from tallystick.rooms.insight.analysis.running import Asking
    from tallystick.rooms.insight.figures.book import Figures
    from tallystick.rooms.insight.nouns import Analysis, Prompt
    from tallystick.rooms.insight.reports.building import Report
    from tallystick.rooms.insight.reports.recheck import Recheck
    from tallystick.rooms.insight.store import Store

BACKENDS = ("offline", "openai")
REMEMBERED_S = 2.0
"""A reply's figures are computed one after the other: for so long the tickets are not read again."""


class Analyses:
    """What was asked of the tickets, and what they say."""

    def __init__(
        self, context: "RoomContext", *, store: "Callable[[], Store]", clean: Callable[[str], str],
        find: "Callable[[int], Find | None]" = lambda _: None,
    ) -> None:  # fmt: skip
        """Begin.

        Args:
            context: What the room is given.
            store: Opens the tables.
            clean: Replaces personal data.
            find: Dataset → what finds its tickets by meaning, where they are embedded.
        """
        self._context = context
        self._store = store
        self._clean = clean
        self._find = find
        self._remembered: tuple[float, Figures] | None = None

    # -- analyses ------------------------------------------------------------------------------------------------------

    def run(
        self, dataset_id: int, question: str, prompt_version: str = "v1", analyzer_backend: str | None = None,
        max_tickets: int = 50, token_budget: int = 2_000, compare_dataset_id: int | None = None,
    ) -> "Analysis":  # fmt: skip
        """Answer a question and keep the answer; see `analysis.running.analyse`."""
        from tallystick.rooms.insight.analysis.running import Means, Order, analyse  # noqa: PLC0415 - see above

        order = Order(
            dataset_id=dataset_id, question=question, prompt_version=prompt_version,
            backend=analyzer_backend or self._backend(),
            max_tickets=max_tickets, token_budget=token_budget, compare_dataset_id=compare_dataset_id,
        )  # fmt: skip
        means = Means(
            store=self._store(), clean=self._clean, random=self._context.random, now=self._now(), find=self._find,
            asking=self._asking,
        )  # fmt: skip
        return analyse(order, means)

    def one(self, analysis_id: int) -> "Analysis":
        """An answer that was kept.

        Raises:
            ToolError: There is no such analysis.
        """
        found = self._store().analysis(analysis_id)
        if found is None:
            hint = "tool.history.list names those there are."
            raise ToolError(f"There is no analysis {analysis_id}.", status=404, hint=hint)
        return found

    def history(
        self, *, limit: int = 50, offset: int = 0, dataset_id: int | None = None, prompt_version: str | None = None,
        date_from: str | None = None, date_to: str | None = None,
    ) -> "tuple[list[Analysis], int]":  # fmt: skip
        """A page of answers, newest first, and how many there are in all."""
        return self._store().analyses(
            dataset_id=dataset_id, prompt_version=prompt_version, limit=limit, offset=offset,
            since=None if date_from is None else epoch_of(date_from),
            until=None if date_to is None else epoch_of(date_to),
        )  # fmt: skip

    # -- prompts -------------------------------------------------------------------------------------------------------

    def prompt_versions(self) -> list[str]:
        """The versions of the instructions."""
        from tallystick.rooms.insight import prompts  # noqa: PLC0415 - as above

        return prompts.versions(self._store())

    def load_prompt(self, version: str) -> "Prompt":
        """One of them."""
        from tallystick.rooms.insight import prompts  # noqa: PLC0415 - as above

        return prompts.load(self._store(), version)

    def save_prompt(self, version: str, template: str, metadata: Mapping[str, Any]) -> int:
        """Keep one; personal data in it becomes placeholders."""
        from tallystick.rooms.insight import prompts  # noqa: PLC0415 - as above

        return prompts.save(self._store(), version, self._clean(template), metadata, now=self._now())

    # -- reports -------------------------------------------------------------------------------------------------------

    def report(
        self, dataset_id: int, *, compare_dataset_id: int | None = None, run_id: int | None = None,
        now: int | None = None,
    ) -> "Report":  # fmt: skip
        """The report on a dataset: `.markdown()`, `.html()`, `.figures`.

        Args:
            dataset_id: On which.
            compare_dataset_id: An earlier dataset to compare with; None: its own earlier and later part.
            run_id: Another grouping than the newest.
            now: When it is made; the same data and time give the same bytes.
        """
        from tallystick.rooms.insight.reports.building import Wanted, build_report  # noqa: PLC0415 - as above

        wanted = Wanted(
            dataset_id=dataset_id, compare_dataset_id=compare_dataset_id, run_id=run_id,
            made_at=self._now() if now is None else now,
        )  # fmt: skip
        return build_report(self._store(), wanted)

    def report_for_tool(self, dataset_id: int) -> tuple[str, int]:
        """The report as Markdown, and how many analyses the dataset has."""
        return self.report(dataset_id).markdown(), self._store().analyses(dataset_id=dataset_id, limit=1)[1]

    def recheck(self, report: str) -> "Recheck":
        """Compute every number of a report again; says which differ."""
        from tallystick.rooms.insight.reports.recheck import recheck  # noqa: PLC0415 - as above

        return recheck(report, self._store())

    def metrics(self, dataset_id: int, *, run_id: int | None = None) -> dict[str, Any]:
        """What charts of a dataset show: volumes over time, themes, departments, products, priorities, times."""
        from tallystick.rooms.insight.reports.metrics import chart_data  # noqa: PLC0415 - as above

        return chart_data(self._store(), dataset_id, run_id=run_id)

    # -- what replies may cite -----------------------------------------------------------------------------------------

    def ticket_text(self, ticket_id: str) -> str | None:
        """The words of a ticket."""
        from tallystick.rooms.insight.analysis.checked import ticket_text_of  # noqa: PLC0415 - as above

        return ticket_text_of(self._figures())(ticket_id)

    def figure(self, query: str) -> "Decimal | None":
        """A figure, computed from the tickets; None: the query is not one of ours."""
        from tallystick.rooms.insight.figures.query import parse  # noqa: PLC0415 - as above

        # A reply may hold anything: what is no query of ours must not open the database.
        return None if parse(query) is None else self._figures().value(query)

    def _backend(self) -> str:
        """The one that the configuration chooses."""
        chosen: str = self._context.options.analyzer_backend
        if chosen not in BACKENDS:
            hint = f"ANALYZER_BACKEND is one of: {', '.join(BACKENDS)}."
            raise ToolError(f"There is no analyzer backend '{chosen:.40}'.", unavailable=True, hint=hint)
        return chosen

    def _figures(self) -> "Figures":
        from tallystick.rooms.insight.figures.book import Figures  # noqa: PLC0415 - as above

        now = self._context.monotonic()
        if self._remembered is None or now - self._remembered[0] > REMEMBERED_S:
            self._remembered = (now, Figures(self._store()))
        return self._remembered[1]

    def _asking(self) -> "Asking":
        from tallystick.rooms.insight.analysis.endpoint import endpoint_of  # noqa: PLC0415 - as above
        from tallystick.rooms.insight.analysis.running import Asking, limits_for  # noqa: PLC0415
        from tallystick.storage.agents import Registry  # noqa: PLC0415

        endpoint = endpoint_of(
            self._context.options.analyst, Registry(self._context.workspace).load(), key_variable
        )  # fmt: skip
        call = current_call()
        session = Session(session_id="insight") if call is None else call.session
        return Asking(
            hands=self._context.flow_context(), session=session.within(agent_id="analyst"), endpoint=endpoint,
            limits=limits_for(self._context.settings.limits),
        )  # fmt: skip

    def _now(self) -> int:
        return self._context.now_ms() // 1000
