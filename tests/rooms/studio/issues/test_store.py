"""Opening, changing, moving and finding issues."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ConfigError
from tallystick.rooms.studio.issues.model import Change, Comment, Issue, IssueFilter, Link, NewComment, NewIssue
from tallystick.rooms.studio.issues.wire import MAX_COMMENT, clean, heading_from, heading_wire, issue_wire, summary_of
from tests.rooms.studio.issues.trackers import code, matters, open_and_discuss, opened, says
from tests.sizes import size
from tests.storage.racing import in_processes

FILE = ".control-room/issues/issues.json"


@pytest.mark.promise("issues.opened")
def test_an_issue_keeps_what_it_was_given_and_is_found_by_number_and_id(tmp_path: Path) -> None:
    here = matters(tmp_path)
    made = opened(
        here, "  The\ncompass ", tags=("Canon", "plot hole", "canon"), priority="high", assigned_to="critic",
        links=("rcpt_1", "s1", Link(kind="run", id="run_1"), "rcpt_1"),
    )  # fmt: skip
    assert (made.number, made.title, made.status, made.frozen) == (1, "The compass", "open", False)
    assert made.tags == ("canon", "plot-hole")
    assert [(link.kind, link.id) for link in made.links] == [("receipt", "rcpt_1"), ("session", "s1"), ("run", "run_1")]
    assert made.receipts == ("rcpt_1",)
    again = matters(tmp_path).issues
    for name in (made.issue_id, "1", "#1"):
        assert again.get(name) == made
    for name in ("2", "0", "", "#", "-1", "1.0", "²", "9" * 400, "../1"):
        assert again.get(name) is None
    stored = json.loads((tmp_path / FILE).read_text())
    assert [each["issue_id"] for each in stored["issues"]] == [made.issue_id]


@pytest.mark.promise("issues.opened")
def test_lists_are_narrowed_and_the_newest_comes_first(tmp_path: Path) -> None:
    here = matters(tmp_path)
    for number in range(6):
        opened(
            here,
            f"Issue {number}",
            tags=("even",) if number % 2 == 0 else ("odd",),
            priority="low" if number > 3 else "urgent",
        )
    here.issues.close("1", author="ada")
    titles = [each.title for each in here.issues.list(limit=2, offset=1)]
    assert titles == ["Issue 4", "Issue 3"]
    assert here.issues.count(IssueFilter(tags=("even",))) == 3
    assert here.issues.count(IssueFilter(tags=("even", "odd"))) == 0
    assert here.issues.count(IssueFilter(status="closed")) == 1
    assert here.issues.count(IssueFilter(priority="low")) == 2
    assert here.issues.count(IssueFilter(text="ISSUE 3")) == 1
    assert here.issues.count(IssueFilter(assigned_to="critic")) == 0


@pytest.mark.promise("issues.bad-input")
@pytest.mark.parametrize(
    "given",
    [
        {"title": " "}, {"title": "x" * 301}, {"title": "a\x00b\u202e"}, {"tags": ("",)}, {"tags": ("a b\x00",)},
        {"tags": tuple(f"t{number}" for number in range(33))}, {"priority": "now"}, {"body": "x" * 2_000_001},
        {"links": ({"kind": "receipt"},)}, {"assigned_to": "x" * 200},
    ],
    ids=lambda given: next(iter(given)),
)  # fmt: skip
def test_what_cannot_be_taken_opens_nothing(tmp_path: Path, given: dict[str, Any]) -> None:
    here = matters(tmp_path)
    if "links" in given:
        given = {"links": (Link(kind="rumour", id="x"),)}  # type: ignore[arg-type]
    new = NewIssue(**{"title": "t", "body": "b", "opened_by": "ada", **given})
    assert code(here.issues.create(new)) == "issue_invalid"
    assert here.issues.count() == 0


@pytest.mark.promise("issues.bad-input")
def test_texts_that_are_none_are_kept_as_far_as_they_are(tmp_path: Path) -> None:
    here = matters(tmp_path)
    made = opened(here, body="a\r\nb\x00c\ud800d\x1b[31m")
    assert made.body == "a\nb\ufffdc\ufffdd\ufffd[31m"
    assert here.issues.get("1") == made
    for body in ("", " \n", "x" * (MAX_COMMENT + 1)):
        assert code(says(here, "1", "ada", body, "person")) == "comment_invalid"
    assert code(says(here, "1", " ", "something to say", "person")) == "comment_invalid"
    assert code(says(here, "7", "ada", "something to say", "person")) == "issue_unknown"
    assert here.issues.get("1") == made


@pytest.mark.promise("issues.opened")
@given(st.text(max_size=400))
def test_any_text_has_a_summary_of_one_line_and_can_be_written(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert clean(cleaned) == cleaned
    assert "\n" not in summary_of(cleaned)
    assert len(summary_of(cleaned)) <= 241


@pytest.mark.promise("issues.opened")
@pytest.mark.parametrize(
    ("body", "summary"),
    [
        ("> Who has it?\n\n## Round\n\n- begun: now", "Who has it?"), ("## User\n\nHello.\n\n## Critic\n\nYes.", "User Hello. Critic Yes."),
        ("# Only\n## headings", "Only headings"), ("Text\nin two lines", "Text in two lines"),
    ],
)  # fmt: skip
def test_a_summary_of_text_ends_at_its_first_heading_and_a_conversation_is_told_whole(body: str, summary: str) -> None:
    assert summary_of(body) == summary


@pytest.mark.promise("issues.moves")
def test_moves_are_noted_with_who_made_them_and_made_once(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here)
    for move, kind, status, frozen in (
        (here.issues.close, "closed", "closed", False), (here.issues.reopen, "reopened", "open", False),
        (here.issues.freeze, "frozen", "open", True), (here.issues.unfreeze, "unfrozen", "open", False),
    ):  # fmt: skip
        moved = move("1", author="ada", reason="because")
        assert isinstance(moved, Issue)
        assert (moved.status, moved.frozen) == (status, frozen)
        last = moved.comments[-1]
        assert (last.kind, last.author, last.by, last.body) == (kind, "ada", "person", "because")
        assert code(move("1", author="ada")) == "issue_unmoved"
        assert code(move("9", author="ada")) == "issue_unknown"
    found = here.issues.get("1")
    assert found is not None
    assert found.comment_count == len(found.comments) == 4


@pytest.mark.promise("issues.moves")
def test_a_change_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    here = matters(tmp_path)
    before = opened(here, tags=("canon",), links=("rcpt_1",), assigned_to="critic")
    after = here.issues.change("1", Change(priority="urgent", links=("rcpt_2",)))
    assert isinstance(after, Issue)
    assert after.receipts == ("rcpt_1", "rcpt_2")
    assert (after.priority, after.tags, after.title, after.body) == ("urgent", before.tags, before.title, before.body)
    assert after.updated_at > before.updated_at
    again = here.issues.change("1", Change(body="New words.", tags=(), assigned_to=""))
    assert isinstance(again, Issue)
    assert (again.tags, again.assigned_to, again.summary) == ((), None, "New words.")
    assert code(here.issues.change("1", Change(title=" "))) == "issue_invalid"
    assert code(here.issues.change("2", Change(title="x"))) == "issue_unknown"
    assert here.issues.get("1") == again


@pytest.mark.promise("issues.freeze")
def test_on_a_frozen_issue_only_persons_go_on(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here)
    here.issues.freeze("1", author="ada")
    words = "The card says silver, the scene says brass."
    assert code(says(here, "1", "critic", words)) == "issue_frozen"
    assert code(here.issues.change("1", Change(title="x"), by="agent")) == "issue_frozen"
    assert code(here.issues.close("1", author="critic", by="agent")) == "issue_frozen"
    assert code(here.issues.unfreeze("1", author="critic", by="agent")) == "person_required"
    assert isinstance(says(here, "1", "ada", "ok", "person"), Comment)
    assert isinstance(here.issues.unfreeze("1", author="ada"), Issue)
    assert isinstance(says(here, "1", "critic", words), Comment)


@pytest.mark.promise("issues.damaged")
@pytest.mark.parametrize(
    "text", ["{", "[]", '{"version":2,"issues":[]}', '{"version":1}', '{"version":1,"issues":[{"number":1}]}']
)
def test_a_damaged_index_is_named_and_left_as_it_is(tmp_path: Path, text: str) -> None:
    here = matters(tmp_path)
    opened(here)
    (tmp_path / FILE).write_text(text)
    for act in (here.issues.count, lambda: opened(here), lambda: says(here, "1", "ada", "x", "person")):
        with pytest.raises(ConfigError) as refused:
            act()
        assert refused.value.code == "issues_damaged"
    assert (tmp_path / FILE).read_text() == text


@pytest.mark.promise("issues.damaged")
def test_a_damaged_or_missing_page_concerns_one_issue(tmp_path: Path) -> None:
    here = matters(tmp_path)
    first, second = opened(here), opened(here, "Another")
    page = tmp_path / ".control-room/issues/pages" / f"{first.issue_id}.json"
    for text in ("{", None):
        page.write_text(text) if text else page.unlink()
        with pytest.raises(ConfigError) as refused:
            here.issues.get("1")
        assert refused.value.code == "issues_damaged"
    assert here.issues.get("2") == second
    assert here.issues.count() == 2


@pytest.mark.promise("issues.processes")
def test_processes_that_open_and_discuss_at_once_lose_nothing(tmp_path: Path) -> None:
    opened(matters(tmp_path))
    rounds = size(5, 30)
    made = [name for names in in_processes(open_and_discuss, 3, str(tmp_path), rounds) for name in names]
    here = matters(tmp_path)
    listed = here.issues.matching()
    assert len(listed) == 1 + 3 * rounds
    assert sorted(each.number for each in listed) == list(range(1, len(listed) + 1))
    assert {each.issue_id for each in listed} >= set(made)
    first = here.issues.get("1")
    assert first is not None
    assert len({comment.body for comment in first.comments}) == 3 * rounds
    assert here.memory.activations("critic") == 3 * rounds


@pytest.mark.promise("issues.many")
def test_thousands_of_issues_stay_quick(tmp_path: Path) -> None:
    here = matters(tmp_path)
    first = opened(here)
    wire = heading_wire(first)
    many = size(3_000, 10_000)
    listed = [{**wire, "issue_id": f"issue_{number}", "number": number} for number in range(1, many)]
    (tmp_path / FILE).write_text(json.dumps({"version": 1, "issues": [*listed, {**wire, "number": many}]}))
    began = time.monotonic()
    assert here.issues.count() == many
    reading = time.monotonic() - began
    began = time.monotonic()
    assert isinstance(here.issues.comment(str(many), NewComment(author="ada", body="x", by="person")), Comment)
    assert here.issues.count(IssueFilter(status="open", text="compass")) == many
    assert reading + time.monotonic() - began < 5  # a tenth of that on an idle machine


@pytest.mark.promise("issues.opened")
def test_the_wire_form_can_be_read_back(tmp_path: Path) -> None:
    made = opened(matters(tmp_path), links=("rcpt_1",), tags=("a",))
    assert heading_from(json.loads(json.dumps(heading_wire(made)))) == made.heading
    assert issue_wire(made)["comments"] == []
