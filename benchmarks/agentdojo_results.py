"""What AgentDojo's own tools answer to the calls of its user tasks, recorded once for `benchmarks.injection`.

Run it under a Python that has `agentdojo` (its tools need `docstring_parser`, `email-validator` and `pyyaml` besides;
nothing else of it is loaded, and none of it is a dependency of ours):

    python benchmarks/agentdojo_results.py <folder with *.jsonl> > recorded.json

Every ground-truth call of every user task runs twice on a fresh environment: as the suite ships it, and with a mark in
every place that the suite leaves to an attacker. The benchmark puts the attack where the mark stands.
"""

import importlib
import inspect
import json
import pkgutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args, get_type_hints

MARK = "@@INJECTION@@"
PARTS = {
    "banking": {"bank_account": "BankAccount", "filesystem": "Filesystem", "user_account": "UserAccount"},
    "slack": {"slack": "Slack", "web": "Web"},
    "travel": {
        "hotels": "Hotels", "restaurants": "Restaurants", "car_rental": "CarRental", "flights": "Flights",
        "user": "User", "calendar": "Calendar", "reservation": "Reservation", "inbox": "Inbox",
    },
    "workspace": {"inbox": "Inbox", "calendar": "Calendar", "cloud_drive": "CloudDrive"},
}  # fmt: skip
"""What an environment of each suite is made of."""


class Environment:
    """Holds the parts by name, as the suite's tools look them up."""

    def __init__(self, parts: dict[str, Any]) -> None:
        self.__dict__.update(parts)


def main() -> None:
    recorded: dict[str, Any] = {}
    names = suite_names()
    for path in sorted(Path(sys.argv[1]).glob("*.jsonl")):
        tasks = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        for task in tasks:
            if task["kind"] == "user":
                recorded.setdefault(path.stem, {})[task["id"]] = {
                    "clean": run(path.stem, task, names, None),
                    "attacked": run(path.stem, task, names, MARK),
                }
    json.dump(recorded, sys.stdout, indent=1, default=str)


def suite_names() -> dict[str, Any]:
    """Everything the suite's tool modules define, by name."""
    package = importlib.import_module("agentdojo.default_suites.v1.tools")
    found: dict[str, Any] = {}
    for module in pkgutil.iter_modules(package.__path__):
        found |= vars(importlib.import_module(f"{package.__name__}.{module.name}"))
    return found


def run(suite: str, task: dict[str, Any], names: dict[str, Any], mark: str | None) -> list[Any]:
    """The results of a task's calls, in order; None where the tool failed."""
    environment = fresh(suite, names, mark)
    return [result_of(names[call["tool"]], call["args"], environment) for call in task["ground_truth"]]


def fresh(suite: str, names: dict[str, Any], mark: str | None) -> Environment:
    loader = importlib.import_module("agentdojo.yaml_loader")
    yaml = importlib.import_module("yaml")
    folder = Path(importlib.import_module("agentdojo").__file__ or "").parent / "data" / "suites" / suite
    vectors = yaml.safe_load((folder / "injection_vectors.yaml").read_text())
    with (folder / "environment.yaml").open() as stream:
        raw = yaml.load(stream, loader.ImportLoader)
    filled = fill(raw, {name: mark or vector["default"] for name, vector in vectors.items()})
    return Environment({part: names[kind].model_validate(filled[part]) for part, kind in PARTS[suite].items()})


def fill(value: Any, vectors: dict[str, str]) -> Any:
    if isinstance(value, str):
        for name, text in vectors.items():
            value = value.replace("{" + name + "}", text)
        return value
    if isinstance(value, dict):
        return {fill(key, vectors): fill(item, vectors) for key, item in value.items()}
    return [fill(item, vectors) for item in value] if isinstance(value, list) else value


def result_of(tool: Callable[..., Any], args: dict[str, Any], environment: Environment) -> Any:
    given = dict(args)
    for name, hint in get_type_hints(tool, include_extras=True).items():
        for note in get_args(hint)[1:]:
            if hasattr(note, "extract_dep_from_env"):
                given[name] = note.extract_dep_from_env(environment)
    known = inspect.signature(tool).parameters
    try:
        return plain(tool(**{name: value for name, value in given.items() if name in known}))
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


if __name__ == "__main__":
    main()
