"""What is wrong in a workspace is answered with a fixed code and what to do, and the gate goes on."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.storage.journal import disk
from tests.doors.cli.conftest import CONFIG, Tally
from tests.house.sources import ROOT

GOOD = ("call", "word_count", '{"text":"a"}')

pytestmark = pytest.mark.promise("doors.cli-bad-input")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[gate\n", "config_malformed"),
        ("a = 1\na = 2\n", "config_malformed"),
        (CONFIG + "\n[nonsense]\n", "config_unknown_key"),
        (CONFIG + '\n[policy]\nexternl = "deny"\n', "config_unknown_key"),
        (CONFIG + '\n[policy]\nexternal = "maybe"\n', "config_bad_value"),
        (CONFIG + '\n[[tools.word_count.rules]]\nschema = { "$ref" = "http://example.org/s" }\n', "config_bad_value"),
        ('[gate]\ntools = ["none.py"]\n', "no_tools"),
        ('[gate]\ntools = ["no_such_module_anywhere"]\n', "no_tools"),
    ],
)
def test_a_configuration_that_is_wrong_is_named(tally: Tally, workspace: Path, text: str, code: str) -> None:
    (workspace / "tallystick.toml").write_text(text)
    for words in (GOOD, ("tools",), ("policy", "check")):
        wrong = tally(*words)
        assert (wrong.code, wrong.error) == (4, code)
    (workspace / "tallystick.toml").write_text(CONFIG)
    assert tally(*GOOD).code == 0


def test_a_configuration_that_is_no_text_is_named(tally: Tally, workspace: Path) -> None:
    (workspace / "tallystick.toml").write_bytes(b"\xff\xfe\x00")
    assert tally(*GOOD).error == "config_malformed"


def test_a_workspace_that_is_a_file_is_named(tally: Tally, workspace: Path) -> None:
    wrong = tally(*GOOD, "-w", str(workspace / "tools.py"))
    assert (wrong.code, wrong.error) == (4, "not_a_folder")


def test_the_state_folder_is_no_workspace(tally: Tally, workspace: Path) -> None:
    wrong = tally(*GOOD, "-w", os.environ["TALLY_STATE_DIR"])
    assert (wrong.code, wrong.error) == (4, "not_a_workspace")


@pytest.mark.promise("record.keys-private")
@pytest.mark.parametrize("name", ["secret.key", "log.key"])
def test_a_key_that_is_exposed_malformed_or_gone_is_named(tally: Tally, workspace: Path, name: str) -> None:
    assert tally(*GOOD).code == 0
    key = workspace / ".control-room" / "audit" / name
    kept = key.read_bytes()
    key.chmod(0o644)
    for words in (GOOD, ("audit", "verify"), ("keys", "show")):
        exposed = tally(*words)
        assert (exposed.code, exposed.error) == (4, "key_world_readable")
        assert "chmod 600" in exposed.err
    key.chmod(0o600)
    key.write_bytes(b"nothing of a key\n")
    assert (tally(*GOOD).code, tally(*GOOD).error) == (4, "key_malformed")
    key.unlink()
    assert (tally(*GOOD).code, tally(*GOOD).error) == (4, "key_missing")
    key.write_bytes(kept)
    key.chmod(0o600)
    assert tally(*GOOD).code == 0


def test_a_database_that_is_none_is_named(tally: Tally, workspace: Path) -> None:
    assert tally(*GOOD).code == 0
    (workspace / ".control-room" / "tallystick.db").write_bytes(b"not a database at all, whatever its name says" * 50)
    wrong = tally("approvals", "list")
    assert (wrong.code, wrong.error) == (4, "database_unusable")
    asked = tally("--json", "call", "send_mail", '{"to":"a","body":"b"}')
    assert (asked.code, asked.json["rejection"]["reason"]) == (5, "approvals_unavailable")
    assert tally(*GOOD).code == 0


def test_a_place_that_takes_no_output_is_named(workspace: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "tallystick", "policy", "show"], cwd=workspace, check=False, stdout=full,
            stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, timeout=60,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith(b"error: io_failed: ")


@pytest.mark.parametrize("why", [errno.EACCES, errno.EROFS])
def test_a_workspace_that_may_not_be_written_is_told_what_to_do(
    tally: Tally, workspace: Path, monkeypatch: pytest.MonkeyPatch, why: int
) -> None:
    tally("memory", "add", "The boat is red.")

    def refuse(path: Path, *_: object) -> int:
        raise OSError(why, os.strerror(why), str(path))

    # Permissions do not bind whoever runs the tests as root, so the disk says it here.
    monkeypatch.setattr(disk, "open_file", refuse)
    for words in (("ask", "boat"), ("status",), ("export",)):
        told = tally("memory", *words)
        assert (told.code, told.error) == (1, "io_failed")
        assert "make the folder writable, or copy it" in told.err


def test_a_damaged_ledger_stops_calls_and_verify_says_where(tally: Tally, workspace: Path) -> None:
    for _ in range(3):
        assert tally(*GOOD).code == 0
    [segment] = (workspace / ".control-room" / "audit" / "journal").glob("*.log")
    lines = segment.read_bytes().splitlines(keepends=True)
    segment.write_bytes(lines[0] + lines[2])
    for words in (GOOD, ("audit", "list")):
        stopped = tally(*words)
        assert (stopped.code, stopped.error) == (5, "journal_damaged")
        assert "tally audit verify" in stopped.err
    found = tally("--json", "audit", "verify")
    assert found.code == 1
    assert found.json["problems"][0]["seq"] == 1


def test_a_ledger_that_cannot_be_written_runs_nothing(workspace: Path) -> None:
    run = [sys.executable, "-m", "tallystick", "call"]
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    (workspace / "tools.py").write_text(
        "from pathlib import Path\nfrom tallystick import tool\n"
        '@tool(effect="write")\ndef mark(text: str) -> str:\n    Path("ran").touch()\n    return text\n'
    )
    first = subprocess.run([*run, "mark", '{"text":"a"}'], cwd=workspace, env=environ, check=False, capture_output=True)
    assert first.returncode == 0
    (workspace / "ran").unlink()
    # No file of this process may grow beyond one block of 1024 bytes, and the journal has grown beyond that already.
    script = f'ulimit -f 1; exec {sys.executable} -m tallystick --json call mark \'{{"text":"{"b" * 2000}"}}\''
    full = subprocess.run(
        ["bash", "-c", script], cwd=workspace, env=environ, check=False, capture_output=True, text=True
    )
    assert full.returncode == 5, full.stderr
    assert not (workspace / "ran").exists()
    again = subprocess.run([*run, "mark", '{"text":"c"}'], cwd=workspace, env=environ, check=False, capture_output=True)
    assert again.returncode == 0


BAD_TOOLS = """
import os
import subprocess
import sys
import time

from tallystick import tool


@tool(effect="read")
def wrong_shape() -> int:
    return "seven"


@tool(effect="read", timeout_s=0.3)
async def hangs() -> int:
    import asyncio
    await asyncio.sleep(60)
    return 1


@tool(effect="read", timeout_s=0.3, isolate=True)
def spins() -> int:
    while True:
        pass


@tool(effect="read")
def talks() -> int:
    for _ in range(200):
        sys.stdout.write("x" * 50_000)
    return 1


@tool(effect="read")
def forks() -> int:
    subprocess.Popen([sys.executable, "-c", "print('from a child that stays', flush=True); import time; time.sleep(1)"])
    return 1


@tool(effect="read")
def leaves() -> int:
    sys.exit(3)
"""


@pytest.fixture
def bad_tools(workspace: Path) -> None:
    (workspace / "tools.py").write_text(BAD_TOOLS)


@pytest.mark.usefixtures("bad_tools")
@pytest.mark.parametrize(
    ("name", "fault"),
    [("wrong_shape", "bad_result"), ("hangs", "timeout"), ("spins", "timeout"), ("leaves", "tool_failed")],
)
def test_a_tool_that_misbehaves_ends_with_six_and_the_gate_goes_on(tally: Tally, name: str, fault: str) -> None:
    failed = tally("call", name)
    assert (failed.code, failed.error) == (6, fault)
    assert tally("audit", "verify").code == 0


@pytest.mark.usefixtures("bad_tools")
@pytest.mark.parametrize("name", ["talks", "forks"])
def test_a_tool_that_talks_or_forks_does_not_get_into_the_result(workspace: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tallystick", "--json", "call", name], cwd=workspace, check=False, capture_output=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stdout.startswith(b'{"status": "accepted"')
    assert len(done.stdout) < 1000


@pytest.mark.promise("admit.schema-refused", "admit.remote-ref")
@pytest.mark.parametrize(
    ("schema", "code"),
    [
        ('{"type": "strin"}', "schema_invalid"),
        ('{"$ref": "http://example.org/s"}', "schema_remote_ref"),
        ('{"type": "object", "properties": {"a": {"pattern": "(a"}}}', "schema_pattern"),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused_at_registration(
    tally: Tally, workspace: Path, schema: str, code: str
) -> None:
    (workspace / "tools.py").write_text(
        "from tallystick import tool\n"
        f"@tool(effect='read', input_schema={schema}, output_schema=None)\n"
        "def odd(**given: str) -> int:\n    return 1\n"
    )
    refused = tally("tools")
    assert (refused.code, refused.error) == (4, code)


def test_ctrl_c_during_a_call_leaves_a_receipt_that_says_so(tally: Tally, workspace: Path) -> None:
    (workspace / "tools.py").write_text(
        "import asyncio\nfrom pathlib import Path\nfrom tallystick import tool\n"
        "@tool(effect='write')\nasync def waits() -> int:\n"
        "    print('it runs', flush=True)\n    await asyncio.sleep(60)\n    return 1\n"
    )
    calling = subprocess.Popen(
        [sys.executable, "-m", "tallystick", "call", "waits"], cwd=workspace, text=True, stderr=subprocess.PIPE,
        stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
    )  # fmt: skip
    assert calling.stderr is not None
    assert "it runs" in calling.stderr.readline()
    calling.send_signal(signal.SIGINT)
    calling.communicate(timeout=60)
    assert calling.returncode == 130
    newest = tally("--json", "audit", "list", "--kind", "outcome").json["items"][0]
    assert newest["outcome"]["fault"] == "cancelled"
