"""The room's check for `tally doctor`."""

from collections.abc import Iterator

from tallystick.doors.cli.kit import Finding, Here
from tasting_room import MANIFEST


def check(here: Here) -> Iterator[Finding]:
    """Whether the inbox exists. Nothing is created or changed."""
    inbox = here.workspace / here.options_of(MANIFEST).inbox
    if inbox.is_dir():
        yield Finding(what="inbox", health="ok", says=str(inbox))
    else:
        yield Finding(what="inbox", health="warn", says=f"{inbox} is missing. Create it, or set rooms.tastings.inbox")
