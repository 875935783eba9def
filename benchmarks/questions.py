"""Questions about a small project, asked as in `tally chat`; answers written for a scorer.

`python -m benchmarks.questions PROJECT QUESTIONS.jsonl OUT.jsonl [--model NAME]` copies `Story/` and `Compendium/` of a
project into a fresh folder, asks each question in a session of its own, and writes `{"id", "answer_text",
"said_unknown", "holds", "seconds"}`. `--model` names a fetched local model; without it the agent reads alone.
"""

import argparse
import asyncio
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tallystick.agents.answers import Unanswered
from tallystick.agents.chat import Chat
from tallystick.app.agents import conversation_of
from tallystick.app.gate import Gate
from tallystick.reading.agent.replies import NOT_STATED
from tallystick.storage.agents import Registry
from tallystick.turns.agent import CHIEF, Endpoint

FOLDERS = ("Story", "Compendium")


async def _answers(gate: Gate, questions: list[dict[str, Any]], out: Path) -> list[float]:
    conversation = conversation_of(gate)
    seconds = []
    with out.open("w", encoding="utf-8") as file:
        for each in questions:
            began = time.perf_counter()
            came = await conversation.chat(Chat(message=each["question"], session_id=f"chat_{each['id']}"))
            seconds.append(time.perf_counter() - began)
            said = came.advice if isinstance(came, Unanswered) else (came.result.reply or "")
            row = {
                "id": each["id"],
                "answer_text": said,
                "said_unknown": NOT_STATED in said,
                "holds": not isinstance(came, Unanswered) and came.result.reply is not None,
                "seconds": round(seconds[-1], 1),
            }
            file.write(json.dumps(row) + "\n")
            file.flush()
    return seconds


def main() -> None:
    """Ask and report the time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--model")
    given = parser.parse_args()
    questions = [json.loads(line) for line in given.questions.read_text(encoding="utf-8").splitlines()]
    with tempfile.TemporaryDirectory() as made:
        for folder in FOLDERS:
            shutil.copytree(given.project / folder, Path(made) / folder)
        (Path(made) / "tallystick.toml").write_text('rooms = ["studio"]\n', encoding="utf-8")
        with Gate.open(made, plugins=True) as gate:
            if given.model:
                endpoint = Endpoint(agent_id=CHIEF, provider="local", model=given.model)
                Registry(gate.workspace).change(lambda roster: roster.set_endpoint(endpoint))
            seconds = sorted(asyncio.run(_answers(gate, questions, given.out)))
    p90 = seconds[int(0.9 * (len(seconds) - 1))]
    sys.stdout.write(f"{len(seconds)} questions, median {statistics.median(seconds):.1f} s, p90 {p90:.1f} s\n")


if __name__ == "__main__":
    main()
