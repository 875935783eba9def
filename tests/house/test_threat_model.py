"""Every defence in `docs/threat-model.md` is shown by a test, and what is not defended stands there too."""

import re

import pytest

from tests.house.sources import ROOT
from tests.named_promises import named_promises

PAGE = (ROOT / "docs" / "threat-model.md").read_text(encoding="utf-8")
DEFENDED = PAGE.partition("\n## What is defended\n")[2].partition("\n## What is not defended\n")[0]
PROMISE = re.compile(r"`([a-z]+\.[a-z0-9]+(?:-[a-z0-9]+)*)`")


def defences() -> list[list[str]]:
    rows = [line.strip("|").split("|") for line in DEFENDED.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows if row[-1].strip() != "shown by"]


@pytest.mark.promise("house.threat-model")
def test_every_defence_names_a_test_that_exists() -> None:
    shown = {promise for promise, _ in named_promises()}
    rows = defences()
    assert len(rows) > 30
    for attack, defence, by in rows:
        named = PROMISE.findall(by)
        assert named, attack
        assert defence, attack
        assert not set(named) - shown, attack


@pytest.mark.promise("house.threat-model")
@pytest.mark.parametrize(
    "words",
    [
        "Code in the same process",
        "Root",
        "Any program under your account",
        "Whoever has the secret can forge",
        "Journal and mirror rolled back together",
        "Presence is proved, support is checked by rules",
        "wait in the database while a call is held",
        "Tools named in",
        "count in one process",
        "copy-on-write",
        "`inline` tool cannot be timed out",
        "prompt injection",
    ],
)
def test_what_cannot_be_defended_is_said(words: str) -> None:
    assert words in " ".join(PAGE.partition("\n## What is not defended\n")[2].split())
