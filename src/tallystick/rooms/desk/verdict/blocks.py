"""BLOCK rules: a forbidden call was attempted, or personal data would leave."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tallystick.gate.record.masks import MARK
from tallystick.gate.record.receipt import Receipt
from tallystick.rooms.desk.derivation import event_of
from tallystick.rooms.desk.options import VerdictPolicy
from tallystick.rooms.desk.triage.categories import topic_in
from tallystick.rooms.desk.verdict.case import Case, was_made

Rule = Callable[[Case, VerdictPolicy], str | None]
"""Gives the reason, or None: it does not apply."""

FOLLOWED_FROM = 8
"""An argument of this many characters does not occur in two texts by chance."""
_SECURITY_FAULTS = frozenset({"not_allowed", "unknown_tool", "nonce"})
_SECURITY_REASONS = re.compile(
    r"path_(?:outside|protected|absolute)|address_|host_|not_in_workspace|secret", re.IGNORECASE
)
PERSONAL = re.compile(
    r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{2,63})+|(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)|"
    r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,7}\b|(?<![\w+])(?:\+|00)[1-9]\d{0,2}(?:[ ./()-]{0,3}\d){6,12}(?!\d)"
)
"""Addresses, cards, accounts and telephones with their country: what names one person."""
_ACTS = frozenset({"write", "external"})


def security_code(case: Case, _policy: VerdictPolicy) -> str | None:
    """A tool that was not allowed, a path or address out of bounds, a secret in an argument, a nonce misused."""
    named = _named_tools(case)
    for receipt in case.outcomes():
        tool = receipt.header.get("tool_id")
        if named is not None and was_made(receipt) and tool is not None and tool not in named:
            # The gate let it through: the caller did not name the ticket's tools.
            return f"{tool} was called, which the ticket does not name ({receipt.receipt_id})"
        outcome = receipt.header.get("outcome") or {}
        fault, reason = str(outcome.get("fault", "")), str(outcome.get("reason", ""))
        if fault in _SECURITY_FAULTS or _SECURITY_REASONS.search(reason):
            return f"{receipt.header.get('tool_id') or 'a call'} was refused: {fault or reason} ({receipt.receipt_id})"
        if _has_secret(receipt.inputs):
            return f"a secret stood in an argument ({receipt.receipt_id})"
    return None


def forbidden_topic(case: Case, policy: VerdictPolicy) -> str | None:
    """The customer asks about something that is not answered here."""
    topic = topic_in(case.content, policy.forbidden_topics)
    return None if topic is None else f"the topic '{topic}' is not answered here"


def personal_data_leaves(case: Case, _policy: VerdictPolicy) -> str | None:
    """An address, a card or an account was given to a call that reaches outside, or would have been."""
    for receipt in case.outcomes():
        if case.effect(str(receipt.header.get("tool_id"))) == "external":
            for value in texts_in(_args(receipt)):
                if PERSONAL.search(value):
                    return f"personal data went into {receipt.header.get('tool_id')} ({receipt.receipt_id})"
    return None


def followed_instruction(case: Case, policy: VerdictPolicy) -> str | None:
    """A call with an effect used words that occur only in the customer's text or a tool's result."""
    event = event_of(case.ticket)
    trusted = " ".join(str(event.get(name, "")) for name in policy.sources)
    heard = case.content
    for receipt in case.outcomes():
        if case.effect(str(receipt.header.get("tool_id"))) in _ACTS:
            for value in texts_in(_args(receipt)):
                if len(value) >= FOLLOWED_FROM and value not in trusted and value in heard:
                    return f"{receipt.header.get('tool_id')} was called with words of others ({receipt.receipt_id})"
        heard += "\n" + "\n".join(texts_in(receipt.outputs))
    return None


RULES: tuple[tuple[str, Rule], ...] = (
    ("block.security-code", security_code),
    ("block.instruction-followed", followed_instruction),
    ("block.personal-data", personal_data_leaves),
    ("block.forbidden-topic", forbidden_topic),
)


def _named_tools(case: Case) -> frozenset[str] | None:
    """The ticket's `tool_whitelist`; None: it has none."""
    policy = case.ticket.tool_input.get("tool_policy")
    listed = policy.get("tool_whitelist") if isinstance(policy, Mapping) else None
    return frozenset(map(str, listed)) if isinstance(listed, list) else None


def texts_in(value: Any) -> Iterator[str]:
    """Every text inside a value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts_in(inner)


def _args(receipt: Receipt) -> Any:
    inputs = receipt.inputs
    if not isinstance(inputs, Mapping):
        return {}
    normal = inputs.get("normalised")
    return (normal if isinstance(normal, Mapping) else inputs).get("args", {})


def _has_secret(value: Any) -> bool:
    if isinstance(value, Mapping):
        return MARK in value or any(map(_has_secret, value.values()))
    return isinstance(value, list) and any(map(_has_secret, value))
