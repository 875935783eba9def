"""`/api/notifications`: listed, marked read, and streamed as they come."""

import asyncio
from pathlib import Path

import pytest

from tallystick.doors.http.notification_routes import follow
from tallystick.storage.notifications import Notifications
from tests.doors.http.doorway import Doorway, problem
from tests.doors.http.talking import events

NEWS = "/api/notifications"


def tell(door: Doorway, *texts: str) -> Notifications:
    kept = Notifications(door.workspace)
    for text in texts:
        kept.add(level="info", source="test", text=text)
    return kept


@pytest.mark.promise("notifications.http")
def test_they_are_listed_and_marked_read(door: Doorway) -> None:
    tell(door, "one", "two", "three")
    listed = door.get(NEWS, params={"limit": 2}).json()
    assert (listed["total"], [each["text"] for each in listed["items"]]) == (3, ["three", "two"])
    one = f"{NEWS}/{listed['items'][0]['id']}/read"
    for path in (one, f"{NEWS}/read-all"):
        problem(door.post(path), 403, "rbac_denied")
    assert door.get(NEWS, params={"unread": "1"}).json()["total"] == 3
    read = door.post(one, headers=door.person)
    assert read.json()["read"] is True
    assert door.get(NEWS, params={"unread": "1"}).json()["total"] == 2
    assert door.get(NEWS, params={"unread": "false"}).json()["total"] == 3
    problem(door.get(NEWS, params={"unread": "yes"}), 400, "validation_error")
    assert door.post(f"{NEWS}/read-all", headers=door.person).json() == {"read": 2}
    assert door.get(NEWS, params={"unread": "1"}).json()["items"] == []
    problem(door.post(f"{NEWS}/ntf_none/read", headers=door.person), 404, "downstream_error")


@pytest.mark.promise("notifications.made")
def test_a_held_call_shows_and_is_settled_by_the_person_s_answer(door: Doorway) -> None:
    approval_id = door.held()
    (news,) = door.get(NEWS).json()["items"]
    assert (news["source"], news["link"]) == ("approvals", f"/approvals/{approval_id}")
    door.post(f"/api/approvals/{approval_id}/approve", headers=door.person)
    assert door.get(NEWS, params={"unread": "1"}).json()["total"] == 0


@pytest.mark.promise("notifications.http")
def test_a_stream_tells_how_many_wait_and_each_new_one_once(tmp_path: Path) -> None:
    kept = Notifications(tmp_path)
    kept.add(level="info", source="test", text="before")
    sent: list[bytes] = []
    acts = [
        lambda: kept.add(level="info", source="test", text="one"),
        lambda: None,
        lambda: (
            kept.add(level="warn", source="test", text="two"),
            kept.add(level="warn", source="test", text="three"),
        ),
        kept.read_all,
    ]

    async def pause(_: float) -> None:
        if acts:
            acts.pop(0)()

    asyncio.run(follow(kept, sent.append, pause=pause, looks=6))
    told = [(name, data.get("text", data.get("count"))) for name, data in events(b"".join(sent).decode())]
    assert told == [
        ("unread", 1), ("notification", "one"), ("unread", 2), ("notification", "two"), ("notification", "three"),
        ("unread", 4), ("unread", 0),
    ]  # fmt: skip


@pytest.mark.promise("notifications.http")
def test_the_stream_is_served_where_events_are_asked_for(door: Doorway, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tallystick.doors.http.notification_routes.follow.__kwdefaults__", {"pause": asyncio.sleep, "looks": 1}
    )
    tell(door, "one")
    answer = door.get(NEWS, headers={"accept": "text/event-stream"})
    assert answer.headers["content-type"].startswith("text/event-stream")
    assert events(answer.text) == [("unread", {"count": 1})]
