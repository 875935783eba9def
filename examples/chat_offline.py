"""Talk to an agent without any model: it reads the files, quotes them, and its reply is checked like any other.

Afterwards the session remembers what was said, and anybody can verify what was done.
"""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from tallystick import Gate
from tallystick.agents.answers import Answered
from tallystick.agents.chat import Chat
from tallystick.app.agents import conversation_of

SCENE = """# The lighthouse

Ada kept the light for thirty years, and in all that time
she had never once set foot on a boat.
The supply ship came on Fridays, whatever the weather was.
"""
QUESTIONS = ("When did the supply ship come?", "And who kept the light?")


async def talk(gate: Gate) -> None:
    """Ask two questions in one session and show what each answer rests on."""
    conversation = conversation_of(gate)
    for question in QUESTIONS:
        print(f"\n> {question}")
        came = await conversation.chat(Chat(message=question, agent_id="continuity", session_id="demo"))
        if not isinstance(came, Answered):
            print(f"{came.code}: {came.advice}")
            continue
        for step in came.result.steps:
            if step.outcome is not None and step.outcome.tool is not None:
                print(f"  {step.outcome.tool:<14}{step.outcome.status:<10}{step.receipt_id}")
        print(came.result.reply)
        findings = came.result.findings
        print(f"  evidence {'holds' if findings is not None and findings.ok else 'does not hold'}")


def main() -> None:
    """Talk in a folder that is gone afterwards."""
    with TemporaryDirectory() as folder:
        scene = Path(folder) / "Story" / "Scenes" / "SCN-01.md"
        scene.parent.mkdir(parents=True)
        scene.write_text(SCENE, encoding="utf-8")
        with Gate.open(folder, rooms=["studio"]) as gate:
            asyncio.run(talk(gate))
        report = Gate.verify(folder)
        print(f"\n{report.size} receipts, {'all of them hold' if report.ok else 'NOT all of them hold'}")


if __name__ == "__main__":
    main()
