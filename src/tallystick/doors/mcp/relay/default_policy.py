"""The policy that is written when a server is first met: reads are allowed, everything else asks.

It is written once, as an ordinary `tallystick.toml`, and belongs to the user from then on. What it then leaves unsaid
is still as it was in the first one: a gate's own defaults let writes through, which a stranger's server must not have.
"""

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tallystick.doors.mcp.relay.effects import effect_of
from tallystick.doors.mcp.relay.names import tool_id
from tallystick.errors import ConfigError
from tallystick.settings import CONFIG_NAME, Settings, load_settings

HEAD = """\
# Written by `tally mcp wrap` when it first met the server "{server}". It is yours now: change what you like.
# "allow" lets a call through, "ask" waits for a person, "deny" refuses. Every call leaves a receipt either way.
# Try a change before it counts: make it in a copy of this file (here other.toml), and see what it would do:
#   tally policy check --workspace {workspace} --policy other.toml
#   tally policy replay --workspace {workspace} --policy other.toml

[policy]
{defaults}

[approvals]
# true: an answer that the user gives in the client (MCP elicitation) counts as a person's.
elicitation = false
"""
TOOL = """
[tools.{name}]
# {why}
decision = "{decision}"
"""
DEFAULTS: dict[str, Any] = {"read": "allow", "write": "ask", "external": "ask"}
"""By effect, for every tool that has no decision of its own."""
MOST = 500
"""Tools that get a section of their own; the others are decided by the table at the top."""


def starting_policy(server: str, definitions: Iterable[Mapping[str, Any]], *, workspace: Path) -> str:
    """The text of a first policy, with one section for each tool."""
    folder = shlex.quote(str(workspace))
    # A line break in a folder's name would end the comment it stands in.
    shown = folder if folder.isprintable() else "DIR"
    defaults = "\n".join(f'{effect} = "{decision}"' for effect, decision in DEFAULTS.items())
    parts = [HEAD.format(server=server, workspace=shown, defaults=defaults)]
    names = dict[str, tuple[str, str]]()
    for definition in definitions:
        name = definition.get("name")
        if isinstance(name, str) and len(names) < MOST:
            effect, why = effect_of(definition)
            names.setdefault(tool_id(server, name), ("allow" if effect == "read" else "ask", f"{effect}: {why}"))
    parts += [TOOL.format(name=json.dumps(name), why=why, decision=decision) for name, (decision, why) in names.items()]
    return "".join(parts)


def relay_settings(workspace: Path, policy: Path | None = None) -> Settings:
    """The configuration as a relay takes it.

    Args:
        workspace: The folder that holds `tallystick.toml` (it need not be there).
        policy: Another TOML file to read instead.

    Raises:
        ConfigError: It cannot be used. The message names the whole path, since a client chose the folder we run in.
    """
    path = workspace / CONFIG_NAME if policy is None else policy.absolute()
    try:
        return with_defaults(load_settings(workspace, config=None if policy is None else path))
    except ConfigError as error:
        said = str(error).removeprefix(path.name).lstrip(": ")
        raise ConfigError(f"{path}: {said}", code=error.code) from None


def with_defaults(settings: Settings) -> Settings:
    """A configuration with the relay's defaults for what it does not say; what it says stands."""
    unsaid = {key: value for key, value in DEFAULTS.items() if key not in settings.policy.model_fields_set}
    return settings.model_copy(update={"policy": settings.policy.model_copy(update=unsaid)})


def write_policy(workspace: Path, text: str) -> bool:
    """Write the first policy; False if there is one already, which then stays as it is.

    Raises:
        ConfigError: The folder cannot be written.
    """
    try:
        workspace.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (workspace / CONFIG_NAME).open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    except OSError as error:
        message = f"{workspace}: {error.strerror}. Make the folder writable, or give --workspace DIR."
        raise ConfigError(message, code="workspace_unwritable") from None
    return True
