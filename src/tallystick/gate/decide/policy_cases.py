"""`tally policy test`: test cases with the expected decisions of a policy.

    [[case]]
    tool = "send_mail"
    args = { to = "a@example.org" }
    roles = ["clerk"]
    expect = "ask"                     # allow | ask | deny
    reason = "approval_required"       # optional: the reason code of the check that must decide

`allowed_tools`, `authenticated`, `granted` and `name` are optional too. `effect` allows a case for a tool that is not
registered here. Arguments are given as the tool receives them: aliases and schemas belong to admit and are not tested.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tallystick.errors import ConfigError, malformed_toml
from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import UNKNOWN_TOOL
from tallystick.gate.decide.decide import decide
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.verdict import Context, Decision, Verdict
from tallystick.gate.session import LOCAL_OWNER
from tallystick.gate.tool import Card, Effect

NOT_REGISTERED = Decision(verdict="deny", fault=UNKNOWN_TOOL, reason="unknown_tool")


class Case(BaseModel):
    """One case of a case file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool: str
    expect: Verdict
    args: dict[str, Any] = Field(default_factory=dict)
    roles: frozenset[str] = LOCAL_OWNER.roles
    """The caller's roles; by default those of the local owner. `[]` is a token without roles."""
    authenticated: bool = True
    granted: bool = False
    allowed_tools: frozenset[str] | None = None
    effect: Effect | None = None
    reason: str | None = None
    name: str = ""


class _CaseFile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    case: tuple[Case, ...] = Field(min_length=1)


@dataclass(frozen=True, kw_only=True, slots=True)
class CaseResult:
    """The result of a case."""

    place: int
    """Position in the file, from 1."""
    case: Case
    decision: Decision
    ok: bool


def read_cases(text: str, *, source: str = "cases") -> tuple[Case, ...]:
    """Parse a case file.

    Raises:
        ConfigError: The text is not TOML, has no case, or a wrong key or value; the message names the case and the key.
    """
    try:
        return _CaseFile.model_validate(tomllib.loads(text)).case
    except tomllib.TOMLDecodeError as error:
        raise malformed_toml(source, error) from None
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        key = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"])
        raise ConfigError(f"{source}: '{key}': {first['msg']}.", code="config_bad_value") from None


def run_cases(cases: Sequence[Case], policy: Policy, cards: Mapping[str, Card]) -> tuple[CaseResult, ...]:
    """Decide every case; a case passes if the verdict, and the reason if given, are as expected."""
    return tuple(_run(place, case, policy, cards) for place, case in enumerate(cases, start=1))


def _run(place: int, case: Case, policy: Policy, cards: Mapping[str, Card]) -> CaseResult:
    card = cards.get(case.tool)
    if card is None and case.effect is not None:
        card = Card(name=case.tool, description="", input_schema={}, effect=case.effect)
    decision = NOT_REGISTERED if card is None else decide(_proposal(case, card), _context(case), policy)
    # In shadow mode, test what the policy would decide, not that shadow mode allows it.
    verdict, reason = (decision.verdict, decision.reason) if not decision.shadowed else ("deny", decision.would)
    if decision.shadowed and decision.would == "approval_required":
        verdict = "ask"
    ok = verdict == case.expect and case.reason in {None, reason}
    return CaseResult(place=place, case=case, decision=decision, ok=ok)


def _proposal(case: Case, card: Card) -> Proposal:
    return Proposal(card=card, args=case.args, proposed_tool=case.tool, proposed_args=case.args)


def _context(case: Case) -> Context:
    return Context(
        roles=case.roles,
        authenticated=case.authenticated,
        allowed_tools=case.allowed_tools,
        granted=case.granted,
    )
