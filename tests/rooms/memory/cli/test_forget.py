"""`tally memory forget`: the words are in no receipt, no table and no answer afterwards."""

import json
from pathlib import Path

import pytest

from tests.doors.cli.conftest import Tally
from tests.doors.cli.terminal import at_terminal
from tests.rooms.memory.cli.test_memory import propose


def everything(tally: Tally) -> str:
    exported = tally("memory", "export").out
    return exported + tally("audit", "export", "--format", "jsonl").out


@pytest.fixture
def told(tally: Tally, workspace: Path) -> dict[str, list[str]]:
    tally("memory", "add", "I live in Rome.")
    added: dict[str, list[str]] = tally("memory", "add", "My password is hunter22.", "--json").json
    (seen,), (fact,) = added["observation_ids"], added["proposition_ids"]
    summary = propose(
        tally, "record_observation", text="The owner's password: hunter22", observed_at="2024-01-01",
        source={"id": "notes", "class": "document"}, derived_from=[seen],
    )["observation_id"]  # fmt: skip
    propose(
        tally, "attach_support", proposition_id=fact, observation_id=summary, quote="The owner's password: hunter22"
    )
    refused = {"proposition_id": fact, "observation_id": seen, "quote": "it is hunter22, surely"}
    assert tally("call", "attach_support", json.dumps(refused)).code == 1
    return added


@pytest.mark.promise("memory.forget", "memory.erasure", "memory.founded")
def test_an_observation_goes_with_every_proposal_that_holds_its_words(
    tally: Tally, told: dict[str, list[str]], token: str
) -> None:
    (seen,), (fact,) = told["observation_ids"], told["proposition_ids"]
    assert "hunter22" in everything(tally)
    done = tally("memory", "forget", seen, "--reason", "asked for", "--token", token, "--json")
    assert done.code == 0, done.err
    assert [one["tool"] for one in done.json["erased"]] == [
        "attach_support", "attach_support", "record_observation", "propose_proposition", "record_observation",
    ]  # fmt: skip
    assert [one["id"] for one in done.json["propositions"]] == [fact]
    assert "hunter22" not in everything(tally)
    assert "hunter22" not in tally("memory", "ask", "What is my password?").out
    assert "You live in Rome" in tally("memory", "ask", "Where do I live?").out
    assert tally("memory", "rebuild", "--json").json["same"] is True
    assert tally("audit", "verify").code == 0
    again = tally("memory", "forget", seen, "--reason", "asked for", "--token", token)
    assert (again.code, again.error) == (1, "nothing_to_forget")


@pytest.mark.promise("memory.forget")
def test_a_proposition_goes_with_what_proposed_it_and_the_texts_stay(
    tally: Tally, told: dict[str, list[str]], token: str
) -> None:
    (fact,) = told["proposition_ids"]
    done = tally("memory", "forget", fact, "--reason", "asked for", "--token", token, "--json").json
    assert [one["receipt_id"] for one in done["erased"]] == told["receipt_ids"][1:]
    assert tally("memory", "explain", fact).error == "proposition_unknown"
    assert "My password is hunter22." in tally("memory", "ask", "password").out


@pytest.mark.promise("memory.forget", "doors.cli-person")
def test_a_person_sees_what_goes_and_may_say_no(tally: Tally, told: dict[str, list[str]], workspace: Path) -> None:
    (seen,) = told["observation_ids"]
    assert tally("memory", "forget", seen, "--reason", "hide it", "--yes").error == "person_required"
    words = ("memory", "forget", seen, "--reason", "asked for")
    kept = at_terminal(*words, folder=workspace, state=workspace.parent / "state", answer="n")
    assert kept.code == 1
    assert told["receipt_ids"][0] in kept.screen
    assert "owner link:password hunter22?" in kept.screen
    assert "hunter22" in everything(tally)


@pytest.mark.promise("memory.forget", "reading.explain")
def test_explain_names_the_receipts_that_hold_the_words(tally: Tally, told: dict[str, list[str]]) -> None:
    shown = tally("memory", "explain", told["proposition_ids"][0]).out
    assert all(receipt in shown for receipt in told["receipt_ids"])
    assert told["observation_ids"][0] in shown
