"""Whatever somebody does to the log that memory is built from: the audit finds it."""

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest

from tests.ledgers import Workspace
from tests.rooms.memory.remembering import Remembering

Lines = list[bytes]
Change = Callable[[Lines], Lines]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A workspace whose log holds an accepted fact, a refused proposal and a consolidation."""
    root = tmp_path_factory.mktemp("kept")
    kept = Workspace(root)
    with pytest.MonkeyPatch.context() as patch:
        # Made once for the module, before any test has a state folder of its own.
        patch.setenv("TALLY_STATE_DIR", str(kept.state))
        memory = Remembering(kept.root)
    seen = [memory.observe(f"Ada lives in Lisbon, says {who}.", who) for who in ("diary", "letters")]
    name = memory.propose(*seen)
    memory.code("attach_support", proposition_id=name, observation_id=seen[0], quote="Ada")
    memory.call("request_consolidation").unwrap()
    memory.close()
    assert kept.verify().ok
    return kept


def at(place: int, change: Callable[[bytes], bytes]) -> Change:
    return lambda lines: [*lines[:place], change(lines[place]), *lines[place + 1 :]]


def swapped(old: bytes, new: bytes, place: int) -> Change:
    def change(lines: Lines) -> Lines:
        assert old in lines[place], (old, lines[place])
        return at(place, lambda line: line.replace(old, new, 1))(lines)

    return change


def header_field(name: str, value: object, place: int) -> Change:
    def change(line: bytes) -> bytes:
        header, rest = line.split(b"\t", 1)
        fields = orjson.loads(header)
        fields[name] = value
        return orjson.dumps(fields, option=orjson.OPT_SORT_KEYS) + b"\t" + rest

    return at(place, change)


def dropped(*places: int) -> Change:
    return lambda lines: [line for place, line in enumerate(lines) if place not in {p % len(lines) for p in places}]


def exchanged(one: int, other: int) -> Change:
    def change(lines: Lines) -> Lines:
        made = list(lines)
        made[one], made[other] = made[other], made[one]
        return made

    return change


def cut(keep: int) -> Change:
    return lambda lines: lines[:keep]


def torn(size: int) -> Change:
    return lambda lines: [*lines[:-1], lines[-1][:-size]]


def blanked(column: int, place: int) -> Change:
    def change(line: bytes) -> bytes:
        columns = line.rstrip(b"\n").split(b"\t")
        columns[column] = b"~" + b" " * (len(columns[column]) - 1)
        return b"\t".join(columns) + b"\n"

    return at(place, change)


def emptied(column: int, place: int) -> Change:
    def change(line: bytes) -> bytes:
        columns = line.rstrip(b"\n").split(b"\t")
        columns[column] = b""
        return b"\t".join(columns) + b"\n"

    return at(place, change)


# The log: 0 started, 1 outcome (diary), 2 started, 3 outcome (letters), 4 started, 5 outcome (proposition),
# 6 the refused proposal, 7 started, 8 outcome (consolidation).
KINDS: dict[str, Change] = {
    "other words in an observation": swapped(b"Lisbon", b"London", 1),
    "other words before it ran": swapped(b"Lisbon", b"London", 0),
    "another source": swapped(b'"id":"diary"', b'"id":"owner"', 1),
    "another group": swapped(b'"group":"letters"', b'"group":"lettres"', 3),
    "a better class": swapped(b'"class":"document"', b'"class":"human"', 1),
    "another time of observation": swapped(b'"observed_at":"2024', b'"observed_at":"2025', 1),
    "another log time": swapped(b'"at":"2024', b'"at":"2023', 1),
    "another object": swapped(b'"object":"Lisbon"', b'"object":"London"', 5),
    "another predicate": swapped(b'"predicate":"lives_in"', b'"predicate":"lies_in"', 5),
    "another subject": swapped(b'"subject":"Ada"', b'"subject":"Bob"', 5),
    "other evidence": swapped(b"obs_", b"obs-", 5),
    "another volatility": swapped(b'"static"', b'"high"', 5),
    "a refusal that was none": swapped(b'"status":"rejected"', b'"status":"accepted"', 6),
    "a refusal for another reason": swapped(b"POLICY_VIOLATION", b"INVALID_PAYLOAD!", 6),
    "an acceptance that was none": swapped(b'"status":"accepted"', b'"status":"rejected"', 1),
    "another result": swapped(b'"duplicate":false', b'"duplicate":true', 1),
    "another tool": header_field("tool_id", "archive_episode", 8),
    "another kind": header_field("kind", "note", 5),
    "another timestamp": header_field("timestamp", "2020-01-01T00:00:00.000000Z", 3),
    "another session": header_field("session_id", "s2", 3),
    "another caller": header_field("caller", {"channel": "cli", "roles": ["owner"], "subject": "eve"}, 3),
    "an agent that was not there": header_field("agent_id", "chief", 3),
    "another policy": header_field("policy_digest", "0" * 64, 5),
    "another snapshot": header_field("context", {"snapshot": "0" * 64}, 5),
    "another number": header_field("seq", 9, 8),
    "another id": header_field("receipt_id", "rcpt_000000000001ffffffffffff", 1),
    "another predecessor": header_field("prev", "0" * 64, 5),
    "another digest of what was asked": header_field("inputs_digest", "0" * 64, 5),
    "another digest of what came": header_field("outputs_digest", "0" * 64, 5),
    "another key": header_field("key_id", "0" * 16, 5),
    "another signature": header_field("signature", "0" * 64, 5),
    "a link to elsewhere": header_field("links", {"started": "rcpt_000000000000ffffffffffff"}, 5),
    "an invented field": header_field("promoted", "yes", 5),
    "one record less": dropped(3),
    "the first record gone": dropped(0),
    "the last record gone": dropped(-1),
    "a whole call gone": dropped(2, 3),
    "the refusal gone": dropped(6),
    "two records exchanged": exchanged(1, 3),
    "two calls exchanged": lambda lines: [*lines[2:4], *lines[:2], *lines[4:]],
    "a record twice": lambda lines: [*lines[:4], lines[3], *lines[4:]],
    "the log turned round": lambda lines: lines[::-1],
    "the tail cut after the facts": cut(6),
    "the tail cut by one call": cut(7),
    "nothing left": cut(0),
    "the last line torn": torn(5),
    "the last line torn in half": torn(400),
    "an argument blanked as if it had been erased": blanked(1, 3),
    "a result blanked as if it had been erased": blanked(2, 3),
    "arguments taken away": emptied(1, 5),
    "a result taken away": emptied(2, 5),
    "a line that is no record": lambda lines: [*lines[:4], b"{}\t\t\n", *lines[4:]],
    "an empty line": lambda lines: [*lines[:4], b"\n", *lines[4:]],
}


@pytest.mark.promise("memory.tampering")
def test_there_are_more_than_fifty_kinds() -> None:
    assert len(KINDS) >= 50


@pytest.mark.promise("memory.tampering")
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_found(template: Workspace, tmp_path: Path, kind: str) -> None:
    copy = template.copy(tmp_path)
    lines = copy.lines()
    assert copy.verify().ok
    copy.write_lines(KINDS[kind](lines))
    assert not copy.verify().ok
