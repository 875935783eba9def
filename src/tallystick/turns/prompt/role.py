"""`# Role`: the agent whose role the model takes."""

from tallystick.turns.agent import Agent

TITLE = "# Role"


def role_section(agent: Agent) -> str:
    """Return the agent's card as text; empty fields are omitted."""
    lines = [TITLE, f"You are {agent.name} ({agent.agent_id}), role {agent.role}."]
    for label, text in (
        ("Purpose", agent.purpose),
        ("Owns", "; ".join(agent.owns)),
        ("Must not", "; ".join(agent.must_not)),
        ("Evidence sources", "; ".join(agent.evidence_sources)),
        ("Abstain when", agent.abstain_when),
    ):
        if text:
            lines.append(f"{label}: {text}")
    return "\n".join(lines)
