"""Where the arguments of a write come from: the user, a field of a result, or what somebody wrote into a result.

A model that obeys a text it was given to read proposes calls with that text's values. For tools that change or send
something, three questions are asked of every argument, at any depth:

    1 an address (mail, web, account, phone)   must be the user's or a field's, wherever else it may come from
    2 any other value                          must not be one that stands in free text only
    3 prose for a field that holds prose       may be copied, but only from a source that the user named

What fails is held for a person, with a pointer to the argument. The gate recognises no attack here; it asks about
values whose origin is nobody it may act for. What this does not stop is said in the threat model.
"""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Literal

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED, HELD
from tallystick.gate.decide.addresses import addresses_in
from tallystick.gate.decide.heard import PROSE_KEYS, Heard, leaves, plain, words_of
from tallystick.gate.decide.tool_rule import ToolRule
from tallystick.gate.decide.verdict import Context, Decision
from tallystick.gate.tool import Card

Provenance = Literal["ask", "off", "deny"]
REASON = "argument_provenance"

WORDS_FOR_PEOPLE = PROSE_KEYS | {"location", "place", "venue"}
"""Words in an argument's name that say: this is read by people, and acts on nothing."""

MOST_ADDRESSES = 100
"""In one argument. Nobody reads more before they agree to a call; an argument with more is asked about."""
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://")


def doubtful(card: Card, args: Mapping[str, Any], heard: Heard | None) -> tuple[str, ...]:
    """The JSON pointers of arguments whose origin is neither the user nor a field of a result.

    Args:
        card: The tool's. One that only reads is not asked about.
        args: As the tool would receive them.
        heard: What was heard in this turn; None: nobody said what the user wanted, so nothing can be told.
    """
    if heard is None or card.effect == "read" or not heard.anything:
        return ()
    chosen = _choices(card.input_schema)
    return tuple(
        pointer
        for pointer, key, value in leaves(args, keys=True)
        # One of a few values that the tool's author wrote down carries nobody's text.
        if pointer not in chosen
        and (_doubtful_key(value, heard) if key is None else _doubtful_value(key, value, heard))
    )


def known_origin(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Hold (or refuse, as policy says) a call with an argument of doubtful origin; unless a person agreed to it."""
    if not context.tainted or rule.provenance == "off":
        return None
    if rule.provenance == "deny":
        return Decision(verdict="deny", fault=DENIED, reason="argument_provenance", pointer=context.tainted[0])
    if context.granted:
        return None
    return Decision(verdict="ask", fault=HELD, reason="argument_provenance", pointer=context.tainted[0])


def _doubtful_key(name: str, heard: Heard) -> bool:
    # Names of properties are the schema's words, which stand in any text; of addresses it has none.
    text = plain(name)
    return _any_foreign(_addresses(text), text, heard)


def _doubtful_value(key: str, value: Any, heard: Heard) -> bool:
    if isinstance(value, str):
        return _doubtful_text(key, plain(value), heard)
    if value is not None and not isinstance(value, bool):
        return not heard.is_known_number(value) and heard.number_in_free_text(value)
    return False


def _doubtful_text(key: str, text: str, heard: Heard) -> bool:
    if not text or heard.said(text):
        return False
    found = _addresses(text)
    if _any_foreign(found, text, heard):
        return True
    if found == [text]:
        return False
    if heard.is_field(text, address=False) or heard.is_composed(text):
        return False
    return heard.copied(text, unnamed_only=not WORDS_FOR_PEOPLE.isdisjoint(words_of(key)))


def _addresses(text: str) -> list[str]:
    return list(islice(addresses_in(text), MOST_ADDRESSES + 1))


def _any_foreign(found: list[str], text: str, heard: Heard) -> bool:
    return len(found) > MOST_ADDRESSES or any(_foreign(one, heard, whole=one == text) for one in found)


def _foreign(address: str, heard: Heard, *, whole: bool) -> bool:
    """Whether an address is neither the user's nor a field's.

    As an argument by itself it must be one of theirs: a model has no other honest way to know it, and a dishonest one
    (put together, turned round, decoded) leaves no trace in any text. Inside prose it must at least stand in free text.
    """
    bare = _SCHEME.sub("", address).rstrip("/.,;:!?)")
    forms = {address, bare, f"https://{bare}", f"http://{bare}", bare + "/"}
    if any(heard.said(form) or heard.is_field(form, address=True) for form in forms):
        return False
    if not re.search(r"[@./]", bare) and heard.said_squeezed(bare):
        return False
    if "@" not in bare and "/" in bare and heard.said(host := bare.partition("/")[0]) and "." in host:
        # A path on a host that the user named is often the model's own work; one that a text gave is not.
        return heard.in_free_text(bare)
    return whole or heard.in_free_text(bare)


def _choices(schema: Mapping[str, Any]) -> frozenset[str]:
    """Pointers of the arguments for which the schema lists the values."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return frozenset()
    return frozenset(
        f"/{name}"
        for name, said in properties.items()
        if isinstance(said, Mapping) and ("enum" in said or "const" in said)
    )
