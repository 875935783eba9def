"""The policy that is written when a server is first met: reads are allowed, everything else asks.

It is written once, as an ordinary `tallystick.toml`, and belongs to the user from then on.
"""

import json
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tallystick.errors import ConfigError
from tallystick.rooms.relay.effects import effect_of
from tallystick.rooms.relay.naming import tool_id
from tallystick.settings import CONFIG_NAME

HEAD = """\
# Written by `tally mcp wrap` when it first met the server "{server}". It is yours now: change what you like.
# "allow" lets a call through, "ask" waits for a person, "deny" refuses. Every call leaves a receipt either way.
# Try a change before it counts: make it in a copy of this file (here other.toml), and see what it would do:
#   tally policy check --workspace {workspace} --policy other.toml
#   tally policy replay --workspace {workspace} --policy other.toml

[policy]
read = "allow"
write = "ask"
external = "ask"

[approvals]
# true: an answer that the user gives in the client (MCP elicitation) counts as a person's.
elicitation = false
"""
TOOL = """
[tools.{name}]
# {why}
decision = "{decision}"
"""
MOST = 500
"""Tools that get a section of their own; the others are decided by the table at the top."""


def starting_policy(server: str, definitions: Iterable[Mapping[str, Any]], *, workspace: Path) -> str:
    """The text of a first policy, with one section for each tool."""
    folder = shlex.quote(str(workspace))
    # A line break in a folder's name would end the comment it stands in.
    parts = [HEAD.format(server=server, workspace=folder if folder.isprintable() else "DIR")]
    names = dict[str, tuple[str, str]]()
    for definition in definitions:
        name = definition.get("name")
        if isinstance(name, str) and len(names) < MOST:
            effect, why = effect_of(definition)
            names.setdefault(tool_id(server, name), ("allow" if effect == "read" else "ask", f"{effect}: {why}"))
    parts += [TOOL.format(name=json.dumps(name), why=why, decision=decision) for name, (decision, why) in names.items()]
    return "".join(parts)


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
