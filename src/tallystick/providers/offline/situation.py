"""What a step is decided by, and what may come of it."""

from tallystick.gate.codes import Category
from tallystick.providers.offline.choosing import is_reader, search_tool
from tallystick.providers.offline.filling import Filled
from tallystick.providers.offline.kinds import line_keys, takes_path
from tallystick.providers.offline.prompt import Reading, ToolLine
from tallystick.providers.offline.results import Result
from tallystick.providers.offline.wish import Wish
from tallystick.records import record


UNAVAILABLE = str(Category.TOOL_UNAVAILABLE)


@record
class Call:
    """A call to make."""

    tool: str
    filled: Filled


@record
class Situation:
    """What a step is decided by."""

    reading: Reading
    wish: Wish
    results: tuple[Result, ...]
    wanted: tuple[str, ...]
    """Where the role has to look."""

    @property
    def search(self) -> ToolLine | None:
        """The tool that looks things up."""
        gone = self.unavailable
        return search_tool([tool for tool in self.reading.tools if tool.name not in gone], self.wish)

    @property
    def unavailable(self) -> frozenset[str]:
        """Tools that said they cannot do anything here; asking them again in other words would not help."""
        return frozenset(result.seen.tool for result in self.results if result.seen.error == UNAVAILABLE)

    @property
    def reader(self) -> ToolLine | None:
        """The tool that reads a file: of those that need only a path, the one that says so or takes lines."""
        found = [tool for tool in self.reading.tools if tool.effect == "read" and takes_path(tool)]
        return max(found, key=lambda tool: (is_reader(tool), line_keys(tool) is not None), default=None)

    def tool_of(self, result: Result) -> ToolLine | None:
        """The tool a result came from."""
        return next((tool for tool in self.reading.tools if tool.name == result.seen.tool), None)
