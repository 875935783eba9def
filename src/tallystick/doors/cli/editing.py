"""Edit the arguments of a held call in the user's editor."""

from pathlib import Path

from tallystick.doors.cli.exits import Refused


def edited_text(text: str, *, suffix: str) -> str:
    """Let the user edit a text and return what was saved.

    Raises:
        Refused: `editor_failed`, or `not_answered` if nothing was changed.
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
