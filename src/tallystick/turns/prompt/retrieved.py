"""`# Retrieved Data`: introduces the results of a conference's tool phase to each agent."""

TITLE = "# Retrieved Data"
_FOUND = "The following data was retrieved for this discussion."
_NOTHING = "No data was retrieved for this discussion."


def retrieved_section(name: str, *, found: bool) -> str:
    """Return the introduction to the results, identical for every agent except for its name.

    Args:
        name: The agent's name.
        found: Whether there are any results.
    """
    return (
        f"{TITLE}\n{_FOUND if found else _NOTHING} You are {name}. If this is relevant to your expertise, provide your "
        f"perspective. If not, respond with only: ABSTAIN"
    )
