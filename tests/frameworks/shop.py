"""The same small shop for every framework: a read, a write that is held, a tool whose arguments have odd names."""

from typing import Any

from tallystick import Gate, Tool, tool

GOOD = ("stock__count", {"item": "lamp"})
WRONG = ("stock__count", {"thing": "lamp"})
HELD = ("order", {"item": "lamp"})
ODD = ("odd", {"config": "a", "run_manager": "b", "self": "c"})


class Shop:
    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.ran: list[Any] = []
        gate.register(*self._tools())

    def receipts(self) -> list[dict[str, Any]]:
        """What came of each call."""
        found = [receipt.flat() for receipt in self.gate.ledger.session("s1")]
        return [receipt for receipt in found if receipt["kind"] == "outcome"]

    def _tools(self) -> list[Tool]:
        @tool(effect="read", name="stock.count")
        def count(item: str) -> int:
            "Say how many there are."
            self.ran.append(item)
            return len(item)

        @tool(effect="external")
        async def order(item: str) -> dict[str, str]:
            "Order one more."
            self.ran.append(item)
            return {"ordered": item}

        names = {name: {"type": "string"} for name in ODD[1]}

        @tool(
            effect="read",
            name="odd",
            input_schema={"type": "object", "properties": names, "required": list(names)},
            output_schema={"type": "object"},
        )
        def odd(**given: str) -> dict[str, str]:
            "Take arguments that frameworks use for themselves."
            return given

        return [count, order, odd]
