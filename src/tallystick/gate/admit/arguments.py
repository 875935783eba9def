"""Tool and arguments → Proposal or Rejection: the last step of admit, and the first for calls without an envelope.

In order: the name, plain JSON, the keys, what only policy may write, where a durable write comes from, the schema.
Values are altered in two ways only. An integral float becomes the integer it is (7.0 → 7; the canonical bytes are
the same), and a null that a provider forced on an optional argument is dropped. No text is refused for what it says.
"""

from dataclasses import replace
from typing import Any

from tallystick.gate.admit.names import Catalogue, Entry, normalised
from tallystick.gate.admit.proposal import Proposal, Rejection
from tallystick.gate.admit.strictjson import BIG_INTEGER, MAX_INTEGER, check_json_value, pointer_token
from tallystick.gate.codes import BAD_ARGS, CANONICAL_WRITE, NO_PROVENANCE, UNKNOWN_TOOL

ECHOED = 100
"""Characters of the caller's name for a tool that are repeated in a rejection."""

NO_SUCH_TOOL = "no tool of this name"
NAME_NOT_TEXT = "tool is not a string"
ARGS_NOT_OBJECT = "args is not an object"
KEYS_MEET = "two keys mean the same argument"
OWNED_KEY = "only policy writes this field"
WITHOUT_PROVENANCE = "the call does not say where its data comes from"
NO_DRY_RUN = "the tool has no dry run"


def admit_call(
    catalogue: Catalogue,
    tool: object,
    args: object,
    *,
    dry_run: bool = False,
    cot_leak: bool = False,
    exact: bool = False,
) -> Proposal | Rejection:
    """Check a call against the catalogue.

    Args:
        catalogue: The tools there are.
        tool: The name as it came.
        args: The arguments as they came.
        dry_run: The caller asks for a dry run.
        cot_leak: Handed on into the proposal.
        exact: Take name and keys as they stand, without aliases.
    """
    if type(tool) is not str:
        return Rejection(fault=UNKNOWN_TOOL, reason=NAME_NOT_TEXT)
    found = catalogue.resolve(tool)
    if found is None or (exact and found[1]):
        return Rejection(fault=UNKNOWN_TOOL, reason=NO_SUCH_TOOL, proposed_tool=_echo(tool))
    if type(args) is not dict:
        return Rejection(fault=BAD_ARGS, reason=ARGS_NOT_OBJECT, proposed_tool=_echo(tool))
    entry, transformed = found
    real: dict[str, Any] | Rejection
    # Most calls are plain and exact: one look at the values and one at the schema is all they need.
    if not dry_run and _fits_as_it_stands(entry, args):
        real = args.copy()
    else:
        real = _fit(entry, args, dry_run=dry_run, exact=exact)
        if isinstance(real, Rejection):
            return replace(real, proposed_tool=_echo(tool))
        transformed = transformed or _differs(real, args, dry_run=dry_run)
    return Proposal(
        card=entry.card,
        args=real,
        proposed_tool=tool,
        proposed_args=args,
        transformed=transformed,
        dry_run=entry.card.dry_run and (dry_run or real.get("dry_run") is True),
        cot_leak=cot_leak,
    )


def _fits_as_it_stands(entry: Entry, args: dict[str, Any]) -> bool:
    """Whether nothing has to be looked at more closely."""
    if entry.guarded or not args.keys() <= entry.properties:
        return False
    return _is_plain(args) and entry.input.accepts(args)


def _is_plain(args: dict[str, Any]) -> bool:
    """Whether there are only ASCII strings, small integers and booleans: nothing to check and nothing to alter."""
    for value in args.values():
        kind = type(value)
        if kind is str:
            if not value.isascii():
                return False
        elif kind is int:
            if not -MAX_INTEGER <= value <= MAX_INTEGER:
                return False
        elif kind is not bool:
            return False
    return True


def _fit(entry: Entry, args: dict[str, Any], *, dry_run: bool, exact: bool) -> dict[str, Any] | Rejection:
    """The arguments as the tool will receive them, or why it will not: the whole way, step by step."""
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
    refused = _check_guards(entry, real) if entry.guarded else None
    if refused is None and dry_run:
        refused = _ask_for_dry_run(entry, real)
    return refused or _check_schema(entry, real) or real


def whole_numbers(value: Any) -> Any:
    """A copy in which each integral float that an integer can stand for is that integer."""
    kind = type(value)
    if kind is dict:
        return {key: whole_numbers(item) for key, item in value.items()}
    if kind is list:
        return [whole_numbers(item) for item in value]
    if kind is float and value.is_integer() and -MAX_INTEGER <= value <= MAX_INTEGER:
        return int(value)
    return value


def _with_real_keys(entry: Entry, args: dict[str, Any]) -> dict[str, Any] | Rejection:
    """The arguments under the keys that are meant; unknown ones stay, for the schema to name."""
    real: dict[str, Any] = {}
    for key, value in args.items():
        meant = key if key in entry.properties else entry.keys.get(normalised(key), key)
        if meant in real:
            return Rejection(fault=BAD_ARGS, reason=KEYS_MEET, pointer=pointer_token(meant))
        real[meant] = value
    return real


def _check_guards(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """What comes before the schema: fields of policy, then provenance."""
    owned = {normalised(key) for key in entry.card.owned_keys}
    found = _find_key(args, owned) if owned else None
    if found is not None:
        return Rejection(fault=CANONICAL_WRITE, reason=OWNED_KEY, pointer=found)
    key = entry.card.provenance_key
    if key is not None and not _says_something(args.get(key)):
        return Rejection(fault=NO_PROVENANCE, reason=WITHOUT_PROVENANCE, pointer=pointer_token(key))
    return None


def _find_key(value: Any, owned: set[str]) -> str | None:
    pairs = value.items() if type(value) is dict else enumerate(value) if type(value) is list else ()
    for key, item in pairs:
        if type(key) is str and normalised(key) in owned:
            return pointer_token(key)
        below = _find_key(item, owned)
        if below is not None:
            return pointer_token(key) + below
    return None


def _says_something(value: Any) -> bool:
    if type(value) is str:
        return bool(value.strip())
    if type(value) is list:
        return any(_says_something(item) for item in value)
    return value is not None and value != {}


def _ask_for_dry_run(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    if not entry.card.dry_run:
        return Rejection(fault=BAD_ARGS, reason=NO_DRY_RUN)
    if "dry_run" in entry.properties:
        args["dry_run"] = True
    return None


def _check_schema(entry: Entry, args: dict[str, Any]) -> Rejection | None:
    """The schema; nulls that do not fit are taken out of `args` if it fits without them."""
    if not entry.input.accepts(args):
        pointer, rule = entry.input.explain(args)
        if not _drop_forced_nulls(entry, args):
            return Rejection(fault=BAD_ARGS, reason=f"schema: {rule}", pointer=pointer or None)
    for path in _large_floats(args, []):
        if entry.input.wants_integer(args, path):
            pointer = "".join(pointer_token(step) for step in path)
            return Rejection(fault=BAD_ARGS, reason=BIG_INTEGER, pointer=pointer)
    return None


def _drop_forced_nulls(entry: Entry, args: dict[str, Any]) -> bool:
    """Take out the nulls at fault; a required argument is then missing, and the call still refused."""
    for path in entry.input.misfit_nulls(args):
        holder: Any = args
        for step in path[:-1]:
            holder = holder[step]
        if type(holder) is dict:
            holder.pop(path[-1], None)
    return entry.input.accepts(args)


def _large_floats(value: Any, path: list[str | int]) -> list[list[str | int]]:
    """Paths of floats that stand for integers no integer of ours may hold."""
    kind = type(value)
    if kind is float:
        return [path] if abs(value) > MAX_INTEGER else []
    pairs = value.items() if kind is dict else enumerate(value) if kind is list else ()
    return [found for key, item in pairs for found in _large_floats(item, [*path, key])]


def _differs(real: dict[str, Any], args: dict[str, Any], *, dry_run: bool) -> bool:
    """Whether something was renamed or dropped. 7 equals 7.0; the asked-for dry run is no change of the proposal."""
    if dry_run and "dry_run" in real:
        real, args = ({**side, "dry_run": True} for side in (real, args))
    return real != args


def _echo(tool: str) -> str:
    """A name that is safe to store: cut, and without half surrogates."""
    return tool[:ECHOED].encode("utf-8", "replace").decode()
