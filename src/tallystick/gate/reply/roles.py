"""Required sources per role: at least one item must come from them; the others may come from any source."""

from collections.abc import Iterable, Mapping, Sequence

from tallystick.gate.reply.surroundings import Checked

ANYTHING = "anything"
RECEIPT = "receipt"
OUTLINE = "outline"

DEFAULT_SOURCES: dict[str, tuple[str, ...]] = {
    "planner": (OUTLINE,),
    "writer": ("scenes",),
    "editor": ("scenes",),
    "critic": ("scenes",),
    "continuity": ("compendium", "canon", "scenes"),
    "chief": (RECEIPT,),
    "chief-of-staff": (RECEIPT,),
    "assistant": (RECEIPT,),
}
"""`RECEIPT` means: any source is allowed, as long as at least one tool receipt is cited."""

_FOLDERS: dict[str, tuple[str, ...]] = {
    "scenes": ("Story/",),
    "compendium": ("Compendium/", "Story/Compendium/"),
    "canon": ("Canon.md", "Story/Compendium/Canon.md"),
}


def sources_of(agent: str | None, chosen: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """Return the sources an agent must cite: the configured ones, else its role's defaults; empty: any source."""
    if agent is None:
        return ()
    name = agent.casefold().replace("_", "-").replace(" ", "-")
    configured = {key.casefold().replace("_", "-").replace(" ", "-"): tuple(value) for key, value in chosen.items()}
    return configured.get(name, DEFAULT_SOURCES.get(name, ()))


def looks_where_it_should(wanted: Sequence[str], checked: Iterable[Checked], outline: str | None) -> bool:
    """Whether at least one verified item comes from one of the required sources.

    Args:
        wanted: outline, scenes, compendium, canon, receipt, anything, or path patterns such as `Notes/*`.
        checked: The checked items of the reply.
        outline: The path of the outline, if there is one.
    """
    if not wanted or ANYTHING in wanted:
        return True
    for one in checked:
        if not one.item.ok:
            continue
        if RECEIPT in wanted and one.item.kind == "tool_result":
            return True
        if any(_comes_from(source, path, outline) for source in wanted for path in one.paths):
            return True
    return False


def _comes_from(source: str, path: str, outline: str | None) -> bool:
    is_outline = path == outline or path.casefold().endswith("-outline.md")
    if source == OUTLINE:
        return is_outline
    if source == "scenes":
        return path.startswith("Story/") and not is_outline and not path.startswith(_FOLDERS["compendium"])
    if source in _FOLDERS:
        return path.startswith(_FOLDERS[source])
    return _fits(source, path)


def _fits(pattern: str, path: str) -> bool:
    """Whether a path matches a configured pattern; `*` matches any text, so `Notes/*` is everything below `Notes/`."""
    pieces = pattern.split("*")
    if len(pieces) == 1:
        return path == pattern or path.startswith(pattern.rstrip("/") + "/")
    if not path.startswith(pieces[0]) or not path.endswith(pieces[-1]):
        return False
    at = len(pieces[0])
    for piece in pieces[1:-1]:
        at = path.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return at <= len(path) - len(pieces[-1])
