"""`tally mcp init`: put the gate in front of the servers that a client knows, after showing what changes."""

import json
import shutil
import sys
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tallystick.doors.cli.command import command
from tallystick.doors.cli.exits import Exit, Refused, UsageMistake
from tallystick.doors.cli.person import Yes
from tallystick.doors.cli.visible import visible
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.rooms.relay.clients import Client

ConfigFile = Annotated[
    Path | None, typer.Option("--config", metavar="FILE", help="The client's config, if it lies elsewhere.")
]
Named = Annotated[str | None, typer.Option("--server", "-s", metavar="NAME", help="Only this server. Default: all.")]
Words = Annotated[
    list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="Add a server by this command; needs --server.")
]

BY_HAND = "Put `tally mcp wrap --` before the server's command by hand."


def add_to_group(mcp: typer.Typer) -> None:
    """Add the command to the group `mcp`."""
    command(mcp, "init")(init)


def init(
    here: Here,
    client: Annotated[
        str | None, typer.Option("--client", "-c", metavar="NAME", help="Whose config. Without it: what there is.")
    ] = None,
    server: Named = None,
    words: Words = None,
    config: ConfigFile = None,
    undo: Annotated[bool, typer.Option("--undo", help="Put back what was there before.")] = False,
    yes: Yes = False,
) -> Exit:
    """Wrap the servers in an MCP client's config.

    Shows the difference and asks first. The old file is kept beside it (.before-tally); --undo puts it back.
    """
    if client is None:
        return _survey(here)
    chosen = _client(client)
    path = _find(chosen, config)
    if undo:
        return _undo(here, path, yes=yes)
    if words and server is None:
        raise UsageMistake("A new server needs a name: give --server NAME.")
    before = _text(path)
    after, done = _wrapped(here, chosen, path, before, server, words or [])
    if not done:
        here.screen.note(f"{path}: nothing to change.")
        here.screen.data({"config": str(path), "wrapped": []})
        return Exit.OK
    _write(here, path, before, after, yes=yes)
    here.screen.data({"config": str(path), "wrapped": done})
    here.screen.line(
        f"{', '.join(done)}: behind the gate now. Restart {chosen.title}. Undo: tally mcp init -c {client} --undo"
    )
    return Exit.OK


def _survey(here: Here) -> Exit:
    """Which clients there are, and what they have."""
    from tallystick.rooms.relay.clients import CLIENTS, is_wrapped

    rows = []
    for client in CLIENTS:
        for path in _places(client):
            if path.is_file():
                servers = _servers(client, path, _text(path))
                wrapped = sum(isinstance(entry, dict) and is_wrapped(entry) for entry in servers.values())
                rows.append((client.name, str(path), len(servers), wrapped))
    here.screen.data(
        {"items": [dict(zip(("client", "config", "servers", "wrapped"), row, strict=True)) for row in rows]}
    )
    here.screen.table(["client", "config", "servers", "wrapped"], rows)
    names = ", ".join(client.name for client in CLIENTS)
    here.screen.note(f"Choose one with --client ({names}).")
    return Exit.OK


def _client(name: str) -> "Client":
    from tallystick.rooms.relay.clients import CLIENTS

    found = next((client for client in CLIENTS if client.name == name), None)
    if found is None:
        raise UsageMistake(f"--client is one of {', '.join(client.name for client in CLIENTS)}.")
    return found


def _places(client: "Client") -> list[Path]:
    return client.places(project=Path.cwd(), home=Path.home(), mac=sys.platform == "darwin")


def _find(client: "Client", config: Path | None) -> Path:
    """The config to change: the one that is there, or a new one where the client is installed.

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


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"{path} cannot be read: {error}.", code="file_unreadable") from None


def _servers(client: "Client", path: Path, text: str) -> dict[str, Any]:
    import tomllib

    try:
        whole = tomllib.loads(text) if client.toml else json.loads(text or "{}")
        servers = whole.get(client.key, {})
    except (ValueError, AttributeError):
        kind = "TOML" if client.toml else "JSON"
        message = f"{path} is not plain {kind} (comments?). {BY_HAND}"
        raise Refused(message, code="config_unreadable") from None
    if not isinstance(servers, dict):
        raise Refused(f"{path}: '{client.key}' is no table of servers.", code="config_unreadable")
    return servers


def _wrapped(
    here: Here, client: "Client", path: Path, text: str, server: str | None, words: list[str]
) -> tuple[str, list[str]]:
    """The config with the gate in front of its servers, and their names."""
    from tallystick.rooms.relay.clients import changed_servers

    servers = _servers(client, path, text)
    if words:
        servers = {**servers, str(server): {"command": words[0], "args": words[1:]}}
    if server is not None and server not in servers:
        known = ", ".join(servers) or "none"
        raise Refused(f"{path} has no server '{server}'. It has: {known}.", code="server_not_found")
    if not servers:
        message = f"{path} has no server yet. Add one: tally mcp init -c {client.name} --server NAME -- COMMAND…"
        raise Refused(message, code="server_not_found")
    made, done, left = changed_servers(servers, lambda name: server in {None, name}, tally=_tally(), typed=client.typed)
    for name in left:
        here.screen.note(f"{name}: left as it is (no command, or a kind of address that cannot be wrapped)")
    if client.toml:
        return _as_toml(client, path, text, made, done), done
    whole = json.loads(text or "{}")
    return json.dumps({**whole, client.key: made}, indent=2, ensure_ascii=False) + "\n", done


def _as_toml(client: "Client", path: Path, text: str, made: dict[str, Any], done: list[str]) -> str:
    from tallystick.rooms.relay.toml_edit import with_values

    for name in done:
        entry = {key: made[name][key] for key in ("command", "args")}
        header = f"[{client.key}.{json.dumps(name)}]"
        if f"{client.key}.{name}]" not in text and header not in text:
            text = f"{text.rstrip()}\n\n{header}\n" if text.strip() else f"{header}\n"
        changed = with_values(text, (client.key, name), entry)
        if changed is None:
            raise Refused(f"{path}: '{name}' is written in an unusual way. {BY_HAND}", code="config_unreadable")
        text = changed
    return text


def _tally() -> str:
    """How a client reaches this command: by its whole path, since clients have a search path of their own."""
    found = shutil.which("tally")
    beside = Path(sys.executable).with_name("tally")
    return str(beside) if beside.exists() else found or "tally"


def _write(here: Here, path: Path, before: str, after: str, *, yes: bool) -> None:
    from tallystick.rooms.relay.clients import BACKUP

    for line in unified_diff(before.splitlines(), after.splitlines(), str(path), str(path), lineterm=""):
        sys.stderr.write(visible(line) + "\n")
    if not yes:
        if not sys.stdin.isatty():
            raise Refused("Nothing was written: there is nobody to ask. Give --yes.", code="not_answered")
        sys.stderr.write("Write this? [y/N] ")
        sys.stderr.flush()
        if sys.stdin.readline().strip().lower() not in {"y", "yes"}:
            raise Refused("Nothing was written.", code="not_answered")
    backup = path.with_name(path.name + BACKUP)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        shutil.copy2(path, backup)
    waiting = path.with_name(path.name + ".tally-new")
    waiting.write_text(after, encoding="utf-8")
    if path.exists():
        shutil.copymode(path, waiting)
    waiting.replace(path)
    here.screen.note(f"written: {path}")


def _undo(here: Here, path: Path, *, yes: bool) -> Exit:
    from tallystick.rooms.relay.clients import BACKUP

    backup = path.with_name(path.name + BACKUP)
    if not backup.is_file():
        raise Refused(f"There is nothing to put back ({backup} is not there).", code="backup_not_found")
    _write(here, path, _text(path), _text(backup), yes=yes)
    here.screen.line(f"{path}: as it was before.")
    return Exit.OK
