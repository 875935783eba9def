"""The hub as a source, by its own library and over a real connection, to a server of this test."""

import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("huggingface_hub", reason="left out: the hub as a source, huggingface_hub is not installed")

DATA = b"a model " * 50_000
FETCH = """
import sys
from pathlib import Path
from tallystick.providers.models.fetch import fetch_model
from tallystick.providers.models.manifest import ModelEntry, ModelFile
from tallystick.providers.models.store import ModelFileError, ModelStore
folder, size, sha256 = sys.argv[1:]
file = ModelFile(path="m.bin", size=int(size), sha256=sha256, hub="some/repository:m.bin", parts=())
entry = ModelEntry(name="small", purpose="chat", description="", licence="MIT", files=(file,))
store = ModelStore(Path(folder))
try:
    fetch_model(store, entry, source="hub")
    print([check.state for check in store.verify(entry)])
except ModelFileError as error:
    print(error.code)
"""


class Hub(BaseHTTPRequestHandler):
    """Answers as the hub does for one file."""

    def do_HEAD(self) -> None:
        known = self.path == "/some/repository/resolve/main/m.bin"
        self.send_response(200 if known else 404)
        self.send_header("ETag", f'"{hashlib.sha256(DATA).hexdigest()}"')
        self.send_header("X-Repo-Commit", "0" * 40)
        self.send_header("Content-Length", str(len(DATA) if known else 0))
        self.end_headers()

    def do_GET(self) -> None:
        self.do_HEAD()
        self.wfile.write(DATA)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def hub() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def fetched(folder: Path, port: int) -> str:
    command = [sys.executable, "-c", FETCH, str(folder / "store"), str(len(DATA)), hashlib.sha256(DATA).hexdigest()]
    environ = {**os.environ, "HF_ENDPOINT": f"http://127.0.0.1:{port}", "HF_HOME": str(folder / "hub")}
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.promise("models.fetch")
def test_a_model_comes_from_the_hub_and_is_verified(hub: ThreadingHTTPServer, tmp_path: Path) -> None:
    assert fetched(tmp_path, hub.server_port) == "['ok']"


@pytest.mark.promise("models.fetch")
def test_a_hub_that_does_not_answer_is_told_by_its_code(tmp_path: Path) -> None:
    assert fetched(tmp_path, 9) == "model_unreachable"
