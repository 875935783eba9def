"""A small project, and a gate with the studio's tools."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick import Gate
from tests.gates import open_gate
from tests.offline_turns import write_files

FILES = {
    "Story/SCN-outline.md": "# Outline\n\n1. Arrival - Mira reaches the harbour.\n2. The quarrel - Tomas accuses Mira.\n",
    "Story/Scenes/SCN-01-arrival.md": (
        "# Arrival\n\nThe harbour lay under rain when Mira stepped off the ferry.\n"
        "She carried a silver compass that had belonged to her grandmother.\n"
    ),
    "Story/Scenes/SCN-02-quarrel.md": "# The quarrel\n\nTomas put the letter on the table.\nMira walked to the window.\n",
    "Compendium/Characters/mira.md": "---\nname: Mira Holt\nhome: Senn\n---\n# Mira Holt\n\nShe fears deep water.\n",
    "Notes/long.md": "\n".join(f"Line {number} of a long list of notes." for number in range(1, 601)),
}


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(write_files(tmp_path, FILES), plugins=True) as opened:
        yield opened
