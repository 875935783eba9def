"""`tally insight`: the first use without set-up, and every step on its own."""

import json
import re
import shlex
import sqlite3
from pathlib import Path

import orjson
import pytest

from tallystick.rooms.insight.sample.tickets import sample
from tests.doors.cli.conftest import Tally

MANY = 160


@pytest.fixture
def tickets(tmp_path: Path) -> Path:
    """Every fifth ticket of the sample, outside any workspace."""
    head, *rows = sample().splitlines(keepends=True)
    file = tmp_path / "tickets.csv"
    file.write_bytes(b"".join([head, *rows[::5][:MANY]]))
    return file


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is no workspace, and the current one."""
    monkeypatch.setenv("TALLY_STATE_DIR", str(tmp_path / "state"))
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.promise("insight.cli")
def test_a_report_needs_no_set_up_and_leaves_nothing_behind(bare: Path, tickets: Path, tally: Tally) -> None:
    ran = tally("insight", "report", tickets)
    assert ran.code == 0, ran.err
    for shown in ("In short", "Themes", "Share", "March 2026", "April 2026", f"{MANY} tickets"):
        assert shown in ran.out
    assert ran.out.count("ticket:") >= 6
    assert "@example" not in ran.out
    assert list(bare.iterdir()) == []
    assert not (bare.parent / "state").exists() or list((bare.parent / "state").rglob("*head*")) == []


@pytest.mark.promise("insight.cli")
def test_a_report_in_a_format_that_is_none_is_refused_before_the_work(bare: Path, tickets: Path, tally: Tally) -> None:
    refused = tally("insight", "report", tickets, "--out", "report.pdf")
    assert (refused.code, refused.error) == (2, "usage")
    assert ".html" in refused.err


def test_a_report_is_written_and_rechecked_and_one_changed_ticket_shows(
    bare: Path, tickets: Path, tally: Tally
) -> None:
    page, text = bare / "report.html", bare / "report.md"
    assert tally("-w", "work", "insight", "report", tickets, "--out", page).code == 0
    assert tally("-w", "work", "insight", "report", tickets, "-o", text).code == 0
    assert "<svg" in page.read_text(encoding="utf-8")
    assert tally("-w", "work", "insight", "report", tickets, "-o", text).error == "file_exists"
    for report in (page, text):
        good = tally("-w", "work", "--json", "insight", "recheck", report)
        assert (good.code, good.json["ok"]) == (0, True)
        assert good.json["checked"] > 50
    with sqlite3.connect(bare / "work" / ".control-room" / "tallystick.db") as database:
        database.execute("UPDATE tally_insight_tickets SET department = 'Elsewhere' WHERE id = 3")
    bad = tally("-w", "work", "insight", "recheck", page)
    assert bad.code == 1
    assert "differ" in bad.out
    assert "department" in bad.out.lower()


@pytest.mark.promise("insight.cli")
def test_each_step_is_a_command_and_speaks_json(bare: Path, tickets: Path, tally: Tally) -> None:
    def step(*words: object) -> object:
        ran = tally("-w", "work", "--json", "insight", *words)
        assert ran.code == 0, ran.err
        return ran.json

    taken = step("ingest", tickets, "--name", "spring")
    assert isinstance(taken, dict)
    assert (taken["dataset_id"], taken["name"], taken["row_count"]) == (1, "spring", MANY)
    assert taken["mapping"]["text"] == "description"
    assert step("datasets")["items"][0]["name"] == "spring"  # type: ignore[index]
    assert step("embed", "1")["embedded_count"] == MANY  # type: ignore[index]
    assert step("embed", "1")["embedded_count"] == 0  # type: ignore[index]
    found = step("search", "1", "the app signs me out", "-k", "3", "--department", "Digital", "--rerank")
    assert [hit["department"] for hit in found["results"]] == ["Digital"] * 3  # type: ignore[index]
    grouped = step("cluster", "1", "--clusters", "5")
    assert sum(grouped["cluster_counts"].values()) == MANY  # type: ignore[index]
    asked = step("ask", "1", "Which department gets the most tickets?")
    assert asked["answer"]["sentences"]  # type: ignore[index]
    assert step("history")["items"][0]["id"] == asked["analysis_id"]  # type: ignore[index]


@pytest.mark.promise(
    "insight.query.typed", "insight.query.sql", "insight.query.tool",
    "insight.question.read", "insight.question.refuse", "insight.question.grammar",
)  # fmt: skip
def test_a_question_is_read_as_a_query_that_can_be_typed_itself(bare: Path, tickets: Path, tally: Tally) -> None:
    assert tally("-w", "work", "insight", "ingest", tickets).code == 0
    asked = tally("-w", "work", "insight", "ask", "1", "Which department gets the most tickets?")
    assert asked.code == 0, asked.err
    assert asked.out.startswith("Number of tickets, by department")
    typed = tally("-w", "work", "insight", "ask", "1", "query?by=department&dataset=1&measure=count&limit=1")
    assert typed.code == 0, typed.err
    numbers = [set(re.findall(r"\d+", ran.out)) for ran in (asked, typed)]
    assert numbers[0] & numbers[1]
    call = {"dataset_id": 1, "measure": "count", "by": [{"column": "department"}]}
    called = tally("-w", "work", "--json", "call", "tool.analysis.query", json.dumps(call))
    assert called.code == 0, called.err
    assert called.json["receipt_id"]
    refused = tally("-w", "work", "insight", "ask", "1", "Which colour do our customers like best?")
    assert "colour" in refused.out + refused.err


def test_the_command_that_a_held_call_names_can_be_typed_in_any_folder(
    bare: Path, tickets: Path, tally: Tally, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (bare / "my work").mkdir()
    (bare / "my work" / "tallystick.toml").write_text('[policy]\nwrite = "ask"\n')
    held = tally("-w", "my work", "insight", "ingest", tickets)
    assert (held.code, held.error) == (3, "held")
    monkeypatch.chdir(tmp_path)
    command = shlex.split(held.err[held.err.index("tally approvals") :])
    shown = tally("--json", *command[1:])
    assert (shown.code, shown.json["tool"]) == (0, "tool.ingest.upload")


@pytest.mark.promise("insight.cli")
def test_people_see_what_machines_see(bare: Path, tickets: Path, tally: Tally) -> None:
    for words, shown in (
        (("ingest", tickets), f"dataset 1: {MANY} tickets"),
        (("datasets",), "tickets.csv"),
        (("embed", "1"), f"{MANY} tickets"),
        (("search", "1", "refund"), "ticket:"),
        (("cluster", "1", "--clusters", "4"), "run 1: 4 groups"),
        (("ask", "1", "How many tickets are there?"), str(MANY)),
        (("history",), "How many tickets are there?"),
    ):
        ran = tally("-w", "work", "insight", *words)
        assert ran.code == 0, ran.err
        assert shown in ran.out, words


@pytest.mark.promise("insight.cli")
def test_columns_that_no_header_says_are_named_with_map(bare: Path, tmp_path: Path, tally: Tally) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("a,b\nx,the hub is offline\ny,my bill is wrong\n", encoding="utf-8")
    assert tally("-w", "work", "insight", "ingest", odd).code == 6
    good = tally("-w", "work", "--json", "insight", "ingest", odd, "--map", "text=b, external_id=a")
    assert (good.code, good.json["mapping"]) == (0, {"text": "b", "external_id": "a"})
    for wrong in ("text", "text=", "words=b", "=b", ""):
        assert tally("-w", "work", "insight", "ingest", odd, "--map", wrong).code == 2
    assert tally("-w", "work", "insight", "ingest", odd, "--map", "text=b, external_id=a").code == 0
    assert tally("-w", "work", "insight", "ingest", odd, "--map", "text=nope").error == "mapping_unusable"
    otherwise = tally("-w", "work", "insight", "ingest", odd, "--map", "text=a")
    assert (otherwise.code, otherwise.error) == (6, "downstream_error")
    assert "text=b" in otherwise.err


@pytest.mark.promise("insight.cli")
def test_a_mapping_that_a_file_does_not_bear_is_not_kept_for_the_next(bare: Path, tmp_path: Path, tally: Tally) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("body,b\nthe hub is offline,x\nmy bill is wrong,y\n", encoding="utf-8")
    assert tally("-w", "work", "insight", "ingest", odd, "--map", "text=nope").error == "mapping_unusable"
    assert tally("-w", "work", "--json", "insight", "ingest", odd).json["mapping"]["text"] == "body"


@pytest.mark.promise("insight.cli")
def test_a_report_says_which_rows_were_left_out_and_how_open_dates_were_read(
    bare: Path, tmp_path: Path, tally: Tally
) -> None:
    odd = tmp_path / "odd.csv"
    rows = "".join(f"the hub is offline again {day},{day:02}/0{1 + day % 9}/2025\n" for day in range(1, 10))
    odd.write_text(f"body,created\n{rows}my bill is wrong,yesterday\n", encoding="utf-8")
    ran = tally("insight", "report", odd)
    assert ran.code == 0, ran.err
    assert "not taken: line 11: bad_date created" in ran.err
    assert "day/month or month/day" in ran.err
    odd.write_text(f"body,created\n{rows}my bill is wrong,25/01/2025\n", encoding="utf-8")
    assert "month/day" not in tally("insight", "report", odd).err


@pytest.mark.promise("insight.cli")
def test_without_a_known_column_the_one_with_the_longest_words_is_proposed(
    bare: Path, tmp_path: Path, tally: Tally
) -> None:
    odd = tmp_path / "odd.csv"
    odd.write_text("Says,Prio\nthe hub is offline,high\nmy bill is wrong,low\n", encoding="utf-8")
    assert "text=Says" in tally("insight", "report", odd).err


@pytest.mark.promise("insight.cli")
def test_a_handful_of_tickets_has_a_report_too(bare: Path, tmp_path: Path, tally: Tally) -> None:
    few = tmp_path / "few.csv"
    few.write_text("body,department\nthe hub is offline,Tech\nmy bill is wrong,Billing\n", encoding="utf-8")
    ran = tally("insight", "report", few)
    assert ran.code == 0, ran.err
    assert "2 tickets" in ran.out


@pytest.mark.promise("insight.cli")
def test_a_report_compares_with_an_earlier_file(bare: Path, tmp_path: Path, tally: Tally) -> None:
    head, *rows = sample().splitlines(keepends=True)
    march, april = (tmp_path / f"{name}.csv" for name in ("march", "april"))
    march.write_bytes(b"".join([head, *(row for row in rows if b",2026-03" in row[:20])][:150]))
    april.write_bytes(b"".join([head, *(row for row in rows if b",2026-04" in row[:20])][:150]))
    ran = tally("--json", "insight", "report", april, "--compare", march)
    assert ran.code == 0, ran.err
    assert "march.csv" in ran.json["report_markdown"]


@pytest.mark.promise("insight.cli")
@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (("report", "nowhere.csv"), 1, "file_unreadable"),
        (("recheck", "nowhere.html"), 1, "file_unreadable"),
        (("embed", "9"), 6, "downstream_error"),
        (("search", "9", "x"), 6, "downstream_error"),
        (("cluster", "9"), 6, "downstream_error"),
        (("ask", "9", "why"), 6, "downstream_error"),
        (("ask", "1", " "), 2, "usage"),
        (("cluster", "1", "--algorithm", "magic"), 2, "usage"),
        (("embed", "1", "--backend", "sentence-transformers"), 2, "usage"),
        (("search", "1", " "), 2, "usage"),
        (("embed", "1", "--backend", "magic"), 2, "usage"),
        (("ask", "1", "why", "--backend", "magic"), 2, "usage"),
        (("embed", "1", "--model", ""), 2, "usage"),
        (("ask", "1", "why", "--prompt", ""), 2, "usage"),
        (("cluster", "1", "--algorithm", "hdbscan", "--clusters", "4"), 2, "usage"),
        (("cluster", "1", "--min-size", "4"), 2, "usage"),
        (("embed", "zero"), 2, "usage"),
        (("search", "1", "x", "-k", "0"), 2, "usage"),
    ],
)
def test_what_goes_wrong_has_a_code_and_a_hint(
    workspace: Path, tally: Tally, words: tuple[str, ...], code: int, error: str
) -> None:
    ran = tally("insight", *words)
    assert (ran.code, ran.error) == (code, error)


@pytest.mark.promise("insight.cli")
def test_a_wrong_argument_is_named_with_what_is_allowed(workspace: Path, tally: Tally) -> None:
    for words, named in (
        (("cluster", "1", "--algorithm", "magic"), ("--algorithm", "magic", "ward", "kmeans", "hdbscan")),
        (("embed", "1", "--backend", "magic"), ("--backend", "magic", "builtin", "sentence-transformers")),
        (("embed", "1", "--backend", "sentence-transformers"), ("--model NAME",)),
        (("ask", "1", "why", "--backend", "magic"), ("--backend", "offline", "openai")),
        (("search", "1", ""), ("WORDS",)),
        (("recheck", "nowhere.html"), ("nowhere.html is not there",)),
    ):
        said = tally("insight", *words).err
        assert all(part in said for part in named), said


@pytest.mark.promise("insight.cli")
def test_a_report_that_was_made_without_a_workspace_says_how_it_can_be_rechecked(
    bare: Path, tickets: Path, tally: Tally
) -> None:
    made = tally("insight", "report", tickets, "--out", "report.html")
    assert made.code == 0, made.err
    assert "tally -w DIR insight recheck" in made.err
    wrong = tally("insight", "recheck", "report.html")
    assert (wrong.code, wrong.error) == (4, "no_workspace")
    assert "tally -w DIR insight report" in wrong.err
    assert sorted(path.name for path in bare.iterdir()) == ["report.html"]
    tally("-w", "other", "insight", "ingest", tickets, "--name", "another")
    (bare / "other" / "few.csv").write_text("body\nthe hub is offline\n", encoding="utf-8")
    made = tally("-w", "few", "insight", "report", "other/few.csv", "--out", "few.md")
    foreign = tally("-w", "other", "insight", "recheck", "few.md")
    assert (foreign.code, foreign.out.count("\n")) == (1, 1)
    assert "in which it was made" in foreign.out


@pytest.mark.promise("insight.cli", "insight.recheck")
def test_what_was_changed_by_hand_is_told_plainly(bare: Path, tickets: Path, tally: Tally) -> None:
    page = bare / "report.html"
    assert tally("-w", "work", "insight", "report", tickets, "--out", page).code == 0
    text = page.read_text(encoding="utf-8")
    changed = text.replace(f">{MANY}</data>", f">{MANY + 1}</data>", 1)
    assert changed != text
    page.write_text(changed, encoding="utf-8")
    bad = tally("-w", "work", "insight", "recheck", page)
    first, last = bad.out.splitlines()
    assert (bad.code, last.endswith("1 differ")) == (1, True)
    assert first.endswith(f"changed by hand in the text: it says {MANY + 1}, right is {MANY}")


@pytest.mark.promise("insight.cli")
def test_a_call_that_policy_holds_ends_with_three(workspace: Path, tickets: Path, tally: Tally) -> None:
    config = workspace / "tallystick.toml"
    config.write_text(config.read_text() + '\n[tools."tool.analysis.run"]\ndecision = "ask"\n', encoding="utf-8")
    assert tally("insight", "ingest", tickets).code == 0
    assert tally("insight", "ask", "1", "why?").code == 3


@pytest.mark.promise("insight.cli", "insight.nowhere")
def test_what_a_person_types_leaves_no_personal_data_in_receipts(workspace: Path, tickets: Path, tally: Tally) -> None:
    assert tally("insight", "ingest", tickets, "--name", "from ana.lopez@example.org").code == 0
    tally("insight", "search", "1", "who is ana.lopez@example.org")
    tally("insight", "ask", "1", "why does ana.lopez@example.org write?")
    told = tally("audit", "export").out + tally("insight", "history").out + tally("insight", "datasets").out
    assert "ana.lopez" not in told
    assert orjson.dumps("[email:")[1:-1].decode() in told


@pytest.mark.promise("insight.question.idle")
def test_a_word_that_asks_for_nothing_is_named_and_a_name_is_never_left_out(
    tickets: Path, bare: Path, tally: Tally
) -> None:
    assert tally("-w", str(bare), "insight", "ingest", str(tickets)).code == 0
    chatty = tally("-w", str(bare), "insight", "ask", "1", "Overall, which department gets the most tickets?")
    # With the models fetched it is left out; without them the question is refused. Either way it is named.
    assert "(left out: “Overall”)" in chatty.out or "Not understood: “Overall”" in chatty.out
    named = tally("-w", str(bare), "insight", "ask", "1", "How many tickets came from Bilbao?")
    assert "Not understood: “Bilbao”" in named.out


@pytest.mark.promise("insight.question.proposed")
def test_what_an_agents_model_proposes_is_held_to_the_columns(tickets: Path, bare: Path, tally: Tally) -> None:
    assert tally("-w", str(bare), "insight", "ingest", str(tickets)).code == 0
    known = tally("-w", str(bare), "--json", "insight", "ask", "1", "tickets per department", "--model", "planner")
    assert (known.code, known.json["proposed"]) == (0, False), "words suffice: no model is asked"
    unread = tally("-w", str(bare), "--json", "insight", "ask", "1", "Bilbao gardening?", "--model", "planner")
    assert unread.code != 0
    assert "question_unread" in unread.err + unread.out
    both = tally("-w", str(bare), "insight", "ask", "1", "Bilbao?", "--model", "planner", "--backend", "offline")
    assert both.code == 2
