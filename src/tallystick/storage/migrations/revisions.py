"""Check that the revisions of a history form one chain that ends at its `HEAD`.

A database that is at `HEAD` is not migrated, so a forgotten `HEAD` would leave every existing database behind while new
ones get all revisions. The files are parsed, not imported: this runs whenever a process first uses the tables, and
loading Alembic takes longer than a whole call.
"""

import ast
from collections.abc import Mapping
from pathlib import Path

Revisions = Mapping[str, tuple[str, ...]]
"""Each revision with those it follows."""


def mistake_in(versions: Path, head: str) -> str | None:
    """Say what is wrong with the revisions of a folder; None if they end at `head`."""
    found = _revisions(versions)
    for revision, follows in found.items():
        for earlier in follows:
            if earlier not in found:
                return f"the revision '{revision}' follows '{earlier}', which is not in {versions.name}/"
    followed = {earlier for follows in found.values() for earlier in follows}
    last = sorted(found.keys() - followed)
    if len(last) != 1:
        named = ", ".join(f"'{revision}'" for revision in last) or "none"
        return f"{versions.name}/ must have one last revision, but has {named}; check each down_revision"
    if last[0] != head:
        return f"HEAD is '{head}', but the last revision in {versions.name}/ is '{last[0]}'. Set HEAD to it"
    return None


def _revisions(versions: Path) -> Revisions:
    found: dict[str, tuple[str, ...]] = {}
    for path in sorted(versions.glob("*.py")):
        names = _constants(ast.parse(path.read_text(encoding="utf-8"), filename=str(path)))
        revision, follows = names.get("revision"), names.get("down_revision")
        if isinstance(revision, str):
            found[revision] = (follows,) if isinstance(follows, str) else tuple(follows or ())  # type: ignore[arg-type]
    return found


def _constants(tree: ast.Module) -> dict[str, object]:
    """Return the values of the module's names that are set to a constant."""
    found: dict[str, object] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        value = getattr(node, "value", None)
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(target, ast.Name) and value is not None:
            try:
                found[target.id] = ast.literal_eval(value)
            except ValueError:
                continue
    return found
