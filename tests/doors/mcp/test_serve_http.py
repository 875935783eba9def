"""`/mcp`: the same guard and the same log-in as every other path, one session a client."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("mcp", reason="left out: `tally mcp serve`, the mcp extra is not there")

from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError

from tests.doors.mcp.processes import http_server, http_server_here, workspace_at
from tests.doors.mcp.served import ERAS
from tests.doors.tokens import SECRET
from tests.doors.tokens import token as make_token
from tests.verifying import verify

ACCEPT = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
HELLO = {
    "jsonrpc": "2.0", "id": 1, "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("open")
    state = f'[storage]\nstate_dir = "{folder / "state"}"\n'
    workspace = workspace_at(folder / "ws", state)
    with http_server_here(workspace) as url:
        yield url, workspace


@pytest.fixture(scope="module")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("locked")
    more = f'[storage]\nstate_dir = "{folder / "state"}"\n[auth]\nenabled = true\njwt_secret = "{SECRET}"\n'
    workspace = workspace_at(folder / "ws", more + '[rooms]\nenabled = ["memory", "studio"]\n')
    with http_server_here(workspace) as url:
        yield url, workspace


def talk(url: str, what: Any, *, era: str = "auto", token: str | None = None) -> Any:
    async def run() -> Any:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http), mode=era) as client,
        ):
            return await what(client)

    return asyncio.run(run())


def token_of(subject: str, *roles: str) -> str:
    return make_token({"sub": subject, "exp": int(time.time()) + 600, "roles": list(roles)})


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.promise("mcp.http")
def test_a_client_calls_over_http_and_reads_its_receipt(served: tuple[str, Path], era: str) -> None:
    async def call(client: Client) -> tuple[Any, Any, str]:
        good = await client.call_tool("noisy", {"text": "hello"})
        bad = await client.call_tool("noisy", {})
        receipt_id = good.meta["tallystick/receipt"]
        return good, bad, (await client.read_resource(f"tally://receipts/{receipt_id}")).contents[0].text

    good, bad, receipt = talk(served[0], call, era=era)

    assert good.content[0].text == "hello"
    assert bad.structured_content["code"] == "INVALID_PAYLOAD"
    assert '"tool_id":"noisy"' in receipt
    assert '"channel":"mcp"' in receipt


@pytest.mark.promise("mcp.sessions")
def test_each_session_of_the_older_protocol_has_receipts_of_its_own_and_its_id_is_not_in_them(
    served: tuple[str, Path],
) -> None:
    async def own(client: Client) -> str:
        return (await client.call_tool("noisy", {"text": "x"})).meta["tallystick/receipt"]

    ids = [talk(served[0], own, era="legacy") for _ in range(2)]
    with httpx.Client(base_url=served[0].removesuffix("/mcp")) as http:
        sessions = [http.get(f"/api/audit/receipts/{each}").json()["session_id"] for each in ids]
    assert len(set(sessions)) == 2
    opened = httpx.post(served[0], json=HELLO, headers=ACCEPT)
    assert opened.headers["mcp-session-id"] not in "".join(sessions)


@pytest.mark.promise("mcp.http")
def test_a_stream_for_later_messages_opens_at_once_and_an_open_one_does_not_keep_the_server_alive(
    tmp_path: Path,
) -> None:
    workspace = workspace_at(tmp_path / "ws")
    with httpx.Client(timeout=120) as http, http_server(workspace) as url:
        session = http.post(url, json=HELLO, headers=ACCEPT).headers["mcp-session-id"]
        asked = {"accept": "text/event-stream", "mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
        opened = http.send(http.build_request("GET", url, headers=asked), stream=True)
        assert opened.headers["content-type"].startswith("text/event-stream")
        # `http_server` waits for the process to end; the stream is still open.
    opened.close()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
    ],
)
@pytest.mark.promise("mcp.http")
def test_a_foreign_host_or_origin_is_refused(served: tuple[str, Path], headers: dict[str, str], status: int) -> None:
    assert httpx.post(served[0], json=HELLO, headers={**ACCEPT, **headers}).status_code == status


@pytest.mark.promise("mcp.strict-json")
def test_an_ambiguous_body_is_refused_and_recorded(served: tuple[str, Path]) -> None:
    answer = httpx.post(served[0], content=b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', headers=ACCEPT)

    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32700)
    receipt = answer.json()["error"]["data"]["receipt_id"]
    assert httpx.get(f"{served[0].removesuffix('/mcp')}/api/audit/receipts/{receipt}").status_code == 200


@pytest.mark.promise("mcp.auth")
def test_with_auth_on_no_token_is_401_on_loopback_too_and_leaves_a_receipt(locked: tuple[str, Path]) -> None:
    for headers in ({}, {"authorization": "Bearer nonsense"}, {"authorization": "Basic YTpi"}):
        answer = httpx.post(locked[0], json=HELLO, headers={**ACCEPT, **headers})
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
        assert answer.json()["error"]["data"]["receipt_id"].startswith("rcpt_")
    assert httpx.get(locked[0], headers=ACCEPT).status_code == 401


@pytest.mark.promise("doors.deny-by-default", "mcp.auth")
def test_a_token_without_a_role_is_403_and_opens_no_session(locked: tuple[str, Path]) -> None:
    for roles in ((), ("owner",), ("Admin",)):
        for method in ("POST", "GET", "DELETE"):
            headers = {**ACCEPT, "authorization": f"Bearer {token_of('mallory', *roles)}"}
            answer = httpx.request(method, locked[0], headers=headers, json=HELLO if method == "POST" else None)
            assert answer.status_code == 403
            assert answer.json()["error"]["data"]["code"] == "POLICY_VIOLATION"
            assert "mcp-session-id" not in answer.headers
            assert "www-authenticate" not in answer.headers


@pytest.mark.promise("doors.deny-by-default", "mcp.auth")
def test_a_role_sees_what_its_tools_give_over_mcp_too(locked: tuple[str, Path]) -> None:
    async def search(client: Client) -> Any:
        return await client.call_tool("file_locator", {"search_criteria": "tools"})

    async def propose(client: Client) -> Any:
        return await client.call_tool("request_consolidation", {})

    assert not talk(locked[0], search, token=token_of("vera", "viewer")).is_error
    assert talk(locked[0], propose, token=token_of("vera", "viewer")).structured_content["code"] == "POLICY_VIOLATION"
    assert not talk(locked[0], propose, token=token_of("robot", "agent")).is_error


@pytest.mark.promise("mcp.auth")
def test_a_session_belongs_to_whoever_opened_it(locked: tuple[str, Path]) -> None:
    mine = {"authorization": f"Bearer {token_of('ada', 'viewer')}"}
    theirs = {"authorization": f"Bearer {token_of('eve', 'viewer')}"}
    opened = httpx.post(locked[0], json=HELLO, headers={**ACCEPT, **mine})
    session = {"mcp-session-id": opened.headers["mcp-session-id"], "mcp-protocol-version": "2025-11-25"}
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}

    assert httpx.post(locked[0], json=ping, headers={**ACCEPT, **mine, **session}).status_code == 200
    assert httpx.post(locked[0], json=ping, headers={**ACCEPT, **theirs, **session}).status_code == 404


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.promise("mcp.auth")
def test_without_an_auditors_role_only_ones_own_receipts_can_be_read(locked: tuple[str, Path], era: str) -> None:
    async def call(client: Client) -> str:
        receipt_id = (await client.call_tool("noisy", {"text": "private"})).meta["tallystick/receipt"]
        assert (await client.read_resource(f"tally://receipts/{receipt_id}")).contents
        verified = await client.call_tool("verify", {})
        assert verified.structured_content["category"] == "rbac_denied"
        return receipt_id

    def read(receipt_id: str) -> Any:
        return lambda client: client.read_resource(f"tally://receipts/{receipt_id}")

    receipt_id = talk(locked[0], call, era=era, token=token_of("ada", "viewer"))

    with pytest.raises(BaseException) as refused:  # noqa: PT011 - the client's task group wraps it
        talk(locked[0], read(receipt_id), era=era, token=token_of("eve", "viewer"))
    assert _has(refused.value, MCPError)
    assert talk(locked[0], read(receipt_id), era=era, token=token_of("rex", "auditor")).contents


def test_the_ledger_of_a_served_workspace_verifies(served: tuple[str, Path]) -> None:
    assert verify(served[1]).ok


def _has(error: BaseException, kind: type[BaseException]) -> bool:
    if isinstance(error, BaseExceptionGroup):
        return any(_has(inner, kind) for inner in error.exceptions)
    return isinstance(error, kind)
