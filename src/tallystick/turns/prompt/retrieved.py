"""`# Retrieved Data`: how a conference hands what its tool phase brought to each agent."""

TITLE = "# Retrieved Data"
_FOUND = "The following data was retrieved for this discussion."
_NOTHING = "No data was retrieved for this discussion."


def retrieved_section(name: str, *, found: bool) -> str:
    """The framing that stands before the results, word for word the same for every agent but for its name.

    Args:
        name: Who the agent is.
        found: Whether there is any result.
    """
    return (
        f"{TITLE}\n{_FOUND if found else _NOTHING} You are {name}. If this is relevant to your expertise, provide your "
        f"perspective. If not, respond with only: ABSTAIN"
    )
