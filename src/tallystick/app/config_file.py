"""Changes `tallystick.toml`; comments and everything else in the file stay."""

import os
from collections.abc import Mapping
from pathlib import Path

from tallystick.errors import ConfigError, malformed_toml
from tallystick.settings import CONFIG_NAME


def set_values(workspace: Path, table: str, values: Mapping[str, str]) -> None:
    """Set keys of one table.

    Raises:
        ConfigError: The file cannot be read, parsed or written.
    """
    import tomlkit  # noqa: PLC0415 - opening a workspace changes nothing
    from tomlkit.exceptions import ParseError  # noqa: PLC0415 - as above

    path = workspace / CONFIG_NAME
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8") if path.exists() else "")
    except ParseError as error:
        raise malformed_toml(CONFIG_NAME, error) from None
    section = document.setdefault(table, tomlkit.table())
    for key, value in values.items():
        section[key] = value
    write_config(path, tomlkit.dumps(document))


def write_config(path: Path, text: str) -> None:
    """Replace the file atomically; a link stays a link, and the file keeps its mode."""
    target = path.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        if target.exists():
            draft.chmod(target.stat().st_mode & 0o777)
        draft.replace(target)
    except OSError as error:
        draft.unlink(missing_ok=True)
        message = f"{CONFIG_NAME} cannot be written: {error.strerror}. Make {target.parent} writable."
        raise ConfigError(message, code="workspace_unwritable") from None
