"""What a step is decided by, and what may come of it."""

from tallystick.gate.codes import Category
from tallystick.providers.offline.choosing import is_of_files, is_reader, search_tool
from tallystick.providers.offline.filling import Filled
from tallystick.providers.offline.kinds import line_keys, takes_path
from tallystick.providers.offline.prompt import PromptReading, ToolLine
from tallystick.providers.offline.results import OfflineResult
from tallystick.providers.offline.wish import Wish
from tallystick.records import record

UNAVAILABLE = str(Category.TOOL_UNAVAILABLE)


@record
class PlannedCall:
    """A call to make."""

    tool: str
    filled: Filled


@record
class Situation:
    """What a step is decided by."""

    reading: PromptReading
    wish: Wish
    results: tuple[OfflineResult, ...]
    wanted: tuple[str, ...]
    """Where the role has to look."""

    @property
    def search(self) -> ToolLine | None:
        """The tool that looks things up."""
        return search_tool(self._there, self.wish)

    @property
    def _there(self) -> list[ToolLine]:
        """All but the tools that said they can do nothing here: asking them again in other words would not help."""
        gone = {result.seen.tool for result in self.results if result.seen.error == UNAVAILABLE}
        return [tool for tool in self.reading.tools if tool.name not in gone]

    @property
    def reader(self) -> ToolLine | None:
        """The tool that reads a file: of those that need only a path, the one that says so or takes lines."""
        found = [tool for tool in self._there if tool.effect == "read" and takes_path(tool)]

        def fitness(tool: ToolLine) -> tuple[bool, bool, bool]:
            return is_reader(tool), is_of_files(tool), line_keys(tool) is not None

        return max(found, key=fitness, default=None)

    def tool_of(self, result: OfflineResult) -> ToolLine | None:
        """The tool a result came from."""
        return next((tool for tool in self.reading.tools if tool.name == result.seen.tool), None)
