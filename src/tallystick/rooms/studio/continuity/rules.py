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
    label: str
    """What a finding's message calls it."""


def _rule(name: str, severity: Severity, focus: Focus, title: str, label: str = "") -> Rule:
    return Rule(id=name, severity=severity, focus=focus, title=title, label=label or name.replace("-", " "))


RULES: dict[str, Rule] = {
    rule.id: rule
    for rule in (
        _rule("eye-colour", "error", "characters", "Somebody's eyes change colour."),
        _rule("hair-colour", "error", "characters", "Somebody's hair changes colour."),
        _rule("beard-look", "error", "characters", "Somebody's beard or moustache changes colour.", "beard colour"),
        _rule("figure", "warning", "characters", "Somebody is tall and short, or stout and thin.", "looks"),
        _rule("occupation", "warning", "characters", "Somebody has another occupation than the canon gives."),
        _rule("age", "error", "characters", "Two ages of one person do not go together."),
        _rule("kinship", "error", "characters", "Two people are kin in two ways."),
        _rule("kin-count", "error", "characters", "The number of somebody's brothers, sisters or children changes."),
        _rule("dead-then-acting", "error", "characters", "Somebody acts or speaks after dying."),
        _rule("title", "warning", "characters", "Somebody bears another title than the canon gives."),
        _rule("handedness", "error", "characters", "Somebody is left- and right-handed."),
        _rule("object-side", "error", "characters", "A scar, a lame leg or something held changes sides.", "side"),
        _rule("name-spelling", "error", "characters", "A name is spelt two ways."),
        _rule("object-owner", "warning", "characters", "Something belongs to two people.", "owner"),
        _rule("object-look", "warning", "events", "Something is made of two materials or has two colours.", "material"),
        _rule("object-count", "warning", "events", "The number of things changes.", "number"),
        _rule("place", "error", "events", "Something stands, or somebody lives, in two places."),
        _rule("weekday", "error", "events", "A date has a weekday that it cannot have."),
        _rule("day-count", "error", "events", "Days that are counted do not add up.", "date"),
        _rule("canon-constraint", "error", "events", "Somebody does what the canon says they never do.", "constraint"),
        _rule(
            "contradiction", "warning", "events", "A scene states what cannot be true if a card is; found by a model."
        ),
        _rule("term-variant", "note", "terminology", "A term is written two ways."),
    )
}
BY_MODEL = "contradiction"
"""The rule that code only verifies."""
_BY_FIELD = {
    "eyes": "eye-colour",
    "hair": "hair-colour",
    "beard": "beard-look",
    "moustache": "beard-look",
    "age": "age",
    "born": "age",
    "kin": "kinship",
    "kinname": "kinship",
    "height": "figure",
    "build": "figure",
    "occupation": "occupation",
    "count": "kin-count",
    "dead": "dead-then-acting",
    "title": "title",
    "handedness": "handedness",
    "side": "object-side",
    "hand": "object-side",
    "owns": "object-owner",
    "made": "object-look",
    "number": "object-count",
    "place": "place",
    "never": "canon-constraint",
}
FIELDS = frozenset(_BY_FIELD)
"""The fields that are compared by code."""


def rule_of(field: str) -> Rule:
    """The rule that two statements of this field fall under."""
    return RULES[_BY_FIELD[field.partition(":")[0]]]


def in_focus(rule: Rule, focus: Focus) -> bool:
    """Whether a check with this focus looks for it."""
    return focus in {"general", rule.focus}
