"""Insight as the gate sees it: its tools over one workspace's tickets."""

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from tallystick.gate.tool import Tool
from tallystick.plugin import Room
from tallystick.rooms.insight.analysing import Analyses
from tallystick.rooms.insight.cleaning import cleaning
from tallystick.rooms.insight.measuring import Measuring, tell_reading
from tallystick.rooms.insight.searches import Searches
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
    from tallystick.rooms.insight.cluster.running import Clustering
    from tallystick.rooms.insight.ingest.preview import Preview
    from tallystick.rooms.insight.ingest.taking import Asked, Progress, Taken
    from tallystick.rooms.insight.nouns import ClusterRun
    from tallystick.rooms.insight.pii import Placeholders
    from tallystick.rooms.insight.store import Store
    from tallystick.turns.durable import Durable
    from tallystick.turns.flow_context import FlowContext


class Insight(Room):
    """What the support tickets of one workspace say."""

    name = "insight"

    def __init__(self, context: "RoomContext") -> None:
        self._context = context
        self.measuring = Measuring(context)
        self.searches = Searches(context, self.measuring, store=lambda: self.store, clean=self._clean)
        """Vectors, searching, and why something was found."""
        self.analyses = Analyses(context, store=lambda: self.store, clean=self._clean, find=self.searches.find)
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
        self, file_path: str, name: str | None = None, *, mapping: "Mapping[str, str] | None" = None,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Taken":  # fmt: skip
        """Take a file of the workspace as a dataset; see `ingest.taking`."""
        from tallystick.rooms.insight.ingest.opening import remove_upload  # noqa: PLC0415 - as above
        from tallystick.rooms.insight.ingest.taking import take  # noqa: PLC0415

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

    def _asked(self, file_path: str, name: str | None, mapping: "Mapping[str, str] | None") -> "Asked":
        from tallystick.rooms.insight.ingest.taking import Asked  # noqa: PLC0415 - as above

        return Asked(
            workspace=self._context.workspace,
            file_path=file_path,
            name=name,
            mapping=mapping,
            limits=self._context.settings.imports,
        )

    @cached_property
    def clustering(self) -> "Clustering":
        """What groups tickets; numpy loads when it is asked for."""
        from tallystick.rooms.insight.cluster.running import Clustering  # noqa: PLC0415 - the core has no numpy

        return Clustering(lambda: self.store, lambda: self._context.now_ms() // 1000)

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
            reports_get(analyses.report_for_tool),
            prompts_list(analyses.prompt_versions),
            prompts_load(analyses.load_prompt),
            prompts_save(analyses.save_prompt),
            history_list(analyses.history),
        ]
        return cleaning(made, self._clean)

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
