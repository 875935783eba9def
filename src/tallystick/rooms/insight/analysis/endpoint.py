"""Where the analyst's model is.

1. `[rooms.insight.analyst]` in the configuration: provider, model, base_url, api_key_env, …;
2. the endpoint of an agent called `analyst`, else of the Chief of Staff, where somebody chose one;
3. OpenAI, where `APP_OPENAI_API_KEY` is set.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from tallystick.agents.roster import Roster
from tallystick.agents.wire import by_present_names
from tallystick.errors import ToolError
from tallystick.turns.agent import CHIEF, Endpoint

KEY = "APP_OPENAI_API_KEY"
USUAL_MODEL = "gpt-4o-mini"
OFFLINE = "offline"
ANALYST = "analyst"
_FIELDS = frozenset(field.name for field in fields(Endpoint)) - {"agent_id"}


def endpoint_of(chosen: Mapping[str, Any], roster: Roster, variable: Callable[[str], str | None]) -> Endpoint:
    """The endpoint to ask.

    Args:
        chosen: The configuration's table.
        roster: Agents and their endpoints.
        variable: Reads a variable of the environment.

    Raises:
        ToolError: There is none.
    """
    if chosen:
        return _configured(chosen)
    named = {each.agent_id: each for each in roster.endpoints if each.provider != OFFLINE}
    for agent_id in (ANALYST, CHIEF):
        if agent_id in named:
            return named[agent_id]
    if variable(KEY):
        return Endpoint(agent_id=ANALYST, provider="openai", model=USUAL_MODEL, api_key_env=KEY, protocol="native")
    raise ToolError(
        "No model is set up for analyses.",
        unavailable=True,
        hint=f"Set {KEY}, give the Chief of Staff an endpoint, fill [rooms.insight.analyst], or use analyzer_backend "
        "offline.",
    )


def _configured(chosen: Mapping[str, Any]) -> Endpoint:
    chosen = by_present_names(chosen)
    unknown = sorted(chosen.keys() - _FIELDS)
    if unknown or not {"provider", "model"} <= chosen.keys():
        wrong = f"knows no '{unknown[0]}'" if unknown else "needs provider and model"
        raise ToolError(f"[rooms.insight.analyst] {wrong}.", unavailable=True, hint="Correct tallystick.toml.")
    return Endpoint(agent_id=ANALYST, **chosen)
