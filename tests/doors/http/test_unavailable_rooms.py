"""The paths of a room that is not installed say so, with the command that installs it."""

from collections.abc import Iterator
from contextlib import closing
from importlib.util import find_spec
from itertools import product
from pathlib import Path

import pytest

from tallystick import plugin
from tallystick.app.discovery import manifests, resolve
from tallystick.doors.http.app import METHODS
from tallystick.doors.http.context import HttpContext
from tests.doors.http.doorway import Doorway, problem

HIDDEN = ("docx", "pypdf", "sklearn")
"""Modules that the desk, the studio and insight require."""


@pytest.fixture
def without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Doorway]:
    """A server in an environment that does not have some modules."""
    monkeypatch.setattr(plugin, "find_spec", lambda name: None if name in HIDDEN else find_spec(name))
    with closing(Doorway(tmp_path / "work")) as opened:
        yield opened


@pytest.mark.promise("plugin.paths")
@pytest.mark.parametrize("room", ["desk", "insight", "studio"])
def test_every_path_of_a_room_that_is_not_installed_names_the_command(without: Doorway, room: str) -> None:
    assert room not in without.gate.rooms()
    manifest = manifests()[room]
    for path in manifest.paths:
        plain = path.replace("{session_id}", "s1")
        for shape in (plain, f"{plain}/and/more"):
            for method in METHODS:
                answer = without.request(method, shape)
                assert problem(answer, 503, "tool_unavailable")["hint"] == "part_missing"
                assert answer.json()["error"]["message"].endswith(manifest.install), (method, shape)


@pytest.mark.promise("rooms.off")
@pytest.mark.parametrize("room", ["desk", "insight", "memory", "studio"])
def test_every_path_of_a_room_that_is_off_names_the_command(tmp_path: Path, room: str) -> None:
    others = [name for name in manifests() if name != room]
    with closing(Doorway(tmp_path / "work", rooms={"enabled": others})) as door:
        assert room not in door.gate.rooms()
        for path in manifests()[room].paths:
            plain = path.replace("{session_id}", "s1")
            for method, shape in product(METHODS, (plain, f"{plain}/and/more")):
                answer = door.request(method, shape)
                assert problem(answer, 503, "tool_unavailable")["hint"] == "room_off"
                assert answer.json()["error"]["message"].endswith(f"tally rooms on {room}"), (method, shape)


@pytest.mark.promise("plugin.paths")
def test_the_other_rooms_and_the_gate_answer_on_their_own_paths(without: Doorway) -> None:
    assert without.get("/api/memory/status").status_code == 200
    assert without.get("/api/audit/sessions").status_code == 200
    assert without.get("/v1/models").status_code == 200
    assert without.get("/api/nothing").status_code == 404


@pytest.mark.promise("plugin.paths")
def test_the_paths_of_a_manifest_are_those_of_the_routes_and_of_nobody_else(tmp_path: Path) -> None:
    with closing(Doorway(tmp_path / "work")) as door:
        desk = HttpContext(gate=door.gate, identity=door.server.identity, startup=door.server.startup)
        every = {path.replace(":path}", "}") for path in door.get("/api/openapi.json").json()["paths"]}
        for manifest in manifests().values():
            assert manifest.http is not None
            own = {
                route.path.replace(":path}", "}")
                for router in resolve(manifest, "http", manifest.http)(desk)
                for route in router.routes
            }
            covered = {path for path in every if _covers(manifest.paths, path)}
            assert covered == own, manifest.name


def _covers(prefixes: tuple[str, ...], path: str) -> bool:
    return any(path == prefix or path.startswith(f"{prefix}/") for prefix in prefixes)
