"""Config file locations of MCP clients, and how to wrap and unwrap their server entries."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from tallystick.records import record

BACKUP = ".before-tally"
"""Suffix of the backup copy of a config file."""
UNSPOKEN = frozenset({"sse", "remote"})
"""Kinds of entries that cannot be wrapped: an older transport, and addresses in clients whose commands are lists."""
FLAGS = frozenset({"--strict", "--trust-new"})
"""Options of `tally mcp wrap` that take no value."""
ADDRESSES = ("url", "serverUrl", "httpUrl")
"""Keys under which clients store a server's URL."""
HEADER = "TALLY_HEADER_"
"""Prefix, followed by a number, of the environment variable that holds a header's value."""
_GONE = frozenset({*ADDRESSES, "headers", "http_headers", "type", "transport"})


@record
class Client:
    """An MCP client and its config format."""

    name: str
    title: str
    files: tuple[str, ...]
    """Possible config files: the project's first, then the user's."""
    files_mac: tuple[str, ...] = ()
    """Config files on macOS, if they differ."""
    key: tuple[str, ...] = ("mcpServers",)
    """Where the server entries are in the config; `{project}` stands for the current folder."""
    toml: bool = False
    typed: bool = False
    """Whether each entry has a `type`."""
    address: str = "url"
    """The key of a server's URL."""
    more: tuple[tuple[str, Any], ...] = ()
    """What the client asks for in each entry besides."""

    def places(self, *, project: Path, home: Path, mac: bool) -> list[Path]:
        """Return the config files that may contain server entries."""
        return [
            home / name.removeprefix("~/") if name.startswith("~/") else project / name
            for name in (self.files_mac if mac and self.files_mac else self.files)
        ]


_MAC, _EXTENSIONS = "~/Library/Application Support", "Code/User/globalStorage"
CLIENTS: tuple[Client, ...] = (
    Client(
        name="claude-desktop",
        title="Claude Desktop",
        files=("~/.config/Claude/claude_desktop_config.json",),
        files_mac=("~/Library/Application Support/Claude/claude_desktop_config.json",),
    ),
    Client(name="claude-code", title="Claude Code", files=(".mcp.json", "~/.claude.json"), typed=True),
    Client(
        name="claude-code-project",
        title="Claude Code (this project)",
        files=("~/.claude.json",),
        key=("projects", "{project}", "mcpServers"),
        typed=True,
    ),
    Client(name="cursor", title="Cursor", files=(".cursor/mcp.json", "~/.cursor/mcp.json")),
    Client(
        name="vscode",
        title="VS Code",
        files=(".vscode/mcp.json", "~/.config/Code/User/mcp.json"),
        files_mac=(".vscode/mcp.json", "~/Library/Application Support/Code/User/mcp.json"),
        key=("servers",),
        typed=True,
    ),
    Client(name="windsurf", title="Windsurf", files=("~/.codeium/windsurf/mcp_config.json",), address="serverUrl"),
    Client(
        name="gemini",
        title="Gemini CLI",
        files=(".gemini/settings.json", "~/.gemini/settings.json"),
        address="httpUrl",
    ),
    Client(
        name="zed", title="Zed", files=(".zed/settings.json", "~/.config/zed/settings.json"), key=("context_servers",)
    ),
    Client(
        name="cline",
        title="Cline",
        files=(f"~/.config/{_EXTENSIONS}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",),
        files_mac=(f"{_MAC}/{_EXTENSIONS}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",),
    ),
    Client(
        name="roo",
        title="Roo Code",
        files=(".roo/mcp.json", f"~/.config/{_EXTENSIONS}/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
        files_mac=(".roo/mcp.json", f"{_MAC}/{_EXTENSIONS}/rooveterinaryinc.roo-cline/settings/mcp_settings.json"),
    ),
    Client(name="lm-studio", title="LM Studio", files=("~/.lmstudio/mcp.json",)),
    Client(name="jetbrains", title="JetBrains Junie", files=(".junie/mcp/mcp.json", "~/.junie/mcp/mcp.json")),
    Client(
        name="opencode",
        title="opencode",
        files=("opencode.json", "~/.config/opencode/opencode.json"),
        key=("mcp",),
    ),
    Client(
        name="copilot",
        title="Copilot CLI",
        files=("~/.copilot/mcp-config.json",),
        typed=True,
        more=(("tools", ("*",)),),
    ),
    Client(name="codex", title="Codex", files=("~/.codex/config.toml",), key=("mcp_servers",), toml=True),
)


def is_wrapped(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry already runs through the gate."""
    return words_of(entry)[1:3] == ["mcp", "wrap"]


def words_of(entry: Mapping[str, Any]) -> list[Any]:
    """Return the command line of an entry: a command and its arguments, or one list; empty if it has none."""
    command, args = entry.get("command"), entry.get("args", [])
    if isinstance(command, list):
        return command
    return [command, *args] if isinstance(command, str) and isinstance(args, list) else []


def _with_words(entry: Mapping[str, Any], words: list[Any]) -> dict[str, Any]:
    if isinstance(entry.get("command"), list):
        return {**entry, "command": words}
    return {**entry, "command": words[0], "args": words[1:]}


def wrapped(name: str, entry: Mapping[str, Any], *, tally: str, typed: bool) -> dict[str, Any] | None:
    """Return the entry with the gate in front of it; None if this kind of server cannot be wrapped."""
    words = words_of(entry)
    begin = ["mcp", "wrap", "--name", name]
    if words:
        return _with_words(entry, [tally, *begin, "--", *words])
    address = next((entry[key] for key in ADDRESSES if isinstance(entry.get(key), str)), None)
    if address is None or entry.get("type", entry.get("transport")) in UNSPOKEN:
        return None
    kept = {key: value for key, value in entry.items() if key not in _GONE}
    env: dict[str, Any] = dict(kept.get("env") or {})
    for number, (header, value) in enumerate(
        (entry.get("headers") or entry.get("http_headers") or {}).items(), start=1
    ):
        # In the environment, not on the command line: every account on the machine can read command lines.
        env[f"{HEADER}{number}"] = value
        begin += ["--header", f"{header}: ${{{HEADER}{number}}}"]
    made = {**kept, "command": tally, "args": [*begin, "--url", address]}
    if typed:
        made = {"type": "stdio", **made}
    return made | ({"env": env} if env else {})


def unwrapped(entry: Mapping[str, Any], *, address: str, typed: bool) -> dict[str, Any] | None:
    """Return the entry without the gate, rebuilt from its command line; None if the command line cannot be parsed."""
    line = words_of(entry)
    if not is_wrapped(entry) or not all(isinstance(word, str) for word in line):
        return None
    words, options = line[3:], list[tuple[str, str]]()
    while words and words[0].startswith("-") and words[0] != "--":
        option, equals, value = words.pop(0).partition("=")
        if not equals and option not in FLAGS:
            value = words.pop(0) if words else ""
        options.append((option, value))
    words = words[1:] if words[:1] == ["--"] else words
    kept = {key: value for key, value in entry.items() if key not in {"command", "args"}}
    url = next((value for option, value in options if option == "--url"), None)
    if words and url is None:
        made = _with_words(entry, words)
        if made.get("args") == []:
            del made["args"]
        return made
    if url is None or words:
        return None
    return _with_address(kept, url, [value for option, value in options if option == "--header"], address, typed=typed)


def _with_address(
    kept: Mapping[str, Any], url: str, headers: list[str], address: str, *, typed: bool
) -> dict[str, Any]:
    env = {name: value for name, value in (kept.get("env") or {}).items() if not name.startswith(HEADER)}
    known = {f"${{{name}}}": value for name, value in (kept.get("env") or {}).items()}
    pairs = [(name, value.strip()) for name, _, value in (header.partition(":") for header in headers)]
    made: dict[str, Any] = {**({"type": "http"} if typed else {}), address: url}
    made |= {"headers": {name: known.get(value, value) for name, value in pairs}} if pairs else {}
    made |= {key: value for key, value in kept.items() if key not in {"type", "env"}}
    return made | ({"env": env} if env else {})


def as_before(name: str, entry: Mapping[str, Any], earlier: Mapping[str, Any], client: Client) -> dict[str, Any] | None:
    """Return the entry without the gate: from the backup if it matches this entry, else from its command line."""
    old, tally = earlier.get(name), words_of(entry)[0]
    if isinstance(old, Mapping) and not is_wrapped(old):
        again = wrapped(name, old, tally=str(tally), typed=client.typed)
        if again == entry:
            return dict(old)
    return unwrapped(entry, address=client.address, typed=client.typed)


def changed_servers(
    servers: Mapping[str, Any], wanted: Collection[str], *, tally: str, client: Client
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Wrap the wanted servers; return all entries, the names wrapped, and the names that cannot be wrapped."""
    made, done, left = dict(servers), list[str](), list[str]()
    for name, entry in servers.items():
        if name not in wanted or not isinstance(entry, Mapping) or is_wrapped(entry):
            continue
        # The TOML editor only changes single values, so it cannot turn a URL entry into a command entry.
        fixed = client.toml and "command" not in entry
        new = None if fixed else wrapped(name, entry, tally=tally, typed=client.typed)
        if new is None:
            left.append(name)
        else:
            made[name] = new
            done.append(name)
    return made, done, left
