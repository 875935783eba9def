"""What the real model is asked: different requests, tools and kinds of argument, in a small workspace."""

from pathlib import Path
from typing import Any

from tallystick.gate.tool import Tool, tool

FILES = {
    "notes/harbour.md": "The harbour froze in January.\nBoats stayed in until March.\n",
    "notes/mill.md": "The mill burned down in 1881.\nNobody rebuilt it.\n",
    "story/chapter-1.md": "Ada counted the lamps.\nThere were seven, and one was out.\n",
}
PROMPTS = [
    ("file_reader", "Read notes/harbour.md and tell me when the harbour froze."),
    ("file_reader", "What happened to the mill? It is in notes/mill.md."),
    ("file_reader", "How many lamps did Ada count in story/chapter-1.md?"),
    ("file_reader", "Show me line 2 of notes/harbour.md."),
    ("file_reader", "Open story/chapter-1.md and summarise it."),
    ("file_locator", "Which file mentions the harbour?"),
    ("file_locator", "Find everything about the mill."),
    ("file_locator", "Where does Ada appear?"),
    ("file_locator", "List the notes in this workspace."),
    ("file_locator", "Is there a chapter about lamps?"),
    ("order_status", "Where is order A-1042?"),
    ("order_status", "Has A-2211 been delivered yet?"),
    ("order_status", "My parcel A-7310 is late. Please look."),
    ("order_status", "Check the status of A-0001 for me."),
    ("order_status", "Tell me about A-9999, with its history."),
    ("convert", "How many metres are 12 feet?"),
    ("convert", "Convert 100 miles into kilometres."),
    ("convert", "What is 3.5 inches in centimetres?"),
    ("convert", "I have 20 pounds of flour. How many kilograms is that?"),
    ("convert", "Turn 98.6 Fahrenheit into Celsius."),
    ("plan_days", "Plan two days: packing, then travel."),
    ("plan_days", "Make a schedule for a long weekend by the sea."),
    ("plan_days", "Set up a plan with a high priority for moving house."),
    ("plan_days", "I need a two-day plan for painting the kitchen."),
]


def tools() -> list[Tool]:
    @tool(name="order_status", effect="read", input_schema=_closed(
        {"order_id": {"type": "string", "pattern": "^A-[0-9]{4}$"}, "history": {"type": "boolean"}}, "order_id"
    ))  # fmt: skip
    async def order_status(order_id: str, *, history: bool = False) -> dict[str, Any]:
        """Look up an order by its number, which looks like A-1234."""
        return {"order_id": order_id, "status": "on its way", "history": ["packed"] if history else []}

    @tool(name="convert", effect="read", input_schema=_closed(
        {"amount": {"type": "number"}, "unit": {"enum": ["foot", "mile", "inch", "pound", "fahrenheit"]}},
        "amount", "unit",
    ))  # fmt: skip
    async def convert(amount: float, unit: str) -> dict[str, Any]:
        """Convert an amount of a unit into the metric one."""
        return {"amount": amount, "unit": unit, "metric": round(amount * 0.3048, 3)}

    @tool(name="plan_days", effect="read", input_schema=_closed(
        {
            "days": {"type": "array", "minItems": 1, "maxItems": 2, "items": _closed(
                {"title": {"type": "string", "minLength": 1, "maxLength": 40}, "hours": {"type": "integer", "minimum": 1, "maximum": 12}},
                "title",
            )},
            "priority": {"enum": ["low", "high"]},
        },
        "days",
    ))  # fmt: skip
    async def plan_days(days: list[dict[str, Any]], priority: str = "low") -> dict[str, Any]:
        """Make a plan of one or two days, each with a title."""
        return {"days": len(days), "priority": priority}

    return [order_status, convert, plan_days]


def furnish(workspace: Path) -> None:
    for name, text in FILES.items():
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(text, encoding="utf-8")


def _closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
