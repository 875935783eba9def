"""A room's revisions form one chain that ends at `HEAD`; a forgotten `HEAD` is found when its tables are first used."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from tallystick.app.discovery import manifests
from tallystick.errors import ConfigError
from tallystick.settings import parse_settings
from tallystick.storage.database import migrate_room, open_engine
from tallystick.storage.migrations import GATE, history_of
from tallystick.storage.migrations.revisions import mistake_in


def versions(folder: Path, **revisions: str | None) -> Path:
    made = folder / "versions"
    made.mkdir(parents=True, exist_ok=True)
    for revision, follows in revisions.items():
        lines = [
            f"revision: str = {revision[1:]!r}",
            f"down_revision = {follows!r}",
            "def upgrade() -> None:",
            "    pass",
        ]
        (made / f"{revision}.py").write_text("\n".join(lines), encoding="utf-8")
    return made


def test_the_revisions_of_the_gate_and_of_every_room_end_at_their_head() -> None:
    assert mistake_in(GATE.versions, GATE.head) is None
    for name, manifest in manifests().items():
        if manifest.migrations is not None:
            assert history_of(name, import_module(manifest.migrations)).head


@pytest.mark.parametrize(
    ("head", "revisions", "said"),
    [
        ("0001", {"r0001": None, "r0002": "0001"}, "the last revision in versions/ is '0002'"),
        ("0003", {"r0001": None, "r0002": "0001"}, "HEAD is '0003'"),
        ("0002", {"r0001": None, "r0002": "0000"}, "the revision '0002' follows '0000'"),
        ("0002", {"r0001": None, "r0002": None}, "has '0001', '0002'"),
        ("0001", {}, "has none"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, head: str, revisions: dict[str, str | None], said: str) -> None:
    assert said in (mistake_in(versions(tmp_path, **revisions), head) or "")


@pytest.mark.parametrize(("line", "said"), [("HEAD = '0001'", "HEAD is '0001'"), ("", "has no HEAD")])
def test_tables_of_a_room_with_a_wrong_head_are_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    name = f"shed_migrations_{len(line)}"
    package = tmp_path / name
    versions(package, r0001=None, r0002="0001")
    (package / "__init__.py").write_text(line, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    engine = open_engine(parse_settings({}), tmp_path)
    with pytest.raises(ConfigError, match=r"room 'shed'.*" + said) as caught:
        migrate_room(engine, "shed", import_module(name))
    assert caught.value.code == "room_broken"
    engine.dispose()
    del sys.modules[name]
