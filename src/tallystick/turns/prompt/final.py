"""`# Final Answer`: the step after which nothing is called any more."""

TITLE = "# Final Answer"
_ABSTAIN = "If nothing here concerns your role, answer with the single word ABSTAIN."


def final_section() -> str:
    """After the model's wish to finish, or when it needs no tool."""
    return (
        f"{TITLE}\nAnswer the request now, in your role, from the results above. No tool calls. "
        f"Exactly one Evidence line. {_ABSTAIN}"
    )


def forced_section(why: str) -> str:
    """When a limit is reached.

    Args:
        why: The limit, in a fixed word.
    """
    return f"The limit of this turn is reached ({why}); no further tool runs.\n\n{final_section()}"


def interpreting_section() -> str:
    """In a conference's second phase: the results are there, the role is to speak."""
    return (
        f"{TITLE}\nGive your perspective now, in your role. No tool calls. Exactly one Evidence line. Or only: ABSTAIN"
    )
