"""Every type that a public signature names can be imported from `tallystick`, without a path into the package."""

import ast
import importlib
import inspect
import subprocess
import sys
import typing
from collections.abc import Iterator
from typing import Any

import pytest

import tallystick

ADAPTERS = ("langgraph", "openai_agents", "openai_functions", "pydantic_ai")
MADE_BY_THE_GATE = frozenset(
    {"Approvals.__init__", "Gate.__init__", "Ledger.__init__", "Retriever.__init__", "Turn.__init__"}
)
"""A program is given these objects and never makes one."""
NOT_EXPORTED_STILL = frozenset(
    {
        "agents.answers.Unanswered",
        "agents.problem.Problem",
        "agents.tasks.routing.Routed",
        "gate.admit.names.Entry",
        "gate.decide.approvals.State",
        "gate.decide.approvals.Unmoved",
        "gate.decide.call_context.CallContext",
        "gate.quotes.Folded",
        "gate.record.portable_receipt.PortableReceipt",
        "gate.record.journal.SignedRecord",
        "gate.record.report.AuditProblem",
        "gate.record.signing.Keys",
        "gate.reply.findings.Item",
        "storage.durable.stored.StoredDurable",
        "turns.durable.AsyncRun",
        "turns.durable.Run",
        "turns.flow_context.FlowContext",
        "turns.runs.Event",
        "turns.runs.RunFailure",
        "turns.runs.WorkerSeen",
    }
)
"""Types in public signatures that need a clearer name before they are exported. Names only go from here."""


def _public() -> dict[str, Any]:
    return {name: getattr(tallystick, name) for name in tallystick.__all__ if name != "__version__"}


def _for_the_type_checker(module: str) -> dict[str, Any]:
    """What a module imports under `if TYPE_CHECKING`."""
    tree = ast.parse(inspect.getsource(importlib.import_module(module)))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return {
        alias.asname or alias.name: getattr(importlib.import_module(line.module or ""), alias.name)
        for block in guarded
        for line in block.body
        if isinstance(line, ast.ImportFrom)
        for alias in line.names
    }


def _hints(function: Any) -> dict[str, Any]:
    return typing.get_type_hints(function, localns=_for_the_type_checker(function.__module__))


def _signatures(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Each public function, method and property of a name, and the fields of a record."""
    if not inspect.isclass(value):
        if inspect.isfunction(value):
            yield name, value
        return
    yield name, value
    for member in value.__mro__:
        if not member.__module__.startswith("tallystick"):
            continue
        for method, found in vars(member).items():
            if method.startswith("_") and method not in {"__init__", "__call__"}:
                continue
            function = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
            function = getattr(function, "func", function)
            if inspect.isfunction(function):
                yield f"{name}.{method}", function


def _types(hint: Any) -> Iterator[type]:
    """The classes of this package in an annotation."""
    if inspect.isclass(hint) and typing.get_origin(hint) is None and hint.__module__.startswith("tallystick"):
        yield hint
    origin = typing.get_origin(hint)
    if inspect.isclass(origin) and origin.__module__.startswith("tallystick"):
        yield origin
    for part in typing.get_args(hint):
        yield from _types(part) if not isinstance(part, list) else (found for each in part for found in _types(each))


def _path(found: type) -> str:
    return f"{found.__module__.removeprefix('tallystick.')}.{found.__name__}"


def _missing() -> dict[str, set[str]]:
    public = _public()
    exported = {id(value) for value in public.values()}
    missing: dict[str, set[str]] = {}
    for name, value in public.items():
        for where, function in _signatures(name, value):
            if where in MADE_BY_THE_GATE:
                continue
            for hint in _hints(function).values():
                for found in _types(hint):
                    if id(found) not in exported:
                        missing.setdefault(_path(found), set()).add(where)
    return missing


@pytest.mark.promise("api.exported")
def test_every_type_in_a_public_signature_is_exported() -> None:
    missing = _missing()
    assert {name: places for name, places in missing.items() if name not in NOT_EXPORTED_STILL} == {}


@pytest.mark.promise("api.exported")
def test_the_list_of_what_is_not_exported_only_shrinks() -> None:
    assert NOT_EXPORTED_STILL - set(_missing()) == set(), "drop what is exported now"


@pytest.mark.promise("api.exported")
def test_the_main_types_can_be_imported_by_name() -> None:
    wanted = {
        "AuditReport", "Budget", "CallOptions", "Caller", "Card", "CommandReference", "Findings", "Gate", "Governed",
        "Ledger", "Limits", "Manifest", "Observer", "Outcome", "Policy", "Receipt", "Rejection", "Room", "RoomContext",
        "Session", "Settings", "Tool", "Turn",
    }  # fmt: skip
    assert wanted <= set(tallystick.__all__)
    assert sorted(tallystick.__all__) == list(tallystick.__all__) == dir(tallystick)
    assert all(getattr(tallystick, name) is not None for name in tallystick.__all__)


@pytest.mark.promise("api.exported")
def test_importing_the_package_loads_none_of_it() -> None:
    program = "import sys, tallystick; print([name for name in sys.modules if name.startswith('tallystick.')])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_name_that_is_not_public_is_refused() -> None:
    with pytest.raises(AttributeError, match="nothing_here"):
        _ = tallystick.nothing_here


def test_no_adapter_is_loaded_by_a_public_name() -> None:
    assert not set(ADAPTERS) & set(tallystick.__all__)
