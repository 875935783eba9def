"""Warnings about a ticket's fields. All fields of the contract are optional, so nothing here refuses a ticket.

Three warnings are always given, since they change what happens: a kind that nobody works on, a budget below zero (it
counts as 0), a tool in the whitelist that is not here. The rest of the schema speaks only when it is switched on.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any

from tallystick.gate.admit.misfits import as_pointer
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.rooms.desk.model import KINDS, STATUSES, VERDICTS, kind_of

BUDGETS = ("max_turns", "web_search_budget")
STRATEGIES = ("focused", "broad", "exhaustive")
MOST = 10
"""Misfits that are named."""
SHOWN = 60
"""Characters of a stranger's word that a warning repeats."""


def warnings_of(body: Mapping[str, Any], *, known_tools: frozenset[str], validate: bool) -> tuple[str, ...]:
    """What to say about a ticket.

    Args:
        body: The contract's JSON.
        known_tools: The tools there are.
        validate: Whether the schema speaks too.
    """
    said = [*_kind(body), *_tool_policy(body, known_tools)]
    if validate:
        said.extend(_misfits(body))
    return tuple(said)


def _kind(body: Mapping[str, Any]) -> Iterator[str]:
    if kind_of(body) is None:
        yield "kind_unknown: nobody works on a ticket of this kind; it stays pending."


def _tool_policy(body: Mapping[str, Any], known: frozenset[str]) -> Iterator[str]:
    policy = _at(body, "metadata", "tool_input", "tool_policy")
    if not isinstance(policy, Mapping):
        return
    for name in BUDGETS:
        value = policy.get(name)
        if isinstance(value, int | float) and value < 0:
            yield f"budget_negative: {name} is below zero and counts as 0."
    listed = policy.get("tool_whitelist")
    for name in listed if isinstance(listed, list) else ():
        if not isinstance(name, str) or name not in known:
            yield f"tool_unknown: '{_shown(name)}' in the whitelist is not installed here."


def _misfits(body: Mapping[str, Any]) -> Iterator[str]:
    for path, rule in islice(_schema().misfits(dict(body)), MOST):
        yield f"schema: {as_pointer(path) or '/'} breaks the rule '{rule}'."


def _at(value: Any, *path: str) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _shown(value: Any) -> str:
    text = "".join(sign if sign.isprintable() else "?" for sign in str(value))
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


_TEXT: Mapping[str, Any] = {"type": "string"}


def _object(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


@cache
def _schema() -> CompiledSchema:
    """The contract, every field optional, unknown ones allowed."""
    event = _object(type=_TEXT, thread_id=_TEXT, content=_TEXT, actor=_TEXT, timestamp=_TEXT)
    triage = _object(
        decision={"enum": ["APPROVE", "REJECT", "DEFER"]},
        information_needs={"type": "array", "items": {"type": ["object", "string"]}},
        reply_strategy=_TEXT,
        short_reason=_TEXT,
    )
    policy = _object(
        max_turns={"type": "integer"},
        web_search_strategy={"enum": list(STRATEGIES)},
        web_search_budget={"type": "integer"},
        tool_whitelist={"type": "array", "items": _TEXT},
    )
    evidence = {"type": "array", "items": _object(source=_TEXT, snippet=_TEXT, relevance_score={"type": "number"})}
    trace = {"type": "array", "items": _object(tool_name=_TEXT, args={"type": "object"}, timestamp=_TEXT)}
    context = _object(
        evidence=evidence,
        logs_hits={"type": "array"},
        graph_nodes={"type": "array"},
        web_summaries={"type": "array"},
        tool_trace=trace,
        truncated={"type": "boolean"},
        turn_control=_object(turns_used={"type": "integer"}, max_turns={"type": "integer"}),
    )
    outputs = _object(tool_context=context, tool_verdict=_object(status={"enum": list(VERDICTS)}, reason=_TEXT))
    metadata = _object(
        kind={"enum": list(KINDS)},
        created_at=_TEXT,
        triage_reference_id=_TEXT,
        parent_ticket_id=_TEXT,
        tool_input=_object(event=event, triage=triage, tool_policy=policy),
        final_outputs=outputs,
    )
    whole = _object(
        id=_TEXT, type=_TEXT, status={"enum": list(STATUSES)}, flow_id=_TEXT, event=event, metadata=metadata
    )
    return compile_schema(whole, closed=False)
