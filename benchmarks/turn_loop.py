"""One agent turn with a model that answers at once: tool call, decision, final answer.

The others check nothing of an answer and record nothing of a call. So the turn is measured as they have it (with our
two receipts, which belong to a call here), and once more with the check of its evidence and the receipt of that.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import orjson

from benchmarks.harness import Row, Suite, table
from tallystick import Gate, tool
from tallystick.gate.execute.outcome import Outcome
from tallystick.gate.reply.findings import Findings
from tallystick.settings import Settings
from tallystick.turns.agent import Agent
from tallystick.turns.loop import Request, TurnResult, run_turn
from tallystick.turns.model import Ask, NativeCall, Said

PROMISES = ("speed.turn",)
GOAL = 0.10
ASKS = {"envelope": 3, "native": 2}
"""How often the model is asked in a turn of one call; the decision is a step of its own in the envelope form."""
PEERS = Path(__file__).parent / "turn_loop_peers.py"
ARGS = '{"text":"hello world","n":7}'
EXPECTED = "hello world:7"
LINE = "The keeper wound the lamp at nine and wrote the hour into the book."
REPLY = f'The lamp was wound at nine.\n\nEvidence: "{LINE}" log.md:L1; receipt {{receipt}}'
FINE = Findings(ok=True)
AGENT = Agent(agent_id="bench", name="Bench", role="clerk", purpose="Answer from the log.")


@tool(effect="read", name="echo")
async def echo(text: str, n: int) -> str:
    """Echo."""
    return f"{text}:{n}"


class Quick:
    """A model that answers at once, from the prompt's nonce and the last receipt."""

    provider, name = "fake", "quick"

    def __init__(self, speech: str, calls: int) -> None:
        self.speech = speech
        self._calls = calls
        self._done = 0

    async def ask(self, ask: Ask, *, hear: Any = None) -> Said:  # noqa: ARG002 - the port has it
        self._done += 1
        if self.speech == "native":
            if self._done <= self._calls:
                return Said(text="", calls=(NativeCall(call_id="c", name="echo", arguments=ARGS),))
            return Said(text=REPLY.format(receipt=_after(ask.messages[-1].content, "receipt_id=")))
        if self._done > self._calls + 1:
            return Said(text=REPLY.format(receipt=_after(ask.messages[-3].content, "receipt_id=")))
        nonce = _after(ask.messages[-1].content, "TOOL_NONCE: ")
        if self._done > self._calls:
            return Said(text=f'{{"action":"final","nonce":"{nonce}"}}')
        action = "" if self._done == 1 else '"action":"tool",'
        return Said(text=f'{{{action}"tool":"echo","args":{ARGS},"nonce":"{nonce}"}}')


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    workspace = folder / "ws"
    workspace.mkdir()
    (workspace / "log.md").write_text(f"{LINE}\n", encoding="utf-8")
    settings = Settings.model_validate(
        {"ledger": {"durability": "os"}, "limits": {"steps": 10**6, "bytes_per_turn": 10**9}}
    )
    gate = Gate.open(workspace, settings=settings, plugins=False)
    gate.register(echo)
    suite = Suite(folder)
    for speech in ("envelope", "native"):
        for calls in (1, 11):
            suite.add(_name(speech, calls), _turn(gate, speech, calls, check=yes), check=_is_good(calls))
        suite.add(f"{_name(speech, 1)}, its evidence checked", _turn(gate, speech, 1), check=_is_good(1))
    suite.add("gate alone: the turn, its call and its wish to finish", _bare(gate), check=lambda outcome: outcome.final)
    rows = suite.measure(rounds=9 if full else 5)
    gate.close()
    peers = measure_peers(full=full)
    return {
        "markdown": f"{table(rows)}\n\n{compared(rows, peers)}",
        "rows": [vars(row) for row in rows],
        "peers": peers,
        "goal": f"a turn and a further step cost ≤ {GOAL:.0%} of what pydantic-ai and openai-agents take for theirs",
    }


def yes(reply: str, **_more: Any) -> Findings:  # noqa: ARG001 - the port has it
    """What the others check of an answer."""
    return FINE


def _turn(gate: Gate, speech: str, calls: int, *, check: Any = None) -> Any:
    def real_check(reply: str, *, tools_ran: bool, receipts: Any, conference: bool) -> Any:  # noqa: ARG001 - the port has them
        return gate.check_reply(reply, session="bench", agent="bench", tools_ran=tools_ran, conference=conference)

    async def one_turn() -> TurnResult:
        turn = gate.turn(session="bench", agent="bench")
        request = Request(message="When was the lamp wound?", agent=AGENT, max_steps=50)
        return await run_turn(request, model=Quick(speech, calls), turn=turn, check=check or real_check)

    return one_turn


def _bare(gate: Gate) -> Any:
    async def calls() -> Outcome:
        turn = gate.turn(session="bench", agent="bench")
        await turn.submit(f'{{"tool":"echo","args":{ARGS},"nonce":"{turn.nonce}"}}')
        return await turn.submit(f'{{"action":"final","nonce":"{turn.nonce}"}}')

    return calls


def _is_good(calls: int) -> Any:
    def good(result: TurnResult) -> bool:
        ran = [step.outcome.result for step in result.steps if step.kind == "call" and step.outcome is not None]
        return result.reply is not None and ran == [EXPECTED] * calls

    return good


def measure_peers(*, full: bool) -> dict[str, Any]:
    """What others take for the same turn, in an environment of their own; empty when there is none."""
    python = os.environ.get("TALLY_PEERS_PYTHON")
    if not python:
        return {}
    done = subprocess.run(
        [python, str(PEERS), "9" if full else "5"], capture_output=True, text=True, check=True, timeout=600
    )
    return orjson.loads(done.stdout.splitlines()[-1])


def compared(rows: list[Row], peers: dict[str, Any]) -> str:
    """Ours beside theirs: the turn with one tool call, and what one more call and its step add."""
    if not peers:
        return (
            "Peers not measured: set TALLY_PEERS_PYTHON to the Python of an environment with "
            "`pydantic-ai-slim` and `openai-agents`."
        )
    ours = {row.case: vars(row) for row in rows}
    figures = {
        f"ours, {speech}": (asks, *_figures(ours[_name(speech, 1)], ours[_name(speech, 11)]))
        for speech, asks in ASKS.items()
    } | {name: (2, *_figures(both["1"], both["11"])) for name, both in peers.items()}
    lines = [
        "| turn of one call | model steps | median µs | CPU µs | one more call µs | CPU µs |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [f"| {name} | {' | '.join(f'{figure:.0f}' for figure in row)} |" for name, row in figures.items()]
    for speech, asks in ASKS.items():
        checked = ours[f"{_name(speech, 1)}, its evidence checked"]
        lines.append(
            f"| ours, {speech}, evidence checked | {asks} | {checked['median_us']:.0f} | {checked['cpu_us']:.0f} | | |"
        )
    return "\n".join([*lines, "", *_shares(figures, list(peers))])


def _shares(figures: dict[str, tuple[float, ...]], peers: list[str]) -> list[str]:
    lines = ["| share of CPU time | of the turn | of a model step | of one more call |", "|---|---:|---:|---:|"]
    for speech in ASKS:
        for peer in peers:
            us, them = figures[f"ours, {speech}"], figures[peer]
            turn, step, more = us[2] / them[2], us[2] / us[0] / (them[2] / them[0]), us[4] / them[4]
            lines.append(f"| {speech} / {peer} | {turn:.1%} | {step:.1%} | {more:.1%} |")
    return lines


def _figures(one: dict[str, Any], eleven: dict[str, Any]) -> tuple[float, float, float, float]:
    more = ((eleven[key] - one[key]) / 10 for key in ("median_us", "cpu_us"))
    return (one["median_us"], one["cpu_us"], *more)


def _name(speech: str, calls: int) -> str:
    return f"{speech}, {calls} tool call{'s' if calls > 1 else ''} and the answer"


def _after(text: str, mark: str) -> str:
    at = text.rindex(mark) + len(mark)
    return text[at:].split(None, 1)[0]


if __name__ == "__main__":
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as scratch:
        print(run(Path(scratch), full=False)["markdown"])
        asyncio.set_event_loop(None)
