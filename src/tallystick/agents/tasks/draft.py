"""Build a packet without a model, from the result of `task_router`.

The draft is shown to the chief's model for improvement; without a model it is the packet itself. If the request is
unclear, the packet is a clarifying question.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tallystick.agents.roster import Roster
from tallystick.agents.tasks.packet import MOST_CHOICES, Intent
from tallystick.agents.tasks.targets import KnownFile, find_target
from tallystick.records import record
from tallystick.turns.agent import CHIEF, Agent

ROLE_OF_INTENT: dict[Intent, str] = {
    Intent.CLARIFY: "assistant",
    Intent.PLAN_SCENE: "planner",
    Intent.BEAT_ARCHITECT: "planner",
    Intent.CONTINUITY_CHECK: "continuity",
    Intent.WRITE_BEAT: "writer",
    Intent.CRITIQUE_SCENE: "critic",
    Intent.EDIT_SCENE: "editor",
    Intent.SUMMARIZE_CONTEXT: "assistant",
    Intent.FINALIZE: "assistant",
    Intent.OTHER: "assistant",
}
"""Intent → role of the agent that does the work."""
INTENT_OF_ROLE: dict[str, Intent] = {
    "planner": Intent.PLAN_SCENE,
    "writer": Intent.WRITE_BEAT,
    "editor": Intent.EDIT_SCENE,
    "critic": Intent.CRITIQUE_SCENE,
    "continuity": Intent.CONTINUITY_CHECK,
    "assistant": Intent.SUMMARIZE_CONTEXT,
}
"""Role → intent, for a user who only chose an agent."""
_CONTRACTS: dict[Intent, tuple[str, str]] = {
    Intent.CLARIFY: ("json_only", "answer"),
    Intent.PLAN_SCENE: ("artifact", "scene_plan"),
    Intent.BEAT_ARCHITECT: ("artifact", "beat_list"),
    Intent.CONTINUITY_CHECK: ("artifact", "continuity_report"),
    Intent.WRITE_BEAT: ("artifact", "beat_draft"),
    Intent.CRITIQUE_SCENE: ("artifact", "critique"),
    Intent.EDIT_SCENE: ("patch", "scene_edit"),
    Intent.SUMMARIZE_CONTEXT: ("artifact", "summary"),
    Intent.FINALIZE: ("artifact", "final_text"),
    Intent.OTHER: ("artifact", "answer"),
}
"""Kind of work → (output mode, artifact)."""

ELSE = "Something else: I will say it in other words"
_CHOICE_LENGTH = 200


@record
class Hint:
    """The router's classification of a request."""

    intent: Intent
    agents: tuple[str, ...]
    """Agent ids, best match first."""
    evidence_needs: str = ""


def read_hint(result: Any) -> Hint | None:
    """Parse the router's result; None if the request is not routable."""
    if not isinstance(result, Mapping) or not result.get("routable"):
        return None
    agents = [
        str(fit["agent_id"]) for fit in result.get("agents", ()) if isinstance(fit, Mapping) and "agent_id" in fit
    ]
    known = {str(intent): intent for intent in Intent}
    intent = known.get(str(result.get("intent")), Intent.OTHER)
    return Hint(intent=intent, agents=tuple(agents), evidence_needs=str(result.get("evidence_needs", "")))


def hint_from_choice(choice: str, roster: Roster) -> Hint | None:
    """Return the hint for the user's choice in a clarifying question; None if it names no agent."""
    for agent in roster.list(enabled_only=True):
        if choice == _choice_of(agent):
            return Hint(intent=INTENT_OF_ROLE.get(agent.role, Intent.OTHER), agents=(agent.agent_id,))
    return None


def draft(message: str, hint: Hint, roster: Roster, known: Sequence[KnownFile] = ()) -> dict[str, Any]:
    """Build a packet without its server fields, from the router's hint and the known files."""
    found = find_target(message, known)
    mode, artifact = _CONTRACTS[hint.intent]
    agent = addressee(hint.intent, roster, hint.agents)
    return {
        "intent": str(hint.intent),
        "target": {name: value for name, value in asdict(found.target).items() if value is not None},
        "scope": {"allowed": list(agent.owns), "blocked": list(agent.must_not)},
        "inputs": {"files": list(found.files), "canon": "", "context": message},
        "constraints": {
            "rules": [hint.evidence_needs] if hint.evidence_needs else [],
            "pov": "",
            "tense": "",
            "style": "",
            "forbidden": [],
        },
        "output_contract": {
            "output_mode": mode,
            "expected_artifacts": [artifact],
            "stop_conditions": ["the target cannot be found", "a tool call is rejected", "no evidence can be given"],
        },
        "handoff": {
            "required_next_step": "the user reads the answer"
            if agent.agent_id == CHIEF
            else "the chief reads the report",
            "report_to_chief_only": agent.agent_id != CHIEF,
        },
    }


def question_back(
    message: str, roster: Roster, hint: Hint | None = None, known: Sequence[KnownFile] = ()
) -> dict[str, Any]:
    """Build a packet that asks a clarifying question with 2 to 4 choices."""
    likely = [agent for name in (hint.agents if hint else ()) if (agent := roster.get(name)) and agent.enabled]
    others = [agent for agent in roster.list(enabled_only=True) if agent not in likely]
    # The chief comes last: the user has already addressed the chief with this message.
    ranked = [*likely, *(agent for agent in others if agent.agent_id != CHIEF), roster.chief]
    choices = [_choice_of(agent) for agent in dict.fromkeys(ranked)][: MOST_CHOICES - 1]
    asked = draft(message, Hint(intent=Intent.CLARIFY, agents=(CHIEF,)), roster, known)
    asked["clarification"] = {
        "question": "What should be done? The request did not become one clear task.",
        "choices": [*dict.fromkeys(choices), ELSE],
    }
    asked["output_contract"] = {"output_mode": "json_only", "expected_artifacts": [], "stop_conditions": []}
    asked["handoff"] = {"required_next_step": "the user chooses", "report_to_chief_only": False}
    return asked


def addressee(intent: Intent, roster: Roster, likely: tuple[str, ...] = ()) -> Agent:
    """Return the agent for an intent: the agent of its role, else the first enabled in `likely`, else the chief."""
    if intent is not Intent.OTHER and (agent := roster.of_role(ROLE_OF_INTENT[intent])) is not None:
        return agent
    named = (roster.get(name) for name in likely)
    return next((agent for agent in named if agent is not None and agent.enabled), roster.chief)


def _choice_of(agent: Agent) -> str:
    return f"{agent.name}: {agent.purpose}"[:_CHOICE_LENGTH]
