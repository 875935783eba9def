"""Proposals, contexts and policies for the tests of decide, each in one word."""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.decide.policy import Policy
from tallystick.gate.decide.verdict import Context
from tallystick.gate.tool import Card
from tallystick.settings import parse_settings

OWNER = Context(roles=frozenset({"owner"}))


def a_card(name: str = "look", effect: str = "read", **fields: Any) -> Card:
    return Card(name=name, description="", input_schema={"type": "object"}, effect=effect, **fields)


def a_call(card: Card | None = None, **args: Any) -> Proposal:
    card = card or a_card()
    return Proposal(card=card, args=args, proposed_tool=card.name, proposed_args=args)


def a_context(*roles: str, **fields: Any) -> Context:
    return Context(roles=frozenset(roles), **fields)


def a_policy(tools: Mapping[str, Any] | None = None, **policy: Any) -> Policy:
    return Policy.from_settings(parse_settings({"policy": policy, "tools": dict(tools or {})}))
