"""Opening a workspace: what is made, what is refused, and several at once."""

import asyncio
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tallystick
from tallystick import Caller, Card, Gate, Outcome, tool
from tallystick.errors import ConfigError, RegistrationError, TallyError
from tallystick.gate.session import Session
from tallystick.gate.tool import Tool
from tests.gates import open_gate, outcomes, quick_settings, said


@tool(effect="read")
async def look(text: str = "") -> str:
    return text


@pytest.fixture
def gate(tmp_path: Path) -> Iterator[Gate]:
    with open_gate(tmp_path, look) as opened:
        yield opened


@pytest.mark.promise("house.open")
def test_a_new_folder_becomes_a_workspace(tmp_path: Path) -> None:
    with open_gate(tmp_path / "new" / "project", look) as opened:
        assert asyncio.run(opened.call("look", {"text": "a"})).unwrap() == "a"
        assert opened.workspace == tmp_path / "new" / "project"
    audit = tmp_path / "new" / "project" / ".control-room" / "audit"
    assert (audit / "secret.key").stat().st_mode & 0o077 == 0
    assert list((audit / "policies").glob("*.toml"))
    assert Gate.verify(tmp_path / "new" / "project").ok


@pytest.mark.promise("house.open")
def test_it_needs_no_running_server_and_no_loop(gate: Gate) -> None:
    assert gate.call_sync("look", {"text": "a"}).unwrap() == "a"


@pytest.mark.promise("house.sync")
def test_a_synchronous_call_works_inside_a_running_loop(gate: Gate) -> None:
    async def in_a_notebook() -> Outcome:
        return gate.call_sync("look", {"text": "a"})

    assert asyncio.run(in_a_notebook()).result == "a"


@pytest.mark.promise("house.sync")
def test_a_tool_in_a_thread_may_call_the_gate_and_an_async_one_is_told_to_await(gate: Gate) -> None:
    @tool(effect="read")
    def from_a_thread() -> str:
        return str(gate.call_sync("look", {"text": "inner"}).result)

    @tool(effect="read")
    async def from_the_loop() -> str:
        return str(gate.call_sync("look").result)

    @tool(effect="read")
    async def awaits() -> str:
        return str((await gate.call("look", {"text": "inner"})).result)

    gate.register(from_a_thread, from_the_loop, awaits)
    assert gate.call_sync("from_a_thread").result == "inner"
    assert gate.call_sync("awaits").result == "inner"
    failed = gate.call_sync("from_the_loop")
    assert failed.fault is not None
    assert failed.fault.name == "tool_failed"


@pytest.mark.promise("house.open")
@pytest.mark.parametrize("place", ["file.txt", "file.txt/below", "file.txt/below/deeper"])
def test_a_file_is_no_workspace(tmp_path: Path, place: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(ConfigError) as caught:
        Gate.open(tmp_path / place, settings=quick_settings())
    assert caught.value.code in {"not_a_folder", "workspace_unwritable"}
    assert (tmp_path / "file.txt").read_text() == "x"


@pytest.mark.promise("house.open")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[policy", "config_malformed"),
        ("polcy = 1", "config_unknown_key"),
        ("policy.read = 'maybe'", "config_bad_value"),
        ("[[tools.look.rules]]\nschema = {type = 'nonsense'}", "config_bad_value"),
        ("gate.tools = ['nowhere.py']", "no_tools"),
        ("gate.tools = ['no.such.module']", "no_tools"),
        ("gate.tools = ['empty.py']", "no_tools"),
        ("gate.tools = ['broken.py']", "no_tools"),
    ],
)
def test_a_workspace_with_a_wrong_configuration_does_not_open(tmp_path: Path, text: str, code: str) -> None:
    (tmp_path / "tallystick.toml").write_text(text)
    (tmp_path / "empty.py").write_text("x = 1")
    (tmp_path / "broken.py").write_text("raise ValueError('no')")
    with pytest.raises(ConfigError) as caught:
        Gate.open(tmp_path)
    assert caught.value.code == code
    # Nothing was left locked or half open.
    (tmp_path / "tallystick.toml").write_text("")
    with Gate.open(tmp_path) as opened:
        assert opened.tools() == []


@pytest.mark.promise("house.open")
def test_tools_that_the_configuration_names_are_there(tmp_path: Path) -> None:
    (tmp_path / "tallystick.toml").write_text("gate.tools = ['tools.py']\nledger.durability = 'os'")
    (tmp_path / "tools.py").write_text(
        textwrap.dedent(
            """
            from tallystick import tool

            @tool(effect="read")
            def count(text: str) -> int:
                "Count words."
                return len(text.split())

            @tool(effect="read", isolate=True)
            def count_apart(text: str) -> int:
                "Count words in a process of its own."
                return len(text.split())
            """
        )
    )
    with Gate.open(tmp_path) as opened:
        assert {card.name for card in opened.tools()} == {"count", "count_apart"}
        assert opened.call_sync("count", {"text": "a b"}).result == 2
        assert opened.call_sync("count_apart", {"text": "a b c"}).result == 3
    with Gate.open(tmp_path, plugins=False) as opened:
        assert opened.tools() == []


@pytest.mark.promise("house.open")
def test_another_configuration_can_be_given_and_must_be_there(tmp_path: Path) -> None:
    (tmp_path / "strict.toml").write_text("policy.read = 'deny'\nledger.durability = 'os'")
    with Gate.open(tmp_path, config=tmp_path / "strict.toml") as opened:
        opened.register(look)
        assert not opened.call_sync("look").ok
    with pytest.raises(ConfigError):
        Gate.open(tmp_path, config=tmp_path / "strct.toml")


@pytest.mark.promise("record.session-ids")
@pytest.mark.parametrize(
    "session",
    ["", "..", ".", "../x", "a/b", "a\\b", "/etc", ".hidden", "a\0b", "a b", "é", "x" * 129, "-x", "a\nb", "~"],
)
def test_a_session_id_that_could_leave_its_folder_is_refused(gate: Gate, session: str) -> None:
    for given in (session, Session(session_id=session)):
        with pytest.raises(TallyError) as caught:
            gate.turn(session=given)
        assert caught.value.code == "session_id_invalid"
        with pytest.raises(TallyError):
            asyncio.run(gate.call("look", session=given))
        with pytest.raises(TallyError):
            gate.check_reply("x", session=given)
    assert outcomes(gate) == []


@pytest.mark.promise("record.session-ids")
@pytest.mark.parametrize("session", ["s", "a.b", "A-b_c.9", "0", "x" * 128])
def test_a_plain_session_id_names_its_view(gate: Gate, session: str) -> None:
    assert asyncio.run(gate.call("look", session=session)).ok
    assert (gate.workspace / ".control-room/audit/sessions" / session / "tool_receipts.jsonl").is_file()


def test_a_session_says_where_a_call_belongs_and_who_made_it(gate: Gate) -> None:
    where = Session(session_id="s1", task_id="t", run_id="r", agent_id="a", extra={"room": "desk"})
    ann = Caller(subject="ann", roles=frozenset({"clerk"}), channel="http")
    asyncio.run(gate.call("look", session=where, caller=ann))
    header = outcomes(gate)[0].header
    assert header["caller"] == {"subject": "ann", "roles": ["clerk"], "channel": "http"}
    assert [header[name] for name in ("session_id", "task_id", "run_id", "agent_id", "room")] == [
        "s1",
        "t",
        "r",
        "a",
        "desk",
    ]


def test_plain_functions_can_be_registered_and_count_as_writing(gate: Gate) -> None:
    def put(text: str) -> str:
        return text

    gate.register(put)
    assert {card.name: card.effect for card in gate.tools()} == {"look": "read", "put": "write"}
    gate.unregister("put")
    assert not asyncio.run(gate.call("put", {"text": "x"})).ok


def test_a_tool_that_cannot_be_registered_leaves_nothing_behind(gate: Gate) -> None:
    def local(n: int) -> int:
        return n

    for wrong in (tool(isolate=True)(local), tool(name="no good")(local), tool(name="look")(local)):
        with pytest.raises(RegistrationError):
            gate.register(wrong)
    assert [card.name for card in gate.tools()] == ["look"]
    assert asyncio.run(gate.call("look", {"text": "still"})).result == "still"


@pytest.mark.promise("admit.schema-refused")
@pytest.mark.parametrize("side", ["input_schema", "output_schema"])
@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ({"type": "object", "properties": {"a": {"$ref": "https://example.org/a.json"}}}, "schema_remote_ref"),
        ({"type": "object", "properties": {"a": {"type": "strnig"}}}, "schema_invalid"),
        ({"type": "object", "properties": {"a": {"pattern": "(?=a)b"}}}, "schema_pattern"),
    ],
)
def test_a_schema_that_is_refused_is_named_with_its_tool(
    gate: Gate, side: str, schema: dict[str, Any], code: str
) -> None:
    schemas: dict[str, Any] = {"input_schema": {"type": "object", "properties": {}}, side: schema}
    wrong = Tool(card=Card(name="the_wrong_one", description="", **schemas), handler=lambda: None)
    with pytest.raises(RegistrationError) as caught:
        gate.register(wrong)
    assert caught.value.code == code
    assert "the_wrong_one" in str(caught.value)


@pytest.mark.promise("house.open")
def test_two_processes_may_open_one_workspace(tmp_path: Path) -> None:
    program = """
        import asyncio, sys
        from tests.app.test_open import look
        from tests.gates import open_gate
        from pathlib import Path
        with open_gate(Path(sys.argv[1]), look) as gate:
            print("open", flush=True)
            sys.stdin.readline()
            for number in range(20):
                assert asyncio.run(gate.call("look", {"text": str(number)}, session="s1")).ok
    """
    with open_gate(tmp_path, look) as gate:
        others = [a_process(program, tmp_path) for _ in range(2)]
        for other in others:
            assert other.stdout is not None
            assert other.stdout.readline() == "open\n"
        for other in others:
            assert other.stdin is not None
            other.stdin.write("go\n")
            other.stdin.close()
        for number in range(20):
            assert asyncio.run(gate.call("look", {"text": str(number)}, session="s1")).ok
        assert [other.wait() for other in others] == [0, 0]
        assert len(outcomes(gate)) == 60
        for other in others:
            other.stdout.close()  # type: ignore[union-attr]
    assert Gate.verify(tmp_path).ok


def a_process(program: str, *arguments: object) -> "subprocess.Popen[str]":
    source = Path(tallystick.__file__).parents[1]
    root = Path(__file__).parents[2]
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{root}"},
    )  # fmt: skip


class Watching:
    """An observer that fails on purpose, after it has seen what there is to see."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str | None, bool]] = []

    def called(self, *, outcome: Outcome, cot_leak: bool, **_more: Any) -> None:
        self.seen.append((outcome.status, None if outcome.fault is None else outcome.fault.name, cot_leak))
        raise OSError("the collector is away")

    def required(self, **_more: Any) -> None:
        pass

    def measured(self, **_more: Any) -> None:
        raise OSError("the collector is away")

    def replied(self, **_more: Any) -> None:
        raise OSError("the collector is away")


@pytest.mark.promise("telemetry.never-steers")
def test_an_observer_sees_every_outcome_and_cannot_stop_one(tmp_path: Path) -> None:
    watching = Watching()
    with open_gate(tmp_path, look, observer=watching) as gate:
        assert asyncio.run(gate.call("look")).ok
        assert not asyncio.run(gate.call("nowhere")).ok
        turn = gate.turn(session="s1", may_finish=True)
        thinking = "<think>well</think>" + said("look", {}, turn.nonce)
        assert asyncio.run(turn.submit(thinking)).ok
        assert gate.check_reply("No evidence.", session="s1") is not None
        assert len(outcomes(gate)) == 3
    assert watching.seen == [("accepted", None, False), ("rejected", "unknown_tool", False), ("accepted", None, True)]


@pytest.mark.promise("plugin.settings")
@pytest.mark.parametrize(
    ("section", "key"),
    [
        ("[rooms.insight]\nembed_backend = 3", "rooms.insight.embed_backend"),
        ("[rooms.desk.verdict]\nthreshold = 2", "rooms.desk.verdict.threshold"),
        ("[rooms.studio]\nparalel = true", "rooms.studio.paralel"),
    ],
)
def test_a_wrong_setting_of_a_room_stops_the_opening_and_is_named(tmp_path: Path, section: str, key: str) -> None:
    (tmp_path / "tallystick.toml").write_text(section, encoding="utf-8")
    with pytest.raises(ConfigError, match=rf"'{re.escape(key)}'"):
        Gate.open(tmp_path)
