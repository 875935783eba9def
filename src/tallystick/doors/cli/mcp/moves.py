"""`tally mcp init --gateway`: move a client's servers behind the gateway, or back."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.mcp.wrap_args import GATEWAY
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.doors.mcp.relay.clients import Client


def move(here: Here, client: "Client", path: Path, *, tally: str, undo: bool, yes: bool) -> Exit:
    """Show the difference, ask, and write the client's config and the gateway's list of servers.

    Raises:
        Refused: `not_answered`, or `config_unreadable` for a config that is not JSON.
    """
    from tallystick.doors.cli.mcp.config import backup_of, servers_in, text_of, write
    from tallystick.doors.cli.mcp.login import asking_for_login
    from tallystick.doors.mcp.gateway.moves import moved_in, moved_out, write_list
    from tallystick.doors.mcp.relay.json_edit import with_table

    if client.toml:
        message = f"{path} is TOML, which cannot be moved. Wrap its servers: tally mcp init -c {client.name}"
        raise Refused(message, code="config_unreadable")
    text = text_of(path)
    entries = servers_in(client, path, text)
    workspace = GATEWAY.expanduser()
    if undo:
        change = moved_out(entries, client, workspace)
    else:
        change = moved_in(entries, client, workspace, tally=tally, login=asking_for_login(entries))
    for name, why in change.left:
        here.screen.note(f"{name}: unchanged ({why})")
    moved, left = list(change.moved), dict(change.left)
    here.screen.data({"config": str(path), "moved": moved, "left": left, "workspace": str(workspace)})
    if not change.moved:
        here.screen.note(f"{path}: nothing to change.")
        return Exit.OK
    after = with_table(text, client.key, change.client)
    copy = backup_of(path)
    if undo and copy.is_file() and servers_in(client, copy, text_of(copy)) == change.client:
        # The same servers as before the move: the text as it was laid out then, unless the rest has changed.
        after = _as_laid_out(text_of(copy), after)
    # The gateway's list first: a config that names a gateway without servers would leave the client with none.
    write(here, path, text, after, yes=yes, keep=not undo, first=lambda: write_list(workspace, change.gateway))
    said = "without the gateway, as before" if undo else "behind the gateway now"
    back = "" if undo else f" Undo: tally mcp init -c {client.name} --config {shlex.quote(str(path))} --gateway --undo"
    here.screen.line(f"{', '.join(change.moved)}: {said}. Restart {client.title}.{back}")
    return Exit.OK


def _as_laid_out(before: str, after: str) -> str:
    import json

    return before if json.loads(before) == json.loads(after) else after
