"""Tiers on disk: `.control-room/agents/tiers.json`, the policy and each agent's standing with each model."""

from pathlib import Path
from typing import Any

from tallystick.agents.caps import Caps
from tallystick.agents.problem import Problem
from tallystick.agents.tiers import Ladder, Move, Result, Standing, TierPolicy
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.json_file import JsonFile


class Tiers:
    """The tiers of one workspace."""

    def __init__(self, workspace: Path) -> None:
        self._file = JsonFile(workspace / CONTROL_ROOM / "agents" / "tiers.json", code="tiers_damaged")

    def load(self) -> Ladder:
        """Read the policy and all standings.

        Raises:
            ConfigError: `tiers_damaged`; the file is not changed.
        """
        return self._read(self._file.read())

    def caps_for(self, agent_id: str, model: str) -> Caps:
        """Return the limits of an agent's next task with a model."""
        return self.load().caps(agent_id, model)

    def record(self, agent_id: str, model: str, result: Result) -> tuple[Standing, Move]:
        """Record how a task ended; return the agent's new standing and the effect of the result."""
        with self._file.locked():
            ladder = self.load()
            standing, move = ladder.standing(agent_id, model).after(result, ladder.policy)
            self._write(ladder.with_standing(standing))
        return standing, move

    def set_policy(self, policy: TierPolicy) -> TierPolicy:
        """Replace the policy; standings stay and are evaluated with the new numbers from now on."""
        with self._file.locked():
            self._write(Ladder(policy=policy, standings=self.load().standings))
        return policy

    def _write(self, ladder: Ladder) -> None:
        standings = [standing.as_dict() for standing in ladder.standings]
        self._file.write({"policy": ladder.policy.as_dict(), "standings": standings})

    def _read(self, found: dict[str, Any] | None) -> Ladder:
        if found is None:
            return Ladder()
        listed = found.get("standings")
        if found.keys() != {"version", "policy", "standings"} or not isinstance(listed, list):
            raise self._file.damaged("it holds 'version', 'policy' and the list 'standings', and nothing else")
        policy = TierPolicy.from_dict(found["policy"])
        if isinstance(policy, Problem):
            raise self._file.damaged(f"/policy{policy.pointer}: {policy.message}")
        ladder = Ladder(policy=policy)
        for place, value in enumerate(listed):
            standing = Standing.from_dict(value)
            if isinstance(standing, Problem):
                raise self._file.damaged(f"/standings/{place}{standing.pointer}: {standing.message}")
            ladder = ladder.with_standing(standing)
        return ladder
