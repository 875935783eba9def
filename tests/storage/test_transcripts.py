"""What a session remembers: bounded, per caller and agent, whole lines only, across processes."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.transcript_entry import TranscriptEntry
from tallystick.errors import ConfigError
from tallystick.storage import transcripts as module
from tallystick.storage.transcripts import HISTORY_CHARS, HISTORY_TURNS, Transcripts


def spoken(message: str = "m", reply: str | None = "r", **more: Any) -> TranscriptEntry:
    fields = {"at": "2026-01-01T00:00:00.000Z", "turn_id": "turn_1", "subject": "ada", "agent_id": "critic", **more}
    return TranscriptEntry(message=message, reply=reply, **fields)


def history(kept: Transcripts, subject: str = "ada", agent_id: str = "critic") -> list[tuple[str, str]]:
    return [(said.role, said.content) for said in kept.history("s1", subject=subject, agent_id=agent_id)]


@pytest.mark.promise("chat.sessions")
def test_what_was_said_is_told_in_order_also_to_another_process(tmp_path: Path) -> None:
    kept = Transcripts(tmp_path)
    assert history(kept) == []
    kept.add("s1", spoken("one", "first", receipts=("rcpt_1",), more={"evidence": None}))
    kept.add("s1", spoken("two", "second"))
    assert history(Transcripts(tmp_path)) == [
        ("user", "one"), ("assistant", "first"), ("user", "two"), ("assistant", "second"),
    ]  # fmt: skip
    file = tmp_path / ".control-room" / "transcripts" / "s1.jsonl"
    assert file.stat().st_mode & 0o077 == 0
    first = json.loads(file.read_text(encoding="utf-8").splitlines()[0])
    assert (first["receipts"], first["evidence"]) == (["rcpt_1"], None)


@pytest.mark.promise("chat.sessions")
def test_nobody_is_told_what_another_caller_or_agent_said_or_what_was_refused(tmp_path: Path) -> None:
    kept = Transcripts(tmp_path)
    kept.add("s1", spoken("hers", "a"))
    kept.add("s1", spoken("his", "b", subject="bob"))
    kept.add("s1", spoken("to another", "c", agent_id="writer"))
    kept.add("s1", spoken("refused", None, code="quote_not_found"))
    kept.add("s2", spoken("elsewhere", "d"))
    assert history(kept) == [("user", "hers"), ("assistant", "a")]
    assert history(kept, "bob") == [("user", "his"), ("assistant", "b")]


@pytest.mark.promise("chat.sessions")
def test_only_the_last_turns_are_told_and_only_so_much_of_them(tmp_path: Path) -> None:
    kept = Transcripts(tmp_path)
    for number in range(HISTORY_TURNS + 3):
        kept.add("s1", spoken(f"m{number}", f"r{number}"))
    told = history(kept)
    assert len(told) == 2 * HISTORY_TURNS
    assert told[-1] == ("assistant", f"r{HISTORY_TURNS + 2}")
    kept.add("s1", spoken("x" * HISTORY_CHARS, "too much"))
    assert history(kept) == []


@pytest.mark.promise("chat.sessions")
def test_a_full_file_is_set_aside_and_disk_space_stays_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILE_BYTES", 1000)
    kept = Transcripts(tmp_path)
    for number in range(60):
        kept.add("s1", spoken(f"message {number}", "reply"))
    folder = tmp_path / ".control-room" / "transcripts"
    assert sorted(path.name for path in folder.iterdir()) == ["s1.jsonl", "s1.jsonl.1"]
    assert sum(path.stat().st_size for path in folder.iterdir()) < 2500
    assert history(kept)[-2] == ("user", "message 59")


@pytest.mark.promise("chat.sessions")
def test_only_the_end_of_a_long_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TAIL_BYTES", 500)
    kept = Transcripts(tmp_path)
    for number in range(20):
        kept.add("s1", spoken(f"message {number}", "reply"))
    turns = kept.turns("s1")
    assert 0 < len(turns) < 5
    assert turns[-1]["message"] == "message 19"


@pytest.mark.promise("chat.sessions")
def test_a_line_that_a_crash_cut_in_half_takes_no_other_with_it(tmp_path: Path) -> None:
    kept = Transcripts(tmp_path)
    kept.add("s1", spoken("one", "first"))
    file = tmp_path / ".control-room" / "transcripts" / "s1.jsonl"
    with file.open("ab") as open_file:
        open_file.write(b'{"message": "half')
    kept.add("s1", spoken("two", "second"))
    assert [content for _, content in history(kept)] == ["one", "first", "two", "second"]
    file.write_bytes(
        file.read_bytes() + b'[1]\n"text"\n{"message": 1, "reply": 2, "subject": "ada", "agent_id": "critic"}\n'
    )
    assert [content for _, content in history(kept)] == ["one", "first", "two", "second"]


@pytest.mark.promise("chat.sessions")
def test_writers_at_once_lose_nothing_while_files_are_set_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FILE_BYTES", 20_000)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: Transcripts(tmp_path).add("s1", spoken(f"message {number}")), range(120)))
    folder = tmp_path / ".control-room" / "transcripts"
    lines = [line for path in folder.iterdir() for line in path.read_text(encoding="utf-8").splitlines()]
    assert sorted(json.loads(line)["message"] for line in lines) == sorted(f"message {n}" for n in range(120))


@pytest.mark.parametrize("session_id", ["", "..", "../x", "a/b", ".hidden", "x" * 200])
def test_an_id_that_could_not_name_a_file_is_refused(tmp_path: Path, session_id: str) -> None:
    with pytest.raises(ConfigError) as refused:
        Transcripts(tmp_path).turns(session_id)
    assert refused.value.code == "session_id_invalid"


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / ".control-room").mkdir()
    (tmp_path / ".control-room" / "transcripts").write_text("in the way")
    with pytest.raises(ConfigError) as refused:
        Transcripts(tmp_path).add("s1", spoken())
    assert refused.value.code == "transcript_unwritable"


@given(
    st.lists(
        st.tuples(
            st.text(st.characters(codec="utf-8"), max_size=30), st.text(st.characters(codec="utf-8"), max_size=30)
        ),
        max_size=HISTORY_TURNS,
    )
)
def test_any_text_comes_back_as_it_was_said(
    tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, str]]
) -> None:
    kept = Transcripts(tmp_path_factory.mktemp("any"))
    for message, reply in said:
        kept.add("s1", spoken(message, reply))
    assert history(kept) == [pair for message, reply in said for pair in (("user", message), ("assistant", reply))]
