"""The policy written on the first connection to a server: reads are allowed, everything else asks for approval.

It is written once, as an ordinary `tallystick.toml`, and belongs to the user from then on. Settings that the user
removes still fall back to the relay's defaults: the gate's own defaults allow writes, which a third-party server must
not get.
"""

import json
import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from tallystick.doors.mcp.relay.effects import effect_of
from tallystick.doors.mcp.relay.options import Wrapping
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
SERVER = """
# ---- the server {server} ----
"""
DEFAULTS: dict[str, Any] = {"read": "allow", "write": "ask", "external": "ask"}
"""The decision for each effect, for tools without a decision of their own."""
MOST = 500
"""Maximum number of tools with their own section; the table at the top decides about the rest."""


def starting_policy(wrapping: Wrapping, definitions: Iterable[Mapping[str, Any]], *, workspace: Path) -> str:
    """Return the text of the first policy, with one section per server and per tool."""
    folder = shlex.quote(str(workspace))
    # A line break in the folder's name would end the comment that contains it.
    shown = folder if folder.isprintable() else "DIR"
    defaults = "\n".join(f'{effect} = "{decision}"' for effect, decision in DEFAULTS.items())
    head = HEAD.format(server=wrapping.name, workspace=shown, defaults=defaults)
    return head + tool_sections(wrapping, definitions, but=())


def tool_sections(wrapping: Wrapping, definitions: Iterable[Mapping[str, Any]], *, but: Collection[str]) -> str:
    """Return the sections of tools in a policy, under a heading for each server of a gateway.

    Args:
        wrapping: How the server is wrapped.
        definitions: The tools.
        but: Ids of tools that have a section already.
    """
    servers: dict[str, dict[str, str]] = {}
    for definition in definitions:
        shown = definition.get("name")
        if not isinstance(shown, str) or sum(map(len, servers.values())) >= MOST:
            continue
        (server, name), ident = wrapping.server_and_name(shown), wrapping.tool_id(shown)
        effect, why = effect_of({**definition, "name": name})
        decision = "allow" if effect == "read" else "ask"
        section = TOOL.format(name=json.dumps(ident), why=f"{effect}: {why}", decision=decision)
        if ident not in but:
            servers.setdefault(server, {}).setdefault(ident, section)
    heading = SERVER if wrapping.gateway else ""
    return "".join(heading.format(server=name) + "".join(tools.values()) for name, tools in servers.items())


def relay_settings(workspace: Path, policy: Path | None = None) -> Settings:
    """Load the settings with the relay's defaults.

    Args:
        workspace: The folder with `tallystick.toml` (the file is optional).
        policy: Another TOML file to read instead.

    Raises:
        ConfigError: The file cannot be used. The message gives the full path, since the client chose the working
            directory.
    """
    path = workspace / CONFIG_NAME if policy is None else policy.absolute()
    try:
        return with_defaults(load_settings(workspace, config=None if policy is None else path))
    except ConfigError as error:
        said = str(error).removeprefix(path.name).lstrip(": ")
        raise ConfigError(f"{path}: {said}", code=error.code) from None


def with_defaults(settings: Settings) -> Settings:
    """Apply the relay's defaults to policy settings that are not set explicitly."""
    unsaid = {key: value for key, value in DEFAULTS.items() if key not in settings.policy.model_fields_set}
    return settings.model_copy(update={"policy": settings.policy.model_copy(update=unsaid)})


def write_policy(workspace: Path, text: str) -> bool:
    """Write the first policy; return False and change nothing if one exists already.

    Raises:
        ConfigError: The folder is not writable.
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
