"""The public conformance suite: what applies passes, and what does not apply is named with a reason."""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="left out: `tally mcp serve`, the mcp extra is not there")

from mcp.client.client import Client

from tallystick import Gate
from tallystick.doors.mcp.serve.server import Serving
from tallystick.settings import parse_settings
from tests.doors.mcp.conformance import NOT_HERE, TOOLS, run_suite
from tests.doors.mcp.served import SESSION

INSTALLED = os.environ.get("TALLY_MCP_CONFORMANCE")


@pytest.mark.promise("mcp.conformance")
def test_every_scenario_of_the_public_suite_that_applies_passes(tmp_path: Path) -> None:
    if INSTALLED is None:
        pytest.skip("left out: the npm conformance suite, TALLY_MCP_CONFORMANCE not there")
    scored = run_suite(Path(INSTALLED).resolve(), tmp_path)

    assert [each for each in scored if each.fails] == []
    failing = {each.scenario for each in scored if each.failed}
    assert NOT_HERE.keys() <= failing, "these pass now: take them off the list"
    assert len({each.scenario for each in scored}) > 40


@pytest.mark.promise("mcp.conformance")
def test_every_requirement_that_is_left_out_is_one_the_suite_has(data: Path) -> None:
    lists = data / "mcp-conformance" / "dev"
    if not lists.is_dir():
        pytest.skip("left out: the lists of requirements, TALLY_DATA not there")
    named = "".join(path.read_text() for path in lists.glob("*.yaml"))

    assert [scenario for scenario in NOT_HERE if scenario not in named] == []


@pytest.mark.promise("mcp.conformance")
def test_the_suites_tools_give_what_it_asks_for(tmp_path: Path) -> None:
    """The same ground without the suite: every kind of content, an error, the whole of a schema."""
    (tmp_path / "tools.py").write_text(TOOLS.read_text())
    settings = parse_settings({"ledger": {"durability": "os"}, "gate": {"tools": ["tools.py"]}})

    async def all_of_them() -> dict[str, Any]:
        async with Client(Serving(gate, session_id=SESSION, wait_s=0).server()) as client:
            names = [made.name for made in (await client.list_tools()).tools if made.name.startswith("test_")]
            wanted = {name: {"region": "eu"} if name == "test_headers" else {} for name in names}
            return {name: await client.call_tool(name, args) for name, args in wanted.items()} | {
                "schemas": {made.name: made.input_schema for made in (await client.list_tools()).tools}
            }

    with Gate.open(tmp_path, settings=settings) as gate:
        got = asyncio.run(all_of_them())

    kinds = {name: [block.type for block in result.content] for name, result in got.items() if name != "schemas"}
    assert kinds["test_image_content"] == ["image"]
    assert kinds["test_audio_content"] == ["audio"]
    assert kinds["test_embedded_resource"] == ["resource"]
    assert kinds["test_multiple_content_types"] == ["text", "image", "resource"]
    assert got["test_error_handling"].is_error
    whole = json.dumps(got["schemas"]["json_schema_2020_12_tool"])
    assert all(
        word in whole for word in ("$schema", "$defs", "$anchor", "allOf", "anyOf", '"if"', "additionalProperties")
    )
    assert got["schemas"]["test_headers"]["properties"]["region"]["x-mcp-header"] == "Region"
