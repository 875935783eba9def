"""Provenance of the arguments of a write: the user, a field of a result, or free text in a result.

A model that follows instructions in a text it reads (prompt injection) proposes calls with values from that text. For
tools that change or send something, three rules apply to every argument, at any depth:

    1 an address (mail, web, account, phone)   as a whole argument, must come from the user or a result field;
                                               inside a longer text, must not come from free text only
    2 any other value                          must not occur in free text only
    3 prose for a field that holds prose       may be copied, but only from a source that the user named

A call without such a value (no arguments, choices of an enum, flags, very short values) has nothing to judge. Then the
words of its tool's name decide: the user must have said two fifths of them; an `external` tool without any argument is
always asked about.

A call that breaks a rule waits for approval, with a pointer to the argument. This does not detect attacks; it asks
about values that break one of these rules. The threat model lists what it does not stop.
"""

import re
from collections.abc import Mapping
from itertools import islice
from typing import Any, Literal

from tallystick.gate.admit.proposal import Proposal
from tallystick.gate.codes import DENIED, HELD
from tallystick.gate.decide.addresses import addresses_in
from tallystick.gate.decide.provenance_tracker import (
    NAME_CHARS,
    PROSE_KEYS,
    ProvenanceTracker,
    leaves,
    numbers_in,
    plain,
    words_of,
)
from tallystick.gate.decide.tool_rule import ToolRule
from tallystick.gate.decide.verdict import Context, Decision
from tallystick.gate.tool import Card
from tallystick.text.stems import stems
from tallystick.text.words import identifier_words

Provenance = Literal["ask", "off", "deny"]
REASON = "argument_provenance"
NOT_ASKED_FOR = "not_asked_for"
WHOLE_CALL = ""
"""The JSON pointer of a call that nothing the user said asks for: all of its arguments, not one of them."""
ASKED_SHARE = 0.4
"""Share of the words of a tool's name that the user must have said; decision 30 has the figures."""

WORDS_FOR_PEOPLE = PROSE_KEYS | {"location", "place", "venue"}
"""Words in an argument's name that mark text read by people, which triggers no action."""
SUBJECT = frozenset({"subject"})
"""A message's subject line is read by people, like its body (RFC 5322 gives it no other meaning). `title` is excluded:
it names the object that the call creates or changes."""

MOST_ADDRESSES = 100
"""Maximum per argument; more need approval, since nobody reviews more than this before approving a call."""
_SCHEME = re.compile(r"^[a-z][a-z0-9+.-]*://")


def doubtful(
    card: Card, args: Mapping[str, Any], heard: ProvenanceTracker | None, *, of_room: bool = False
) -> tuple[str, ...]:
    """Return the JSON pointers of the arguments that break one of the three rules.

    Args:
        card: The card of the tool; read-only tools are not checked.
        args: As the tool would receive them.
        heard: User texts and results of this turn; None if the user's texts are unknown, so nothing can be checked.
        of_room: Whether a plugin (room) provides the tool: its steps follow from the room's work, not from the user.
    """
    if heard is None or card.effect == "read" or not heard.anything:
        return ()
    chosen, for_people = _choices(card.input_schema), _words_for_people(args)
    found = tuple(
        pointer
        for pointer, key, value in leaves(args, keys=True)
        # A value from an enum of the tool's schema cannot carry foreign text.
        if pointer not in chosen
        and (
            _doubtful_key(value, heard)
            if key is None
            else _doubtful_value(value, heard, prose=not for_people.isdisjoint(words_of(key)))
        )
    )
    return found or (() if of_room or _asked_for(card, args, chosen, heard) else (WHOLE_CALL,))


def known_origin(_proposal: Proposal, context: Context, rule: ToolRule) -> Decision | None:
    """Ask for approval of a tainted argument or a call nobody asked for, unless granted; or deny, if policy says so."""
    if not context.tainted or rule.provenance == "off":
        return None
    pointer = context.tainted[0]
    reason = NOT_ASKED_FOR if pointer == WHOLE_CALL else REASON
    if rule.provenance == "deny":
        return Decision(verdict="deny", fault=DENIED, reason=reason, pointer=pointer)
    if context.granted:
        return None
    return Decision(verdict="ask", fault=HELD, reason=reason, pointer=pointer)


def _asked_for(card: Card, args: Mapping[str, Any], chosen: frozenset[str], heard: ProvenanceTracker) -> bool:
    """Whether the values of a call can be judged, or else the user's words ask for its tool."""
    if card.effect == "external" and not args:
        return False
    if any(pointer not in chosen and _can_be_judged(value) for pointer, _, value in leaves(args)):
        return True
    words = frozenset(stems(" ".join(identifier_words(card.name)))) or {card.name}
    return len(words & heard.said_stems()) >= ASKED_SHARE * len(words)


def _can_be_judged(value: Any) -> bool:
    """Whether a value is long enough to show whose word it is."""
    if isinstance(value, str):
        return len(value.strip()) >= NAME_CHARS
    return isinstance(value, int | float) and not isinstance(value, bool) and any(numbers_in(str(value)))


def _doubtful_key(name: str, heard: ProvenanceTracker) -> bool:
    # Most keys are ordinary words from the schema, which occur in many texts without having been copied from them. Only
    # an address is suspicious: no schema has one as a key.
    text = plain(name)
    return _any_foreign(_addresses(text), text, heard)


def _words_for_people(args: Mapping[str, Any]) -> frozenset[str]:
    """Return the words that mark this call's arguments as text read by people."""
    with_text = any(not words_of(name).isdisjoint(PROSE_KEYS) for name in args)
    return WORDS_FOR_PEOPLE | SUBJECT if with_text else WORDS_FOR_PEOPLE


def _doubtful_value(value: Any, heard: ProvenanceTracker, *, prose: bool) -> bool:
    if isinstance(value, str):
        return _doubtful_text(plain(value), heard, prose=prose)
    if value is not None and not isinstance(value, bool):
        return not heard.is_known_number(value) and heard.number_in_free_text(value)
    return False


def _doubtful_text(text: str, heard: ProvenanceTracker, *, prose: bool) -> bool:
    if not text or heard.said(text):
        return False
    found = _addresses(text)
    if _any_foreign(found, text, heard):
        return True
    if found == [text]:
        return False
    if heard.is_field(text, address=False) or heard.is_composed(text):
        return False
    return heard.copied(text, unnamed_only=prose)


def _addresses(text: str) -> list[str]:
    return list(islice(addresses_in(text), MOST_ADDRESSES + 1))


def _any_foreign(found: list[str], text: str, heard: ProvenanceTracker) -> bool:
    return len(found) > MOST_ADDRESSES or any(_foreign(one, heard, whole=one == text) for one in found)


def _foreign(address: str, heard: ProvenanceTracker, *, whole: bool) -> bool:
    """Whether an address comes neither from the user nor from a field.

    An address that is the whole argument must come from one of them: a model has no other legitimate source for it, and
    one that was assembled, reversed or decoded leaves no trace in any text. Inside prose, it is foreign only if it also
    occurs in free text.
    """
    bare = _SCHEME.sub("", address).rstrip("/.,;:!?)")
    forms = {address, bare, f"https://{bare}", f"http://{bare}", bare + "/"}
    if any(heard.said(form) or heard.is_field(form, address=True) for form in forms):
        return False
    if not re.search(r"[@./]", bare) and heard.said_squeezed(bare):
        return False
    if "@" not in bare and "/" in bare and heard.said(host := bare.partition("/")[0]) and "." in host:
        # On a host that the user named, the model may build a path itself; a path from free text is foreign.
        return heard.in_free_text(bare)
    return whole or heard.in_free_text(bare)


def _choices(schema: Mapping[str, Any]) -> frozenset[str]:
    """Return the pointers of top-level arguments whose schema has `enum` or `const`."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return frozenset()
    return frozenset(
        f"/{name}"
        for name, said in properties.items()
        if isinstance(said, Mapping) and ("enum" in said or "const" in said)
    )
