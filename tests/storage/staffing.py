"""What several processes do at once to the files of the control room. Kept apart so that a fresh process loads it fast."""

from pathlib import Path
from typing import Any

from tallystick.agents.credits import SYSTEM, CreditEvent, Merit
from tallystick.agents.roster import Roster
from tallystick.agents.tiers import Result
from tallystick.storage.agents import Registry
from tallystick.storage.credits import Credits
from tallystick.storage.tasks import TaskFiles
from tallystick.storage.tiers import Tiers
from tallystick.turns.agent import Agent
from tests.agents.tasks.samples import packet


def credit(number: str, agent: str = "writer") -> CreditEvent:
    return CreditEvent(
        event_id=f"crd_{number}", agent_id=agent, merit=Merit.PRECISE_QUOTE, receipt_id=f"rcpt_{number}",
        given_by=SYSTEM, timestamp="2026-01-01T00:00:00Z",
    )  # fmt: skip


def work_on_all(start: Any, workspace: Path, rounds: int) -> int:
    """Credits, tiers and agents, each as often as `rounds` says; gives how many agents were added."""
    me = start.wait()
    added = 0
    for number in range(rounds):
        Credits(workspace).record(credit(f"{me}_{number}"))
        # All processes report this one thing; it counts once.
        Credits(workspace).record(credit(f"shared_{number}", "critic"))
        Tiers(workspace).record("writer", "m", Result.VERIFIED)
        guest = Agent(agent_id=f"guest-{me}-{number}", name="Guest", role="guest", purpose="Visits.")
        added += isinstance(Registry(workspace).change(lambda roster, guest=guest: roster.add(guest)), Roster)
    return added


def keep_packets(start: Any, workspace: Path, context: str) -> bool:
    """Whether this process's version of the packet is the one that was kept."""
    me = start.wait()
    return (
        TaskFiles(workspace).keep_packet(packet(inputs={"files": [], "canon": "", "context": f"{context} {me}"}))
        is None
    )
