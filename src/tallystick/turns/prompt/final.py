"""`# Final Answer`: the last step, in which no tool can be called."""

from tallystick.gate.reply.findings import Form

TITLE = "# Final Answer"
_ABSTAIN = "If nothing here concerns your role, answer with the single word ABSTAIN."


def final_section(form: Form = "line") -> str:
    """Return the section for a model that chose to finish or needs no tool.

    Args:
        form: How the answer gives its evidence.
    """
    shown = "Exactly one Evidence line." if form == "line" else "References in every sentence."
    return f"{TITLE}\nAnswer the request now, in your role, from the results above. No tool calls. {shown} {_ABSTAIN}"


def forced_section(why: str, form: Form = "line") -> str:
    """Return the section for a turn that reached a limit.

    Args:
        why: Fixed code of the limit.
        form: How the answer gives its evidence.
    """
    return f"The limit of this turn is reached ({why}); no further tool runs.\n\n{final_section(form)}"


def interpreting_section() -> str:
    """Return the section for a conference's second phase, in which each agent interprets the results in its role."""
    return (
        f"{TITLE}\nGive your perspective now, in your role. No tool calls. Exactly one Evidence line. Or only: ABSTAIN"
    )
