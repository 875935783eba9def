"""Each contract of the house is shown to break: a forbidden import is planted in a copy of the source.

The copy also gets two small rooms that keep every rule, so that the contracts about rooms have something to hold.
"""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

from tests.house.sources import PACKAGE, ROOT

LINT_IMPORTS = Path(sys.executable).with_name("lint-imports")


@dataclass(frozen=True, kw_only=True)
class Plant:
    """One violation: what is written where, and what the report must name."""

    contract: str
    what: str
    files: dict[str, str]
    """Path in the package → code; a file that is there gets the code at its end."""
    named: str
    """The import (or module) that the report must point at."""
    alone: bool = False
    """Whether it is planted without the others of its contract: it would hide them, or they it."""


PLANTS = (
    Plant(
        contract="outside-in",
        what="storage imports a door",
        files={"storage/planted.py": "import tallystick.doors.identity"},
        named="tallystick.storage.planted -> tallystick.doors.identity",
    ),
    Plant(
        contract="outside-in",
        what="the gate imports storage inside a function",
        files={
            "gate/reply/planted.py": "def late():\n    from tallystick.storage import planted_store\n",
            "storage/planted_store.py": "",
        },
        named="tallystick.gate.reply.planted -> tallystick.storage.planted_store",
    ),
    Plant(
        contract="outside-in",
        what="the gate imports storage for type checking only",
        files={
            "gate/record/planted.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import tallystick.storage.planted_store\n",
            "storage/planted_store.py": "",
        },
        named="tallystick.gate.record.planted -> tallystick.storage.planted_store",
    ),
    Plant(
        contract="outside-in",
        what="the gate reaches app through the package itself",
        files={
            "gate/decide/planted.py": "from tallystick import Gate",
            "__init__.py": "def _lazy():\n    import tallystick.app\n",
        },
        named="tallystick -> tallystick.app",
    ),
    Plant(
        contract="outside-in",
        what="turns imports a provider",
        files={"turns/planted.py": "import tallystick.providers.planted_model", "providers/planted_model.py": ""},
        named="tallystick.turns.planted -> tallystick.providers.planted_model",
    ),
    Plant(
        contract="outside-in",
        what="telemetry steers: it imports a room",
        files={"telemetry/planted.py": "import tallystick.rooms.attic.room"},
        named="tallystick.telemetry.planted -> tallystick.rooms.attic.room",
    ),
    Plant(
        contract="outside-in",
        what="settings imports the gate",
        files={"settings.py": "import tallystick.gate.codes"},
        named="tallystick.settings -> tallystick.gate.codes",
    ),
    Plant(
        contract="outside-in",
        what="a new top-level module without a place",
        alone=True,
        files={"utils.py": ""},
        named="tallystick.utils",
    ),
    Plant(
        contract="outside-in",
        what="agents import storage",
        files={"agents/planted.py": "import tallystick.storage.approvals"},
        named="tallystick.agents.planted -> tallystick.storage.approvals",
    ),
    Plant(
        contract="outside-in",
        what="turns import agents",
        files={"turns/planted.py": "import tallystick.agents.ports"},
        named="tallystick.turns.planted -> tallystick.agents.ports",
    ),
    Plant(
        contract="outside-in",
        what="the gate imports turns",
        files={"gate/reply/planted.py": "import tallystick.turns.durable"},
        named="tallystick.gate.reply.planted -> tallystick.turns.durable",
    ),
    Plant(
        contract="outside-in",
        what="a provider imports app",
        files={"providers/offline/planted.py": "import tallystick.app.gate"},
        named="tallystick.providers.offline.planted -> tallystick.app.gate",
    ),
    Plant(
        contract="outside-in",
        what="the plugin interface imports a part at run time",
        files={"plugin.py": "import tallystick.gate.codes"},
        named="tallystick.plugin -> tallystick.gate.codes",
    ),
    Plant(
        contract="outside-in",
        what="app imports a door",
        files={"app/planted.py": "import tallystick.doors.http.kit"},
        named="tallystick.app.planted -> tallystick.doors.http.kit",
    ),
    Plant(
        contract="outside-in",
        what="text work imports the gate",
        files={"text/words.py": "import tallystick.gate.codes"},
        named="tallystick.text.words -> tallystick.gate.codes",
    ),
    Plant(
        contract="outside-in",
        what="a provider imports the index above it",
        files={"providers/offline/planted.py": "import tallystick.reading.fts"},
        named="tallystick.providers.offline.planted -> tallystick.reading.fts",
    ),
    Plant(
        contract="outside-in",
        what="the index imports app",
        files={"reading/index.py": "def late():\n    import tallystick.app.gate\n"},
        named="tallystick.reading.index -> tallystick.app.gate",
    ),
    Plant(
        contract="inside-text",
        what="words import stems: backwards",
        files={"text/words.py": "def late():\n    import tallystick.text.stems\n"},
        named="tallystick.text.words -> tallystick.text.stems",
    ),
    Plant(
        contract="inside-text",
        what="a new module of text work without a place",
        alone=True,
        files={"text/helpers.py": ""},
        named="tallystick.text.helpers",
    ),
    Plant(
        contract="documents-are-optional",
        what="the gate reads Word documents",
        files={"gate/reply/planted.py": "def late():\n    from tallystick.text.documents.word import read_word\n"},
        named="tallystick.gate.reply.planted -> tallystick.text.documents.word",
    ),
    Plant(
        contract="inside-reading",
        what="the port of an index imports the index",
        files={"reading/index.py": "def late():\n    import tallystick.reading.fts\n"},
        named="tallystick.reading.index -> tallystick.reading.fts",
    ),
    Plant(
        contract="inside-reading",
        what="vectors import the retriever: backwards",
        files={"reading/vectors.py": "def late():\n    import tallystick.reading.retriever\n"},
        named="tallystick.reading.vectors -> tallystick.reading.retriever",
    ),
    Plant(
        contract="pure-core",
        what="text work opens a database",
        files={"text/words.py": "import sqlite3"},
        named="tallystick.text.words -> sqlite3",
    ),
    Plant(
        contract="path-of-a-call",
        what="admit imports record: backwards",
        files={"gate/admit/planted.py": "from tallystick.gate.record.receipt import Receipt"},
        named="tallystick.gate.admit.planted -> tallystick.gate.record.receipt",
    ),
    Plant(
        contract="path-of-a-call",
        what="decide imports execute inside a function",
        files={
            "gate/decide/planted.py": "def late():\n    from tallystick.gate.execute import planted_step\n",
            "gate/execute/planted_step.py": "",
        },
        named="tallystick.gate.decide.planted -> tallystick.gate.execute.planted_step",
    ),
    Plant(
        contract="path-of-a-call",
        what="decide imports record through the noun below it",
        files={
            "gate/decide/planted.py": "import tallystick.gate.session",
            "gate/session.py": "import tallystick.gate.record.receipt",
        },
        named="tallystick.gate.session -> tallystick.gate.record.receipt",
    ),
    Plant(
        contract="path-of-a-call",
        what="record imports the pipeline",
        files={"gate/record/planted.py": "import tallystick.gate.pipeline"},
        named="tallystick.gate.record.planted -> tallystick.gate.pipeline",
    ),
    Plant(
        contract="path-of-a-call",
        what="reply imports the pipeline: backwards",
        files={"gate/reply/planted.py": "import tallystick.gate.pipeline"},
        named="tallystick.gate.reply.planted -> tallystick.gate.pipeline",
    ),
    Plant(
        contract="path-of-a-call",
        what="execute imports reply: backwards",
        files={"gate/execute/planted.py": "import tallystick.gate.reply.planted", "gate/reply/planted.py": ""},
        named="tallystick.gate.execute.planted -> tallystick.gate.reply.planted",
    ),
    Plant(
        contract="path-of-a-call",
        what="a new module in the gate without a place",
        alone=True,
        files={"gate/helpers.py": ""},
        named="tallystick.gate.helpers",
    ),
    Plant(
        contract="doors",
        what="one door imports another",
        files={"doors/http/planted.py": "import tallystick.doors.mcp.planted_peer", "doors/mcp/planted_peer.py": ""},
        named="tallystick.doors.http.planted -> tallystick.doors.mcp.planted_peer",
    ),
    Plant(
        contract="doors",
        what="a route imports the command line above it",
        files={"doors/http/planted.py": "import tallystick.doors.cli.planted", "doors/cli/planted.py": ""},
        named="tallystick.doors.http.planted -> tallystick.doors.cli.planted",
    ),
    Plant(
        contract="nobody-knows-a-room",
        what="a door imports a room",
        files={"doors/http/planted.py": "def late():\n    import tallystick.rooms.desk.http.tickets\n"},
        named="tallystick.doors.http.planted -> tallystick.rooms.desk.http.tickets",
    ),
    Plant(
        contract="nobody-knows-a-room",
        what="app imports a room",
        files={"app/planted.py": "from tallystick.rooms.memory.room import Memory"},
        named="tallystick.app.planted -> tallystick.rooms.memory.room",
    ),
    Plant(
        contract="nobody-knows-a-room",
        what="storage imports a room's store",
        files={"storage/planted.py": "import tallystick.rooms.insight.store.tables"},
        named="tallystick.storage.planted -> tallystick.rooms.insight.store.tables",
    ),
    Plant(
        contract="nobody-knows-a-room",
        what="the command line imports a manifest",
        files={"__main__.py": "import tallystick.rooms.desk"},
        named="tallystick.__main__ -> tallystick.rooms.desk",
    ),
    Plant(
        contract="rooms",
        what="a room imports another room's room.py",
        files={"rooms/attic/flows/planted.py": "import tallystick.rooms.cellar.room"},
        named="tallystick.rooms.attic.flows.planted -> tallystick.rooms.cellar.room",
    ),
    Plant(
        contract="rooms",
        what="rooms share a module beside them",
        files={"rooms/shared.py": "", "rooms/attic/nouns.py": "import tallystick.rooms.shared"},
        named="tallystick.rooms.attic.nouns -> tallystick.rooms.shared",
    ),
    Plant(
        contract="rooms-use-the-kits",
        what="a room's routes import a module of their door that is not its kit",
        files={"rooms/attic/http/planted.py": "import tallystick.doors.http.app"},
        named="tallystick.rooms.attic.http.planted -> tallystick.doors.http.app",
    ),
    Plant(
        contract="rooms-use-the-kits",
        what="a room's pages import the kit of another door",
        files={"rooms/attic/web/planted.py": "import tallystick.doors.cli.kit"},
        named="tallystick.rooms.attic.web.planted -> tallystick.doors.cli.kit",
    ),
    Plant(
        contract="rooms-use-the-kits",
        what="a room's tool imports a door",
        files={"rooms/attic/tools/planted.py": "import tallystick.doors.http.kit"},
        named="tallystick.rooms.attic.tools.planted -> tallystick.doors.http.kit",
    ),
    Plant(
        contract="rooms-use-the-kits",
        what="a room's domain module imports who may call",
        files={"rooms/desk/model.py": "import tallystick.doors.identity"},
        named="tallystick.rooms.desk.model -> tallystick.doors.identity",
    ),
    Plant(
        contract="tools-only-through-the-gate",
        what="a door imports a tool",
        files={"doors/http/planted.py": "from tallystick.rooms.attic.tools import look"},
        named="tallystick.doors.http.planted -> tallystick.rooms.attic.tools.look",
    ),
    Plant(
        contract="tools-only-through-the-gate",
        what="a room's flow imports its own tool",
        files={"rooms/attic/flows/planted.py": "import tallystick.rooms.attic.tools.look"},
        named="tallystick.rooms.attic.flows.planted -> tallystick.rooms.attic.tools.look",
    ),
    Plant(
        contract="tools-only-through-the-gate",
        what="app imports a tool past its room",
        files={"app/planted.py": "def late():\n    import tallystick.rooms.cellar.tools.look\n"},
        named="tallystick.app.planted -> tallystick.rooms.cellar.tools.look",
    ),
    Plant(
        contract="only-the-pipeline-executes",
        what="the command line imports the runner",
        files={"doors/cli/planted.py": "import tallystick.gate.execute.runner"},
        named="tallystick.doors.cli.planted -> tallystick.gate.execute.runner",
    ),
    Plant(
        contract="only-the-pipeline-executes",
        what="a room imports the runner inside a function",
        files={"rooms/attic/flows/planted.py": "def late():\n    from tallystick.gate.execute.runner import planted\n"},
        named="tallystick.rooms.attic.flows.planted -> tallystick.gate.execute.runner",
    ),
    Plant(
        contract="pure-core",
        what="a framework inside the gate",
        files={"gate/execute/planted.py": "from fastapi import FastAPI"},
        named="tallystick.gate.execute.planted -> fastapi",
    ),
    Plant(
        contract="pure-core",
        what="a database inside turns",
        files={"turns/planted.py": "def late():\n    import sqlite3\n"},
        named="tallystick.turns.planted -> sqlite3",
    ),
    Plant(
        contract="pure-core",
        what="a network library reaches the gate through settings",
        files={"gate/admit/planted.py": "import tallystick.settings", "settings.py": "import httpx"},
        named="tallystick.settings -> httpx",
    ),
    Plant(
        contract="rooms-know-no-framework",
        what="a room imports the SQL toolkit outside its store",
        files={"rooms/attic/flows/planted.py": "from sqlalchemy import select"},
        named="tallystick.rooms.attic.flows.planted -> sqlalchemy",
    ),
    Plant(
        contract="rooms-know-no-framework",
        what="a room's store imports a web framework",
        files={"rooms/attic/store.py": "import fastapi"},
        named="tallystick.rooms.attic.store -> fastapi",
    ),
    *(
        Plant(
            contract="rooms-know-no-framework",
            what=f"{module} of a room imports {library}",
            files={f"rooms/attic/{module}.py": f"import {library}"},
            named=f"tallystick.rooms.attic.{module.replace('/', '.')} -> {library}",
        )
        for module, library in (
            ("nouns", "fastapi"),
            ("nouns", "typer"),
            ("nouns", "nicegui"),
            ("nouns", "sqlalchemy"),
            ("tools/look", "h11"),
            ("tools/look", "ssl"),
            ("tools/look", "socket"),
            ("flows/sweep", "httpx"),
            ("flows/sweep", "httpx2"),
            ("flows/sweep", "openai"),
            ("http/routes", "sqlalchemy"),
            ("cli/commands", "fastapi"),
            ("web/pages", "typer"),
            ("room", "dbos"),
        )
    ),
    Plant(
        contract="gate-opens-without-frameworks",
        what="app reaches a web framework through storage",
        files={"app/planted.py": "import tallystick.storage.planted", "storage/planted.py": "import starlette"},
        named="tallystick.storage.planted -> starlette",
    ),
    Plant(
        contract="inside-a-room",
        what="a tool imports its room",
        files={"rooms/attic/tools/planted.py": "import tallystick.rooms.attic.room"},
        named="tallystick.rooms.attic.tools.planted -> tallystick.rooms.attic.room",
    ),
    Plant(
        contract="inside-a-room",
        what="a store imports a flow",
        files={"rooms/cellar/store.py": "import tallystick.rooms.cellar.flows.sweep"},
        named="tallystick.rooms.cellar.store -> tallystick.rooms.cellar.flows.sweep",
    ),
    Plant(
        contract="inside-a-room",
        what="room.py imports its routes",
        files={"rooms/attic/room.py": "import tallystick.rooms.attic.http.routes"},
        named="tallystick.rooms.attic.room -> tallystick.rooms.attic.http.routes",
    ),
    Plant(
        contract="inside-desk",
        what="the records of the desk import the desk's store",
        files={"rooms/desk/model.py": "import tallystick.rooms.desk.store.tables"},
        named="tallystick.rooms.desk.model -> tallystick.rooms.desk.store.tables",
    ),
    Plant(
        contract="inside-desk",
        what="the verdict imports the reply that comes after it",
        files={"rooms/desk/verdict/planted.py": "import tallystick.rooms.desk.reply.draft"},
        named="tallystick.rooms.desk.verdict.planted -> tallystick.rooms.desk.reply.draft",
    ),
    Plant(
        contract="inside-insight",
        what="ingest imports the report",
        files={"rooms/insight/ingest/planted.py": "import tallystick.rooms.insight.report.report"},
        named="tallystick.rooms.insight.ingest.planted -> tallystick.rooms.insight.report.report",
    ),
    Plant(
        contract="inside-memory",
        what="extraction imports memory's store",
        files={"rooms/memory/propose/claims.py": "import tallystick.rooms.memory.store"},
        named="tallystick.rooms.memory.propose.claims -> tallystick.rooms.memory.store",
    ),
    Plant(
        contract="inside-studio",
        what="issues import the runs beside them",
        files={"rooms/studio/issues/planted.py": "import tallystick.rooms.studio.runs.states"},
        named="tallystick.rooms.studio.issues.planted -> tallystick.rooms.studio.runs.states",
    ),
    Plant(
        contract="no-cycles",
        what="two modules of one step import each other",
        files={
            "gate/decide/planted_a.py": "import tallystick.gate.decide.planted_b",
            "gate/decide/planted_b.py": "def late():\n    import tallystick.gate.decide.planted_a\n",
        },
        named="planted_a",
    ),
    Plant(
        contract="no-cycles",
        what="two folders of one part import each other",
        files={
            "storage/planted_a/__init__.py": "",
            "storage/planted_a/one.py": "import tallystick.storage.planted_b.two",
            "storage/planted_b/__init__.py": "",
            "storage/planted_b/two.py": "",
            "storage/planted_b/three.py": "import tallystick.storage.planted_a.one",
        },
        named="planted_b",
    ),
)

ROOM = {
    "__init__.py": "",
    "room.py": "import tallystick.rooms.{name}.tools.look\nimport tallystick.rooms.{name}.flows.sweep\nimport tallystick.gate.tool\n",
    "nouns.py": "",
    "store.py": "import sqlalchemy\nimport tallystick.rooms.{name}.nouns\n",
    "tools/__init__.py": "",
    "tools/look.py": "import tallystick.rooms.{name}.store\nimport tallystick.gate.quotes\n",
    "flows/__init__.py": "",
    "flows/sweep.py": "import tallystick.rooms.{name}.store\n",
    "http/__init__.py": "",
    "http/routes.py": "import fastapi\nimport tallystick.doors.http.kit\nimport tallystick.rooms.{name}.room\n",
    "cli/__init__.py": "",
    "cli/commands.py": "import typer\nimport tallystick.doors.cli.kit\nimport tallystick.rooms.{name}.room\n",
    "web/__init__.py": "",
    "web/pages.py": "import nicegui\nimport tallystick.doors.web.kit\nimport tallystick.rooms.{name}.room\n",
}
"""A room that keeps every rule."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source with two rooms more; returns the package."""
    folder = tmp_path_factory.mktemp("house")
    package = folder / "tallystick"
    shutil.copytree(PACKAGE, package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    for room in ("attic", "cellar"):
        for path, code in ROOM.items():
            _write(package / "rooms" / room / path, code.format(name=room))
    return package


@pytest.fixture(scope="module")
def report_on(house: Path) -> Callable[[Plant], str]:
    """What lint-imports says of a plant's contract, with every plant of that contract in place."""

    @cache
    def report(contract: str, what: str | None) -> str:
        plants = [each for each in PLANTS if each.contract == contract and what == (each.what if each.alone else None)]
        with _planted(house, plants):
            return _lint(house, "--contract", contract)

    return lambda plant: report(plant.contract, plant.what if plant.alone else None)


@pytest.mark.promise("house.contracts-kept")
def test_the_house_and_a_well_built_room_keep_every_contract(house: Path) -> None:
    report = _lint(house)
    assert f"Contracts: {len(_contract_ids())} kept, 0 broken." in report, report


@pytest.mark.promise("house.contracts-break")
@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.contract}: {plant.what}")
def test_a_planted_import_breaks_its_contract(report_on: Callable[[Plant], str], plant: Plant) -> None:
    report = report_on(plant)
    assert "Contracts: 0 kept, 1 broken." in report, report
    assert plant.named in report, report


@pytest.mark.promise("house.contracts-break")
def test_every_contract_has_a_plant() -> None:
    assert _contract_ids() == {plant.contract for plant in PLANTS}


def _contract_ids() -> set[str]:
    config = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return {contract["id"] for contract in config["tool"]["importlinter"]["contracts"]}


def _write(path: Path, code: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(f"\n{code}\n")


@contextmanager
def _planted(package: Path, plants: list[Plant]) -> Iterator[None]:
    """Write the plants, and put everything back afterwards."""
    touched = {package / path for plant in plants for path in plant.files}
    before = {path: path.read_bytes() if path.exists() else None for path in touched}
    for plant in plants:
        for path, code in plant.files.items():
            _write(package / path, code)
    try:
        yield
    finally:
        for path, text in before.items():
            path.unlink() if text is None else path.write_bytes(text)


def _lint(package: Path, *options: str) -> str:
    """What lint-imports says about the copy (it looks in the working directory first), white space folded."""
    done = subprocess.run(
        [LINT_IMPORTS, "--cache-dir", package.parent / "cache", "--no-logo", *options],
        cwd=package.parent,
        env={**os.environ, "COLUMNS": "400", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return " ".join((done.stdout + done.stderr).split())
