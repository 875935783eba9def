"""The public MCP conformance suite against `tally mcp serve --http`.

    make test-mcp

fetches the suite and runs it. `python -m tests.doors.mcp.conformance DIR` prints the table that stands in the results;
DIR is where the suite is, `.mcp-servers` unless it was put elsewhere.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.doors.mcp.processes import http_server, workspace_at

REVISIONS = ("2025-11-25", "2026-07-28")
TOOLS = Path(__file__).with_name("conformance_tools.py")

_LOGGING = "logs stay with the server; the protocol has dropped this part (SEP-2577)"
_SAMPLING = "no tool here asks the client's model; the protocol has dropped this part (SEP-2577)"
_ASKING = "no tool here asks the client's user: a person answers at a terminal or with the start-up token"
_RESOURCES = "asks for the suite's own resources; here resources are receipts"
_PROMPTS = "a registry of tools has no prompts; the list is empty"
_RESUMING = "a stream is not cut off and resumed: the answer comes on the stream of its call"

NOT_HERE: dict[str, str] = {
    "logging-set-level": _LOGGING,
    "tools-call-with-logging": _LOGGING,
    "tools-call-sampling": _SAMPLING,
    "tools-call-elicitation": _ASKING,
    "elicitation-sep1034-defaults": _ASKING,
    "elicitation-sep1330-enums": _ASKING,
    "resources-read-text": _RESOURCES,
    "resources-read-binary": _RESOURCES,
    "resources-templates-read": _RESOURCES,
    "resources-subscribe": _RESOURCES,
    "resources-unsubscribe": _RESOURCES,
    "prompts-get-simple": _PROMPTS,
    "prompts-get-with-args": _PROMPTS,
    "prompts-get-embedded-resource": _PROMPTS,
    "prompts-get-with-image": _PROMPTS,
    "server-sse-polling": _RESUMING,
    "input-required-result-basic-elicitation": _ASKING,
    "input-required-result-basic-sampling": _SAMPLING,
    "input-required-result-basic-list-roots": "no tool here asks for the client's roots (dropped, SEP-2577)",
    "input-required-result-request-state": _ASKING,
    "input-required-result-multiple-input-requests": _ASKING,
    "input-required-result-multi-round": _ASKING,
    "input-required-result-non-tool-request": _ASKING,
    "input-required-result-result-type": _ASKING,
    "input-required-result-tampered-state": _ASKING,
    "input-required-result-capability-check": _ASKING,
    "server-stateless": "two of its checks need a tool that relies on the client's sampling; all others must pass",
}
"""Scenarios that do not apply, with the reason."""
EXTENSIONS = ("tasks-", "sep-2640-")
"""Optional extensions that are not offered."""
CHECKS_NOT_HERE = {"server-stateless": 2}
"""Of a scenario that applies but for some checks: how many may fail."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """One scenario of one revision."""

    revision: str
    scenario: str
    passed: int
    failed: int

    @property
    def reason(self) -> str | None:
        """Why it need not pass; None: it must."""
        if self.scenario.startswith(EXTENSIONS):
            return "an optional extension that is not offered"
        return NOT_HERE.get(self.scenario)

    @property
    def fails(self) -> bool:
        """Whether it fails and applies."""
        allowed = CHECKS_NOT_HERE.get(self.scenario)
        return self.failed > (allowed or 0) if allowed is not None or self.reason is None else False


def run_suite(installed: Path, folder: Path) -> list[Scored]:
    """Serve the suite's tools and let it try everything both revisions require."""
    state = f'[storage]\nstate_dir = "{folder / "state"}"\n'
    workspace = workspace_at(folder / "ws", state, TOOLS.read_text())
    scored: list[Scored] = []
    with http_server(workspace, "--wait", "0") as url:
        for revision in REVISIONS:
            scored += _run(installed, url, revision)
    return scored


def table(scored: list[Scored]) -> str:
    """Markdown."""
    lines = ["| revision | scenario | checks passed | failed | |", "|---|---|---|---|---|"]
    for each in scored:
        note = "" if not each.failed else f"does not apply: {each.reason}" if not each.fails else "**fails**"
        lines.append(f"| {each.revision} | {each.scenario} | {each.passed} | {each.failed} | {note} |")
    return "\n".join(lines)


def _run(installed: Path, url: str, revision: str) -> list[Scored]:
    node = installed / "node_modules" / "node" / "bin" / "node"
    suite = installed / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    program = str(node) if node.exists() else "node"
    done = subprocess.run(
        [program, str(suite), "server", "--url", url, "--requirements", revision],
        capture_output=True, text=True, check=False, timeout=600, cwd=installed, env=dict(os.environ),
    )  # fmt: skip
    found = re.findall(r"^[✓✗] (\S+): (\d+) passed, (\d+) failed", done.stdout, re.MULTILINE)
    assert found, done.stdout[-2000:] + done.stderr[-2000:]
    return [Scored(revision=revision, scenario=name, passed=int(good), failed=int(bad)) for name, good, bad in found]


if __name__ == "__main__":
    with TemporaryDirectory() as made:
        print(table(run_suite(Path(sys.argv[1]).resolve(), Path(made))))  # noqa: T201 - that is what it is for
