"""The local model's server as a child process: told its key, asked for its health, ended with its parent."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.local.model import LocalModel
from tallystick.providers.local.server import LocalServer, Served, server_for
from tallystick.providers.local.weights import DEFAULT_MODEL, weights_of
from tallystick.providers.models.store import ModelStore
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError
from tests.providers.chat.asking import asking, code

# Says what the real child says, without a model behind it.
CHILD = """
import json, sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
given = json.loads(sys.stdin.readline())
class Health(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({status}); self.end_headers()
    def log_message(self, *args): pass
server = HTTPServer(("127.0.0.1", 0), Health)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(json.dumps({{"address": f"http://127.0.0.1:{{server.server_port}}"}}), flush=True)
sys.stdin.read()
"""


def server(script: str) -> LocalServer:
    return LocalServer(Path("weights.gguf"), "m", command=(sys.executable, "-c", script))


@pytest.mark.promise("providers.local")
def test_a_server_is_started_once_and_again_after_it_ended() -> None:
    started = server(CHILD.format(status=200))
    first = started.ready()
    assert isinstance(first, Served)
    assert started.ready() == first
    started.stop()
    again = started.ready()
    assert isinstance(again, Served)
    assert again.pid != first.pid
    assert again.key != first.key
    started.stop()
    started.stop()


@pytest.mark.promise("providers.local")
@pytest.mark.parametrize(
    "script", ["", "print('nonsense', flush=True)", "print('{}', flush=True)", CHILD.format(status=503)]
)
def test_a_server_that_does_not_come_up_is_said(script: str) -> None:
    broken = server(script)
    found = broken.ready()
    assert isinstance(found, ModelError)
    assert found.code == "endpoint_failed"
    broken.stop()


@pytest.mark.promise("providers.local")
def test_the_child_ends_when_its_parent_is_killed() -> None:
    parent = (
        "import sys\nfrom pathlib import Path\nfrom tallystick.providers.local.server import LocalServer\n"
        f"s = LocalServer(Path('w.gguf'), 'm', command=(sys.executable, '-c', {CHILD.format(status=200)!r}))\n"
        "print(s.ready().pid, flush=True)\nsys.stdin.read()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", parent], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert _runs(child)
        process.kill()
    assert _ends(child)


@pytest.mark.promise("providers.local")
def test_one_file_of_weights_has_one_server() -> None:
    assert server_for(Path("a.gguf"), "a") is server_for(Path("a.gguf"), "a")
    assert server_for(Path("a.gguf"), "a") is not server_for(Path("b.gguf"), "b")


@pytest.mark.promise("providers.not-installed", "providers.local")
def test_a_local_model_that_is_not_there_names_the_command(monkeypatch, tmp_path: Path) -> None:
    found = weights_of(DEFAULT_MODEL, ModelStore(tmp_path))
    assert isinstance(found, ModelError)
    assert found.code == "provider_not_installed"
    assert "tally models fetch" in found.message
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    (tmp_path / "own.gguf").touch()
    missing = weights_of(str(tmp_path / "own.gguf"), ModelStore(tmp_path))
    assert isinstance(missing, ModelError)
    assert "tallystick[local]" in missing.message


@pytest.mark.promise("providers.local")
@pytest.mark.parametrize("name", ["gpt-9", "minilm-int8", "nowhere/weights.gguf"])
def test_a_local_model_that_does_not_exist_is_unknown(tmp_path: Path, name: str) -> None:
    endpoint = Endpoint(agent_id="a", provider="local", model=name)
    model = LocalModel(endpoint, memory=CapabilityBook(), store=ModelStore(tmp_path))
    assert (model.provider, model.name, model.speech) == ("local", name, "envelope")
    assert code(asyncio.run(model.ask(asking()))) == "model_unknown"


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _ends(pid: int) -> bool:
    until = time.monotonic() + 120
    while _runs(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not _runs(pid)
