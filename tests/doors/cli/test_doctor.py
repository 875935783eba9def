"""`tally doctor` looks at everything, says what to do, and changes nothing."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tallystick.app import discovery, room_switch
from tallystick.doors.cli.kit import Finding, Here
from tallystick.doors.mcp.relay.pins import PinBook
from tests.doors.cli.conftest import CONFIG, Tally


def health(tally: Tally) -> dict[str, str]:
    told = tally("--json", "doctor")
    found = {check["check"]: check["status"] for check in told.json["checks"]}
    assert told.json["ok"] is ("fail" not in found.values())
    assert told.code == (0 if told.json["ok"] else 1)
    return found


@pytest.mark.promise("doors.cli-doctor")
def test_all_is_well_before_and_after_the_first_call(tally: Tally, workspace: Path) -> None:
    assert set(health(tally).values()) == {"ok"}
    assert not (workspace / ".control-room").exists()
    tally("call", "send_mail", '{"to":"a","body":"b"}')
    assert set(health(tally).values()) == {"ok"}
    assert "records verify" in tally("doctor").out


@pytest.mark.promise("doors.cli-doctor")
def test_each_thing_that_is_wrong_is_found(tally: Tally, workspace: Path) -> None:
    tally("call", "send_mail", '{"to":"a","body":"b"}')
    audit = workspace / ".control-room" / "audit"
    (audit / "secret.key").chmod(0o644)
    assert health(tally)["keys"] == "fail"
    (audit / "secret.key").chmod(0o600)
    [segment] = (audit / "journal").glob("*.log")
    whole = segment.read_bytes()
    segment.write_bytes(whole.replace(b"send_mail", b"send_male", 1))
    assert health(tally)["ledger"] == "fail"
    segment.write_bytes(whole)
    secret = (audit / "secret.key").read_bytes()
    (audit / "secret.key").unlink()
    assert health(tally)["keys"] == "fail"
    (audit / "secret.key").write_bytes(secret)
    (audit / "secret.key").chmod(0o600)
    (workspace / ".control-room" / "tallystick.db").write_bytes(b"not a database at all, whatever its name says" * 50)
    assert health(tally)["database"] == "fail"


@pytest.mark.parametrize(
    ("more", "check", "expected"),
    [
        ('\n[tools.nothing]\ndecision = "deny"\n', "tools", "warn"),
        ('mirror = "off"\n', "mirror", "warn"),
        ('mirror = "mirror.head"\n', "mirror", "warn"),
        ('mirror = "FILE/head"\n', "mirror", "fail"),
        ('witnesses = ["https://example.org/x", "/var/tmp/notes"]\n', "witnesses", "ok"),
        ('witnesses = ["http://example.org/x"]\n', "witnesses", "fail"),
        ('witnesses = ["WORKSPACE/notes"]\n', "witnesses", "warn"),
        ('\n[storage]\ndatabase_url = "mysql://x"\n', "database", "fail"),
        ('\n[storage]\nstate_dir = "FILE/state"\n', "state folder", "fail"),
        ("\n[nonsense]\n", "configuration", "fail"),
    ],
)
def test_what_the_configuration_gets_wrong_is_said(
    tally: Tally, workspace: Path, more: str, check: str, expected: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if "state_dir" in more:
        monkeypatch.delenv("TALLY_STATE_DIR")
    (tmp_path / "file").write_text("")
    (workspace / "tallystick.toml").write_text(
        CONFIG + more.replace("FILE", str(tmp_path / "file")).replace("WORKSPACE", str(workspace))
    )
    assert health(tally)[check] == expected


@pytest.mark.promise("doors.cli-doctor", "relay.unsaid")
@pytest.mark.parametrize(("policy", "digests"), [("", 2), ('[policy]\nwrite = "allow"\n', 1)])
def test_where_a_server_is_wrapped_the_policy_is_as_its_relay_takes_it(
    tally: Tally, workspace: Path, policy: str, digests: int
) -> None:
    (workspace / "tallystick.toml").write_text(CONFIG + policy + '[tools."s.write_note"]\nrate = 5\n')
    assert health(tally)["tools"] == "warn"
    alone = tally("--json", "policy", "check").json["digest"]
    PinBook(workspace).compare([{"name": "write_note"}])
    assert health(tally)["tools"] == "ok"
    taken = tally("--json", "policy", "check").json["digest"]
    [says] = [one["message"] for one in tally("--json", "doctor").json["checks"] if one["check"] == "configuration"]
    assert len({alone, taken}) == digests
    assert says.startswith(f"policy {taken[:16]}")
    assert alone[:16] in says
    assert ("for the wrapped server" in says) is (digests == 2)


@pytest.mark.promise("reading.grade")
def test_it_says_how_texts_are_found(tally: Tally, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TALLY_MODELS__FOLDER", str(tmp_path / "no-models"))
    [says] = [one["message"] for one in tally("--json", "doctor").json["checks"] if one["check"] == "retrieval"]
    assert says.startswith("by words and by word vectors (wordllama-256)")
    assert says.endswith("tally models fetch minilm-int8")


def test_a_folder_that_is_not_there_is_found(tally: Tally, tmp_path: Path) -> None:
    told = tally("doctor", "-w", str(tmp_path / "nowhere"))
    assert told.code == 1


def test_tools_that_do_not_load_are_found(tally: Tally, workspace: Path) -> None:
    (workspace / "tools.py").write_text("1 / 0\n")
    assert health(tally)["tools"] == "fail"


def test_a_clock_that_was_set_back_is_found(tally: Tally, workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tally("call", "word_count", '{"text":"a"}')
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now - 3600)
    assert health(tally)["clock"] == "warn"
    monkeypatch.setattr(time, "time", lambda: 1000.0)
    assert health(tally)["clock"] == "warn"


@pytest.mark.promise("plugin.settings", "doors.cli-doctor")
def test_a_wrong_setting_of_a_room_is_found_and_named(tally: Tally, workspace: Path) -> None:
    (workspace / "tallystick.toml").write_text('[rooms]\nenabled = ["insight"]\n\n[rooms.insight]\nembed_backend = 3\n')
    told = tally("--json", "doctor")
    assert told.code == 1
    [found] = [check for check in told.json["checks"] if check["status"] == "fail"]
    assert found["check"] == "room insight: check"
    assert "'rooms.insight.embed_backend'" in found["message"]


@pytest.mark.promise("doors.cli-doctor")
@pytest.mark.usefixtures("workspace")
def test_a_room_check_that_raises_is_a_finding_and_hides_no_other(
    tally: Tally, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = replace(discovery.manifests()["memory"], doctor=f"{__name__}:raises")
    for module in (discovery, room_switch):
        monkeypatch.setattr(module, "manifests", lambda: {"memory": broken})
    told = tally("--json", "doctor")
    found = {check["check"]: check for check in told.json["checks"]}
    assert found["room memory"]["status"] == "ok"
    assert found["room memory: before"]["status"] == "warn"
    assert found["room memory: check"]["status"] == "fail"
    assert "RuntimeError" in found["room memory: check"]["message"]
    assert "hunter2" not in told.out
    assert list(found)[-1].startswith("extra")


@pytest.mark.promise("doors.cli-doctor")
@pytest.mark.usefixtures("workspace")
@pytest.mark.parametrize(("field", "reference"), [("settings", "nowhere:Options"), ("demo", f"{__name__}:PART")])
def test_a_reference_of_a_room_that_leads_nowhere_is_a_finding(
    tally: Tally, monkeypatch: pytest.MonkeyPatch, field: str, reference: str
) -> None:
    broken = replace(discovery.manifests()["memory"], **{field: reference})
    for module in (discovery, room_switch):
        monkeypatch.setattr(module, "manifests", lambda: {"memory": broken})
    [found] = [check for check in tally("--json", "doctor").json["checks"] if check["status"] == "fail"]
    assert found["check"] == "room memory: check"
    assert f"The room 'memory' cannot load {field} ({reference})" in found["message"]


@pytest.mark.promise("doors.cli-doctor")
def test_what_is_wrong_with_the_configuration_is_said_once(tally: Tally, workspace: Path) -> None:
    (workspace / "tallystick.toml").write_text("[ledger\n")
    failed = [check["message"] for check in tally("--json", "doctor").json["checks"] if check["status"] == "fail"]
    assert [message.partition(":")[0] for message in failed] == [
        "config_malformed",
        *["not checked"] * (len(failed) - 1),
    ]


def raises(here: Here) -> Iterator[Finding]:
    yield Finding(what="before", health="warn", says=f"{here.workspace.name} was examined")
    raise RuntimeError("hunter2")
