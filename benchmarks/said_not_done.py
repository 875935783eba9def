"""Claims of action in real conversations, held to calls that were dropped, moved to another object, halved or failed.

    TALLY_DATA=… python -m benchmarks.said_not_done even|odd [--misses]

The conversations (tau-bench airline, GPT-4o) are split by their place in the file. A claim is a message that, after a
call that changed something succeeded, says so in the perfect or past tense (`has been cancelled`).
"""

from __future__ import annotations

import argparse
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

from tallystick.gate.reply.support.actions import RecordedCall, call_of
from tallystick.gate.reply.transcripts import find_undone

WRITES = {
    "book_reservation": r"\b(?:re)?booked\b|\bbooking (?:is|has been) (?:confirmed|completed?)",
    "cancel_reservation": r"\bcancell?ed\b|\bcancellation .{0,40}(?:completed|processed)",
    "update_reservation_flights": r"\b(?:updated|changed|modified|upgraded|downgraded|rebooked)\b",
    "update_reservation_baggages": r"\b(?:updated|added|changed)\b",
    "update_reservation_passengers": r"\b(?:updated|changed|modified)\b",
    "send_certificate": r"\b(?:sent|issued|added|provided)\b",
    "transfer_to_human_agents": r"\btransferred\b",
}
_PERFECT = re.compile(
    r"\b(?:has|have|had|'ve|been|was|were|successfully|is now|are now|I)\b[^.?!\n]{0,60}$", re.IGNORECASE
)
_ID = re.compile(r"\b(?:[A-Z0-9]{6})\b")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the check of claims of action.")
    parser.add_argument("part", choices=("even", "odd"))
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    data = Path(os.environ.get("TALLY_DATA", "../shared/data")) / "tau1-gpt4o-trajectories/dev/gpt-4o-airline.json"
    talks = orjson.loads(data.read_bytes())[options.part == "odd" :: 2]
    tools = sorted({call["tool"] for talk in talks for call in _events(talk) if "tool" in call})
    print(measure(talks, tools, misses=options.misses))


def measure(talks: list[Any], tools: list[str], *, misses: bool = False) -> str:
    """Return the figures as Markdown."""
    caught: Counter[str] = Counter()
    made: Counter[str] = Counter()
    flagged = messages = 0
    flagged_talks = 0
    for talk in talks:
        any_flag = False
        for text, calls, since in _messages(talk):
            messages += 1
            undone = find_undone(text, [_call(each) for each in calls], tools, since=since)
            any_flag |= bool(undone)
            flagged += bool(undone)
            if undone and misses:
                print(
                    "FLAG",
                    undone[0],
                    [(each["tool"], each["args"][:80], each["result"][:40]) for each in calls[since:]],
                )
            for how, changed, new_since in _falsified(text, calls, since):
                made[how] += 1
                found = bool(find_undone(text, [_call(each) for each in changed], tools, since=new_since))
                caught[how] += found
                if not found and misses:
                    print(
                        "MISS", how, repr(text[:300]), [(c["tool"], c["args"][:60], c["result"][:40]) for c in changed]
                    )
        flagged_talks += any_flag
    lines = ["| change | false claims made | caught |", "|---|---|---|"]
    lines += [
        f"| {how} | {made[how]} | {caught[how]} ({100 * caught[how] / made[how]:.1f} %) |" for how in sorted(made)
    ]
    total = f"{caught.total()} of {made.total()} ({100 * caught.total() / max(made.total(), 1):.1f} %)"
    lines.append(f"| all | {made.total()} | {total} |")
    return "\n".join(
        [
            *lines,
            "",
            f"Untouched: {flagged} of {messages} messages flagged, in {flagged_talks} of {len(talks)} conversations.",
        ]
    )


def _falsified(text: str, calls: list[Any], since: int) -> Iterator[tuple[str, list[Any], int]]:
    for place in range(since, len(calls)):
        call = calls[place]
        if call["tool"] not in WRITES or not _ok(call) or not _claims(text, WRITES[call["tool"]]):
            continue
        rivals = [at for at in range(since, len(calls)) if _rivals(text, call, calls[at])]
        if rivals:
            # Two calls of this turn would both make the sentence true; which of them it means cannot be said.
            continue
        same = [at for at in range(since, len(calls)) if calls[at]["tool"] == call["tool"] and _ok(calls[at])]
        named = [each for each in _ID.findall(text) if each in call["args"] or each in call["result"]]
        if len(same) == 1:
            # The agent may have said the same of an earlier call of this tool; then the text stays true.
            yield "dropped", [each for at, each in enumerate(calls) if at != place], since
            failed = {**call, "result": "Error: the service is not available"}
            yield "failed", [failed if at == place else each for at, each in enumerate(calls)], since
        ids = [each for each in named if each in call["args"] and "reservation" in call["args"]]
        if ids and call["tool"] != "book_reservation":
            other = {key: value.replace(ids[0], "ZZ9PLU") for key, value in call.items()}
            rest = [
                each
                for at, each in enumerate(calls)
                if at != place and not (each["tool"] == call["tool"] and ids[0] in each["args"])
            ]
            yield "other object", [*rest[:place], other, *rest[place:]], min(since, len(rest))
        if len(same) > 1 and place == same[-1] and named:
            kept = same[: len(same) // 2]
            rest = [each for at, each in enumerate(calls) if at not in same or at in kept]
            yield "halved", rest, since


def _rivals(text: str, call: Any, other: Any) -> bool:
    if other["tool"] == call["tool"] or other["tool"] not in WRITES or not _ok(other):
        return False
    return _claims(text, WRITES[other["tool"]])


def _claims(text: str, said: str) -> bool:
    for found in re.finditer(said, text, re.IGNORECASE):
        if _PERFECT.search(text[: found.start()].rsplit("\n", maxsplit=1)[-1]):
            return True
    return False


def _ok(call: Any) -> bool:
    return not str(call["result"]).startswith("Error")


def _call(each: Any) -> RecordedCall:
    return call_of(each["tool"], each["args"], each["result"], ok=_ok(each))


def _messages(talk: Any) -> Iterator[tuple[str, list[Any], int]]:
    """Yield every message of the agent, the calls before it, and where those of its turn begin."""
    calls: list[Any] = []
    since = 0
    for event in _events(talk):
        if "tool" in event:
            calls.append(event)
        elif event["role"] == "user":
            since = len(calls)
        else:
            yield event["text"], list(calls), since


def _events(talk: Any) -> Iterator[Any]:
    waiting: list[Any] = []
    for message in talk["traj"][1:]:
        if message["role"] == "assistant" and message.get("tool_calls"):
            waiting = [
                {"tool": c["function"]["name"], "args": c["function"]["arguments"]} for c in message["tool_calls"]
            ]
        elif message["role"] == "tool" and waiting:
            yield {**waiting.pop(0), "result": str(message["content"])}
        elif message["role"] in {"user", "assistant"}:
            yield {"role": message["role"], "text": message.get("content") or ""}


if __name__ == "__main__":
    main()
