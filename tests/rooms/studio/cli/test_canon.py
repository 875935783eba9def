"""`tally studio canon`."""

from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally
from tests.rooms.studio.projects import lay_out


@pytest.mark.promise("canon.cli")
def test_canon_is_compiled_and_what_is_wrong_is_told(tally: Tally, workspace: Path) -> None:
    assert "no canon index yet" in tally("studio", "canon", "--status").err
    lay_out(workspace, {
        "Compendium/Characters/ada.md": "# Ada\n\nAda never lies.\n",
        "Compendium/Characters/x.md": "---\nname:\n---\n",
    })  # fmt: skip
    made = tally("studio", "canon")
    assert made.code == 0
    assert "Canon.md current, 1 of 1 cards, by rules" in made.out
    assert "1/1 Compendium/Characters/ada.md by rules" in made.err
    assert "x.md:1 card_without_name" in made.err
    assert "Ada never lies." in tally("call", "file_reader", '{"file_path":"Canon.md"}').out
    lay_out(workspace, {"Compendium/Characters/ada.md": "# Ada\n\nAda lies.\n"})
    stale = tally("studio", "canon", "--status")
    assert "changed since: Compendium/Characters/ada.md" in stale.out
    assert tally("studio", "canon", "--status", "--json").json["state"] == "stale"


@pytest.mark.promise("canon.cli", "canon.one-bad-card")
def test_an_agent_without_a_model_leaves_it_to_rules(tally: Tally, workspace: Path) -> None:
    lay_out(workspace, {"Compendium/Characters/ada.md": "# Ada\n\nAda never lies.\n"})
    made = tally("studio", "canon", "--model", "continuity", "--json").json
    assert (made["state"], made["by"], [one["code"] for one in made["problems"]]) == (
        "current", "rules", ["extraction_not_json"],
    )  # fmt: skip
    unknown = tally("studio", "canon", "--model", "nobody")
    assert (unknown.code != 0, unknown.error) == (True, "agent_unknown")


@pytest.mark.usefixtures("workspace")
def test_an_empty_project_says_what_to_write(tally: Tally) -> None:
    assert "There are no cards" in tally("studio", "canon").err
