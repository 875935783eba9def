"""Streams and turns whose client leaves: the turn ends, the endpoint is hung up on, the queue moves on."""

import asyncio
import json
import socket
from typing import Any

import pytest
from starlette.responses import Response

from tallystick.doors.http import ai_stream
from tallystick.doors.http.ai_stream import ClientLeft, EventStream, data_line, event, while_wanted
from tallystick.doors.http.answers import json_answer
from tallystick.settings import ServerSettings
from tests.doors.http.asgi_calls import LOCAL, Answer, arequest
from tests.doors.http.doorway import Doorway
from tests.doors.http.talking import CHAT, SCENE, HangsAndTells, call, events, grounded, serve_agent, write_story
from tests.doors.http.test_server import PATIENCE_S, Running
from tests.scripted_server import ScriptedServer


def stream(work: Any) -> EventStream:
    return EventStream(work, translate=lambda error, _: json_answer({"error": str(error)}, 503), late=data_line)


def served(app: Any, *, leaves: bool = False) -> Answer:
    return asyncio.run(arequest(app, [LOCAL], body=[b"", None] if leaves else [b""]))


@pytest.mark.promise("chat.stream")
def test_events_are_sent_in_order_and_the_stream_ends() -> None:
    async def work(emit: Any) -> None:
        emit(event("step", {"index": 1}))
        await asyncio.sleep(0)
        emit(event("result", {"reply": "line\nline"}))

    answer = served(stream(work))
    assert answer.status == 200
    assert events(answer.body.decode()) == [("step", {"index": 1}), ("result", {"reply": "line\nline"})]
    assert answer.messages[-1].get("more_body", False) is False


@pytest.mark.promise("chat.stream")
def test_a_silent_stream_is_kept_open_by_heartbeats(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ai_stream, "HEARTBEAT_S", 0.001)
    beats: list[bytes] = []

    async def run() -> Answer:
        enough = asyncio.Event()

        async def work(emit: Any) -> Response:
            await enough.wait()
            return json_answer({"error": "late"}, 502)

        async def receive() -> dict[str, Any]:
            await asyncio.Event().wait()
            return {}

        answer = Answer()

        async def send(message: Any) -> None:
            answer.messages.append(message)
            answer.body += message.get("body", b"")
            if message.get("body") == ai_stream.HEARTBEAT:
                beats.append(message["body"])
            if len(beats) == 3:
                enough.set()

        await stream(work)({"type": "http"}, receive, send)
        return answer

    answer = asyncio.run(run())
    assert answer.messages[0]["status"] == 200
    assert answer.body.startswith(ai_stream.HEARTBEAT * 3)
    # A comment to every reader of such streams, so nothing but the error is seen of it.
    assert events(answer.body.decode()) == [("", {"error": "late"})]


@pytest.mark.promise("chat.stream")
@pytest.mark.parametrize("emits", [False, True])
def test_an_error_before_the_first_event_has_a_status_and_after_it_is_an_event(*, emits: bool) -> None:
    async def work(emit: Any) -> None:
        if emits:
            emit(event("step", {}))
        raise ValueError("broken")

    answer = served(stream(work))
    assert answer.status == (200 if emits else 503)
    assert json.loads(answer.body.split(b"data: ")[-1]) == {"error": "broken"}


@pytest.mark.promise("chat.leaving")
@pytest.mark.parametrize("emits", [False, True])
def test_a_client_that_leaves_a_stream_cancels_the_work(*, emits: bool) -> None:
    ended: list[str] = []

    async def work(emit: Any) -> None:
        if emits:
            emit(event("step", {}))
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("cancelled")

    served(stream(work), leaves=True)
    assert ended == ["cancelled"]


@pytest.mark.promise("chat.leaving")
def test_work_that_missed_being_told_to_stop_is_told_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ai_stream, "AGAIN_S", 0.01)
    told: list[str] = []

    async def work(emit: Any) -> None:
        emit(event("step", {}))
        for _ in range(3):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                told.append("to stop")
        await asyncio.Event().wait()

    served(stream(work), leaves=True)
    assert told == ["to stop"] * 3


@pytest.mark.promise("chat.leaving")
def test_work_without_a_stream_is_cancelled_too_and_its_errors_pass() -> None:
    async def gone() -> dict[str, str]:
        return {"type": "http.disconnect"}

    async def there() -> dict[str, str]:
        await asyncio.Event().wait()
        return {}

    async def broken() -> None:
        raise ValueError("broken")

    async def well() -> str:
        return "well"

    async def run() -> None:
        with pytest.raises(ClientLeft):
            await while_wanted(gone, asyncio.Event().wait())
        with pytest.raises(ValueError, match="broken"):
            await while_wanted(there, broken())
        assert await while_wanted(there, well()) == "well"

    asyncio.run(run())


def post(port: int, body: Any) -> socket.socket:
    data = json.dumps(body).encode()
    connection = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    head = f"POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {len(data)}\r\n\r\n"
    connection.sendall(head.encode() + data)
    return connection


@pytest.mark.promise("chat.leaving", "chat.queue")
@pytest.mark.parametrize("streams", [False, True])
def test_over_the_wire_a_client_that_leaves_ends_its_turn_and_the_next_one_comes_on(
    door: Doorway, *, streams: bool
) -> None:
    write_story(door.workspace)
    hangs = HangsAndTells()
    script = [call("file_reader", {"file_path": SCENE}), hangs, *grounded()]
    server = Running(door.server.app, ServerSettings())
    try:
        with ScriptedServer(*script) as model:
            serve_agent(door.workspace, model)
            body = {"message": "Does Ada sail?", "agentId": "critic", "sessionId": "left", "stream": streams}
            leaving = post(server.port, body)
            assert hangs.asked.wait(PATIENCE_S)
            waiting = post(server.port, {**body, "sessionId": "next", "stream": False})
            leaving.close()
            answer = waiting.recv(65536)
            waiting.close()
    finally:
        server.close()
    assert answer.startswith(b"HTTP/1.1 200")
    # What ran before the client left has its receipt; nothing came after it.
    left = [receipt.header["outcome"]["status"] for receipt in door.gate.ledger.session("left")]
    assert left == ["accepted"]
    assert not (door.workspace / ".control-room" / "transcripts" / "left.jsonl").exists()


@pytest.mark.promise("chat.stream")
def test_over_the_wire_a_step_is_seen_before_the_turn_has_ended(door: Doorway) -> None:
    write_story(door.workspace)
    server = Running(door.server.app, ServerSettings())
    try:
        hangs = HangsAndTells()
        with ScriptedServer(call("file_reader", {"file_path": SCENE}), hangs) as model:
            serve_agent(door.workspace, model)
            connection = post(server.port, {"message": "Does Ada sail?", "agentId": "critic", "stream": True})
            heard = b""
            while b"event: step" not in heard:
                heard += connection.recv(65536)
            # Left between two questions, the model's connection would stay open for the next one.
            assert hangs.asked.wait(PATIENCE_S)
            connection.close()
            assert model.wait_until_idle()
    finally:
        server.close()
    assert b'"tool":"file_reader"' in heard
