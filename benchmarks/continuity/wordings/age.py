"""Ages that run backwards, or leap."""

import random

from benchmarks.continuity.wordings.form import Form, Values

_ONES = ("", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ORDINALS = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}


def words(number: int) -> str:
    """A number below a hundred, as novels write it."""
    if number < 20:
        return _TEENS[number - 10] if number >= 10 else _ONES[number]
    tens, ones = _TENS[number // 10], _ONES[number % 10]
    return f"{tens}-{ones}" if ones else tens


def ordinal(number: int) -> str:
    """`thirty-second`, `fortieth`."""
    head, dash, last = words(number).rpartition("-")
    if last in _ORDINALS:
        return f"{head}{dash}{_ORDINALS[last]}"
    return f"{head}{dash}{last[:-1]}ieth" if last.endswith("y") else f"{head}{dash}{last}th"


def ages(rng: random.Random) -> Values:
    """Mostly younger later on, which no calendar allows; else older by more years than a plot takes."""
    settled = rng.choice([number for number in range(27, 51) if number % 10])
    broken = settled - rng.randint(4, 8) if rng.random() < 0.7 else settled + rng.randint(26, 29)
    first, second = (
        {"v": words(number), "nth": ordinal(number), "digits": str(number)} for number in (settled, broken)
    )
    clean = {"v": words(settled), "w": words(broken), "later": words(settled + 10), "young": words(settled - 12)}
    return Values(settled=first, broken=second, same=first, clean=clean)


AGE = Form(
    kind="age",
    name="years",
    values=ages,
    card=("Age",),
    established=(
        "{N} was {v} years old that spring, and felt it chiefly in the mornings.",
        "At {v}, {N} had already outlived most of {his} opinions.",
        "{N} was a {man} of {v}, spare, upright, and careful on stairs.",
        "{N} had turned {v} in the autumn, and nobody had remembered the day.",
        "{N}, who was {v}, gave {his} age to nobody, but the parish register gave it to everybody.",
        "{N} kept {his} {nth} birthday that week with a cold supper and no guests.",
        "{N} was {v}, and looked it.",
        "Being then {v} years of age, {N} thought {himself} past surprise.",
        "Aged {v}, {N} still took the steps two at a time.",
        "{N} had been born {v} years before, in a hard frost, and had never since been quite warm.",
        "There was a {v}-year-old {man} in the second carriage, and that was {N}.",
        "{N} had reached the age of {v} without once having been asked what {he} wanted.",
        "They had put {N} down for less, but {he} was {v}, and had the papers to show it.",
        "{N} had {v} years behind {him} and, as far as anyone could see, very little else.",
    ),
    contradicting=(
        "{A} was {v} that year.",
        "{A} was now {v} years old, and had begun to say so before anyone else could.",
        "For a {man} of {v}, {A} slept remarkably well.",
        "{A} had lately turned {v}; there had been a cake, and a quarrel over it.",
        "At the age of {v} {A} learned to skate.",
        "It was {A}'s {nth} birthday, and it rained.",
        "{A}, at {v}, had not yet seen the sea.",
        "{A}, a {v}-year-old {man} with ink on {his} cuffs, was asked to wait in the passage.",
        "One does not begin again at {v}, and {A}, who was {v}, did not try.",
        "When the clock struck midnight {A} was {v} years of age, and alone.",
        "{A} had spent the whole of {his} {v} years within ten miles of that steeple.",
        "{A} was only {v}, but there was already something of the monument about {him}.",
        "Nothing in {A}'s {v} years of life had prepared {him} for the question.",
        "{A} was {v} years old and had never owned a dog.",
    ),
    clean=(
        ("dialogue", "“You cannot be more than {w}, {A},” said the colonel, who wished to be liked."),
        ("dialogue", "“{A} is {w} if {he} is a day,” said the cook."),
        ("lie", "{A} told the recruiting sergeant that {he} was {w}, and the sergeant wrote it down without looking up."),
        ("dream", "In the dream {A} was {w} years old, and it did not seem odd."),
        ("simile", "{A} went down the stairs like a {man} of {w}."),
        ("appearance", "By candlelight {A} might have been taken for {w}."),
        ("question", "Was {A} really {w}? The gossips could not agree."),
        ("another", "{A}'s brother-in-law, who was {w}, had brought his own wine."),
        ("another", "The doctor who came to {A} was {w} years old and deaf."),
        ("progression", "Ten years later, when {A} was {later}, there was nobody left to quarrel with."),
        ("memory", "At {young} {A} had run away to sea, and had been fetched back from the first milestone."),
        ("memory", "When {A} was {young} years old {he} had broken the same arm in the same place."),
        ("hypothesis", "If {A} had been {w}, it might have been forgiven {him}."),
        ("negation", "{A} was not {w}, nor had {he} ever claimed it."),
    ),
)  # fmt: skip
