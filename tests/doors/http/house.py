"""Tools that end in every way a tool can end."""

import asyncio
import threading
from dataclasses import dataclass, field
from typing import Any

from tallystick import Gate, Tool, ToolError, tool
from tallystick.gate.decide.verdict import ALLOW


@dataclass
class Ran:
    """What really ran, whatever was answered."""

    calls: list[tuple[str, Any]] = field(default_factory=list)
    begun: threading.Event = field(default_factory=threading.Event)
    """`patient` has begun."""
    go_on: threading.Event = field(default_factory=threading.Event)
    """Lets `patient` end."""

    def note(self, name: str, value: Any = None) -> None:
        self.calls.append((name, value))


def house_tools(ran: Ran, gate: Gate) -> list[Tool]:
    return [*_good(ran), *_failing(ran), *_guarded(ran, gate), *_roles(ran)]


def _good(ran: Ran) -> list[Tool]:
    @tool(effect="read", inline=True)
    def double(number: int) -> int:
        "Twice the number."
        ran.note("double", number)
        return 2 * number

    @tool(effect="read", inline=True, aliases=("say",), key_aliases={"words": "text"})
    def echo(text: str, times: int = 1) -> str:
        "The text again."
        return text * times

    @tool(effect="write")
    def store(name: str, *, dry_run: bool = False) -> str:
        "Keep a name."
        ran.note("store", (name, dry_run))
        return "would keep" if dry_run else "kept"

    @tool(effect="external")
    def send_mail(to: str, body: str = "", password: str = "") -> str:
        "Send a mail."
        ran.note("send_mail", (to, body, password))
        return f"sent to {to}"

    @tool(effect="write", audited=True, action="analysis.run", resource="dataset:{dataset_id}", audit_keys=("model",))
    def analyse(dataset_id: int, model: str, question: str) -> dict[str, Any]:
        "Run an analysis."
        return {"analysis_id": dataset_id + 1, "answer": f"about {question}"}

    return [double, echo, store, send_mail, analyse]


def _failing(ran: Ran) -> list[Tool]:
    @tool(effect="read")
    def broken() -> int:
        "Raise."
        raise ValueError("hunter2 in /secret/path")

    @tool(effect="read", inline=True)
    def absent(status: int) -> int:
        "Say that something is not there."
        raise ToolError("no such thing", status=status, hint="look elsewhere")

    @tool(effect="read", inline=True)
    def half_installed() -> int:
        "Lack a part."
        raise ToolError("the index is not installed", unavailable=True)

    @tool(effect="read", inline=True)
    def liar() -> int:
        "Give back another shape."
        return "not a number"  # type: ignore[return-value]

    @tool(effect="read", timeout_s=0.05)
    async def slow() -> int:
        "Never come back."
        await asyncio.Event().wait()
        return 0

    @tool(effect="write", timeout_s=30)
    def patient(name: str) -> str:
        "Wait to be let go."
        ran.begun.set()
        assert ran.go_on.wait(20)
        ran.note("patient", name)
        return f"{name} is done"

    @tool(effect="write", timeout_s=30)
    async def endless(name: str) -> str:
        "Wait until cancelled."
        ran.begun.set()
        await asyncio.Event().wait()
        return name

    return [broken, absent, half_installed, liar, slow, patient, endless]


def _guarded(ran: Ran, gate: Gate) -> list[Tool]:
    ticks = iter(range(1_000_000))

    @tool(effect="write", rule=lambda _proposal, _snapshot: ALLOW, snapshot=lambda: {"at": next(ticks)})
    def restless(name: str) -> str:
        "Write into a room that changes all the time."
        ran.note("restless", name)
        return name

    @tool(effect="read", rule=lambda _proposal, _snapshot: ALLOW, snapshot=lambda: gate.unregister("vanishing"))
    def vanishing() -> str:
        "Be gone before it runs."
        ran.note("vanishing")
        return "ran"

    @tool(effect="write", owned_keys=frozenset({"status"}), provenance_key="observation_ids")
    def remember(text: str, observation_ids: list[str], extra: dict[str, Any] | None = None) -> str:
        "Write into memory."
        ran.note("remember", text)
        return text

    @tool(effect="read")
    def forbidden() -> str:
        "Be denied by policy."
        ran.note("forbidden")
        return "ran"

    @tool(effect="read", inline=True)
    def rated() -> str:
        "Be asked once a minute."
        return "once"

    @tool(effect="read", inline=True)
    def picky(number: int) -> int:
        "Take small numbers only, by policy."
        ran.note("picky", number)
        return number

    return [restless, vanishing, remember, forbidden, rated, picky]


ROLES: dict[str, set[str]] = {
    "anyone_reads": set(),
    "viewer_reads": {"viewer", "analyst", "admin"},
    "analyst_runs": {"analyst", "admin"},
    "admin_saves": {"admin"},
}
"""Tool → roles of which one is enough."""


def _roles(ran: Ran) -> list[Tool]:
    def made(name: str, roles: set[str]) -> Tool:
        @tool(effect="read", inline=True, name=name, roles=roles)
        def run() -> str:
            "Run for its roles."
            ran.note(name)
            return name

        return run

    return [made(name, roles) for name, roles in ROLES.items()]
