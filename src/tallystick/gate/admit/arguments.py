"""Tool and arguments → Proposal or Rejection: the last step of admit, and the first for calls without an envelope.

In order: the name, plain JSON, the keys, what only policy may write, where a durable write comes from, the schema.
Values are altered in two ways only. An integral float becomes the integer it is (7.0 → 7; the canonical bytes are
the same), and a null that a provider forced on an optional argument is dropped. No text is refused for what it says.
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
"""Characters of the caller's name for a tool that are repeated in a rejection."""

_NESTED = frozenset({dict, list})

MAX_FORCED_NULLS = 1_000
"""More nulls than this no provider forces on a call; they are not looked for without end."""

# Reasons are fixed strings: they can be logged and counted, and nothing a caller sent can hide in one.
NO_SUCH_TOOL = "no tool of this name"
NAME_NOT_TEXT = "tool is not a string"
ARGS_NOT_OBJECT = "args is not an object"
KEYS_MEET = "two keys mean the same argument"
OWNED_KEY = "only policy writes this field"
WITHOUT_PROVENANCE = "the call does not say where its data comes from"
NO_DRY_RUN = "the tool has no dry run"
NOT_CLEANED = "what must not be kept cannot be told apart here"


def admit_call(
    catalogue: Catalogue, tool: object, args: object, *, dry_run: bool = False, cot_leak: bool = False,
    exact: bool = False, session: Session | None = None,
) -> Proposal | Rejection:  # fmt: skip
    """Check a call against the catalogue.

    Args:
        catalogue: The tools there are.
        tool: The name as it came.
        args: The arguments as they came.
        dry_run: The caller asks for a dry run.
        cot_leak: Handed on into the proposal.
        exact: Take name and keys as they stand, without aliases.
        session: Handed on into the proposal.
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
        return Rejection(fault=LEDGER, reason=NOT_CLEANED, proposed_tool=_echo(tool))
    real = _fit(entry, given, dry_run=dry_run, exact=exact)
    if isinstance(real, Rejection):
        return replace(real, proposed_tool=_echo(tool))
    transformed = transformed or _differs(real, given, dry_run=dry_run)
    dry = entry.card.dry_run and (dry_run or real.get("dry_run") is True)
    return Proposal(
        card=entry.card, args=real, proposed_tool=tool, proposed_args=given, transformed=transformed, dry_run=dry,
        cot_leak=cot_leak, session=session,
    )  # fmt: skip


def _fit(entry: Entry, args: dict[str, Any], *, dry_run: bool, exact: bool) -> dict[str, Any] | Rejection:
    """The arguments as the tool will receive them, or why it will not."""
    # Before anything reads the values: an object that answers differently each time must not get further.
    unfit = check_json_value(args)
    if unfit is not None:
        return unfit
    real: dict[str, Any] = whole_numbers(args)
    # Exact first: only a call that does not fit as it stands is read as one with other keys.
    if not exact and entry.keys and not real.keys() <= entry.properties and not entry.input.accepts(real):
        renamed = _with_real_keys(entry, real)
        if isinstance(renamed, Rejection):
            return renamed
        real = renamed
    # Guards come before the schema, so that a forbidden field is called by its name and not just "unknown".
    refused = _check_guards(entry, real) if entry.guarded else None
    if refused is None and dry_run:
        refused = _ask_for_dry_run(entry, real)
    return refused or _check_schema(entry, real) or real


def _with_real_keys(entry: Entry, args: dict[str, Any]) -> dict[str, Any] | Rejection:
    """The arguments under the keys that are meant; unknown ones stay, for the schema to name."""
    # Which of two values is meant cannot be known, not even when they are equal: the next call they may not be.
    real: dict[str, Any] = {}
    for key, value in args.items():
        meant = key if key in entry.properties else entry.keys.get(normalised(key), key)
        if meant in real:
            return Rejection(fault=BAD_ARGS, reason=KEYS_MEET, pointer=pointer_token(meant))
        real[meant] = value
    return real


def _check_guards(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """What comes before the schema: fields of policy, then provenance."""
    # Compared in their plain form: a tool that reads keys loosely must not be reached by `Status`.
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
    """Worked out once for each set of keys: a card has dozens of them, and every call asks."""
    return frozenset(map(normalised, keys))


def _find_key(value: Any, owned: frozenset[str]) -> str | None:
    """The pointer to the first key that policy owns, in an object or a list."""
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
    """Whether there is anything but emptiness; whether it is a valid id is for the schema to say."""
    if type(value) is str:
        return bool(value.strip())
    if type(value) is list:
        return any(_says_something(item) for item in value)
    return value is not None and value != {}


def _ask_for_dry_run(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """Set the argument where there is one. A tool that cannot do without effects must not be asked to."""
    if not entry.card.dry_run:
        return Rejection(fault=BAD_ARGS, reason=NO_DRY_RUN)
    if "dry_run" in entry.properties:
        args["dry_run"] = True
    return None


def _check_schema(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """The schema; nulls that do not fit are taken out of `args` if it fits without them."""
    if not entry.input.accepts(args):
        # Explained as it came: without its nulls it may fail for another reason than the caller's.
        pointer, rule = entry.input.explain(args)
        if not _drop_forced_nulls(entry, args):
            return Rejection(fault=BAD_ARGS, reason=f"schema: {rule}", pointer=pointer or None)
    too_large = _integer_too_large(entry, args)
    return None if too_large is None else Rejection(fault=BAD_ARGS, reason=BIG_INTEGER, pointer=too_large)


def _drop_forced_nulls(entry: Entry, args: dict[str, Any]) -> bool:
    """Take out the nulls at fault; if one was required, it is missing then, and the call still refused."""
    if not _holds_null(args):
        return False
    misfits = islice(entry.input.misfits(args), MAX_FORCED_NULLS)
    # A name that the schema does not know is no optional argument, whatever stands under it.
    paths = [path for path, rule in misfits if path and rule not in CLOSING_RULES]
    for path in paths:
        holder = _at(args, path[:-1])
        # An item of a list stays: without it, the others would mean something else.
        if type(holder) is dict and holder.get(path[-1], "") is None:
            del holder[path[-1]]
    return entry.input.accepts(args)


def _integer_too_large(entry: Entry, args: dict[str, Any]) -> str | None:
    """Where an integer is asked for and a float stands that no integer of ours may hold.

    To JSON Schema 1e22 is an integer, to a tool that takes an `int` it is none. With a fraction in its place the
    schema tells which is meant.
    """
    if not has_large_float(args):
        return None
    # All are probed at once: one check for thousands of numbers, not one for each.
    large: set[tuple[str | int, ...]] = set()
    probe = _with_fractions(args, (), large)
    for path, rule in entry.input.misfits(probe) if large else ():
        if tuple(path) in large and rule in {"type", "anyOf", "oneOf"}:
            return as_pointer(path)
    return None


def _with_fractions(value: Any, path: tuple[str | int, ...], large: set[tuple[str | int, ...]]) -> Any:
    """A copy with a fraction for each such float; their paths go into `large`."""
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
    """Whether there is anything to drop; most misfits are no nulls, and the search is spared."""
    if type(value) is dict:
        return any(item is None or _holds_null(item) for item in value.values())
    return type(value) is list and any(_holds_null(item) for item in value)


def _at(value: Any, path: list[str | int]) -> Any:
    for step in path:
        # A path may end in a name that is missing.
        value = value.get(step) if type(value) is dict else value[step]
    return value


def _differs(real: dict[str, Any], args: dict[str, Any], *, dry_run: bool) -> bool:
    """Whether something was renamed or dropped.

    7 equals 7.0, so a number in another form is no difference; neither is the dry run that was asked for.
    """
    if dry_run and "dry_run" in real:
        real, args = ({**side, "dry_run": True} for side in (real, args))
    return real != args


def _echo(tool: str) -> str:
    """A name that is safe to store: cut, and without half surrogates."""
    return tool[:ECHOED].encode("utf-8", "replace").decode()
