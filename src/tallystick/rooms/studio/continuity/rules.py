"""The rules: what each is called, how much it weighs, and what it says."""

from typing import Literal

from tallystick.records import record

Severity = Literal["error", "warning", "note"]
Focus = Literal["characters", "terminology", "events", "general"]


@record
class Rule:
    """One kind of contradiction."""

    id: str
    severity: Severity
    focus: Focus
    """The narrower check that it belongs to; all belong to `general`."""
    title: str


def _rule(name: str, severity: Severity, focus: Focus, title: str) -> Rule:
    return Rule(id=name, severity=severity, focus=focus, title=title)


RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        _rule("eye-colour", "error", "characters", "Somebody's eyes change colour."),
        _rule("hair-colour", "error", "characters", "Somebody's hair changes colour."),
        _rule("beard-colour", "warning", "characters", "Somebody's beard changes colour."),
        _rule("height", "warning", "characters", "Somebody is tall and short."),
        _rule("stature", "warning", "characters", "Somebody's height in feet changes."),
        _rule("handedness", "error", "characters", "Somebody is left- and right-handed."),
        _rule("body-side", "error", "characters", "A scar or a lame leg changes sides."),
        _rule("kinship", "error", "characters", "A parent or spouse has two names."),
        _rule("kin-count", "error", "characters", "The number of brothers or sisters changes."),
        _rule("trade", "warning", "characters", "Somebody has another trade than the canon gives."),
        _rule("age", "error", "characters", "Two ages of one person do not go together."),
        _rule("dead-then-acting", "error", "characters", "Somebody speaks or acts after dying."),
        _rule("name-spelling", "error", "characters", "A name is spelt two ways."),
        _rule("place", "error", "events", "Something lies, or somebody lives or is, in two places."),
        _rule("event-date", "error", "events", "One event has two dates."),
        _rule("day-arithmetic", "error", "events", "Days that are counted do not add up."),
        _rule("weekday-of-date", "error", "events", "A date has a weekday that it cannot have."),
        _rule("impossible-date", "error", "events", "There is no such day."),
        _rule("forbidden", "error", "events", "Something is done that the canon forbids."),
        _rule("term-variant", "note", "terminology", "A term is written two ways."),
    )
}
_BY_ATTRIBUTE = {
    "eyes": "eye-colour", "hair": "hair-colour", "beard": "beard-colour", "height": "height", "stature": "stature",
    "handed": "handedness", "mother": "kinship", "father": "kinship", "husband": "kinship", "wife": "kinship",
    "trade": "trade", "age": "age", "dead": "dead-then-acting", "in": "place", "home": "place", "birthplace": "place",
    "raised": "place", "born": "event-date", "died": "event-date", "married": "event-date", "baptised": "event-date",
    "date": "event-date", "buried": "event-date", "engaged": "event-date", "knighted": "event-date",
    "forbidden": "forbidden", "crowned": "event-date", "ordained": "event-date", "name-day": "event-date",
}  # fmt: skip


def rule_of(attribute: str) -> Rule:
    """The rule that two facts of this attribute fall under."""
    if attribute in _BY_ATTRIBUTE:
        return RULES[_BY_ATTRIBUTE[attribute]]
    if attribute.startswith("count:"):
        return RULES["kin-count"]
    if attribute.startswith("kin:"):
        return RULES["kinship"]
    if ":" in attribute:
        return RULES["body-side"]
    travels = (
        "when ",
        "went ",
        "moved ",
        "entered ",
        "quitted ",
        "left ",
        "departed ",
        "arrived ",
        "reached ",
        "sailed ",
        "set out ",
        "landed ",
        "returned ",
        "came ",
        "days to ",
    )
    return RULES["event-date" if attribute.startswith(travels) else "place"]


def in_focus(rule: Rule, focus: Focus) -> bool:
    """Whether a check with this focus looks for it."""
    return focus in {"general", rule.focus}
