"""A small project, and its changes."""

import itertools
from pathlib import Path

import pytest

from tallystick.rooms.studio.workspace.patch_store import PatchStore
from tallystick.rooms.studio.workspace.revisions import Revisions
from tallystick.storage.files import FileSources

SCENE = "Story/Scenes/SCN-arrival.md"
TEXT = "# Arrival\n\nRain fell on the quay.\nMira waited.\nNobody came.\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "novel"
    (root / SCENE).parent.mkdir(parents=True)
    (root / SCENE).write_text(TEXT, encoding="utf-8")
    (root / "Story/SCN-outline.md").write_text("# Outline\n\n1. Arrival\n", encoding="utf-8")
    return root


@pytest.fixture
def revisions(project: Path) -> Revisions:
    numbers = itertools.count(1)
    return Revisions(FileSources(project), PatchStore(project), new_id=lambda: f"patch_{next(numbers):08x}")
