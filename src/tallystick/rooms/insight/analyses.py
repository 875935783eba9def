"""Analyses, reports, prompts and history of one workspace, for tools and doors.

Heavy modules load on first use: most workspaces hold no tickets.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from tallystick.agents.roster import Roster
from tallystick.agents.wire import by_present_names
from tallystick.errors import ToolError
from tallystick.gate.execute.call import current_call
from tallystick.gate.session import Session
from tallystick.rooms.insight.model import epoch_of
from tallystick.settings import key_variable
from tallystick.turns.agent import CHIEF, Endpoint
from tallystick.turns.flow_context import Question
from tallystick.turns.prices import with_price

if TYPE_CHECKING:
    from decimal import Decimal

    from tallystick.plugin import RoomContext
    from tallystick.rooms.insight.analyse.analysis import ModelAccess
    from tallystick.rooms.insight.figures.calculator import Figures
    from tallystick.rooms.insight.model import Analysis, Prompt
    from tallystick.rooms.insight.query.execution import QueryResult
    from tallystick.rooms.insight.query.model import TypedQuery
    from tallystick.rooms.insight.question.proposal import SayJson
    from tallystick.rooms.insight.question.reader import QuestionReading
    from tallystick.rooms.insight.question.sense import Sense
    from tallystick.rooms.insight.report.recheck import Recheck
    from tallystick.rooms.insight.report.report import Report
    from tallystick.rooms.insight.store import Store

KEY = "APP_OPENAI_API_KEY"
USUAL_MODEL = "gpt-4o-mini"
OFFLINE = "offline"
ANALYST = "analyst"
_FIELDS = frozenset(field.name for field in fields(Endpoint)) - {"agent_id"}
BACKENDS = ("offline", "openai")
REMEMBERED_S = 2.0
"""A reply's figures are computed one after the other: for so long the tickets are not read again."""


class Analyses:
    """Runs and stores analyses, reports and prompts."""

    def __init__(
        self,
        context: "RoomContext",
        *,
        store: "Callable[[], Store]",
        clean: Callable[[str], str],
    ) -> None:
        """Begin.

        Args:
            context: What the room is given.
            store: Opens the tables.
            clean: Replaces personal data.
        """
        self._context = context
        self._store = store
        self._clean = clean
        self._remembered: tuple[float, Figures] | None = None

    # -- analyses ------------------------------------------------------------------------------------------------------

    def run(
        self,
        dataset_id: int,
        question: str,
        prompt_version: str = "v1",
        analyzer_backend: str | None = None,
        max_tickets: int = 50,
        token_budget: int = 2_000,
        compare_dataset_id: int | None = None,
        query: "TypedQuery | None" = None,
    ) -> "Analysis":
        """Answer a question and keep the answer; see `analyse.analysis`."""
        from tallystick.rooms.insight.analyse.analysis import AnalysisDependencies, AnalysisRequest, analyse  # noqa: PLC0415 - see above

        order = AnalysisRequest(
            dataset_id=dataset_id,
            question=question,
            prompt_version=prompt_version,
            backend=analyzer_backend or self._backend(),
            max_tickets=max_tickets,
            token_budget=token_budget,
            compare_dataset_id=compare_dataset_id,
            query=query,
        )
        means = AnalysisDependencies(
            store=self._store(),
            clean=self._clean,
            random=self._context.random,
            now=self._now(),
            asking=self._asking,
            sense=lambda: self._sense,
        )
        return analyse(order, means)

    def read(self, dataset_id: int, question: str, agent_id: str) -> "QuestionReading":
        """A question as a typed query: by its words, else as an agent's model proposes it."""
        from tallystick.rooms.insight.question.proposal import propose_query  # noqa: PLC0415 - as above
        from tallystick.rooms.insight.question.reader import read_question  # noqa: PLC0415 - as above

        book, said = self._figures(), self._clean(" ".join(question.split()))
        columns = book.columns(dataset_id)
        found = read_question(said, columns, dataset_id, sense=self._sense, count=partial(book.count, dataset_id))
        if found.query is not None or not columns.all:
            return found
        return propose_query(said, columns, dataset_id, self._say_of(agent_id))

    @cached_property
    def _sense(self) -> "Sense | None":
        from tallystick.rooms.insight.question.unknown_words import open_sense  # noqa: PLC0415 - loads spaCy

        return open_sense(self._context.settings.models_dir(), self._context.embeddings)

    def _say_of(self, agent_id: str) -> "SayJson":
        from tallystick.rooms.insight.question.proposal import MOST_TOKENS  # noqa: PLC0415 - as above

        call = current_call()
        session = Session(session_id="insight") if call is None else call.session
        hands = self._context.flow_context()

        def say(message: str, schema: Mapping[str, Any]) -> str | None:
            asked = Question(
                agent_id=agent_id,
                message=message,
                session=session.within(agent_id=agent_id),
                raw=True,
                schema=schema,
                max_tokens=MOST_TOKENS,
            )
            answer = hands.ask(asked)
            if answer.result is None:
                raise ToolError(answer.advice, unavailable=True, hint=f"The model's endpoint: {answer.code}.")
            return answer.result.reply

        return say

    def query(self, query: "TypedQuery") -> "tuple[QueryResult, str]":
        """Run a typed query; gives its result, and the query in words."""
        from tallystick.rooms.insight.query.description import described  # noqa: PLC0415 - as above

        book = self._figures()
        result = book.result(query)
        other = None if query.compare is None else query.compare.dataset_id
        compared = None if other is None else self._store().dataset(other)
        columns = book.columns(query.dataset_id, query.run)
        return result, described(result.query, columns, None if compared is None else compared.name)

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
        self,
        *,
        limit: int = 50,
        offset: int = 0,
        dataset_id: int | None = None,
        prompt_version: str | None = None,
        date_from: str | None = None,
        date_to: str | None = None,
    ) -> "tuple[list[Analysis], int]":
        """A page of answers, newest first, and how many there are in all."""
        return self._store().analyses(
            dataset_id=dataset_id,
            prompt_version=prompt_version,
            limit=limit,
            offset=offset,
            since=None if date_from is None else epoch_of(date_from),
            until=None if date_to is None else epoch_of(date_to),
        )

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
        self,
        dataset_id: int,
        *,
        compare_dataset_id: int | None = None,
        run_id: int | None = None,
        now: int | None = None,
    ) -> "Report":
        """The report on a dataset: `.markdown()`, `.html()`, `.figures`.

        Args:
            dataset_id: On which.
            compare_dataset_id: An earlier dataset to compare with; None: its own earlier and later part.
            run_id: Another grouping than the newest.
            now: When it is made; the same data and time give the same bytes.
        """
        from tallystick.rooms.insight.report.report import ReportRequest, build_report  # noqa: PLC0415 - as above

        wanted = ReportRequest(
            dataset_id=dataset_id,
            compare_dataset_id=compare_dataset_id,
            run_id=run_id,
            made_at=self._now() if now is None else now,
        )
        return build_report(self._store(), wanted)

    def report_for_tool(self, dataset_id: int) -> tuple[str, int]:
        """The report as Markdown, and how many analyses the dataset has."""
        return self.report(dataset_id).markdown(), self._store().analyses(dataset_id=dataset_id, limit=1)[1]

    def recheck(self, report: str) -> "Recheck":
        """Compute every number of a report again; says which differ."""
        from tallystick.rooms.insight.report.recheck import recheck  # noqa: PLC0415 - as above

        return recheck(report, self._store())

    def metrics(self, dataset_id: int, *, run_id: int | None = None) -> dict[str, Any]:
        """What charts of a dataset show: volumes over time, themes, departments, products, priorities, times."""
        from tallystick.rooms.insight.report.chart_data import chart_data  # noqa: PLC0415 - as above

        return chart_data(self._store(), dataset_id, run_id=run_id)

    # -- what replies may cite -----------------------------------------------------------------------------------------

    def ticket_text(self, ticket_id: str) -> str | None:
        """The words of a ticket."""
        from tallystick.rooms.insight.analyse.evidence_check import ticket_text_of  # noqa: PLC0415 - as above

        return ticket_text_of(self._figures())(ticket_id)

    def figure(self, query: str) -> "Decimal | None":
        """Compute a figure from the tickets; None if the query is unknown."""
        from tallystick.rooms.insight.figures.query import parse  # noqa: PLC0415 - as above
        from tallystick.rooms.insight.query.model import PREFIX  # noqa: PLC0415 - as above

        # A reply may hold anything: what is no query of ours must not open the database.
        is_ours = query.startswith(PREFIX) or parse(query) is not None
        return self._figures().value(query) if is_ours else None

    def _backend(self) -> str:
        """The one that the configuration chooses."""
        chosen: str = self._context.options.analyzer_backend
        if chosen not in BACKENDS:
            hint = f"ANALYZER_BACKEND is one of: {', '.join(BACKENDS)}."
            raise ToolError(f"There is no analyzer backend '{chosen:.40}'.", unavailable=True, hint=hint)
        return chosen

    def _figures(self) -> "Figures":
        from tallystick.rooms.insight.figures.calculator import Figures  # noqa: PLC0415 - as above

        now = self._context.monotonic()
        if self._remembered is None or now - self._remembered[0] > REMEMBERED_S:
            self._remembered = (now, Figures(self._store()))
        return self._remembered[1]

    def _asking(self) -> "ModelAccess":
        from tallystick.rooms.insight.analyse.analysis import ModelAccess, limits_for  # noqa: PLC0415
        from tallystick.storage.agents import Registry  # noqa: PLC0415

        endpoint = endpoint_of(self._context.options.analyst, Registry(self._context.workspace).load(), key_variable)
        call = current_call()
        session = Session(session_id="insight") if call is None else call.session
        return ModelAccess(
            hands=self._context.flow_context(),
            session=session.within(agent_id="analyst"),
            endpoint=with_price(endpoint, self._context.settings.models.prices),
            limits=limits_for(self._context.settings.limits),
        )

    def _now(self) -> int:
        return self._context.now_ms() // 1000


def endpoint_of(chosen: Mapping[str, Any], roster: Roster, variable: Callable[[str], str | None]) -> Endpoint:
    """The endpoint to ask.

    Args:
        chosen: The configuration's table.
        roster: Agents and their endpoints.
        variable: Reads a variable of the environment.

    Raises:
        ToolError: There is none.
    """
    if chosen:
        return _configured(chosen)
    named = {each.agent_id: each for each in roster.endpoints if each.provider != OFFLINE}
    for agent_id in (ANALYST, CHIEF):
        if agent_id in named:
            return named[agent_id]
    if variable(KEY):
        return Endpoint(agent_id=ANALYST, provider="openai", model=USUAL_MODEL, api_key_env=KEY, protocol="native")
    raise ToolError(
        "No model is set up for analyses.",
        unavailable=True,
        hint=f"Set {KEY}, give the Chief of Staff an endpoint, fill [rooms.insight.analyst], or use analyzer_backend "
        "offline.",
    )


def _configured(chosen: Mapping[str, Any]) -> Endpoint:
    chosen = by_present_names(chosen)
    unknown = sorted(chosen.keys() - _FIELDS)
    if unknown or not {"provider", "model"} <= chosen.keys():
        wrong = f"knows no '{unknown[0]}'" if unknown else "needs provider and model"
        raise ToolError(f"[rooms.insight.analyst] {wrong}.", unavailable=True, hint="Correct tallystick.toml.")
    return Endpoint(agent_id=ANALYST, **chosen)
