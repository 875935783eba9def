"""`# Role`: who the model is to be."""

from tallystick.turns.agent import Agent

TITLE = "# Role"


def role_section(agent: Agent) -> str:
    """The agent's card in words; what it does not say is left out."""
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
