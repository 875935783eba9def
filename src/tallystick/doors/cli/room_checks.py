"""The checks of `tally doctor` for rooms: availability, settings, and the rooms' own checks."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tallystick.doors.cli.findings import Finding
from tallystick.errors import TallyError

if TYPE_CHECKING:
    from tallystick.doors.cli.workspace import Here
    from tallystick.plugin import Manifest


def room_findings(here: "Here") -> Iterator[Finding]:
    """Yield the state of every installed room. A missing requirement is ok: only users of the room need it."""
    from tallystick.app.discovery import manifests, unavailable

    try:
        found = manifests()
    except TallyError as error:
        yield Finding(what="rooms", health="fail", says=f"{error.code}: {error}")
        return
    configured = _is_configured(here)
    for name, manifest in found.items():
        what = f"room {name}"
        if manifest.missing():
            yield Finding(what=what, health="ok", says=str(unavailable(manifest)))
            continue
        yield Finding(what=what, health="ok", says="available")
        for finding in _examined(here, manifest) if configured else ():
            yield replace(finding, what=f"{what}: {finding.what}")


def _is_configured(here: "Here") -> bool:
    """Return whether the configuration can be read; if not, its own check reports it once for all rooms."""
    try:
        return here.settings is not None
    except TallyError:
        return False


def _examined(here: "Here", manifest: "Manifest") -> Iterator[Finding]:
    """Yield a finding if a room's settings are wrong, then its own checks. A check that cannot run is a finding."""
    from tallystick.app.discovery import resolve

    try:
        here.options_of(manifest)
        if manifest.doctor is not None:
            yield from resolve(manifest.doctor)(here)
    except TallyError as error:
        yield Finding(what="check", health="fail", says=f"{error.code}: {error}")
    except Exception as error:  # noqa: BLE001 - third-party code: its failure must not hide the other findings
        says = f"failed with {type(error).__name__}. Report it to the authors of the room {manifest.name}"
        yield Finding(what="check", health="fail", says=says)
