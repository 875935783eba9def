"""Servers that others wrote, each with one session by the official client: with the gate in front, and without.

They are not part of the lock. `make test-relay` fetches them into a folder of its own and names it in
TALLY_MCP_SERVERS; without that these tests are left out.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="left out: third-party servers, the mcp extra is not there")

from mcp import ClientSession, StdioServerParameters, stdio_client
from mcp.types import CreateMessageResult, ListRootsResult, TextContent

from tallystick import Gate
from tests.servers.conformance import both
from tests.verifying import verify
from tests.wrapped import QUICK

SERVERS = os.environ.get("TALLY_MCP_SERVERS")
pytestmark = pytest.mark.skipif(SERVERS is None, reason="left out: third-party servers, TALLY_MCP_SERVERS not set")
ROOT = Path(SERVERS or ".")
NODE = str(ROOT / "node_modules/.bin")

ALLOW = '[policy]\nread = "allow"\nwrite = "allow"\nexternal = "allow"\n'


class Page(BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"<html><body><h1>Title</h1><p>Some text.</p></body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def page():
    """A web page on this machine."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


def repository(folder):
    """A repository with one commit and one change."""
    environ = {**os.environ, "GIT_AUTHOR_DATE": "2025-01-01T00:00:00Z", "GIT_COMMITTER_DATE": "2025-01-01T00:00:00Z"}
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "first"]):
        if words[0] == "add":
            (folder / "a.txt").write_text("one\n")
        subprocess.run([*git, *words], cwd=folder, check=True, env=environ)
    (folder / "a.txt").write_text("two\n")


def cases(folder, page):
    """Name → command, calls, a call that will be denied, a call that will be held."""
    f, node = str(folder), NODE
    entity = {"name": "Ada", "entityType": "person", "observations": ["counts"]}
    meeting = {"source_timezone": "Europe/Paris", "time": "12:00", "target_timezone": "Asia/Tokyo"}
    return {
        "filesystem": (
            [f"{node}/mcp-server-filesystem", f],
            [
                ("write_file", {"path": f"{f}/x.txt", "content": "héllo\n"}),
                ("read_text_file", {"path": f"{f}/x.txt"}),
                ("read_multiple_files", {"paths": [f"{f}/x.txt", f"{f}/none"]}),
                ("edit_file", {"path": f"{f}/x.txt", "edits": [{"oldText": "héllo", "newText": "bye"}]}),
                ("create_directory", {"path": f"{f}/sub"}),
                ("move_file", {"source": f"{f}/x.txt", "destination": f"{f}/sub/y.txt"}),
                ("directory_tree", {"path": f}),
                ("list_directory", {"path": f}),
                ("read_text_file", {"path": "/etc/passwd"}),
                ("search_files", {"path": f, "pattern": "**/*.txt"}),
                ("list_allowed_directories", {}),
            ],
            ("read_text_file", {"path": f"{f}/sub/y.txt"}),
            ("write_file", {"path": f"{f}/z.txt", "content": "no"}),
        ),
        "memory": (
            ["env", f"MEMORY_FILE_PATH={f}/memory.json", f"{node}/mcp-server-memory"],
            [
                ("create_entities", {"entities": [entity]}),
                ("create_relations", {"relations": [{"from": "Ada", "to": "Ada", "relationType": "is"}]}),
                ("add_observations", {"observations": [{"entityName": "Ada", "contents": ["writes"]}]}),
                ("search_nodes", {"query": "Ada"}),
                ("open_nodes", {"names": ["Ada"]}),
                ("read_graph", {}),
                ("delete_entities", {"entityNames": ["Ada"]}),
                ("read_graph", {}),
            ],
            ("read_graph", {}),
            ("delete_entities", {"entityNames": ["x"]}),
        ),
        "everything": (
            [f"{node}/mcp-server-everything"],
            [
                ("echo", {"message": "hello ☃"}),
                ("get-sum", {"a": 1.5, "b": 2}),
                ("get-tiny-image", {}),
                ("get-annotated-message", {"messageType": "error", "includeImage": True}),
                ("get-structured-content", {"location": "Chicago"}),
                ("get-resource-links", {"count": 2}),
                ("get-resource-reference", {"resourceType": "Text", "resourceId": 1}),
                ("trigger-long-running-operation", {"duration": 0.2, "steps": 2}),
                ("trigger-sampling-request", {"prompt": "say", "maxTokens": 5}),
                ("get-roots-list", {}),
            ],
            ("echo", {"message": "x"}),
            ("toggle-subscriber-updates", {}),
        ),
        "git": (
            [str(ROOT / "venv/bin/mcp-server-git"), "--repository", f],
            [
                ("git_status", {"repo_path": f}),
                ("git_diff_unstaged", {"repo_path": f}),
                ("git_add", {"repo_path": f, "files": ["a.txt"]}),
                ("git_diff_staged", {"repo_path": f}),
                ("git_log", {"repo_path": f}),
                ("git_show", {"repo_path": f, "revision": "HEAD"}),
                ("git_branch", {"repo_path": f, "branch_type": "local"}),
                ("git_create_branch", {"repo_path": f, "branch_name": "b"}),
                ("git_checkout", {"repo_path": f, "branch_name": "b"}),
                ("git_show", {"repo_path": f, "revision": "nothing"}),
            ],
            ("git_status", {"repo_path": f}),
            ("git_reset", {"repo_path": f}),
        ),
        "fetch": (
            [str(ROOT / "venv/bin/mcp-server-fetch"), "--ignore-robots-txt"],
            [("fetch", {"url": page}), ("fetch", {"url": page, "raw": True}), ("fetch", {"url": f"{page}x", "max_length": 5})],
            ("fetch", {"url": page}),
            ("fetch", {"url": page}),
        ),
        "sqlite": (
            [str(ROOT / "venv-sqlite/bin/mcp-server-sqlite"), "--db-path", f"{f}/x.db"],
            [
                ("create_table", {"query": "create table t (a integer, b text)"}),
                ("write_query", {"query": "insert into t values (1, 'é')"}),
                ("read_query", {"query": "select * from t"}),
                ("list_tables", {}),
                ("describe_table", {"table_name": "t"}),
                ("read_query", {"query": "drop table t"}),
                ("append_insight", {"insight": "it works"}),
            ],
            ("list_tables", {}),
            ("write_query", {"query": "delete from t"}),
        ),
        "time": (
            [str(ROOT / "venv/bin/mcp-server-time")],
            [("convert_time", meeting), ("convert_time", meeting | {"time": "25:61"}), ("convert_time", meeting | {"target_timezone": "No/Where"})],
            ("convert_time", meeting),
            ("get_current_time", {"timezone": "Europe/Paris"}),
        ),
    }  # fmt: skip


NAMES = ("filesystem", "memory", "everything", "git", "fetch", "sqlite", "time")


def nowhere():
    return Path(os.devnull).open("w", encoding="utf-8")


@asynccontextmanager
async def session_with(command):
    """The official client, as its documentation uses it."""

    async def sample(_context, _params):
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="sampled"), model="m")

    async def roots(_context):
        return ListRootsResult(roots=[])

    parameters = StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    with nowhere() as silent:
        async with (
            stdio_client(parameters, errlog=silent) as (read, write),
            ClientSession(read, write, sampling_callback=sample, list_roots_callback=roots) as session,
        ):
            yield session


async def a_session(command, calls):
    """Everything that came back, as plain data."""
    came = []
    async with session_with(command) as session:
        came.append((await session.initialize()).model_dump(mode="json"))
        # Some servers add tools when they have seen what the client can do.
        await asyncio.sleep(0.3)
        came.append((await session.list_tools()).model_dump(mode="json"))
        for optional in (session.list_resources, session.list_prompts, session.list_resource_templates):
            try:
                came.append((await optional()).model_dump(mode="json"))
            except Exception as error:
                came.append(str(error))
        for name, args in calls:
            try:
                came.append((await session.call_tool(name, args)).model_dump(mode="json"))
            except Exception as error:
                came.append(str(error))
    return came


async def call_once(command, name, args):
    async with session_with(command) as session:
        await session.initialize()
        await asyncio.sleep(0.3)
        return await session.call_tool(name, args)


def untimed(came):
    """What came, without the time of day that one of the servers puts into its texts."""
    return re.sub(r"\d{1,2}:\d\d:\d\d [AP]M", "TIME", json.dumps(came, sort_keys=True))


def fresh(folder, name):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if name == "git":
        repository(folder)


@pytest.mark.promise("relay.third-party")
@pytest.mark.parametrize("name", NAMES)
def test_a_third_partys_server_gives_the_same_with_the_gate_in_front(name, tmp_path, page):
    folder, workspace = tmp_path / "data", tmp_path / "ws"
    command, calls, denied, held = cases(folder, page)[name]
    wrap = [sys.executable, "-m", "tallystick", "mcp", "wrap", "--workspace", str(workspace), "--name", name]
    wrapped = [*wrap, "--hold", "0", "--", *command]
    workspace.mkdir()
    policy = workspace / "tallystick.toml"

    fresh(folder, name)
    alone = asyncio.run(a_session(command, calls))
    fresh(folder, name)
    policy.write_text(QUICK + ALLOW)
    together = asyncio.run(a_session(wrapped, calls))
    assert untimed(together) == untimed(alone)
    with Gate.open(workspace, plugins=False) as gate:
        outcomes = [one for one in gate.ledger.read() if one.header["kind"] == "outcome"]
    assert [one.header["tool_id"] for one in outcomes] == [f"{name}.{tool}" for tool, _ in calls]
    assert {one.header["outcome"]["status"] for one in outcomes} <= {"accepted", "transformed"}

    policy.write_text(QUICK + ALLOW + f'[tools."{name}.{denied[0]}"]\ndecision = "deny"\n')
    refused = asyncio.run(call_once(wrapped, *denied))
    assert refused.model_dump(by_alias=True)["isError"]
    policy.write_text(QUICK + ALLOW + f'[tools."{name}.{held[0]}"]\ndecision = "ask"\n')
    waiting = asyncio.run(call_once(wrapped, *held))
    assert "tally approvals approve appr_" in waiting.content[0].text
    with Gate.open(workspace, plugins=False) as gate:
        (hold,) = gate.approvals.list(state="held")
        gate.approvals.approve(hold.approval_id, person="p", channel="terminal")
    went = asyncio.run(call_once(wrapped, *held))
    assert "tally approvals" not in went.content[0].text
    assert verify(workspace).ok


@pytest.mark.promise("relay.conformance")
def test_a_reference_server_scores_the_same_in_the_public_suite_with_the_gate_in_front(tmp_path):
    (tmp_path / "tallystick.toml").write_text(QUICK + ALLOW)
    alone, together = both(ROOT.resolve(), tmp_path)
    assert together == alone
    assert sum(failed == 0 for _, failed in alone.values()) > 20
    assert verify(tmp_path).ok
