"""A workspace full of other people's markup: in file names and texts, tickets, replies, results, receipts, everywhere."""

import asyncio
import csv
import json
from pathlib import Path

from tallystick import Gate
from tallystick.app.agents import conversation_of
from tallystick.gate.session import LOCAL_OWNER
from tallystick.rooms.desk.room import Desk
from tallystick.rooms.studio.conference.model import Conference
from tallystick.rooms.studio.issues.model import Issue, NewIssue
from tallystick.rooms.studio.room import Studio
from tallystick.rooms.studio.services.conference import ConferenceService
from tallystick.storage.notifications import Notifications
from tests.doors.http.talking import serve_agent
from tests.scripted_server import Says, ScriptedServer

TOOLS = """
from tallystick import tool

@tool(effect="read")
def echo(text: str) -> str:
    "Give it back."
    return text

@tool(effect="external")
def send(text: str) -> str:
    "Send it."
    return text
"""
CONFIG = '[gate]\ntools = ["tools.py"]\n[ledger]\ndurability = "os"\n'
MOST_NAMES = 60
"""Files with such a name; a few of each kind are enough, and the tree stays readable."""
LONGEST = 4_000


def write_workspace(workspace: Path, payloads: list[str]) -> dict[str, str]:
    """Make it; gives the paths of the pages where the texts must show, with something of each that must be seen."""
    (workspace / "tools.py").write_text(TOOLS)
    (workspace / "tallystick.toml").write_text(CONFIG)
    everything = "\n".join(payloads)
    _files(workspace, payloads)
    pages: dict[str, str] = {}
    with Gate.open(workspace) as gate:
        pages |= _calls(gate, everything)
        pages |= _tickets(gate, workspace, payloads)
        pages |= _talk(gate, workspace, everything)
        _remembered(gate, payloads)
    Notifications(workspace).add(level="warn", source=payloads[0], text=payloads[2], link=payloads[9])
    first = "<img src=x onerror=window.tallyOwned=1>"
    return {"/": payloads[2], "/workspace": first, "/memory": first, "/insight": payloads[0], **pages}


def _files(workspace: Path, payloads: list[str]) -> None:
    scenes = workspace / "Story" / "Scenes"
    scenes.mkdir(parents=True)
    names = [each for each in payloads if "/" not in each and "\0" not in each and len(each.encode()) < 200]
    for name in names[:MOST_NAMES]:
        (scenes / f"{name}.md").write_text(f"# {name}\n\n{name}\n")
    (scenes / "all.md").write_text("\n\n".join(payloads) + "\n")


def _calls(gate: Gate, everything: str) -> dict[str, str]:
    done = gate.call_sync("echo", {"text": everything[:LONGEST]}, session="nasty")
    refused = gate.call_sync(everything[:90], {everything[:50]: 1}, session="nasty")
    held = gate.call_sync("send", {"text": everything[:LONGEST]}, session="nasty").held
    assert held is not None
    start = "window.tallyOwned=1"
    return {
        f"/receipts/{done.receipt_id}": start, f"/receipts/{refused.receipt_id}": "INVALID_TOOL_NAME",
        f"/approvals/{held.approval_id}": start, "/receipts?words=echo": "echo", "/approvals": "window.tallyOwned",
        "/workspace?path=Story/Scenes/all.md": start,
    }  # fmt: skip


def _tickets(gate: Gate, workspace: Path, payloads: list[str]) -> dict[str, str]:
    desk = gate.room("desk")
    assert isinstance(desk, Desk)
    taken = [
        desk.service.intake.take({"type": "message", "content": text, "actor": payloads[0]}) for text in payloads[:8]
    ]
    with (workspace / "tickets.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "department"])
        writer.writerows([place, text, payloads[place % 5]] for place, text in enumerate(payloads))
    made = gate.call_sync("tool.ingest.upload", {"file_path": "tickets.csv", "dataset_name": payloads[0][:80]}).unwrap()
    number = made["dataset_id"]
    gate.call_sync("tool.embed.run", {"dataset_id": number}).unwrap()
    return {
        "/desk": "window.tallyOwned", f"/desk/{taken[2].ticket_id}": payloads[2], f"/insight/{number}": payloads[0],
        f"/insight/{number}/file": payloads[0],
    }  # fmt: skip


def _talk(gate: Gate, workspace: Path, everything: str) -> dict[str, str]:
    """A round in which a model says all of it: a reply without evidence, so it is shown as refused."""
    conferences = ConferenceService(gate, conversation_of(gate))
    made = conferences.create(["assistant", "critic"], caller=LOCAL_OWNER, name=everything[:60])
    assert isinstance(made, Conference)
    studio = gate.room("studio")
    assert isinstance(studio, Studio)
    issue = studio.tracker.issues.create(NewIssue(title=everything[:120], body=everything[:LONGEST], opened_by="local"))
    assert isinstance(issue, Issue)
    with ScriptedServer(always=Says(everything[:LONGEST])) as model:
        serve_agent(workspace, model, "critic")
        asked = f"Say something about Story/Scenes/all.md. {everything[:800]}"
        asyncio.run(conferences.hold(made.conference_id, asked, caller=LOCAL_OWNER))
    start = "window.tallyOwned=1"
    return {f"/conference/{made.conference_id}": start, f"/issues/{issue.issue_id}": start, "/issues": "tallyOwned"}


def _remembered(gate: Gate, payloads: list[str]) -> None:
    for text in payloads[:12]:
        source = {"id": text[:150], "class": "document"}
        told = {"text": f"{text} is {text}", "source": source, "observed_at": "2026-01-01T00:00:00Z"}
        seen = gate.call_sync("record_observation", told).unwrap()["observation_id"]
        said = {"subject": text[:200], "predicate": "is", "object": text[:200], "observation_ids": [seen]}
        gate.call_sync("propose_proposition", said).unwrap()


def own_payloads() -> list[str]:
    """Ours, with a harmless mark each: whatever runs sets it."""
    found: list[str] = json.loads((Path(__file__).parents[1] / "vectors" / "page_markup.json").read_text())
    return found


def outside_payloads(data: Path) -> list[str]:
    """What others collected that has to do with markup."""
    lists = [data / "blns" / "dev" / "blns.json", data / "seclists" / "dev" / "Fuzzing" / "URI-XSS.fuzzdb.txt"]
    found: list[str] = []
    for path in lists:
        if path.suffix == ".json" and path.exists():
            found += json.loads(path.read_text())
        elif path.exists():
            found += path.read_text().splitlines()
    return [each for each in dict.fromkeys(found) if each.isprintable() and ("<" in each or "script" in each.lower())]
