"""`tally mcp init`: wrap the servers in a client's config after showing the changes."""

import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused, UsageMistake
from tallystick.doors.cli.person import Yes
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.doors.mcp.relay.clients import Client

ConfigFile = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The client's configuration file, if not in the default location."),
]
Named = Annotated[str | None, typer.Option("--server", "-s", metavar="NAME", help="Only this server. Default: all.")]
Words = Annotated[
    list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="Add a server by this command; needs --server.")
]


def add_to_group(mcp: typer.Typer) -> None:
    """Add the command to the group `mcp`."""
    command(mcp, "init")(init)


def init(
    here: Here,
    client: Annotated[
        str | None, typer.Option("--client", "-c", metavar="NAME", help="The client. Default: list the clients found.")
    ] = None,
    server: Named = None,
    words: Words = None,
    config: ConfigFile = None,
    gateway: Annotated[
        bool, typer.Option("--gateway", help="Move the servers behind one gateway instead of wrapping each.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Remove the gate again.")] = False,
    yes: Yes = False,
) -> Exit:
    """Wrap the servers in an MCP client's config.

    Shows the difference, without secrets, and asks first. A copy of the file is kept next to it (.before-tally).
    With --gateway all servers move behind one `tally mcp gateway`, with one policy and one list of approvals.
    --undo removes the gate again, from all servers or from --server NAME, and changes nothing else. Servers that ask
    for a login of the client's own (OAuth) are left as they are.
    """
    if client is None:
        if undo or server is not None or words or config is not None:
            raise UsageMistake("Use --client NAME; `tally mcp init` alone lists the clients found.")
        return _survey(here)
    chosen = _client(client)
    path = _find(chosen, config)
    if gateway:
        from tallystick.doors.cli.mcp.moves import move

        if server is not None or words:
            raise UsageMistake("--gateway moves all servers; it takes no --server and no command.")
        return move(here, chosen, path, tally=_tally(), undo=undo, yes=yes)
    if undo:
        return _undo(here, chosen, path, server, yes=yes)
    return _wrap(here, chosen, path, server, words or [], config, yes=yes)


def _wrap(
    here: Here, chosen: "Client", path: Path, server: str | None, words: list[str], config: Path | None, *, yes: bool
) -> Exit:
    from tallystick.doors.cli.mcp.config import backup_of, text_of, write

    before = text_of(path)
    after, done = _wrapped(here, chosen, path, before, server, words)
    if not done:
        here.screen.note(f"{path}: nothing to change.")
        here.screen.data({"config": str(path), "wrapped": []})
        return Exit.OK
    # If the config is already partly wrapped, the older backup is the better one.
    keep = not _gated(chosen, path, before) or not backup_of(path).is_file()
    write(here, path, before, after, yes=yes, keep=keep)
    here.screen.data({"config": str(path), "wrapped": done})
    back = f"tally mcp init -c {chosen.name}{f' --config {shlex.quote(str(config))}' if config else ''} --undo"
    here.screen.line(f"{', '.join(done)}: behind the gate now. Restart {chosen.title}. Undo: {back}")
    return Exit.OK


def _survey(here: Here) -> Exit:
    """List the installed clients and their servers."""
    from tallystick.doors.mcp.relay.clients import CLIENTS

    rows = [_row(client, path) for client in _clients() for path in _places(client) if path.is_file()]
    columns = ["client", "config", "servers", "wrapped", "note"]
    here.screen.data({"items": [dict(zip(columns, row, strict=True)) for row in rows]})
    names = ", ".join(client.name for client in CLIENTS)
    if not rows:
        here.screen.note(f"No MCP client was found here ({names}).")
        here.screen.note("For a configuration file elsewhere: tally mcp init --client NAME --config FILE.")
        return Exit.OK
    here.screen.table(columns, [tuple("" if cell is None else cell for cell in row) for row in rows])
    here.screen.note(f"Choose one with --client ({names}).")
    return Exit.OK


def _row(client: "Client", path: Path) -> tuple[str, str, int | None, int | None, str | None]:
    from tallystick.doors.cli.mcp.config import servers_in, text_of

    try:
        text = text_of(path)
        servers = servers_in(client, path, text)
    except Refused:
        # An unreadable config must not hide the others.
        note = f"cannot be read; --client {client.name} says why and what to do"
        return client.name, str(path), None, None, note
    return client.name, str(path), len(servers), len(_gated(client, path, text)), None


def _gated(client: "Client", path: Path, text: str) -> dict[str, dict[str, Any]]:
    """Return the server entries that are already wrapped."""
    from tallystick.doors.cli.mcp.config import servers_in
    from tallystick.doors.mcp.relay.clients import is_wrapped

    servers = servers_in(client, path, text)
    return {name: entry for name, entry in servers.items() if isinstance(entry, dict) and is_wrapped(entry)}


def _client(name: str) -> "Client":
    from tallystick.doors.mcp.relay.clients import CLIENTS

    found = next((client for client in _clients() if client.name == name), None)
    if found is None:
        raise UsageMistake(f"--client must be one of {', '.join(client.name for client in CLIENTS)}.")
    return found


def _clients() -> "list[Client]":
    """Return the clients, with the place of this folder's servers in their configs."""
    from dataclasses import replace

    from tallystick.doors.mcp.relay.clients import CLIENTS

    here = str(Path.cwd())
    return [replace(client, key=tuple(name.replace("{project}", here) for name in client.key)) for client in CLIENTS]


def _places(client: "Client") -> list[Path]:
    return client.places(project=Path.cwd(), home=Path.home(), mac=sys.platform == "darwin")


def _find(client: "Client", config: Path | None) -> Path:
    """Return the config to change: an existing one, or a new one where the client is installed.

    Raises:
        Refused: `client_not_found`.
    """
    places = [config] if config is not None else _places(client)
    found = next((path for path in places if path.is_file()), None)
    found = found or next((path for path in places if path.parent.is_dir() and path.parent != Path.cwd()), None)
    if found is None or (config is not None and not config.is_file()):
        looked = ", ".join(map(str, places))
        message = f"{client.title} is not here (no {looked}). Install it, or give its config with --config FILE."
        raise Refused(message, code="client_not_found")
    return found


def _wrapped(
    here: Here, client: "Client", path: Path, text: str, server: str | None, words: list[str]
) -> tuple[str, list[str]]:
    """Return the config with its servers wrapped, and the names of these servers."""
    from tallystick.doors.cli.mcp.config import servers_in
    from tallystick.doors.cli.mcp.login import asking_for_login
    from tallystick.doors.mcp.gateway.moves import LOGIN
    from tallystick.doors.mcp.relay.clients import changed_servers
    from tallystick.doors.mcp.relay.json_edit import with_entry

    servers = servers_in(client, path, text)
    if words:
        if server is None:
            raise UsageMistake("A new server needs a name: give --server NAME.")
        servers = {**servers, server: {"command": words[0], "args": words[1:]}}
    if server is not None and server not in servers:
        known = ", ".join(servers) or "none"
        raise Refused(f"{path} has no server '{server}'. It has: {known}.", code="server_not_found")
    if not servers:
        message = f"{path} has no server yet. Add one: tally mcp init -c {client.name} --server NAME -- COMMAND…"
        raise Refused(message, code="server_not_found")
    wanted = {name: entry for name, entry in servers.items() if server in {None, name}}
    login = asking_for_login(wanted)
    made, done, left = changed_servers(servers, wanted.keys() - login, tally=_tally(), client=client)
    for name in (*left, *sorted(login)):
        why = LOGIN if name in login else "no command, or an address that cannot be wrapped"
        here.screen.note(f"{name}: unchanged ({why})")
    if client.toml:
        return _as_toml(client, path, text, made, done), done
    for name in done:
        text = with_entry(text, (*client.key, name), made[name])
    return text, done


def _as_toml(client: "Client", path: Path, text: str, made: dict[str, Any], done: list[str]) -> str:
    from tallystick.doors.cli.mcp.config import BY_HAND
    from tallystick.doors.mcp.relay.toml_edit import with_values

    for name in done:
        entry = {key: made[name].get(key) for key in ("command", "args")}
        changed = with_values(text, (*client.key, name), entry)
        if changed is None:
            raise Refused(
                f"{path}: '{name}' is written in an unusual way. By hand: {BY_HAND}", code="config_unreadable"
            )
        text = changed
    return text


def _tally() -> str:
    """Return the full path of this command, because clients have their own search path."""
    found = shutil.which("tally")
    beside = Path(sys.executable).with_name("tally")
    return str(beside) if beside.exists() else found or "tally"


def _undo(here: Here, client: "Client", path: Path, server: str | None, *, yes: bool) -> Exit:
    """Unwrap each wrapped server; later changes elsewhere in the file stay."""
    from tallystick.doors.cli.mcp.config import text_of, write

    before = text_of(path)
    chosen = {name: entry for name, entry in _gated(client, path, before).items() if server in {None, name}}
    after, done = _unwrapped(here, client, path, before, chosen)
    here.screen.data({"config": str(path), "unwrapped": done})
    if not done:
        here.screen.note(f"{path}: no server is wrapped; nothing was changed.")
        return Exit.OK
    write(here, path, before, after, yes=yes, keep=False)
    here.screen.line(f"{', '.join(done)}: without the gate, as before. Restart {client.title}.")
    return Exit.OK


def _unwrapped(
    here: Here, client: "Client", path: Path, text: str, chosen: dict[str, dict[str, Any]]
) -> tuple[str, list[str]]:
    """Return the config with these servers unwrapped, and the names of those that were."""
    from tallystick.doors.mcp.relay.clients import as_before
    from tallystick.doors.mcp.relay.json_edit import member, with_entry

    copy, earlier = _earlier(client, path)
    done: list[str] = []
    for name, entry in chosen.items():
        new = as_before(name, entry, earlier, client)
        if new is None:
            here.screen.note(f"{name}: unchanged (the original command cannot be restored)")
            continue
        if client.toml:
            text = _as_toml(client, path, text, {name: new}, [name])
        else:
            same = member(copy, (*client.key, name)) if new == earlier.get(name) else None
            text = with_entry(text, (*client.key, name), new, written=copy[same.value : same.end] if same else None)
        done.append(name)
    return text, done


def _earlier(client: "Client", path: Path) -> tuple[str, dict[str, Any]]:
    """Return the backup, which has the original form of each entry; empty if there is none."""
    from tallystick.doors.cli.mcp.config import backup_of, servers_in, text_of

    try:
        text = text_of(backup_of(path))
        return text, servers_in(client, path, text)
    except Refused:
        return "", {}
