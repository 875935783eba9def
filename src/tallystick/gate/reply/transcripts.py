"""Check what an agent says it did against the tool calls of the conversation; no Evidence line is needed.

This is for transcripts of other systems: their messages cite no receipts, so every claimed action (in the first person
or the passive) is compared with all calls of the conversation. Only claims whose verb matches a known tool that changes
something are judged. A claim is refused if no matching call was made, if every matching call failed, if an id in the
claim occurs in none of these calls, or if it claims more actions than there were successful calls.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files

import orjson

from tallystick.gate.reply.statements import MAX_STATEMENTS, Statement, read_statements
from tallystick.gate.reply.support.actions import RecordedCall, does, verbs_done
from tallystick.gate.reply.support.doubts import Doubt
from tallystick.gate.reply.support.readings import Reading, akin, read
from tallystick.records import record
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words, words

_LIGHT = frozenset(map(stem, ["complete", "process", "finalize", "finalise", "confirm", "make", "proceed", "succeed"]))
_ID = re.compile(r"(?<![\w/-])(?:(?=[A-Z0-9-]*\d)(?=[A-Z0-9-]*[A-Z])[A-Z0-9-]{4,20}|[A-Z]{5,12}|\d{6,12})(?![\w/-])")
"""Text that looks like the id of an order, a booking or a record."""
_PERFECT = re.compile(
    r"\b(?:has|have|had)\s+(?:\w+ly\s+|already\s+|just\s+|now\s+|also\s+)?been\s+(?:\w+ly\s+)?(\w+)"
    r"|\b(?:is|are|was|were)\s+(?:now|successfully)\s+(\w+(?:ed|nt))\b",
    re.IGNORECASE,
)
"""Passive statements that something has been done, without naming who did it."""
_ENTRY = re.compile(r"^[^:]{1,40}:\W{0,6}(\w+ed)\b|^[^.]{1,60}\b(\w+ed)[.!]?$", re.IGNORECASE)
"""The same in an entry of a list: `Class: Upgraded to economy`, `3 bags added`."""
_FUTURE = re.compile(
    r"\b(?:will|would|can|could|should|once|if|before|after|unless|to be|going to|please|shall|need(?:s|ed)?)\b"
    r"|['’]ll\b",  # noqa: RUF001
    re.IGNORECASE,
)
_PARTS = re.compile(
    r"(?:,|(?<!\s))\s++(?:and(?!\s+(?-i:[*#]{0,3}[A-Z0-9-]{4,20}\b))|but|because|as|since|due to|caused by"
    r"|for the inconvenience)\s+|;\s+",
    re.IGNORECASE,
)
"""Where a sentence is divided into clauses; `A1B2 and C3D4` is one list."""
_SUBJECT = re.compile(
    r"(?:^|\b(?:I|we)(?: have|['’]ve)?(?: \w+ly| now| also| just| already)? (?:\w+ed|sent|wrote|written|made|put|set) )"  # noqa: RUF001
    r"(?:both|all|two|three|four|five|six|seven|eight|nine|ten|[2-9]|[1-9]\d)(?: of)?(?: your| the)? (?:\w+ )?\w+s\b",
    re.IGNORECASE,
)
"""`both bookings`, `three of your bags`, … at the start of the sentence, or after `I` or `we` and a verb."""
_NO_CHANGE = frozenset({"look", "run"})
"""Families of verbs that change nothing."""
_SIDE_EFFECT = "pay"
"""The family of verbs that other calls often include: a cancelled booking is also refunded."""
_SEVERAL = (
    {"both": 2}
    | {
        word: number
        for number, word in enumerate(["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], start=2)
    }
    | {str(number): number for number in range(2, 100)}
)


@record
class Undone:
    """A claimed action that no call confirms."""

    text: str
    line: int
    code: str
    reason: str


def find_undone(
    text: str, calls: Sequence[RecordedCall], tools: Iterable[str] | None, *, since: int = 0
) -> list[Undone]:
    """Return the actions that a message claims although no call performed them.

    Args:
        text: The message.
        calls: The calls of the conversation before it, in order.
        tools: The names of all tools the agent has; a verb that matches none of them is not judged. None: not known;
            then the verbs that change something are judged (`data/actions.json`), and a passive verb of payment only
            if some call matches it.
        since: Index of the first call of this turn. A claim without an id is taken to be about this turn if any call
            was made in this turn.
    """
    known = None if tools is None else tuple(dict.fromkeys(tools))
    called = tuple(dict.fromkeys(call.tool for call in calls))
    statements = read_statements(text.split("\n"), set())
    found: list[Undone] = []
    for place, statement in enumerate(statements):
        listed = _ids_of_list(statements, place)
        for verb in _verbs(statement, known, called):
            doubt = _doubt(read(_clause_of(statement.text, verb)), verb, listed, calls, since)
            if doubt is not None:
                found.append(Undone(text=statement.text, line=statement.line, code=doubt.code, reason=doubt.reason))
                break
    if len(statements) >= MAX_STATEMENTS:
        reason = f"Only the first {MAX_STATEMENTS} sentences were read."
        found.append(Undone(text="", line=statements[-1].line, code="too_many_sentences", reason=reason))
    return found


def _verbs(statement: Statement, tools: Sequence[str] | None, called: Sequence[str]) -> list[str]:
    text = statement.text
    if statement.kind == "question" or statement.reading.negations or statement.reading.has("soft_negation"):
        return []
    done = verbs_done(text)
    passive = [] if _FUTURE.search(text) else _passive(statement)
    known = called if tools is None else tools
    if any(stem(verb) in _LIGHT for verb in [*done, *passive]):
        roots = {stem(part) for name in known for part in name.split("_")[:1]}
        passive += [word for word in words(text) if stem(word) in roots]
    judged = [verb for verb in [*done, *passive] if any(does(verb, tool) for tool in known)]
    if tools is None:
        judged += [verb for verb in done if _changes(verb, _verbs_of_change())]
        judged += [verb for verb in passive if _changes(verb, _verbs_of_change(side_effects=False))]
    return list(dict.fromkeys(judged))


def _changes(verb: str, roots: frozenset[str]) -> bool:
    return stem(verb) in roots or stem(verb.removeprefix("re")) in roots


@cache
def _verbs_of_change(*, side_effects: bool = True) -> frozenset[str]:
    """Return the stems of the verbs that change something; they are judged if the agent's tools are not known."""
    listed = orjson.loads(files("tallystick.gate.reply.support").joinpath("data/actions.json").read_bytes())
    left_out = _NO_CHANGE if side_effects else _NO_CHANGE | {_SIDE_EFFECT}
    return frozenset(stem(verb) for family, verbs in listed.items() if family not in left_out for verb in verbs)


def _passive(statement: Statement) -> list[str]:
    text = statement.text.replace("*", "")
    found = [*_PERFECT.finditer(text), *(_ENTRY.finditer(text) if statement.is_entry else ())]
    return [(match[1] or match[2]).lower() for match in found]


def _clause_of(text: str, verb: str) -> str:
    """Return the clause of a sentence that contains a verb."""
    parts = _PARTS.split(text)
    return next((part for part in parts if verb in part.lower()), text)


def _doubt(claim: Reading, verb: str, listed: Sequence[str], calls: Sequence[RecordedCall], since: int) -> Doubt | None:
    ids = [*_ids(claim.text), *listed]
    tools = _tools_for(claim, verb, dict.fromkeys(call.tool for call in calls))
    fitting = [(place, call) for place, call in enumerate(calls) if call.tool in tools]
    good = [(place, call) for place, call in fitting if call.ok]
    now = [call for place, call in good if place >= since]
    if not fitting:
        return Doubt(code="action_without_receipt", reason=f"No call matches {verb!r}.")
    if not good:
        return Doubt(code="action_failed", reason="Every matching call failed.")
    if not now and not ids and any(place >= since for place, _ in fitting):
        return Doubt(code="action_failed", reason="Every matching call of this turn failed.")
    strange = [each for each in ids if not any(each.casefold() in call.text for _, call in good)]
    if strange:
        return Doubt(code="action_on_another", reason=f"No such call concerned {strange[0]}.")
    if not now and not ids and since and len(calls) > since:
        return Doubt(code="action_without_receipt", reason=f"No call of this turn matches {verb!r}.")
    return _too_many(claim, good, now)


def _tools_for(claim: Reading, verb: str, called: Iterable[str]) -> frozenset[str]:
    """Return the called tools that do what a verb says, to the object that the claim mentions.

    The object matters if several tools match the verb, such as `update_order` and `update_address`. If the claim
    mentions no object that distinguishes them, every one qualifies.
    """
    objects = {tool: frozenset(_objects(tool, verb)) for tool in called if does(verb, tool)}
    shared = frozenset[str]().union(*objects.values())
    for each in objects.values():
        shared &= each
    own = {word for each in objects.values() for word in each if _mentions(claim, word)} - shared
    return frozenset(tool for tool, each in objects.items() if not own or own & each)


def _objects(tool: str, verb: str) -> list[str]:
    return [stem(word) for word in identifier_words(tool) if not does(verb, word)]


def _mentions(claim: Reading, word: str) -> bool:
    return any(word == each or (len(each) > 2 and (word.startswith(each) or akin(word, each))) for each in claim.stems)  # noqa: PLR2004


def _too_many(claim: Reading, good: Sequence[tuple[int, RecordedCall]], now: Sequence[RecordedCall]) -> Doubt | None:
    wanted = max((_SEVERAL[word] for word in claim.words & _SEVERAL.keys()), default=1)
    if wanted > max(len(good), len(now)) and _SUBJECT.search(claim.text):
        reason = f"The message claims {wanted} actions; the number of matching calls that succeeded is {len(good)}."
        return Doubt(code="action_too_often", reason=reason)
    return None


def _ids(text: str) -> list[str]:
    return [found.group() for found in _ID.finditer(text.replace("*", " "))]


def _ids_of_list(statements: Sequence[Statement], place: int) -> list[str]:
    """Return the ids of the list that a sentence introduces with a colon."""
    if not statements[place].text.rstrip("* ").endswith(":"):
        return []
    found: list[str] = []
    line = statements[place].line
    for statement in statements[place + 1 :]:
        if statement.line > line + 2:
            break
        line = statement.line
        found += _ids(statement.text)
    return found
