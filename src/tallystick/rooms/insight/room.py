"""Insight as the gate sees it: its tools over one workspace's tickets."""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from tallystick.gate.tool import Tool
from tallystick.rooms.insight.tools.ingest_upload import ingest_upload
from tallystick.settings import CONTROL_ROOM

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any, Protocol

    from tallystick.rooms.insight.ingest.taking import Progress, Taken
    from tallystick.rooms.insight.pii import Placeholders
    from tallystick.rooms.insight.store import Store
    from tallystick.settings import Settings
    from tallystick.storage.files import FileSources

    class Given(Protocol):
        """What insight takes of the joined parts."""

        settings: Settings
        workspace: Path
        random: Callable[[int], bytes]

        @property
        def sources(self) -> FileSources:
            """The workspace's files."""
            ...

        @property
        def engine(self) -> Any:
            """The database, as `Store` takes it."""
            ...

        def now_ms(self) -> int:
            """The wall clock."""
            ...


class Insight:
    """What the support tickets of one workspace say."""

    name = "insight"

    def __init__(self, parts: "Given") -> None:
        self._parts = parts
        self.settings = parts.settings.rooms.get("insight", {})

    @cached_property
    def store(self) -> "Store":
        """The tables; opened when they are first needed."""
        # The SQL toolkit costs a quarter of a second, and most workspaces hold no tickets.
        from tallystick.rooms.insight.store import Store  # noqa: PLC0415

        return Store(self._parts.engine)

    @cached_property
    def placeholders(self) -> "Placeholders":
        """What replaces personal data, under this workspace's own key: in files, in questions, in prompts."""
        from tallystick.rooms.insight.pii import Placeholders  # noqa: PLC0415 - as above
        from tallystick.storage.keys import own_secret  # noqa: PLC0415

        folder = self._parts.workspace / CONTROL_ROOM / "insight"
        return Placeholders(own_secret(folder / "placeholders.key", self._parts.random))

    def take(
        self, file_path: str, name: str | None = None, *, mapping: "Mapping[str, str] | None" = None,
        progress: "Callable[[Progress], None]" = lambda _: None,
    ) -> "Taken":  # fmt: skip
        """Take a file of the workspace as a dataset; see `ingest.taking`."""
        from tallystick.rooms.insight.ingest.opening import MAX_BYTES, remove_upload  # noqa: PLC0415 - as above
        from tallystick.rooms.insight.ingest.taking import Asked, take  # noqa: PLC0415

        workspace = self._parts.workspace
        asked = Asked(
            workspace=workspace, file_path=file_path, name=name, mapping=mapping,
            max_bytes=self.settings.get("max_file_bytes", MAX_BYTES),
        )  # fmt: skip
        try:
            return take(asked, self.store, self.placeholders, now=self._parts.now_ms() // 1000, progress=progress)
        finally:
            remove_upload(workspace, file_path)

    def tools(self) -> Iterable[Tool]:
        """What agents may call here."""
        return [ingest_upload(self.take)]
