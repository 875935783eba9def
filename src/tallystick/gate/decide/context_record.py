"""Serialize a decision context for the signed header, and parse it back.

Only integers, booleans, strings, lists and objects: a float has no unambiguous byte form. Defaults are left out, since
every receipt stores this permanently.
"""

from collections.abc import Mapping
from typing import Any

from tallystick.gate.decide.verdict import NOTHING_SPENT, UNLIMITED, Context, Counters, Limits

_COUNTERS = ("steps", "bytes", "tokens", "cost_microusd", "elapsed_ms", "rate")
_LIMITS = ("steps", "bytes", "tokens", "cost_microusd", "elapsed_ms")


def context_record(
    context: Context,
    *,
    redacted: bool = False,
    snapshot_digest: str | None = None,
    caller_roles: frozenset[str] | None = None,
) -> dict[str, Any]:
    """Serialize a context.

    Args:
        context: What the decision read.
        redacted: Some argument values are stored only as digests, so replay cannot evaluate every rule.
        snapshot_digest: Digest of the data that the rule of the tool's plugin (room) read, from the decision.
        caller_roles: Roles already in the header; equal ones are not stored twice.
    """
    record: dict[str, Any] = {}
    if context.roles != caller_roles:
        record["roles"] = sorted(context.roles)
    if not context.authenticated:
        record["authenticated"] = False
    if context.allowed_tools is not None:
        record["allowed_tools"] = sorted(context.allowed_tools)
    flags = {"granted": context.granted, "by_model": context.by_model, "redacted": redacted or context.redacted}
    record |= {name: True for name, is_set in flags.items() if is_set}
    if snapshot_digest is not None:
        record["snapshot"] = snapshot_digest
    if context.counters is not NOTHING_SPENT or context.limits is not UNLIMITED or context.tainted:
        _of_a_turn(record, context)
    return record


def _of_a_turn(record: dict[str, Any], context: Context) -> None:
    """Add counters, limits and tainted arguments. Most calls have none; the caller checks that by identity first."""
    if context.counters != NOTHING_SPENT:
        record["counters"] = _counters_record(context.counters)
    if context.limits != UNLIMITED:
        record["limits"] = _limits_record(context.limits)
    if context.tainted:
        record["tainted"] = list(context.tainted)


def context_from_record(record: Mapping[str, Any]) -> Context:
    """Parse a context: equal to the serialized one, except that `redacted` comes from the record.

    Args:
        record: The result of `context_record`, with `roles`: if they were left out because they equal the caller's
            roles in the header, the caller of this function adds those.
    """
    allowed = record.get("allowed_tools")
    return Context(
        roles=frozenset(record["roles"]),
        authenticated=record.get("authenticated", True),
        allowed_tools=None if allowed is None else frozenset(allowed),
        counters=Counters(**record["counters"]) if "counters" in record else NOTHING_SPENT,
        limits=Limits(**record["limits"]) if "limits" in record else UNLIMITED,
        granted=record.get("granted", False),
        by_model=record.get("by_model", False),
        tainted=tuple(record.get("tainted", ())),
        redacted=record.get("redacted", False),
    )


def _counters_record(counters: Counters) -> dict[str, Any]:
    record: dict[str, Any] = {name: used for name in _COUNTERS if (used := getattr(counters, name))}
    if counters.spent:
        record["spent"] = dict(counters.spent)
    return record


def _limits_record(limits: Limits) -> dict[str, Any]:
    record: dict[str, Any] = {name: most for name in _LIMITS if (most := getattr(limits, name)) is not None}
    if limits.named:
        record["named"] = dict(limits.named)
    return record
