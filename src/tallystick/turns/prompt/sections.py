"""The sections of a prompt that depend on the agent and the step.

    # Role                       the agent whose role the model takes
    # Tool Call Protocol …       the step block at the end of the last user message of each step
    # Retrieved Data             introduces the results of a conference's tool phase to each agent
    # Final Answer               the last step, in which no tool can be called

`grounding` has the rules of evidence, `catalogue` the tools, `results` what the tools returned.
"""

from tallystick.gate.reply.findings import Findings, Form
from tallystick.turns.agent import Agent

ROLE_TITLE = "# Role"


def role_section(agent: Agent) -> str:
    """Return the agent's card as text; empty fields are omitted."""
    lines = [ROLE_TITLE, f"You are {agent.name} ({agent.agent_id}), role {agent.role}."]
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


PROTOCOL_TITLE = "# Tool Call Protocol (STRICT JSON ONLY)"
_FIRST = '{"tool":"<name>","args":{...},"nonce":"<TOOL_NONCE>"}'
_NEXT = '{"action":"tool","tool":"<name>","args":{...},"nonce":"<TOOL_NONCE>"}'
_FINAL = '{"action":"final","nonce":"<TOOL_NONCE>"}'
_STRICT = "No code fence around it; the nonce exactly as it stands below."
_ONE = "exactly one JSON object and nothing else"


def first_step(nonce: str, *, required: bool, may_finish: bool) -> str:
    """Return the block of step one.

    Args:
        nonce: The step's nonce.
        required: Whether the answer must be an envelope.
        may_finish: Whether `{"action":"final"}` is already accepted; if so, no call is required.
    """
    finish = f" to call a tool, or {_FINAL} if no tool is needed" if may_finish else ""
    if required:
        how = f"Answer with {_ONE}: {_FIRST}{finish}."
    else:
        how = f"To call a tool, answer with {_ONE}: {_FIRST}. If you need no tool, answer in plain text."
    return _block(how, nonce, required=required and not may_finish)


def next_step(nonce: str) -> str:
    """Return the block after a result: the model calls another tool or finishes."""
    return _block(f"Answer with {_ONE}: {_NEXT} for another tool, or {_FINAL} when you can answer.", nonce)


def _block(how: str, nonce: str, *, required: bool = False) -> str:
    block = f"{PROTOCOL_TITLE}\n{how}\n{_STRICT}\nTOOL_NONCE: {nonce}"
    return f"{block}\nTOOL_CALL_REQUIRED: true" if required else block


RETRIEVED_TITLE = "# Retrieved Data"
_FOUND = "The following data was retrieved for this discussion."
_NOTHING = "No data was retrieved for this discussion."


def retrieved_section(name: str, *, found: bool) -> str:
    """Return the introduction to the results, identical for every agent except for its name.

    Args:
        name: The agent's name.
        found: Whether there are any results.
    """
    return (
        f"{RETRIEVED_TITLE}\n{_FOUND if found else _NOTHING} You are {name}. If this is relevant to your "
        f"expertise, provide your perspective. If not, respond with only: ABSTAIN"
    )


FINAL_TITLE = "# Final Answer"
_ABSTAIN = "If nothing here concerns your role, answer with the single word ABSTAIN."
_MAX_FINDINGS = 8
"""Findings of a rejected answer that the model is shown."""


def final_section(form: Form = "line") -> str:
    """Return the section for a model that chose to finish or needs no tool.

    Args:
        form: How the answer gives its evidence.
    """
    shown = "Exactly one Evidence line." if form == "line" else "References in every sentence."
    asked = "Answer the request now, in your role, from the results above. No tool calls."
    return f"{FINAL_TITLE}\n{asked} {shown} {_ABSTAIN}"


def forced_section(why: str, form: Form = "line") -> str:
    """Return the section for a turn that reached a limit.

    Args:
        why: Fixed code of the limit.
        form: How the answer gives its evidence.
    """
    return f"The limit of this turn is reached ({why}); no further tool runs.\n\n{final_section(form)}"


def retry_section(findings: Findings, form: Form = "line") -> str:
    """Return the section for an answer that was rejected: what was found, with the nearest real line, and one more try.

    Args:
        findings: What the reply check found.
        form: How the answer gives its evidence.
    """
    failed = [item for item in findings.items if not item.ok][:_MAX_FINDINGS]
    lines = [f"- {item.source}: {item.reason} ({item.code})" for item in failed]
    if not lines:
        lines = [f"- {findings.reason} ({findings.fault})"]
    last = "Keep what holds, correct or leave out the rest, and do not speak of this message."
    return "\n".join(
        ["# Rejected", "The answer above was rejected. What was found:", *lines, "", final_section(form), last]
    )


def interpreting_section() -> str:
    """Return the section for a conference's second phase, in which each agent interprets the results in its role."""
    asked = "Give your perspective now, in your role. No tool calls. Exactly one Evidence line. Or only: ABSTAIN"
    return f"{FINAL_TITLE}\n{asked}"
