"""The gate in two minutes. Nothing is installed, nothing is sent anywhere.

A made-up model answers in every way models do; the gate accepts what is right, refuses what is not, asks where it
must, checks what is claimed, and anybody can verify the ledger afterwards.
"""

import asyncio
import sys
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick import Gate, Outcome, ToolError, note_file, tool

STORY = """# The lighthouse

Ada kept the light for thirty years, and in all that time
she had never once set foot on a boat.
The supply ship came on Fridays. She waved from the gallery.
"""
sent: list[str] = []


@tool(effect="read")
def read_scene(path: str) -> str:
    """Read a scene of the story."""
    file = Path(folder[0]) / "Story" / Path(path).name
    if not file.is_file():
        raise ToolError(f"there is no scene {file.name}", status=404)
    data = file.read_bytes()
    note_file(f"Story/{file.name}", sha256(data).hexdigest())
    return data.decode()


@tool(effect="external")
def send_letter(to: str, text: str) -> str:
    """Send a letter to someone outside."""
    sent.append(to)
    return f"sent to {to}"


folder: list[str] = []


async def tour(gate: Gate) -> None:
    """Walk through what a model may and may not do."""
    gate.register(read_scene, send_letter)

    title("A tool call is a proposal: one strict JSON object with this step's nonce, or nothing runs")
    for label, text in (
        ("as it should be", '{"tool":"read_scene","args":{"path":"lighthouse.md"},"nonce":"NONCE"}'),
        ("words around it", 'Sure! {"tool":"read_scene","args":{"path":"lighthouse.md"},"nonce":"NONCE"}'),
        ("a guessed nonce", '{"tool":"read_scene","args":{"path":"lighthouse.md"},"nonce":"1234"}'),
        ("an invented tool", '{"tool":"delete_scene","args":{"path":"lighthouse.md"},"nonce":"NONCE"}'),
        ("a number for text", '{"tool":"read_scene","args":{"path":7},"nonce":"NONCE"}'),
        ("no such scene", '{"tool":"read_scene","args":{"path":"storm.md"},"nonce":"NONCE"}'),
    ):
        turn = gate.turn(session="demo", agent="chief")
        line(label, said(await turn.submit(text.replace("NONCE", turn.nonce or ""))))

    title("What reaches the world outside waits for a person, who allows exactly this call, once")
    letter = {"to": "publisher", "text": "The scene is done."}
    held = await gate.call("send_letter", letter, session="demo")
    line("first", said(held))
    if held.held is not None:
        gate.approvals.approve(held.held.approval_id, person="you", channel="terminal")
    line("approved, the same call", said(await gate.call("send_letter", letter, session="demo")))
    line("approved, another recipient", said(await gate.call("send_letter", {**letter, "to": "eve"}, session="demo")))
    line("letters that went out", ", ".join(sent))

    title("A claim shows its evidence, and the evidence is looked up")
    for label, quote in (
        ("true quote", '"she had never once set foot on a boat"'),
        ("one word off", '"she had never once set foot on a ship"'),
    ):
        reply = f"Ada does not sail.\nEvidence: {quote} Story/lighthouse.md:L4"
        findings = gate.check_reply(reply, session="demo", agent="critic", tools_ran=False)
        nearest = next((item.closest for item in findings.items if item.closest), None)
        line(label, "holds" if findings.ok else f"{findings.code}; nearest: {nearest['text'] if nearest else '-'}")


def said(outcome: Outcome) -> str:
    """One outcome in a line."""
    if outcome.held is not None:
        return f"held for approval ({outcome.held.approval_id})"
    if outcome.rejection is not None:
        return f"refused: {outcome.rejection.call_code}"
    if outcome.failure is not None:
        return f"accepted, failed: {outcome.failure.message}"
    return f"{outcome.status}: {str(outcome.result).splitlines()[0]!r}  {outcome.receipt_id}"


def title(text: str) -> None:
    """A heading."""
    print(f"\n{text}\n" + "-" * len(text))


def line(label: str, text: str) -> None:
    """One thing that happened."""
    print(f"  {label:<28}{text}")


def main() -> None:
    """Run the tour in a folder that is gone afterwards, or in the one given."""
    with TemporaryDirectory() as scratch:
        folder.append(sys.argv[1] if len(sys.argv) > 1 else scratch)
        story = Path(folder[0]) / "Story"
        story.mkdir(parents=True, exist_ok=True)
        (story / "lighthouse.md").write_text(STORY, encoding="utf-8")
        with Gate.open(folder[0]) as gate:
            asyncio.run(tour(gate))

        title("Anyone can check afterwards")
        line("verify", summary())
        journal = next((Path(folder[0]) / ".control-room" / "audit" / "journal").glob("*.log"))
        journal.write_bytes(journal.read_bytes().replace(b"publisher", b"plumber!!", 1))
        line("one word changed on disk", summary())


def summary() -> str:
    """What `tally audit verify` says, in a line."""
    report = Gate.verify(folder[0])
    if report.ok:
        return f"all {report.size} receipts hold"
    return f"NOT ok: record {report.problems[0].seq}: {report.problems[0].reason}"


if __name__ == "__main__":
    main()
