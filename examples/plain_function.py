"""A plain function under the gate: one call that is accepted, with its receipt."""

from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick import Gate, tool


@tool(effect="read")
def word_count(text: str) -> int:
    """Count the words of a text."""
    return len(text.split())


def main() -> None:
    """Open a workspace, register the function, call it."""
    with TemporaryDirectory() as folder, Gate.open(Path(folder)) as gate:
        gate.register(word_count)
        outcome = gate.call_sync("word_count", {"text": "every run leaves a receipt"}, session="s1")
        print("status: ", outcome.status)
        print("result: ", outcome.unwrap())

        receipt = gate.ledger.find(outcome.receipt_id)
        assert receipt is not None  # noqa: S101 - the point of the example
        print("receipt:", receipt.header["kind"], receipt.header["tool_id"], receipt.header["outcome"]["status"])


if __name__ == "__main__":
    main()
