"""What a person is told: bounded, once, without secrets."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ConfigError
from tallystick.storage import notifications as module
from tallystick.storage.notifications import Notification, Notifications, place_of
from tests.rooms.studio.issues.trackers import counted, open_and_discuss, ticking
from tests.rooms.studio.issues.trackers import matters as make_matters
from tests.rooms.studio.issues.trackers import opened as open_issue
from tests.sizes import size
from tests.storage.racing import in_processes


@pytest.fixture
def kept(tmp_path: Path) -> Notifications:
    return Notifications(tmp_path, now=ticking(), new_id=counted())


@pytest.mark.promise("notifications.kept")
def test_a_notification_has_its_seven_fields_and_lies_where_the_seed_says(kept: Notifications, tmp_path: Path) -> None:
    made = kept.add(level="warn", source="runs", text="Run 1\nfailed.", link="/runs/1")
    stored = json.loads((tmp_path / "data" / "notifications.json").read_text())["notifications"]
    assert stored == [made.as_dict()]
    assert stored[0].keys() == {"id", "level", "source", "text", "link", "read", "created"}
    assert (made.text, made.read) == ("Run 1 failed.", False)


@pytest.mark.promise("notifications.kept")
def test_the_same_news_stands_there_once_until_it_was_read(kept: Notifications) -> None:
    first = kept.add(level="error", source="runs", text="It failed.")
    kept.add(level="info", source="runs", text="Another thing.")
    again = kept.add(level="error", source="runs", text="It failed.")
    assert (again.id, again.created > first.created) == (first.id, True)
    assert [each.text for each in kept.list()] == ["It failed.", "Another thing."]
    assert kept.read(first.id) is not None
    third = kept.add(level="error", source="runs", text="It failed.")
    assert third.id != first.id
    assert kept.count() == 3


@pytest.mark.promise("notifications.kept")
def test_marking_read_one_all_and_by_link(kept: Notifications) -> None:
    for number in range(4):
        kept.add(level="info", source="x", text=f"n{number}", link=f"/x/{number % 2}")
    newest = kept.list()[0]
    assert kept.read(newest.id) == kept.read(newest.id)
    assert kept.read("nothing") is None
    assert kept.count(unread=True) == 3
    assert kept.settle("/x/1") == 1
    assert kept.settle("/nowhere") == 0
    assert [each.text for each in kept.list(unread=True)] == ["n2", "n0"]
    assert (kept.read_all(), kept.read_all()) == (2, 0)


@pytest.mark.promise("notifications.kept")
def test_the_list_is_bounded_and_what_was_read_goes_first(kept: Notifications, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 5)
    for number in range(5):
        kept.add(level="info", source="x", text=f"n{number}")
    kept.read(kept.list()[0].id)
    kept.add(level="info", source="x", text="n5")
    assert [each.text for each in kept.list()] == ["n5", "n3", "n2", "n1", "n0"]
    kept.add(level="info", source="x", text="n6")
    assert [each.text for each in kept.list()] == ["n6", "n5", "n3", "n2", "n1"]


@pytest.mark.promise("notifications.kept")
def test_secrets_are_masked_and_nothing_unseen_is_kept(kept: Notifications) -> None:
    token = "ghp_" + "a1B2" * 9
    made = kept.add(level="info", source="x\x1b[31m", text=f"The key is {token}\u202e!", link="/a\nb")
    assert token not in made.text
    assert made.source == "x [31m"
    assert "\u202e" not in made.text
    assert made.link == "/a b"


@pytest.mark.promise("notifications.kept")
@given(st.text(max_size=2_000), st.text(max_size=500))
def test_any_text_can_be_told_and_read_back(tmp_path_factory: pytest.TempPathFactory, text: str, link: str) -> None:
    kept = Notifications(tmp_path_factory.mktemp("news"))
    made = kept.add(level="info", source="x", text=text, link=link)
    assert kept.list() == (made,)
    assert len(made.text) <= 1_000
    assert made.text.isprintable()


@pytest.mark.promise("notifications.kept")
def test_processes_that_tell_at_once_lose_nothing(tmp_path: Path) -> None:
    open_issue(make_matters(tmp_path))
    rounds = size(4, 20)
    in_processes(open_and_discuss, 3, str(tmp_path), rounds)
    assert len({each.text for each in Notifications(tmp_path).list(limit=500)}) == 3 * rounds


@pytest.mark.promise("notifications.kept")
@pytest.mark.parametrize("text", ["{", '{"version":1}', '{"version":1,"notifications":[{"id":1}]}'])
def test_a_damaged_file_is_named_and_left_as_it_is(kept: Notifications, tmp_path: Path, text: str) -> None:
    file = tmp_path / "data" / "notifications.json"
    file.parent.mkdir()
    file.write_text(text)
    with pytest.raises(ConfigError) as refused:
        kept.add(level="info", source="x", text="y")
    assert refused.value.code == "notifications_damaged"
    assert file.read_text() == text


@pytest.mark.promise("notifications.kept")
def test_whoever_waits_sees_that_something_changed(kept: Notifications) -> None:
    assert kept.stamp() is None
    stamps = []
    for number in range(3):
        assert isinstance(kept.add(level="info", source="x", text=f"n{number}"), Notification)
        stamps.append(kept.stamp())
    assert len(set(stamps)) == 3


@pytest.mark.promise("notifications.made")
def test_an_id_is_one_part_of_the_place_it_names_whatever_is_in_it() -> None:
    assert place_of("session", "a b&c") == "/receipts?words=a%20b%26c"
    assert place_of("run", "../x") == "/runs/..%2Fx"
