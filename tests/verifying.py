"""Verify a ledger as the process that wrote it would: with the state folder that holds the mirror of its head."""

from pathlib import Path

import pytest

from tallystick import Gate
from tallystick.gate.record.report import AuditReport


def verify(workspace: Path, state: Path | None = None) -> AuditReport:
    """Verify a workspace whose server had a state folder of its own: the one named, or one beside the workspace."""
    beside = (workspace.with_name("state"), workspace.with_name(f"{workspace.name}-state"))
    found = state or next((folder for folder in beside if (folder / "heads").is_dir()), None)
    with pytest.MonkeyPatch.context() as patch:
        if found is not None:
            patch.setenv("TALLY_STATE_DIR", str(found))
        return Gate.verify(workspace)
