"""The insight room: its tools and services over one workspace's tickets."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property, partial, wraps
from typing import TYPE_CHECKING, Any

from tallystick.agents.roster import CHIEF_ROLE
from tallystick.errors import ToolError
from tallystick.gate.tool import Tool
from tallystick.plugin import Room
from tallystick.rooms.insight.analyses import Analyses
from tallystick.rooms.insight.metrics import InsightMetrics, tell_reading
from tallystick.rooms.insight.searches import Searches
from tallystick.rooms.insight.tools.analysis_query import analysis_query
from tallystick.rooms.insight.tools.analysis_run import analysis_run
from tallystick.rooms.insight.tools.cluster_run import cluster_run
from tallystick.rooms.insight.tools.embed_run import embed_run
from tallystick.rooms.insight.tools.history_list import history_list
from tallystick.rooms.insight.tools.ingest_upload import ingest_upload
from tallystick.rooms.insight.tools.insight_search import insight_search
from tallystick.rooms.insight.tools.prompts_list import prompts_list
from tallystick.rooms.insight.tools.prompts_load import prompts_load
from tallystick.rooms.insight.tools.prompts_save import prompts_save
from tallystick.rooms.insight.tools.reports_get import reports_get
from tallystick.rooms.insight.tools.search_nn import search_nn
from tallystick.settings import CONTROL_ROOM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal
    from typing import Any

    from tallystick.plugin import RoomContext
    from tallystick.rooms.insight.cluster.service import ClusterService
    from tallystick.rooms.insight.ingest.dataset_import import ImportRequest, ImportResult, Progress
    from tallystick.rooms.insight.ingest.preview import Preview
    from tallystick.rooms.insight.model import ClusterRun
    from tallystick.rooms.insight.pii import Placeholders
    from tallystick.rooms.insight.store import Store
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext

EXACT = frozenset({"file_path", "date_from", "date_to"})
"""Arguments that are no words of anybody's, and must reach the tool as they are."""


READING = ("insight.search", "tool.analysis.query", "tool.history.list", "tool.reports.get", "tool.search.nn")


class Insight(Room):
    """The insight room of one workspace."""

    name = "insight"

    def __init__(self, context: "RoomContext") -> None:
        self._context = context
        self.measuring = InsightMetrics(context)
        self.searches = Searches(context, self.measuring, store=lambda: self.store, clean=self._clean)
        """Vectors, searching, and why something was found."""
        self.analyses = Analyses(context, store=lambda: self.store, clean=self._clean)
        """Questions, reports, prompts and history."""

    @cached_property
    def store(self) -> "Store":
        """The tables; opened when they are first needed."""
        # The SQL toolkit costs a quarter of a second, and most workspaces hold no tickets.
        from tallystick.rooms.insight.store import Store  # noqa: PLC0415

        return Store(self._context.engine)

    @cached_property
    def placeholders(self) -> "Placeholders":
        """What replaces personal data, under this workspace's own key: in files, in questions, in prompts."""
        from tallystick.rooms.insight.pii import Placeholders  # noqa: PLC0415 - as above
        from tallystick.storage.keys import own_secret  # noqa: PLC0415

        folder = self._context.workspace / CONTROL_ROOM / "insight"
        return Placeholders(own_secret(folder / "placeholders.key", self._context.random))

    def _clean(self, text: str) -> str:
        return self.placeholders.clean(text)

    def take(
        self,
        file_path: str,
        name: str | None = None,
        *,
        mapping: "Mapping[str, str] | None" = None,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "ImportResult":
        """Take a file of the workspace as a dataset; see `ingest.taking`."""
        from tallystick.rooms.insight.ingest.dataset_import import take  # noqa: PLC0415
        from tallystick.rooms.insight.ingest.source_file import remove_upload  # noqa: PLC0415 - as above

        workspace = self._context.workspace
        asked = self._asked(file_path, name, mapping)
        try:
            return take(asked, self.store, self.placeholders, now=self._context.now_ms() // 1000, progress=progress)
        finally:
            remove_upload(workspace, file_path)

    def preview(
        self, file_path: str, name: str | None = None, *, mapping: "Mapping[str, str] | None" = None
    ) -> "Preview":
        """How a file would be read; see `ingest.preview`."""
        from tallystick.rooms.insight.ingest.preview import preview  # noqa: PLC0415 - as above

        return preview(self._asked(file_path, name, mapping), self.store, self.placeholders)

    def _asked(self, file_path: str, name: str | None, mapping: "Mapping[str, str] | None") -> "ImportRequest":
        from tallystick.rooms.insight.ingest.dataset_import import ImportRequest  # noqa: PLC0415 - as above

        return ImportRequest(
            workspace=self._context.workspace,
            file_path=file_path,
            name=name,
            mapping=mapping,
            limits=self._context.settings.imports,
        )

    @cached_property
    def clustering(self) -> "ClusterService":
        """What groups tickets; numpy loads when it is asked for."""
        from tallystick.rooms.insight.cluster.service import ClusterService  # noqa: PLC0415 - the core has no numpy

        return ClusterService(lambda: self.store, lambda: self._context.now_ms() // 1000)

    def group(self, **order: "Any") -> "ClusterRun":
        """Group a dataset's tickets; see `cluster.running`."""
        return self.clustering.run(**order)

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        analyses, searches = self.analyses, self.searches
        made = [
            ingest_upload(partial(self.take, progress=tell_reading)),
            embed_run(searches.embed),
            search_nn(searches.search),
            cluster_run(self.group),
            insight_search(searches.search, searches.everywhere),
            analysis_run(self.measuring.analyses(analyses.run)),
            analysis_query(analyses.query),
            reports_get(analyses.report_for_tool),
            prompts_list(analyses.prompt_versions),
            prompts_load(analyses.load_prompt),
            prompts_save(analyses.save_prompt),
            history_list(analyses.history),
        ]
        return cleaning(made, self._clean)

    def tools_for(self, role: str) -> tuple[str, ...] | None:
        """Offer the tools that change something to the Chief of Staff; every agent may read."""
        return None if role == CHIEF_ROLE else READING

    def flows(self, durable: "Durable", context: "FlowContext") -> None:
        """Register the room's long work: embedding."""
        del context
        self.searches.flows(durable)

    def records(self) -> "Mapping[str, Callable[[str], str | None]]":
        """What replies may cite: `ticket:12`."""
        return {"ticket": self.analyses.ticket_text}

    def figure(self, query: str) -> "Decimal | None":
        """A figure that a reply names, computed from the tickets."""
        return self.analyses.figure(query)


def cleaning(tools: Iterable[Tool], clean: Callable[[str], str]) -> list[Tool]:
    """The tools, each with its arguments cleaned and trimmed first, and refused where no database could store them."""

    def arguments(args: Mapping[str, Any]) -> dict[str, Any]:
        return {clean(name): value if name in EXACT else _cleaned(value, clean) for name, value in args.items()}

    return [replace(tool, clean=arguments, handler=_without_nul(tool.handler)) for tool in tools]


def _without_nul(handler: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(handler)
    def checked(*args: Any, **named: Any) -> Any:
        if _has_nul([*args, named]):
            raise ToolError("An argument holds a NUL character.", status=400, hint="Leave it out.")
        return handler(*args, **named)

    return checked


def _has_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, dict):
        return any(_has_nul(each) for pair in value.items() for each in pair)
    return isinstance(value, list) and any(map(_has_nul, value))


def _cleaned(value: Any, clean: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return clean(value).strip()
    if isinstance(value, list):
        return [_cleaned(each, clean) for each in value]
    if isinstance(value, dict):
        return {_cleaned(name, clean): _cleaned(each, clean) for name, each in value.items()}
    return value
