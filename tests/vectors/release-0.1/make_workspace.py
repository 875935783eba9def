"""Fill an empty folder by the commands of release 0.1: `python make_workspace.py FOLDER`, with that release's code.

It only calls `tally` and what the package exports, so that what is made is what a user of that release has.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

TOOLS = """from tallystick import tool


@tool(effect="read")
def word_count(text: str) -> int:
    "Count the words of a text."
    return len(text.split())


@tool(effect="write")
def broken(number: int) -> int:
    "Fail."
    raise ValueError(number)


@tool(effect="external")
def send_mail(to: str, body: str) -> str:
    "Send a mail."
    return f"sent to {to}"
"""
CONFIG = '[gate]\ntools = ["tools.py"]\n\n[ledger]\ndurability = "os"\n'
SCENE = """# The Harbour

Helen had green eyes. The supply ship came on Fridays, whatever the weather was.
"""
PRICES = """# Delivery

Delivery within the country costs 4 pounds. Delivery takes three working days.
"""
TICKETS = "id,created_at,subject,body,department\n" + "".join(
    f"{number},2026-0{1 + number % 3}-1{number % 10},{subject} {number},{body},{department}\n"
    for number, (subject, body, department) in enumerate(
        [
            ("Signed out", "The app signs me out every morning.", "app"),
            ("Invoice", "The invoice shows the wrong address.", "billing"),
            ("Late parcel", "My parcel is three days late.", "shipping"),
        ]
        * 8,
        1,
    )
)
TOKEN = "import sys; from pathlib import Path; from tallystick.doors.identity import StartupToken\nprint(StartupToken.create(state_dir=Path(sys.argv[1]), workspace=Path.cwd()).value)"


def tally(*words: str, codes: tuple[int, ...] = (0,)) -> str:
    """Run one command; what it said on stdout."""
    done = subprocess.run([sys.executable, "-m", "tallystick", *words], capture_output=True, text=True, check=False)
    assert done.returncode in codes, (words, done.returncode, done.stdout, done.stderr)
    return done.stdout


def main(folder: Path) -> None:
    """Make everything that a workspace holds, a little of each."""
    os.chdir(folder)
    for name, text in {
        "tools.py": TOOLS,
        "tallystick.toml": CONFIG,
        "Story/Scenes/SCN-01-the-harbour.md": SCENE,
        "kb/delivery.md": PRICES,
        "data/tickets.csv": TICKETS,
    }.items():
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    calls()
    rooms()
    damage()
    tally("audit", "verify")


def calls() -> None:
    """Receipts of calls that ran, failed, were refused, wait, were granted, were erased; and new keys."""
    state = os.environ["TALLY_STATE_DIR"]
    token = subprocess.run(
        [sys.executable, "-c", TOKEN, state], capture_output=True, text=True, check=True
    ).stdout.strip()
    ran = json.loads(tally("--json", "call", "word_count", '{"text": "one two three"}'))
    tally("call", "broken", '{"number": 1}', codes=(6,))
    tally("call", "no_such_tool", "{}", codes=(1, 2))
    granted = json.loads(tally("--json", "call", "send_mail", '{"to": "a@example.org", "body": "yes"}', codes=(3,)))
    tally("approvals", "approve", granted["held"]["approval_id"], "--token", token)
    tally("call", "send_mail", '{"to": "b@example.org", "body": "this one waits"}', codes=(3,))
    tally("audit", "erase", ran["receipt_id"], "--reason", "a test of erasing", "--token", token)
    tally("keys", "rotate", "--token", token)


def rooms() -> None:
    """What each room keeps in files and tables."""
    tally(
        "memory",
        "add",
        "The capacity of the Kestrel kettle is 1.7 litres.",
        "--source",
        "catalogue",
        "--class",
        "document",
    )
    tally(
        "memory", "add", "The capacity of the Kestrel kettle is 2 litres.", "--source", "a-visitor", "--class", "human"
    )
    tally("insight", "ingest", "data/tickets.csv", "--name", "tickets")
    tally("insight", "embed", "1")
    tally("insight", "cluster", "1", "--clusters", "3")
    tally("insight", "analyze", "1", "Which department gets the most tickets?")
    tally("desk", "add", "What does delivery cost?", "--thread", "thread-1", "--from", "customer-1")
    tally("desk", "work")
    tally("desk", "add", "When is the shop open?", "--thread", "thread-2", "--from", "customer-2")
    tally("issues", "new", "The eyes change colour", "--body", "Green in the first scene.", "--tag", "canon")
    tally("chat", "--once", "When did the supply ship come?", "--session", "chat-1", "--offline")


def damage() -> None:
    """Tear the last line of the journal, as a crash does, so that the next process leaves a record of the repair."""
    [journal] = Path(".control-room/audit/journal").glob("0*.log")
    with journal.open("ab") as file:
        file.write(b'{"torn')
    tally("call", "word_count", '{"text": "after the crash"}')


if __name__ == "__main__":
    main(Path(sys.argv[1]))
