"""Anyone can check afterwards: verify a ledger, then change one character and verify again."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick import Gate, tool


@tool(effect="write")
def note(text: str) -> str:
    """Write something down."""
    return text


def main() -> None:
    """Make three receipts, verify, tamper, verify."""
    with TemporaryDirectory() as folder:
        with Gate.open(Path(folder)) as gate:
            gate.register(note)
            for text in ("one", "two", "three"):
                gate.call_sync("note", {"text": text}, session="s1")

        print("untouched:", verified(folder))
        journal = next((Path(folder) / ".control-room" / "audit" / "journal").glob("*.log"))
        journal.write_bytes(journal.read_bytes().replace(b'"two"', b'"six"', 1))
        print("one word: ", verified(folder))


def verified(folder: str) -> str:
    """What `tally audit verify` would say in a line."""
    report = Gate.verify(folder)
    if report.ok:
        return f"ok, {report.size} receipts"
    return f"NOT ok: record {report.problems[0].seq}: {report.problems[0].reason}"


if __name__ == "__main__":
    main()
