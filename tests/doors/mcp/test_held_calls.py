"""Held calls in clients that declare forms: the official client and FastMCP's, both unmodified."""

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="left out: held calls under the official client, the mcp extra is not there")

from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.types import ElicitResult

from tallystick import Gate
from tests.doors.mcp.processes import command, workspace_at
from tests.verifying import verify
from tests.wrapped import PATIENCE_S, House

ROOT = str(Path(__file__).parents[3])
SERVER = [sys.executable, "-m", "tests.doors.mcp.revision_server"]
POLICY = '[policy]\nread = "allow"\nwrite = "ask"\nexternal = "ask"\n'
SENT = """
import pathlib
from tallystick import tool

@tool(effect="external")
def send_mail(to: str) -> str:
    "Send a mail."
    return f"sent to {to}"
"""


def approve(workspace, *, args=None):
    """Answer every waiting call as a person at a terminal would; returns how many there were."""
    with Gate.open(workspace, plugins=False) as gate:
        holds = gate.approvals.list(state="held")
        for hold in holds:
            if args is None:
                gate.approvals.approve(hold.approval_id, person="p", channel="terminal")
            else:
                gate.approvals.edit(hold.approval_id, args, person="p", channel="terminal")
        return len(holds)


class Place:
    """A relay or a server of our own, and clients that show forms."""

    def __init__(self, folder, door, more=""):
        self.shown = []
        self.door = door
        if door == "wrap":
            self.house = House(folder)
            self.house.policy(POLICY + more)
            self.workspace = self.house.workspace
            self.words = self.house.command("--hold", "0.4", command=SERVER)
        else:
            config = f'[storage]\nstate_dir = "{folder / "state"}"\n{more}'
            self.workspace = workspace_at(folder / "ws", config, SENT)
            self.words = command(self.workspace, "--wait", "0.4")

    @asynccontextmanager
    async def client(self, answer, *, mode="auto"):
        async def show(_context, params):
            self.shown.append(params)
            return await answer()

        parameters = StdioServerParameters(command=self.words[0], args=self.words[1:], env=dict(os.environ), cwd=ROOT)
        async with (
            asyncio.timeout(PATIENCE_S),
            Client(parameters, mode=mode, elicitation_callback=show) as client,
        ):
            yield client

    def call(self, answer, *, args=None, mode="auto"):
        async def run():
            async with self.client(answer, mode=mode) as client:
                return await client.call_tool("send_mail", args or {"to": "a"})

        return asyncio.run(run())


@pytest.fixture(params=["wrap", "serve"])
def place(request, tmp_path):
    return Place(tmp_path, request.param)


def text_of(result):
    return result.content[0].text


@pytest.mark.promise("mcp.held-form")
def test_a_held_call_is_a_form_and_runs_once_when_a_person_has_approved_it(place):
    async def approved():
        assert await asyncio.to_thread(approve, place.workspace) == 1
        return ElicitResult(action="accept", content={})

    result = place.call(approved)

    assert (text_of(result), result.is_error) == ("sent to a", False)
    (form,) = place.shown
    assert "tally approvals approve appr_" in form.message
    with Gate.open(place.workspace, plugins=False) as gate:
        ran = [one.header for one in gate.ledger.read() if one.header["kind"] == "outcome" and "approval" in one.header]
    assert [one["approval"]["channel"] for one in ran] == ["terminal"]
    assert verify(place.workspace).ok


@pytest.mark.promise("mcp.held-form")
def test_edited_arguments_run_instead_of_those_that_were_asked_for(place):
    async def edited():
        await asyncio.to_thread(approve, place.workspace, args={"to": "b"})
        return ElicitResult(action="accept", content={})

    assert text_of(place.call(edited)) == "sent to b"


@pytest.mark.promise("mcp.held-form", "relay.elicitation")
@pytest.mark.parametrize("action", ["accept", "decline", "cancel"])
def test_the_answer_to_the_form_approves_nothing(place, action):
    async def answer():
        return ElicitResult(action=action, content={"allow": True} if action == "accept" else None)

    result = place.call(answer)

    assert result.is_error
    assert "tally approvals approve appr_" in text_of(result)
    assert approve(place.workspace) == 1


@pytest.mark.promise("relay.elicitation")
@pytest.mark.parametrize("allow", [True, False])
def test_where_the_configuration_says_so_the_answer_to_the_form_counts(tmp_path, allow):
    place = Place(tmp_path, "wrap", "[approvals]\nelicitation = true\n")

    async def answer():
        return ElicitResult(action="accept", content={"allow": allow})

    result = place.call(answer)
    assert result.is_error is not allow
    assert text_of(result).startswith("sent to a" if allow else "Tallystick: refused")


@pytest.mark.promise("mcp.held-form", "relay.policy-reload")
def test_a_call_that_the_policy_lets_through_meanwhile_runs_when_it_goes_on(tmp_path):
    place = Place(tmp_path, "wrap")

    async def always():
        await asyncio.to_thread(approve, place.workspace)
        place.house.policy(POLICY + '[tools."s.send_mail"]\ndecision = "allow"\n')
        return ElicitResult(action="accept", content={})

    assert text_of(place.call(always)) == "sent to a"
    assert text_of(place.call(None)) == "sent to a"


@pytest.mark.promise("mcp.held-form")
def test_a_request_state_is_of_one_call_only_and_cannot_be_made(place):
    async def run():
        async with place.client(None) as client:
            await client.list_tools()
            first = await client.session.call_tool("send_mail", {"to": "a"}, allow_input_required=True)
            state = first.request_state
            accepted = {name: ElicitResult(action="accept", content={}) for name in first.input_requests}
            await asyncio.to_thread(approve, place.workspace)
            tried = [("send_mail", {"to": "b"}, state), ("send_mail", {"to": "a"}, state[:-4] + "AAA="),
                     ("send_mail", {"to": "a"}, "tallystick.1."), ("send_mail", {"to": "a"}, state)]  # fmt: skip
            return state, [
                await client.session.call_tool(
                    name, args, request_state=given, input_responses=accepted, allow_input_required=True
                )
                for name, args, given in [*tried, tried[-1]]
            ]

    state, results = asyncio.run(run())
    assert "appr_" not in state
    *wrong, right, again = results
    assert [one.is_error for one in wrong] == [True, True, True]
    assert all("the request state does not belong to this call" in text_of(one) for one in wrong)
    assert text_of(right) == "sent to a"
    assert again.is_error
    assert "approval_used" in text_of(again)


@pytest.mark.promise("mcp.held-form")
def test_a_client_with_a_session_waits_and_is_told_the_command(place):
    result = place.call(None, mode="legacy")
    assert place.shown == []
    assert "tally approvals approve appr_" in text_of(result)


FASTMCP = """
import asyncio, json, subprocess, sys
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

words, approve, root = json.loads(sys.argv[1])

async def answer(message, response_type, params, context):
    subprocess.run(approve, check=True, cwd=root)
    return {}

async def main():
    async with Client(StdioTransport(words[0], words[1:], cwd=root), elicitation_handler=answer) as client:
        result = await client.call_tool("send_mail", {"to": "a"}, raise_on_error=False)
        print(json.dumps([result.is_error, result.content[0].text]))

asyncio.run(main())
"""


@pytest.mark.promise("mcp.held-form")
def test_the_same_in_fastmcps_client(place):
    python = os.environ.get("TALLY_FASTMCP_PYTHON")
    if python is None:
        pytest.skip("left out: TALLY_FASTMCP_PYTHON names no interpreter that has FastMCP")
    says = f"from tests.doors.mcp.test_held_calls import approve; approve({str(place.workspace)!r})"
    words = [[sys.executable, *place.words[1:]], [sys.executable, "-c", says], ROOT]
    done = subprocess.run(
        [python, "-c", FASTMCP, json.dumps(words)], capture_output=True, text=True, timeout=PATIENCE_S, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [False, "sent to a"]
