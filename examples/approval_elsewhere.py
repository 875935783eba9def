"""A call that waits for a person, who answers from another process.

The tool reaches the world outside, so policy asks. Approving runs nothing: it writes a grant for exactly this call,
and the process that has the tool uses it, once.
"""

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick import Gate, tool

ANSWER = """
import sys
from tallystick import Gate
with Gate.open(sys.argv[1]) as gate:
    gate.approvals.approve(sys.argv[2], person="ada", channel="terminal")
"""
"""What `tally approvals approve ID` does after it has made sure that a person sits at the terminal."""


@tool(effect="external")
def send_letter(to: str, text: str) -> str:
    """Send a letter."""
    return f"sent {len(text)} characters to {to}"


def main() -> None:
    """Hold, approve elsewhere, run once."""
    with TemporaryDirectory() as folder, Gate.open(Path(folder)) as gate:
        gate.register(send_letter)
        letter = {"to": "bob", "text": "The scene is done."}

        held = gate.call_sync("send_letter", letter, session="s1")
        assert held.held is not None  # noqa: S101 - the point of the example
        print("first try:     ", held.status, held.rejection.reason if held.rejection else "")

        subprocess.run([sys.executable, "-c", ANSWER, folder, held.held.approval_id], check=True)  # noqa: S603

        print("same call:     ", gate.call_sync("send_letter", letter, session="s1").unwrap())
        again = gate.call_sync("send_letter", letter, session="s1")
        print("once more:     ", again.status, again.rejection.reason if again.rejection else "")
        other = gate.call_sync("send_letter", {**letter, "to": "eve"}, session="s1")
        print("someone else:  ", other.status, other.rejection.reason if other.rejection else "")


if __name__ == "__main__":
    main()
