"""The five forms of an issue."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.rooms.studio.issues.levels import BOUNDS, bounded, form_of, without_thinking
from tallystick.rooms.studio.issues.model import Comment, Issue, Link
from tests.rooms.studio.issues.trackers import matters, opened, says

TEXTS = st.text(max_size=300)


def issue(body: str, *comments: str, title: str = "The compass") -> Issue:
    said = tuple(
        Comment(comment_id=f"c{number}", author="critic", by="agent", at="2026-01-01T00:00:00Z", body=text)
        for number, text in enumerate(comments)
    )
    return Issue(
        issue_id="issue_1", number=1, title=title, status="open", priority="normal", tags=("canon",), assigned_to=None,
        opened_by="ada", created_at="t", updated_at="t", frozen=False, summary="", comment_count=len(said),
        links=(Link(kind="receipt", id="rcpt_1"), Link(kind="session", id="s1")), body=body, comments=said,
    )  # fmt: skip


@pytest.mark.promise("issues.levels")
def test_the_whole_transcript_has_every_word_and_receipt_and_the_line_is_one(tmp_path: Path) -> None:
    here = matters(tmp_path)
    body = "The compass is silver in SCN-01. It is brass in SCN-04. " + "Much more is said. " * 400
    opened(here, body=body, links=("rcpt_1", "rcpt_2"))
    says(here, "1", "critic", "The card says silver. I would follow the card.")
    found = here.issues.get("1")
    assert found is not None
    whole, line = form_of(found, 5), form_of(found, 1)
    for part in (body.strip(), "rcpt_1", "rcpt_2", "I would follow the card.", "critic"):
        assert part in whole
    assert "\n" not in line
    assert "The compass is silver in SCN-01." in line
    assert "Last, critic: The card says silver." in form_of(found, 2)
    assert "critic: The card says silver." in form_of(found, 3)
    assert "rcpt_2" in form_of(found, 3)
    sizes = [len(form_of(found, level)) for level in range(1, 6)]
    assert sizes == sorted(sizes)


@pytest.mark.promise("issues.levels")
@given(TEXTS, st.lists(TEXTS, max_size=5), TEXTS)
def test_every_form_keeps_its_bound_and_is_the_same_each_time(body: str, comments: list[str], title: str) -> None:
    one = issue(body, *comments, title=title)
    for level, most in BOUNDS.items():
        form = form_of(one, level)
        assert form == form_of(one, level)
        assert most is None or len(form) <= most
        assert level > 1 or len(form.splitlines()) <= 1


@pytest.mark.promise("issues.levels")
@pytest.mark.parametrize(
    "text",
    [
        "<think>secret plan</think>The answer.", "<THINKING>secret plan</THINKING> The answer.",
        "[thinking]secret plan[/thinking]\nThe answer.", "secret plan</think>The answer.",
        "The answer. <think>secret plan</think>", "The answer. <think>secret plan that never ends",
    ],
)  # fmt: skip
def test_thinking_is_in_none_of_the_forms(text: str) -> None:
    assert without_thinking(text) == "The answer."
    for level in BOUNDS:
        form = form_of(issue(text, text), level)
        assert "secret" not in form
        assert "think" not in form.lower()


@pytest.mark.promise("issues.levels")
@given(st.text(max_size=500))
def test_a_line_stays_as_it_is_when_it_is_bounded_again(text: str) -> None:
    assert bounded(text, 1) == bounded(bounded(text, 1), 1)
