"""Every regular expression of the package: where it stands, what it is, and how it is applied."""

import ast
import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import tallystick

SOURCE = Path(tallystick.__file__).parent
_FUNCTIONS = frozenset({"compile", "search", "sub", "subn", "match", "fullmatch", "findall", "finditer", "split"})
_ANCHORED = frozenset({"match", "fullmatch"})
SEARCH = "search"
"""How a pattern is driven that is tried at every place of a text."""


@dataclass(frozen=True, kw_only=True)
class Found:
    """One regular expression."""

    where: str
    """`path:line`."""
    name: str
    """The variable that holds it; empty: it is used where it is written."""
    pattern: str
    flags: int
    modes: frozenset[str]
    """`search`, `match` or `fullmatch`."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """A call to `re` in the source."""

    path: str
    line: int
    function: str
    """Of `re`."""
    name: str
    pattern: ast.expr | None
    flags: ast.expr | None
    is_inside: bool
    """Whether it stands in a function, and is not compiled on import."""


def collect() -> tuple[list[Found], list[Source]]:
    """Import every module and give its patterns, and the calls whose pattern is only known at run time."""
    compiled, modules = _import_all()
    trees = {
        str(path.relative_to(SOURCE)): ast.parse(path.read_text(encoding="utf-8"))
        for path in sorted(SOURCE.rglob("*.py"))
    }
    sources = [source for path, tree in trees.items() for source in _inside(tree, path, "", in_function=False)]
    uses = _uses(trees, {source.name for source in sources})
    by_place = {(source.path, source.line): source for source in sources}
    found: dict[tuple[str, int, frozenset[str]], Found] = {}

    def add(where: str, name: str, pattern: str, flags: int, modes: frozenset[str]) -> None:
        found.setdefault(
            (pattern, flags, modes), Found(where=where, name=name, pattern=pattern, flags=flags, modes=modes)
        )

    for path, line, pattern, flags in compiled:
        source = _nearest(by_place, path, line)
        name = source.name if source else ""
        if source is not None and source.function != "compile":
            add(f"{path}:{line}", name, pattern, flags, _modes({source.function}))
        else:
            add(f"{path}:{line}", name, pattern, flags, _modes(_used(uses, path, name)))
    dynamic = []
    for source in sources:
        if not source.is_inside or source.path not in modules:
            continue
        try:
            value, flags = (
                _evaluated(source.pattern, modules[source.path]),
                _evaluated(source.flags, modules[source.path]),
            )
        except Exception:
            dynamic.append(source)
            continue
        if isinstance(value, re.Pattern):
            continue
        if isinstance(value, str | bytes):
            modes = _modes(_used(uses, source.path, source.name) if source.function == "compile" else {source.function})
            text = value if isinstance(value, str) else value.decode("latin-1")
            add(f"{source.path}:{source.line}", source.name, text, int(flags or 0), modes)
    return list(found.values()), dynamic


def _import_all() -> tuple[list[tuple[str, int, str, int]], dict[str, dict[str, Any]]]:
    compiled: list[tuple[str, int, str, int]] = []
    real = re._compile  # type: ignore[attr-defined]

    def recording(pattern: Any, flags: Any) -> Any:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename == re.__file__:
            frame = frame.f_back
        if frame is not None and frame.f_code.co_filename.startswith(str(SOURCE)) and isinstance(pattern, str | bytes):
            text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
            path = str(Path(frame.f_code.co_filename).relative_to(SOURCE))
            compiled.append((path, frame.f_lineno, text, int(flags)))
        return real(pattern, flags)

    re._compile = recording  # type: ignore[attr-defined]
    modules: dict[str, dict[str, Any]] = {}
    try:
        for info in pkgutil.walk_packages([str(SOURCE)], "tallystick."):
            if info.name.rpartition(".")[2] == "__main__" or ".migrations." in info.name:
                continue
            try:
                module = importlib.import_module(info.name)
            except ModuleNotFoundError as missing:
                # A module for an optional package that is not installed here; a module of our own must be there.
                if (missing.name or "").startswith("tallystick"):
                    raise
                continue
            modules[str(Path(module.__file__ or "").relative_to(SOURCE))] = vars(module)
    finally:
        re._compile = real  # type: ignore[attr-defined]
    return compiled, modules


def _inside(node: ast.AST, path: str, name: str, *, in_function: bool) -> Iterator[Source]:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name | ast.Attribute):
        target = node.targets[0]
        name = target.id if isinstance(target, ast.Name) else target.attr
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        name = node.target.id
    if isinstance(node, ast.Call) and _is_re(node.func):
        arguments = list(node.args)
        flags = next((word.value for word in node.keywords if word.arg == "flags"), None)
        function = node.func.attr  # type: ignore[attr-defined]
        place = {"compile": 1, "sub": 4, "subn": 4, "split": 3}.get(function, 2)
        if flags is None and len(arguments) > place:
            flags = arguments[place]
        yield Source(
            path=path, line=node.lineno, function=function, name=name, pattern=arguments[0] if arguments else None,
            flags=flags, is_inside=in_function,
        )  # fmt: skip
    inner = in_function or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
    for child in ast.iter_child_nodes(node):
        yield from _inside(child, path, name, in_function=inner)


def _is_re(func: ast.expr) -> bool:
    return (
        isinstance(func, ast.Attribute) and func.attr in _FUNCTIONS and isinstance(func.value, ast.Name)
        and func.value.id == "re"
    )  # fmt: skip


def _nearest(by_place: dict[tuple[str, int], Source], path: str, line: int) -> Source | None:
    """A call over several lines is recorded at one of them."""
    return next((by_place[path, line - back] for back in range(30) if (path, line - back) in by_place), None)


def _evaluated(expression: ast.expr | None, namespace: dict[str, Any]) -> Any:
    if expression is None:
        return 0
    return eval(compile(ast.Expression(expression), "<pattern>", "eval"), namespace)


def _used(uses: dict[str, dict[str, set[str]]], path: str, name: str) -> set[str]:
    """How a variable is used: a private one in its own module, any other one anywhere."""
    places = uses.get(name, {})
    if name.startswith("_"):
        return places.get(path) or {SEARCH}
    return {function for functions in places.values() for function in functions} or {SEARCH}


def _uses(trees: dict[str, ast.Module], names: set[str]) -> dict[str, dict[str, set[str]]]:
    """Variable → module → methods that are called on it there; one that is handed on may be searched with."""
    uses: dict[str, dict[str, set[str]]] = {}
    for module, tree in trees.items():
        called = set()
        handed_on = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr in _FUNCTIONS:
                holder = node.value
                name = holder.id if isinstance(holder, ast.Name) else getattr(holder, "attr", "")
                uses.setdefault(name, {}).setdefault(module, set()).add(node.attr)
                called.add(holder)
            elif isinstance(node, ast.Name) and node.id in names and isinstance(node.ctx, ast.Load):
                handed_on.append(node)
        for node in handed_on:
            if node not in called:
                uses.setdefault(node.id, {}).setdefault(module, set()).add(SEARCH)
    return uses


def _modes(functions: set[str]) -> frozenset[str]:
    anchored = functions & _ANCHORED
    return frozenset(anchored | ({SEARCH} if functions - _ANCHORED else set()))
