"""The base installation: what works with the wheel's own dependencies alone, and what the rest answers."""

import json
from pathlib import Path

import pytest

import tallystick
from tallystick.app.discovery import manifests
from tests.install.environments import Environment, by_pip
from tests.install.using import call_a_tool, doctor, first_snippet, get, served, wrap

ROOMS = ("desk", "insight", "studio")
PREFIXES = [path for name in ROOMS for path in manifests()[name].paths]
"""The paths of rooms that need more than the base."""
EXTRAS = ("page", "mcp", "models", "durable", "postgres", "tracing", "agents", "langgraph", "reading",
          "parser")  # fmt: skip
HEAVY = ("numpy", "torch", "scipy", "yaml", "nicegui", "mcp", "openai", "dbos")


@pytest.mark.promise("install.base")
def test_the_wheel_installs_by_pip_and_works(tmp_path: Path, wheel: Path) -> None:
    environment = by_pip(tmp_path, wheel)
    for heavy in HEAVY:
        assert environment.run("python", "-c", f"import {heavy}").returncode != 0, f"the base brings {heavy}"
    works(environment)


@pytest.mark.promise("install.base")
def test_the_base_needs_nothing_but_what_it_declares(base: Environment) -> None:
    works(base)


def works(environment: Environment) -> None:
    done = environment.run("python", "-c", first_snippet())
    assert (done.returncode, done.stdout.split("\n")) == (0, ["6", "schema: type", "True", ""]), done.stderr
    assert tallystick.__version__ in environment.tally("--version").stdout
    assert environment.tally("--help").stdout.startswith("Usage: tally")
    call_a_tool(environment)
    wrap(environment)
    found = doctor(environment)
    assert found["room memory"].endswith("tally rooms on memory")
    environment.switch_on("memory")
    assert doctor(environment)["room memory"] == "on"
    for name in (*(f"room {room}" for room in ROOMS), *(f"extra {extra}" for extra in EXTRAS)):
        assert found[name].endswith(f"pip install 'tallystick[{name.split()[1]}]'"), name
    with served(environment) as (address, told):
        assert "Without the page" in told
        assert "pip install 'tallystick[page]'" in told
        assert json.loads(get(f"{address}/health")[1])["status"] == "ok"


@pytest.mark.promise("install.unavailable")
@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (("studio", "tree"), "studio"), (("studio", "check", "book.md"), "studio"), (("run", "list"), "studio"),
        (("insight", "report", "tickets.csv", "--out", "r.html"), "insight"),
        (("desk", "try", "When?", "--kb", "."), "desk"), (("desk", "list"), "desk"),
        (("mcp", "serve"), "mcp"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[:2]),
)  # fmt: skip
def test_a_command_of_a_part_that_is_not_installed_says_how_to_install_it(
    base: Environment, words: tuple[str, ...], extra: str
) -> None:
    (base.work / "book.md").write_text("# One\n\nIt rained.\n", encoding="utf-8")
    (base.work / "tickets.csv").write_text("text,created_at\nIt is late,2026-01-01\n", encoding="utf-8")
    refused = base.tally("--json", *words)
    assert refused.returncode == 4, refused.stdout + refused.stderr
    told = json.loads(refused.stderr)["error"]
    assert told["code"] == "part_missing"
    assert told["message"].endswith(f"pip install 'tallystick[{extra}]'")


@pytest.mark.promise("install.unavailable")
def test_every_route_of_the_base_answers_and_those_of_missing_rooms_say_how_to_install_them(base: Environment) -> None:
    with served(base) as (address, _):
        document = json.loads(get(f"{address}/api/openapi.json")[1])
        paths = [path for path, how in document["paths"].items() if "get" in how and "stream" not in path]
        assert not any(path.startswith(prefix) for path in paths for prefix in PREFIXES)
        paths += PREFIXES
        answers = {path: get(f"{address}{path.replace('{', '').replace('}', '')}") for path in paths}
    assert {path: status for path, (status, _) in answers.items() if status not in {200, 400, 404, 503}} == {}
    missing = {path: json.loads(body)["error"] for path, (status, body) in answers.items() if status == 503}
    for name in ROOMS:
        for path in manifests()[name].paths:
            assert missing[path]["message"].endswith(f"pip install 'tallystick[{name}]'"), path
    assert {(error["category"], error["details"]["hint"]) for error in missing.values()} == {
        ("tool_unavailable", "part_missing")
    }


def test_the_demo_shows_what_is_installed_and_says_what_it_leaves_out(base: Environment) -> None:
    done = base.tally("--json", "-w", str(base.work / "demo"), "demo", "--no-serve")
    assert done.returncode == 0, done.stderr
    parts = json.loads(done.stdout)["parts"]
    assert {name for name, part in parts.items() if "left_out" in part} == set(ROOMS)
    assert "left_out" not in parts["memory"]
