"""What a model may not do: calls that the gate refuses, each with its code, none of which runs."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick import Gate, tool

RUNS: list[int] = []


@tool(effect="read")
async def double(n: int) -> int:
    """Double a whole number."""
    RUNS.append(n)
    return 2 * n


async def main() -> None:
    """Hand the gate what models really produce."""
    with TemporaryDirectory() as folder, Gate.open(Path(folder)) as gate:
        gate.register(double)

        async def said(text: str) -> str:
            """One turn per answer: a malformed call ends its turn."""
            turn = gate.turn(session="s1", agent="chief")
            outcome = await turn.submit(text.replace("NONCE", turn.nonce or ""))
            return str(outcome.rejection.call_code) if outcome.rejection else str(outcome.result)

        print("in prose:       ", await said('Sure! {"tool":"double","args":{"n":7},"nonce":"NONCE"}'))
        print("twice:          ", await said('{"tool":"double","args":{"n":7},"nonce":"NONCE"}{"tool":"double"}'))
        print("wrong nonce:    ", await said('{"tool":"double","args":{"n":7},"nonce":"guess"}'))
        print("unknown tool:   ", await said('{"tool":"Double","args":{"n":7},"nonce":"NONCE"}'))
        print('"7" for 7:      ', await said('{"tool":"double","args":{"n":"7"},"nonce":"NONCE"}'))
        print("true for 1:     ", await said('{"tool":"double","args":{"n":true},"nonce":"NONCE"}'))
        print("ran so far:     ", RUNS)
        print("as it should be:", await said('{"tool":"double","args":{"n":7},"nonce":"NONCE"}'))


if __name__ == "__main__":
    asyncio.run(main())
