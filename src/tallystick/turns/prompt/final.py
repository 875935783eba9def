"""`# Final Answer`: the step after which nothing is called any more."""

from tallystick.gate.reply.findings import Form

TITLE = "# Final Answer"
_ABSTAIN = "If nothing here concerns your role, answer with the single word ABSTAIN."


def final_section(form: Form = "line") -> str:
    """After the model's wish to finish, or when it needs no tool.

    Args:
        form: How the answer shows its evidence.
    """
    shown = "Exactly one Evidence line." if form == "line" else "References in every sentence."
    return f"{TITLE}\nAnswer the request now, in your role, from the results above. No tool calls. {shown} {_ABSTAIN}"


def forced_section(why: str, form: Form = "line") -> str:
    """When a limit is reached.

    Args:
        why: The limit, in a fixed word.
        form: How the answer shows its evidence.
    """
    return f"The limit of this turn is reached ({why}); no further tool runs.\n\n{final_section(form)}"


def interpreting_section() -> str:
    """In a conference's second phase: the results are there, the role is to speak."""
    return (
        f"{TITLE}\nGive your perspective now, in your role. No tool calls. Exactly one Evidence line. Or only: ABSTAIN"
    )
