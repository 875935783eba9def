"""Changing the arguments of a held call in the user's own editor, without ever showing its secrets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.doors.cli.exits import Refused


def edited_text(text: str, *, suffix: str) -> str:
    """Let the user change a text; gives what was saved.

    Raises:
        Refused: `editor_failed`, or `not_answered` when nothing was changed.
    """
    import shlex
    import subprocess
    import tempfile

    from tallystick.settings import text_editor

    with tempfile.TemporaryDirectory(prefix="tally-") as folder:
        path = Path(folder, f"arguments{suffix}")
        path.write_text(text, encoding="utf-8")
        try:
            subprocess.run([*shlex.split(text_editor()), str(path)], check=True)  # noqa: S603 - the user's own editor
        except (OSError, ValueError, subprocess.CalledProcessError) as error:
            message = f"The editor did not end well ({error}). Set EDITOR, or give --args."
            raise Refused(message, code="editor_failed") from None
        changed = path.read_text(encoding="utf-8", errors="surrogateescape")
    if changed == text:
        raise Refused("Nothing was changed; the request waits on.", code="not_answered")
    return changed


def put_back(edited: Any, *, shown: Any, exact: Any) -> Any:
    """The edited arguments with the secrets that were left as shown (as a digest) in their places again."""
    from tallystick.gate.record.secrets import MARK

    if isinstance(edited, Mapping):
        if MARK in edited and edited == shown:
            return exact
        return {
            key: put_back(value, shown=_member(shown, key), exact=_member(exact, key)) for key, value in edited.items()
        }
    if isinstance(edited, list):
        return [
            put_back(value, shown=_place(shown, place), exact=_place(exact, place))
            for place, value in enumerate(edited)
        ]
    return edited


def _member(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None


def _place(value: Any, place: int) -> Any:
    return value[place] if isinstance(value, list) and place < len(value) else None
