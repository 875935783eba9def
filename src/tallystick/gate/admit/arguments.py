"""Tool and arguments → Proposal or Rejection: the last part of admit, and the only part for calls without an envelope.

Checks, in order: name, plain JSON, keys, fields that no call may set, provenance of durable writes, schema.
Values are changed in two ways only: an integral float becomes an integer (7.0 → 7; the canonical bytes are the same),
and a null for an optional argument is dropped, since the strict mode of some model providers makes models send one (a
forced null). Text is never rejected for its content.
"""

from dataclasses import replace
from functools import lru_cache
from itertools import islice
from typing import Any

from tallystick.gate.admit.cleaned_arguments import cleaned
from tallystick.gate.admit.misfits import CLOSING_RULES, as_pointer
from tallystick.gate.admit.names import Catalogue, Entry, normalised
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.admit.strictjson import (
    BIG_INTEGER,
    MAX_INTEGER,
    check_json_value,
    has_large_float,
    pointer_token,
    whole_numbers,
)
from tallystick.gate.codes import BAD_ARGS, CANONICAL_WRITE, LEDGER, NO_PROVENANCE, UNKNOWN_TOOL
from tallystick.gate.session import Session

ECHOED = 100
"""Maximum characters of the proposed tool name that a rejection repeats."""

_NESTED = frozenset({dict, list})

MAX_FORCED_NULLS = 1_000
"""Maximum number of schema violations searched for forced nulls; no real call has more."""

# Reasons are fixed strings: safe to log and count, and free of caller input. `docs/protocol.md` lists them word for
# word, so their wording cannot change; a comment explains those that are not clear by themselves.
NO_SUCH_TOOL = "no tool of this name"
NAME_NOT_TEXT = "tool is not a string"
ARGS_NOT_OBJECT = "args is not an object"
KEYS_MEET = "two keys mean the same argument"
# The call sets a field that no call may set: only the system writes it (`Card.owned_keys`).
OWNED_KEY = "only policy writes this field"
WITHOUT_PROVENANCE = "the call does not say where its data comes from"
NO_DRY_RUN = "the tool has no dry run"
# The tool's cleaning function failed, so data that must not be stored could not be removed.
NOT_CLEANED = "what must not be kept cannot be told apart here"


def admit_call(
    catalogue: Catalogue,
    tool: object,
    args: object,
    *,
    dry_run: bool = False,
    cot_leak: bool = False,
    exact: bool = False,
    session: Session | None = None,
) -> Proposal | Rejection:
    """Check a call against the catalogue.

    Tool and args are as received. With `exact`, name and keys must match exactly, without aliases; `cot_leak` and
    `session` are copied to the proposal.
    """
    if type(tool) is not str:
        return Rejection(fault=UNKNOWN_TOOL, reason=NAME_NOT_TEXT)
    found = catalogue.resolve(tool)
    if found is None or (exact and found[1]):
        return Rejection(fault=UNKNOWN_TOOL, reason=NO_SUCH_TOOL, proposed_tool=_echo(tool))
    if type(args) is not dict:
        return Rejection(fault=BAD_ARGS, reason=ARGS_NOT_OBJECT, proposed_tool=_echo(tool))
    entry, transformed = found
    given: dict[str, Any] | None = args if entry.clean is None else cleaned(entry, args)
    if given is None:
        return replace(check_json_value(args) or Rejection(fault=LEDGER, reason=NOT_CLEANED), proposed_tool=_echo(tool))
    real = _fit(entry, given, dry_run=dry_run, exact=exact)
    if isinstance(real, Rejection):
        return replace(real, proposed_tool=_echo(tool))
    dry = entry.card.dry_run and (dry_run or real.get("dry_run") is True)
    return Proposal(
        card=entry.card,
        args=real,
        proposed_tool=tool,
        proposed_args=given,
        transformed=transformed or _differs(real, given, dry_run=dry_run),
        dry_run=dry,
        cot_leak=cot_leak,
        session=session,
    )


def _fit(entry: Entry, args: dict[str, Any], *, dry_run: bool, exact: bool) -> dict[str, Any] | Rejection:
    """Return the arguments as the tool will receive them, or the rejection."""
    # Check types before anything reads the values: an object may return something different on each read.
    unfit = check_json_value(args)
    if unfit is not None:
        return unfit
    real: dict[str, Any] = whole_numbers(args)
    # Try the exact keys first: keys are mapped only if the call does not fit unchanged.
    if not exact and entry.keys and not real.keys() <= entry.properties and not entry.input.accepts(real):
        renamed = _with_real_keys(entry, real)
        if isinstance(renamed, Rejection):
            return renamed
        real = renamed
    # Guards run before the schema, so that a forbidden field is reported as such and not just as unknown.
    refused = _check_guards(entry, real) if entry.guarded else None
    if refused is None and dry_run:
        refused = _ask_for_dry_run(entry, real)
    return refused or _check_schema(entry, real) or real


def _with_real_keys(entry: Entry, args: dict[str, Any]) -> dict[str, Any] | Rejection:
    """Map aliases to the real keys; unknown keys stay, so that the schema check reports them."""
    # Two keys for one argument are ambiguous and rejected even if the values are equal; next time they may differ.
    real: dict[str, Any] = {}
    for key, value in args.items():
        meant = key if key in entry.properties else entry.keys.get(normalised(key), key)
        if meant in real:
            return Rejection(fault=BAD_ARGS, reason=KEYS_MEET, pointer=pointer_token(meant))
        real[meant] = value
    return real


def _check_guards(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """Run the checks that precede the schema: fields that no call may set, then provenance."""
    # Compare normalised keys: a tool that ignores case must not receive an owned `status` as `Status`.
    owned = _plain_forms(entry.card.owned_keys)
    found = _find_key(args, owned) if owned else None
    if found is not None:
        return Rejection(fault=CANONICAL_WRITE, reason=OWNED_KEY, pointer=found)
    return _without_provenance(entry, args)


def _without_provenance(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    key = entry.card.provenance_key
    if key is not None and not _says_something(args.get(key)):
        return Rejection(fault=NO_PROVENANCE, reason=WITHOUT_PROVENANCE, pointer=pointer_token(key))
    return None


@lru_cache(maxsize=256)
def _plain_forms(keys: frozenset[str]) -> frozenset[str]:
    """Normalise a set of keys; cached, because a card has dozens of them and every call needs them."""
    return frozenset(map(normalised, keys))


def _find_key(value: Any, owned: frozenset[str]) -> str | None:
    """Return the pointer to the first key that no call may set, at any depth of an object or list."""
    pairs = value.items() if type(value) is dict else enumerate(value)
    for key, item in pairs:
        if type(key) is str and normalised(key) in owned:
            return pointer_token(key)
        if type(item) in _NESTED:
            below = _find_key(item, owned)
            if below is not None:
                return pointer_token(key) + below
    return None


def _says_something(value: Any) -> bool:
    """Whether a value is not empty; the schema checks whether it is a valid id."""
    if type(value) is str:
        return bool(value.strip())
    if type(value) is list:
        return any(_says_something(item) for item in value)
    return value is not None and value != {}


def _ask_for_dry_run(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """Set `dry_run` if the schema has it; reject the call if the tool does not support dry runs."""
    if not entry.card.dry_run:
        return Rejection(fault=BAD_ARGS, reason=NO_DRY_RUN)
    if "dry_run" in entry.properties:
        args["dry_run"] = True
    return None


def _check_schema(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """Validate against the schema; nulls that violate it are removed from `args` if that makes it valid."""
    if not entry.input.accepts(args):
        # Explain the call as received: without its nulls it may fail for a different reason.
        pointer, rule = entry.input.explain(args)
        if not _drop_forced_nulls(entry, args):
            return Rejection(fault=BAD_ARGS, reason=f"schema: {rule}", pointer=pointer or None)
    too_large = _integer_too_large(entry, args)
    return None if too_large is None else Rejection(fault=BAD_ARGS, reason=BIG_INTEGER, pointer=too_large)


def _drop_forced_nulls(entry: Entry, args: dict[str, Any]) -> bool:
    """Remove nulls that violate the schema; return whether the arguments are then valid.

    A removed null of a required argument leaves the arguments invalid, so the call is still rejected.
    """
    if not _holds_null(args):
        return False
    misfits = islice(entry.input.misfits(args), MAX_FORCED_NULLS)
    # A name unknown to the schema is not an optional argument, so its null is not dropped.
    paths = [path for path, rule in misfits if path and rule not in CLOSING_RULES]
    for path in paths:
        holder = _at(args, path[:-1])
        # Keep list items: removing one would shift the others.
        if type(holder) is dict and holder.get(path[-1], "") is None:
            del holder[path[-1]]
    return entry.input.accepts(args)


def _integer_too_large(entry: Entry, args: dict[str, Any]) -> str | None:
    """Return the pointer to a float beyond ±`MAX_INTEGER` where the schema requires an integer.

    JSON Schema accepts 1e22 as an integer, but a tool that takes an `int` does not. Replacing the float by a fraction
    shows whether the schema requires an integer there.
    """
    if not has_large_float(args):
        return None
    # Probe all of them in one check instead of one check per number.
    large: set[tuple[str | int, ...]] = set()
    probe = _with_fractions(args, (), large)
    for path, rule in entry.input.misfits(probe) if large else ():
        if tuple(path) in large and rule in {"type", "anyOf", "oneOf"}:
            return as_pointer(path)
    return None


def _with_fractions(value: Any, path: tuple[str | int, ...], large: set[tuple[str | int, ...]]) -> Any:
    """Return a copy with a fraction for each float beyond ±`MAX_INTEGER`; add their paths to `large`."""
    kind = type(value)
    if kind is dict:
        return {key: _with_fractions(item, (*path, key), large) for key, item in value.items()}
    if kind is list:
        return [_with_fractions(item, (*path, place), large) for place, item in enumerate(value)]
    if kind is float and abs(value) > MAX_INTEGER:
        large.add(path)
        return 0.5
    return value


def _holds_null(value: Any) -> bool:
    """Whether a value contains a null; most schema violations involve none, and the search can be skipped."""
    if type(value) is dict:
        return any(item is None or _holds_null(item) for item in value.values())
    return type(value) is list and any(_holds_null(item) for item in value)


def _at(value: Any, path: list[str | int]) -> Any:
    for step in path:
        # The path may contain a missing name.
        value = value.get(step) if type(value) is dict else value[step]
    return value


def _differs(real: dict[str, Any], args: dict[str, Any], *, dry_run: bool) -> bool:
    """Whether a key was renamed or a value dropped.

    Converted numbers (7 equals 7.0) and the requested `dry_run` do not count as differences.
    """
    if dry_run and "dry_run" in real:
        real, args = ({**side, "dry_run": True} for side in (real, args))
    return real != args


def _echo(tool: str) -> str:
    """Make a tool name safe to store: truncated, and without lone surrogates."""
    return tool[:ECHOED].encode("utf-8", "replace").decode()
