"""What a newcomer does with an installation, each step through a real door."""

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.house.sources import ROOT
from tests.install.environments import PATIENCE_S, Environment

TOOLS = 'from tallystick import tool\n\n\n@tool(effect="read")\ndef double(n: int) -> int:\n    "Twice."\n    return 2 * n\n'
UPSTREAM = str(ROOT / "tests" / "upstream_script.py")


def first_snippet() -> str:
    """The README's first example."""
    found = re.search(r"^```python run\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert found is not None
    return found[1]


def doctor(environment: Environment) -> dict[str, str]:
    """What `tally doctor` says, by what was looked at."""
    told = environment.tally("--json", "doctor")
    assert told.returncode == 0, told.stdout + told.stderr
    return {check["check"]: check["message"] for check in json.loads(told.stdout)["checks"]}


def call_a_tool(environment: Environment) -> None:
    """`tally call` of a tool that the workspace names, then `tally audit verify`."""
    (environment.work / "tools.py").write_text(TOOLS, encoding="utf-8")
    (environment.work / "tallystick.toml").write_text('[gate]\ntools = ["tools.py"]\n', encoding="utf-8")
    called = environment.tally("--json", "call", "double", '{"n": 21}')
    assert (called.returncode, json.loads(called.stdout)["result"]) == (0, 42), called.stderr
    verified = environment.tally("--json", "audit", "verify")
    assert (verified.returncode, json.loads(verified.stdout)["ok"]) == (0, True), verified.stderr


def talk(environment: Environment, *words: str, messages: list[dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """Speak JSON-RPC lines with a server that `tally` starts; its answers by id."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    said = [
        {"id": 0, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        *messages,
    ]
    process = environment.start(*words)
    assert process.stdin is not None
    assert process.stdout is not None
    answers: dict[Any, dict[str, Any]] = {}
    try:
        for message in said:
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()
            while "id" in message and message["id"] not in answers:
                line = process.stdout.readline()
                if not line:
                    raise AssertionError(process.communicate(timeout=PATIENCE_S)[1])
                answer = json.loads(line)
                answers[answer.get("id")] = answer
    finally:
        end(process)
    return answers


def wrap(environment: Environment) -> None:
    """`tally mcp wrap` before a small MCP server: the read passes, and leaves a receipt."""
    ask = {"id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {"text": "hello"}}}
    command = ("mcp", "wrap", "--", sys.executable, "-S", "-E", UPSTREAM)
    answers = talk(environment, *command, messages=[ask])
    assert "hello" in json.dumps(answers[1]["result"]["content"])


@contextmanager
def served(environment: Environment) -> Iterator[tuple[str, str]]:
    """`tally serve` on a free port: its address, and what it said at the start."""
    process = environment.start("serve", "--port", "0")
    try:
        assert process.stderr is not None
        told = ""
        while "It is also in" not in told:
            line = process.stderr.readline()
            assert line, f"it did not start: {told}"
            told += line
        address = re.search(r"http://127\.0\.0\.1:\d+", told)
        assert address is not None
        yield address[0], told
    finally:
        end(process)


def get(url: str, *, accept: str = "application/json") -> tuple[int, str]:
    """One GET: status and body."""
    request = urllib.request.Request(url, headers={"accept": accept})
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refused:
        with refused:
            return refused.code, refused.read().decode()


def end(process: subprocess.Popen[str]) -> None:
    """Ask it to stop, and wait until it has."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.communicate(timeout=PATIENCE_S)
