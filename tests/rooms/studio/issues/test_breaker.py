"""Agents that talk in circles are stopped; persons never are."""

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.app.room_context import options_of
from tallystick.errors import ConfigError
from tallystick.rooms.studio import MANIFEST
from tallystick.rooms.studio.issues.model import Comment, Issue, NewComment
from tallystick.rooms.studio.issues.rules import Limits, since_person, tripped
from tallystick.settings import parse_settings
from tests.rooms.studio.issues.trackers import code, matters, opened, says, told

WORDS = "Line {} of the scene says something else than the card."


def said(author: str, number: int, by: str = "agent", body: str | None = None) -> Comment:
    return Comment(
        comment_id=f"c{number}", author=author, by=by, at="2026-01-01T00:00:00Z",  # type: ignore[arg-type]
        body=body or WORDS.format(number),
    )  # fmt: skip


@pytest.mark.promise("issues.breaker")
@pytest.mark.parametrize(
    "body", ["ok", "+1", "a" * 19, "y e s " * 3, "<think>I must say something long now</think> ok"]
)
def test_a_comment_that_says_nothing_is_refused(tmp_path: Path, body: str) -> None:
    here = matters(tmp_path)
    opened(here)
    assert code(says(here, "1", "critic", body)) == "comment_too_short"
    assert isinstance(says(here, "1", "ada", body, "person"), Comment)
    found = here.issues.get("1")
    assert found is not None
    assert not found.frozen


@pytest.mark.promise("issues.breaker")
def test_the_same_words_again_are_refused(tmp_path: Path) -> None:
    here = matters(tmp_path)
    opened(here)
    assert isinstance(says(here, "1", "critic", WORDS), Comment)
    assert code(says(here, "1", "critic", WORDS.upper() + "  ")) == "comment_repeated"
    assert isinstance(says(here, "1", "editor", WORDS), Comment)


@pytest.mark.promise("issues.freeze")
def test_too_many_comments_freeze_the_issue_and_tell_a_person(tmp_path: Path) -> None:
    here = matters(tmp_path, comments_per_agent=3)
    opened(here)
    for number in range(3):
        assert isinstance(says(here, "1", "critic", WORDS.format(number)), Comment)
    assert code(says(here, "1", "critic", WORDS.format(4))) == "comment_limit"
    found = here.issues.get("1")
    assert found is not None
    assert found.frozen
    assert (found.comments[-1].by, found.comments[-1].kind) == ("system", "frozen")
    assert len(told(tmp_path)) == 1
    assert "frozen" in told(tmp_path)[0]
    assert code(says(here, "1", "editor", WORDS.format(5))) == "issue_frozen"
    # A person's word begins anew, for the one who was stopped too.
    assert isinstance(here.issues.unfreeze("1", author="ada"), Issue)
    assert isinstance(says(here, "1", "critic", WORDS.format(6)), Comment)


@pytest.mark.promise("issues.freeze")
def test_two_agents_that_only_answer_each_other_freeze_the_issue(tmp_path: Path) -> None:
    here = matters(tmp_path, ping_pong=4)
    opened(here)
    for number, author in enumerate(("critic", "editor", "critic")):
        assert isinstance(says(here, "1", author, WORDS.format(number)), Comment)
    assert code(says(here, "1", "editor", WORDS.format(9))) == "comment_ping_pong"
    found = here.issues.get("1")
    assert found is not None
    assert found.frozen


@pytest.mark.promise("issues.breaker")
def test_a_third_voice_or_a_person_breaks_the_circle(tmp_path: Path) -> None:
    for number, (third, by) in enumerate((("writer", "agent"), ("ada", "person")), start=1):
        here = matters(tmp_path, ping_pong=4)
        opened(here)
        for place, author in enumerate(("critic", "editor", third, "critic", "editor")):
            assert isinstance(
                says(here, str(number), author, WORDS.format(place), by if author == third else "agent"), Comment
            )


@pytest.mark.promise("issues.breaker")
@given(
    st.lists(st.tuples(st.sampled_from("abcp"), st.integers(0, 40)), max_size=40),
    st.integers(1, 6), st.integers(3, 8),
)  # fmt: skip
def test_whatever_is_said_no_agent_goes_beyond_its_limits(
    spoken: list[tuple[str, int]], most: int, circle: int
) -> None:
    limits = Limits(comments_per_agent=most, ping_pong=circle)
    taken: list[Comment] = []
    for author, number in spoken:
        by = "person" if author == "p" else "agent"
        new = NewComment(author=author, body=WORDS.format(number), by=by)  # type: ignore[arg-type]
        trip = tripped(taken, new, limits)
        assert trip is None or by == "agent"
        if trip is None:
            taken.append(said(author, number, by))
        recent = since_person(taken)
        authors = [each.author for each in recent]
        assert all(authors.count(each) <= most for each in set(authors))
        for at in range(len(authors) - circle + 1):
            window = authors[at : at + circle]
            assert len(set(window)) != 2 or any(one == other for one, other in pairwise(window))
        for agent in set(authors):
            words = [each.body for each in recent if each.author == agent]
            assert all(one != other for one, other in pairwise(words))


@pytest.mark.promise("issues.breaker")
@given(st.lists(st.text(min_size=1, max_size=5), max_size=60))
def test_persons_and_the_system_are_never_stopped(bodies: list[str]) -> None:
    taken = [said("ada", number, "person", body) for number, body in enumerate(bodies)]
    for by in ("person", "system"):
        assert tripped(taken, NewComment(author="ada", body="x", by=by)) is None  # type: ignore[arg-type]


@pytest.mark.promise("issues.bad-input")
@pytest.mark.parametrize(
    "table", [{"ping_pong": 2}, {"min_chars": 0}, {"floors": {"canon": 6}}, {"floors": {"canon": "x"}}, {"unknown": 1}, []]
)  # fmt: skip
def test_wrong_settings_are_named(table: object) -> None:
    with pytest.raises(ConfigError) as refused:
        options_of(MANIFEST, parse_settings({"rooms": {"studio": {"issues": table}}}))
    assert refused.value.code in {"config_bad_value", "config_unknown_key"}
    assert "rooms.studio.issues" in str(refused.value)
