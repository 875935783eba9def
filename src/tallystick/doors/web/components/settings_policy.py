"""The policy in force, and a dry run: show how a call would be decided by this or another policy. Nothing is run."""

from typing import Any

import orjson
from nicegui import run, ui

from tallystick.app.gate import Gate
from tallystick.doors.mcp.relay.default_policy import with_defaults
from tallystick.doors.mcp.relay.workspace import is_wrapped, relayed
from tallystick.doors.web.components.badge import badge
from tallystick.doors.web.components.states import failed, section
from tallystick.doors.web.components.text import block
from tallystick.doors.web.context import PageContext, Visitor
from tallystick.errors import TallyError
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.policy_cases import Case, run_cases
from tallystick.gate.tool import Card
from tallystick.records import record

MEANS = {
    "allow": "It would run, and leave a receipt.",
    "ask": "It would be held until a person has answered.",
    "deny": "It would be refused, and nothing would run.",
}


@record
class Would:
    """The decision about a call in a dry run."""

    verdict: str
    reason: str


def would(policy: Policy, card: Card, args: dict[str, Any], roles: frozenset[str]) -> Would:
    """Decide a call in a dry run, first by the tool's schema, then by the policy."""
    schema = compile_schema(dict(card.input_schema), closed=card.origin == "local")
    if not schema.accepts(args):
        pointer, rule = schema.explain(args)
        return Would(verdict="deny", reason=f"before policy: {pointer or '/'} breaks the schema's rule '{rule}'")
    case = Case(tool=card.name, expect="allow", args=args, roles=roles)
    decision = run_cases([case], policy, {card.name: card})[0].decision
    if decision.shadowed:
        return Would(verdict="allow", reason=f"shadow: without it, {decision.would}")
    where = f" at {decision.pointer}" if decision.pointer else ""
    return Would(verdict=decision.verdict, reason=decision.reason + where)


def beside_relay(gate: Gate, unknown: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    """Return a note about a wrapped server, and those unknown tools that are not its tools.

    The server's tools cannot be tried here, and its relay has other defaults than this page's gate.

    Raises:
        ConfigError: The server's pins are damaged.
    """
    if not is_wrapped(gate.workspace):
        return "", unknown
    digest = Policy.from_settings(with_defaults(gate.settings)).digest
    said = (
        "This page and its dry run are about the tools that are registered here. A server is wrapped in this workspace "
        "too: there writing asks unless the policy says otherwise. Its calls are decided by policy "
        f"{digest}; to see that one: tally policy show"
    )
    theirs = relayed(unknown, gate.workspace)
    return said, tuple(name for name in unknown if name not in theirs)


class PolicyText:
    """The policy text and the dry-run form."""

    def __init__(self, context: PageContext, visitor: Visitor) -> None:
        self._context = context
        self._visitor = visitor
        self._cards = {card.name: card for card in context.gate.tools()}

    async def show(self) -> None:
        """Build the section."""
        policy = self._context.gate.policy
        unknown = policy.unknown_tools(self._cards)
        try:
            note, unknown = await run.io_bound(beside_relay, self._context.gate, unknown) or ("", unknown)
        except TallyError as error:
            note = f"{error.code}: {error}"
        if note:
            ui.label(note).classes("tally-card tally-text")
        section("What would happen to this call")
        self._form()
        section("The policy in force")
        ui.label(f"Digest {policy.digest}").classes("tally-mono tally-soft tally-text")
        for name in unknown:
            failed(f"tools.{name} has rules, but no such tool is registered.", "Check its spelling.")
        block(policy.text)
        ui.label(
            "It is a file, and a person edits it: tallystick.toml. It counts when the server is started anew."
        ).classes("tally-soft")

    def _form(self) -> None:
        with ui.column().classes("tally-card gap-2"):
            self._tool = ui.select(sorted(self._cards), label="Tool", with_input=True).classes("w-full")
            self._tool.props("outlined dense")
            self._args = ui.textarea("Arguments (JSON)", value="{}").props("outlined dense autogrow")
            self._args.classes("w-full tally-mono")
            self._roles = ui.input("Roles, with commas", value=", ".join(sorted(self._visitor.caller.roles)))
            self._roles.props("outlined dense").classes("w-full")
            with ui.expansion("By another policy").classes("w-full"):
                self._other = ui.textarea("Policy (TOML); empty: the one in force").classes("w-full tally-mono")
                self._other.props("outlined dense autogrow")
            ui.button("What would happen", icon="quiz", on_click=self._try).props("outline no-caps")
            self._place = ui.column().classes("w-full").props('role="status"')

    def _try(self) -> None:
        self._place.clear()
        with self._place:
            card = self._cards.get(self._tool.value or "")
            if card is None:
                failed("No tool was chosen.", "Choose one above.")
                return
            try:
                args = orjson.loads(self._args.value or "{}")
                other = (self._other.value or "").strip()
                policy = Policy.from_text(other) if other else self._context.gate.policy
            except orjson.JSONDecodeError as error:
                failed("The arguments are no JSON.", f"See line {error.lineno}, column {error.colno}.")
                return
            except TallyError as error:
                failed(error.code, str(error))
                return
            if not isinstance(args, dict):
                failed("Arguments are an object.", 'For example {"text": "…"}.')
                return
            roles = frozenset(filter(None, (role.strip() for role in (self._roles.value or "").split(","))))
            found = would(policy, card, args, roles)
            with ui.row().classes("tally-row"):
                badge(found.verdict)
                ui.label(MEANS[found.verdict]).classes("text-weight-bold")
                ui.label(found.reason).classes("tally-soft tally-text")
