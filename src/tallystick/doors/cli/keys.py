"""`tally keys`: show, export and rotate the signing keys. No command shows a secret."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.person import Token, Yes, require_person
from tallystick.doors.cli.screen import Force, Output
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.storage.keys import FileKeys


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    keys = group(app, "keys", "Show, export and rotate the signing keys.")
    command(keys, "show")(show)
    command(keys, "export")(export)
    command(keys, "rotate")(rotate)


def show(here: Here) -> None:
    """Show the keys' ids and the log's public key; never a secret."""
    keys = _keys(here)
    log = [verifier.vkey() for verifier in keys.log_verifiers()]
    here.screen.data(
        {"active": keys.active().key_id, "retired": keys.retired(), "log_key": log[0], "old_log_keys": log[1:]}
    )
    here.screen.line(f"receipts are signed with   {keys.active().key_id}")
    for key_id in keys.retired():
        here.screen.line(f"retired, still checks      {key_id}")
    here.screen.line(f"checkpoints, public key    {log[0]}")
    for vkey in log[1:]:
        here.screen.line(f"retired, still checks      {vkey}")


def export(
    here: Here,
    output: Output = None,
    everything: Annotated[bool, typer.Option("--all", help="Include retired public keys.")] = False,
    force: Force = False,
) -> None:
    """Give out the log's public key.

    What someone else needs for `tally check BUNDLE --key`.
    """
    verifiers = _keys(here).log_verifiers()
    lines = [verifier.vkey() for verifier in (verifiers if everything else verifiers[:1])]
    if here.screen.as_json and output is None:
        here.screen.data({"keys": lines})
        return
    here.screen.document("".join(f"{line}\n" for line in lines).encode(), output, force=force)
    if output is not None:
        here.screen.data({"written": str(output)})


def rotate(here: Here, token: Token = None, yes: Yes = False) -> Exit:
    """Put new keys in force. Needs a terminal or the start-up token.

    What the old ones signed still verifies.
    """
    person = require_person(here, token)
    from tallystick.gate.session import Caller, Session

    caller = Caller(subject=person.name, channel=person.channel)
    with here.gate() as gate:
        if not person.agrees(
            "Put new keys in force? Give the new public key to those who check your bundles.", yes=yes
        ):
            raise Refused("The keys were not changed.", code="not_answered")
        receipt = gate.ledger.rotate(session=Session(session_id="keys", caller=caller))
        active = gate.ledger.keys.active().key_id
        vkey = gate.ledger.keys.log_verifiers()[0].vkey()
    here.screen.data({"receipt_id": receipt.receipt_id, "active": active, "log_key": vkey})
    here.screen.line(f"new keys are in force: {active} ({receipt.receipt_id})")
    here.screen.line(f"new public key: {vkey}")
    return Exit.OK


def _keys(here: Here) -> "FileKeys":
    """Return the existing keys without creating any."""
    from tallystick.storage.keys import SECRET, FileKeys
    from tallystick.storage.ledger import audit_folder

    audit: Path = audit_folder(here.require_workspace())
    if not (audit / SECRET).exists():
        raise Refused("There are no keys yet; the first receipt creates them.", code="no_keys")
    return FileKeys(audit, create=False)
