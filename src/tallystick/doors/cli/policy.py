"""`tally policy`: check, show and test the policy, and replay recorded calls with another one.

No command changes the policy: it is a file that a person edits.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tallystick.doors.cli.command import command, group
from tallystick.doors.cli.exits import Exit, Refused
from tallystick.doors.cli.outside import checked_session, read_file
from tallystick.doors.cli.replay import show_replayed
from tallystick.doors.cli.workspace import Here

if TYPE_CHECKING:
    from tallystick.gate.decide.policy import Policy
    from tallystick.gate.decide.policy_cases import CaseResult

MAX_POLICY_BYTES = 16 * 1024 * 1024

OtherPolicy = Annotated[
    Path | None,
    typer.Option(
        "--policy", "-p", metavar="FILE", help="Use this TOML file instead of the workspace's.", show_default=False
    ),
]


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    policy = group(app, "policy", "Check, show, test and replay the policy.")
    command(policy, "check")(check)
    command(policy, "show")(show)
    command(policy, "test")(run_test)
    command(policy, "replay")(replay)


def check(here: Here, policy: OtherPolicy = None) -> Exit:
    """Check the configuration.

    Every key, every value, every schema; warns of rules for tools that are not there.
    """
    from tallystick.doors.mcp.relay.workspace import relayed

    with here.gate(plugins=True) as gate:
        chosen = _chosen(here, policy)
        unknown = chosen.unknown_tools([*(card.name for card in gate.tools()), *relayed(chosen.tools, here.workspace)])
    here.screen.data({"ok": True, "digest": chosen.digest, "unknown_tools": list(unknown)})
    for name in unknown:
        here.screen.note(f"warning: tools.{name} has rules, but no such tool is registered. Check its spelling.")
    here.screen.line(f"ok: policy {chosen.digest}")
    return Exit.OK


def show(here: Here, policy: OtherPolicy = None) -> None:
    """Show the policy in its fixed form, whose SHA-256 stands in every receipt."""
    chosen = _chosen(here, policy)
    here.screen.data({"digest": chosen.digest, "text": chosen.text})
    here.screen.line(f"# {chosen.digest}")
    here.screen.block(chosen.text.rstrip("\n"))


def run_test(
    here: Here,
    cases: Annotated[Path, typer.Argument(metavar="CASES", help="A TOML file of [[case]] tables.")],
    policy: OtherPolicy = None,
) -> Exit:
    """Run cases that say what the policy should decide."""
    from tallystick.gate.decide.policy_cases import read_cases, run_cases

    wanted = read_cases(_text(cases), source=cases.name)
    with here.gate(plugins=True) as gate:
        chosen = _chosen(here, policy)
        results = run_cases(wanted, chosen, {card.name: card for card in gate.tools()})
    wrong = sum(not result.ok for result in results)
    here.screen.data(
        {"ok": wrong == 0, "total": len(results), "failed": wrong, "items": [_result(result) for result in results]}
    )
    here.screen.table(
        ["", "case", "tool", "expected", "decided", "reason"],
        [
            (
                "ok" if result.ok else "no",
                result.case.name or f"case {result.place}",
                result.case.tool,
                result.case.expect,
                result.decision.verdict,
                result.decision.would or result.decision.reason,
            )
            for result in results
        ],
    )
    here.screen.line(f"{len(results)} cases, {wrong} failed")
    return Exit.REFUSED if wrong else Exit.OK


def replay(
    here: Here,
    policy: Annotated[Path, typer.Option("--policy", "-p", metavar="FILE", help="The policy to test.")],
    session: Annotated[
        str | None, typer.Option("--session", "-s", metavar="ID", help="Only the calls of this session.")
    ] = None,
) -> Exit:
    """Decide recorded calls by another policy and list what would change. Nothing is run."""
    from tallystick.app.replay import Replayed, Replayer

    other, session = _chosen(here, policy), checked_session(session)
    with here.gate() as gate:
        receipts = gate.ledger.read() if session is None else gate.ledger.session(session)
        replayed = Replayer(gate.ledger.kept).replay(receipts, policy=other)
        with here.screen.progress("deciding again", None) as advance:

            def moving() -> Iterator[Replayed]:
                for place, one in enumerate(replayed, start=1):
                    advance(place)
                    yield one

            return show_replayed(here, moving(), changed_is_wrong=False)


def _chosen(here: Here, path: Path | None) -> "Policy":
    """Return a file's policy, or the one in force; for a wrapped server, with the relay's defaults."""
    from tallystick.doors.mcp.relay.workspace import as_taken
    from tallystick.gate.decide.policy import Policy, settings_of

    settings = here.settings if path is None else settings_of(_text(path), source=path.name)
    return Policy.from_settings(as_taken(settings, here.workspace))


def _text(path: Path) -> str:
    try:
        return read_file(path, MAX_POLICY_BYTES).decode()
    except UnicodeDecodeError:
        raise Refused(f"{path} is not UTF-8 text.", code="file_unreadable") from None


def _result(result: "CaseResult") -> dict[str, object]:
    return {
        "case": result.place,
        "name": result.case.name,
        "tool": result.case.tool,
        "expect": result.case.expect,
        "decided": result.decision.verdict,
        "reason": result.decision.would or result.decision.reason,
        "ok": result.ok,
    }
