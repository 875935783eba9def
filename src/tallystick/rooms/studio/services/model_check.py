"""A check of the book by an agent's model, joined with its agents, its waivers and the answers that are kept."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tallystick.agents.problem import Problem
from tallystick.app.audit_notes import demand_ledger
from tallystick.app.flow_context import GateFlowContext
from tallystick.app.gate import Gate
from tallystick.app.rooms import room_in
from tallystick.gate.session import Caller, Session
from tallystick.rooms.studio.continuity.model_check import MOST_CALLS, ModelCheck, ModelFindings
from tallystick.rooms.studio.flows.canon import model_prompt
from tallystick.rooms.studio.room import Studio
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.agents import Registry
from tallystick.storage.json_file import JsonFile

SESSION = "studio-check"
PARSER_MISSING = Problem(code="parser_missing", message="A model reads the book beside its grammar, which is missing.")


class AnswerFile:
    """The answers of models about a workspace's book, by what was asked."""

    def __init__(self, workspace: Path) -> None:
        """Name the file; it need not exist."""
        self._file = JsonFile(workspace / CONTROL_ROOM / "canon" / "model-answers.json", code="model_answers_damaged")

    def get(self, key: str) -> str | None:
        """See `KeptAnswers`.

        Raises:
            ConfigError: `model_answers_damaged`.
        """
        found = (self._file.read() or {}).get("answers", {}).get(key)
        return found if isinstance(found, str) else None

    def keep(self, key: str, answer: str) -> None:
        """See `KeptAnswers`."""
        with self._file.locked():
            held = (self._file.read() or {}).get("answers", {})
            self._file.write({"answers": {**held, key: answer}})


def check_by_model(
    gate: Gate, agent: str, *, caller: Caller, most: int = MOST_CALLS, tell: Callable[[int, int], None] | None = None
) -> ModelFindings | Problem:
    """Let an agent's model read the book against its cards; every question leaves a receipt.

    Args:
        gate: The open workspace.
        agent: Whose model reads.
        caller: On whose behalf.
        most: Model calls.
        tell: Is told after every paragraph: how many are read, and how many there are.
    """
    demand_ledger(gate)
    context = GateFlowContext(gate)
    if agent not in context.agents():
        known = ", ".join(sorted(context.agents()))
        return Problem(code="agent_unknown", message=f"There is no such agent, or it is off. There are: {known}.")
    continuity = room_in(gate, "studio", Studio).continuity
    reading = continuity.reading()
    if reading.parser is None:
        return PARSER_MISSING
    ask = model_prompt(context, agent, Session(session_id=SESSION, agent_id=agent, caller=caller))
    endpoint = Registry(gate.workspace).load().endpoint(agent)
    model = f"{endpoint.provider}/{endpoint.model}"
    found = ModelCheck(reading, ask, AnswerFile(gate.workspace), model=model).run(most=most, tell=tell)
    return replace(found, findings=reading.waived(found.findings, continuity.waivers()))
