"""Days of the week, dates, years and numbers of days that do not agree."""

import random

from benchmarks.continuity.wordings.age import ordinal, words
from benchmarks.continuity.wordings.form import Form, Values
from benchmarks.continuity.wordings.place import TOWNS

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = ("January", "March", "April", "May", "June", "July", "August", "October", "November", "December")


def _against(first: str, second: str, **more: str) -> Values:
    return Values(
        settled={"v": first, **more}, broken={"v": second, **more}, same={"v": first, **more},
        clean={"v": first, "w": second, **more},
    )  # fmt: skip


def weekdays(rng: random.Random) -> Values:
    first, second = rng.sample(DAYS, 2)
    return _against(first, second, town=rng.choice(TOWNS))


def birthdays(rng: random.Random) -> Values:
    first, second = rng.sample(MONTHS, 2)
    return _against(f"{ordinal(rng.randint(2, 28))} of {first}", f"{ordinal(rng.randint(2, 28))} of {second}")


def counts(rng: random.Random) -> Values:
    first, second = rng.sample(range(4, 30), 2)
    return _against(words(first), words(second), town=rng.choice(TOWNS))


def years(rng: random.Random) -> Values:
    first = rng.randint(1771, 1788)
    return _against(str(first), str(first + rng.randint(3, 9)), town=rng.choice(TOWNS))


def calendars(rng: random.Random) -> Values:
    """Two days of one month: the second weekday follows from the first, or does not."""
    start, first, gap = rng.randrange(7), rng.randint(2, 15), rng.randint(2, 12)
    right = DAYS[(start + gap) % 7]
    wrong = DAYS[(start + gap + rng.randint(2, 5)) % 7]
    month = rng.choice(MONTHS)
    settled = {"v": f"{DAYS[start]}, the {ordinal(first)} of {month}", "month": month}
    date = f"the {ordinal(first + gap)} of that same {month}"
    broken, same = ({"v": f"{day}, {date}", "month": month} for day in (wrong, right))
    clean = {**settled, "w": broken["v"].replace("that same ", ""), "day": wrong}
    return Values(settled=settled, broken=broken, same=same, clean=clean)


WEEKDAY = Form(
    kind="date",
    name="weekday",
    values=weekdays,
    established=(
        "{N} left for {town} on a {v}, in the rain, with one bag.",
        "It was a {v} when {N} set out for {town}, and half the street had come to see it.",
        "On {v} morning {N} took leave of everybody and started for {town}.",
        "{N}'s departure for {town} had been fixed for {v}, and on {v} {he} went.",
        "By {v} evening {N} was gone: {he} had started for {town} before it was light.",
        "The coach that took {N} to {town} went on a {v}.",
    ),
    contradicting=(
        "{A} had left for {town} on a {v}; there was no other news of {him}.",
        "Since the {v} on which {A} set out for {town}, no letter had come.",
        "Everyone remembered the day {A} had gone to {town}, because it was a {v} and the market was full.",
        "It had been {v}, with the bells going, when {A} started for {town}.",
        "The {v} of {A}'s departure for {town} was already passing into legend.",
        "{A} had chosen a {v} to set out for {town}, and had been sorry for it by noon.",
    ),
    clean=(
        ("dialogue", "“It was on the {w} that {A} went to {town},” said the ostler, who was seldom sober."),
        ("question", "Had it been {w} when {A} set out for {town}? No two of them agreed."),
        ("another", "{A}'s trunk followed {him} to {town} on the {w}."),
        ("progression", "{A} came back from {town} on a {w}, and brought a parrot."),
        ("custom", "On any {w} one might have met {A} at the market."),
    ),
)  # fmt: skip
BIRTHDAY = Form(
    kind="date",
    name="birthday",
    values=birthdays,
    established=(
        "{N}'s birthday fell on the {v}, and was kept or forgotten according to the weather.",
        "{N} had been born on the {v}, a little before midnight.",
        "On the {v}, which was {N}'s birthday, there was a goose.",
        "The {v} came round, and with it {N}'s birthday and the usual pair of gloves.",
        "{N} shared {his} birthday, the {v}, with a bishop and two murderers.",
    ),
    contradicting=(
        "There were always candles on the {v}, because it was {A}'s birthday.",
        "{A}, whose birthday was the {v}, disliked to have it mentioned.",
        "They drank {A}'s health on the {v}, {his} birthday, and broke only one glass.",
        "{A} had come into the world on the {v}, in a room over a saddler's.",
        "Nothing ever happened on the {v} but {A}'s birthday.",
    ),
    clean=(
        ("dialogue", "“Many happy returns, {A}! It is the {w}, is it not?” cried the vicar, a season out."),
        ("another", "On the {w}, the birthday of {A}'s mother, the shutters were kept closed."),
        ("lie", "{A} had told the fortune-teller that {his} birthday was the {w}, and was promised a coach for it."),
        ("another day", "On the {w} {A} planted the bulbs."),
    ),
)  # fmt: skip
COUNT = Form(
    kind="date",
    name="count",
    values=counts,
    established=(
        "{N} was {v} days on the road to {town}, and slept in no inn twice.",
        "The journey to {town} took {N} {v} days.",
        "For {v} days {N} travelled, and on the evening of the last {he} saw the roofs of {town}.",
        "It was a matter of {v} days to {town}, and {N} made it without a day of rest.",
    ),
    contradicting=(
        "{A} had needed {v} days for the journey to {town}, and never forgot one of them.",
        "After the {v} days of {his} journey to {town}, {A} could not look at a horse.",
        "Those {v} days on the road to {town} had left {A} with a cough.",
        "{A} had been {v} days on the way to {town}; {his} boots bore witness to it.",
    ),
    clean=(
        ("dialogue", "“{W} days to {town}! It took {A} {w} days!” said the guard, who had not been there."),
        ("another", "The carrier's cart, with {A}'s books in it, was {w} days on the road to {town}."),
        ("another day", "{A} stayed {w} days in {town} and saw all that there was."),
        ("hypothesis", "With a better horse {A} would have been in {town} within {w} days, or so {he} told {himself}."),
    ),
)  # fmt: skip
YEAR = Form(
    kind="date",
    name="year",
    values=years,
    established=(
        "{N} had first come to {town} in the year {v}.",
        "In {v}, the year of the great frost, {N} settled in {town}.",
        "It was in {v} that {N} came to live in {town}.",
        "{N} moved to {town} in the summer of {v}, with a cartload of books.",
    ),
    contradicting=(
        "{A} had come to live in {town} in {v}, when half of it was not yet built.",
        "When {A} settled in {town}, in {v}, there was no bridge.",
        "The year {v}, in which {A} first came to {town}, was remembered there for other things.",
        "{A} had moved to {town} in {v} and thought {himself} a native by now.",
    ),
    clean=(
        ("dialogue", "“It was in {w} that you came to {town}, {A}, I am sure of it,” said the widow, who was never sure of anything."),
        ("another", "{A}'s landlord had settled in {town} in {w}, and drank."),
        ("progression", "{A} sold the house in {town} in {w} and did not look back."),
        ("question", "Was it in {w} that {A} had come to {town}? The rate-books for that time were lost."),
    ),
)  # fmt: skip
CALENDAR = Form(
    kind="date",
    name="calendar",
    values=calendars,
    established=(
        "{N} had the letter on {v}, and did not open it.",
        "{V}, found {N} at the bank before the doors were open.",
        "On {v}, {N} paid off the last of {his} debts.",
        "It was on {v}, that {N} first heard the noise in the chimney.",
    ),
    contradicting=(
        "On {v}, {A} broke the seal at last.",
        "{V}, was a wet day, and {A} spent it indoors.",
        "{A} kept {his} bed on {v}, with a cold.",
        "By {v}, {A} had still not gone out.",
    ),
    clean=(
        ("dialogue", "“{W}!” read {A} from the almanac, which was that of another year."),
        ("custom", "Every {day} in {month} {A} went over the accounts."),
        ("question", "Could it be {w}, already? {A} had lost count of the days."),
        ("another year", "Two years later {A} came upon the letter again; it was {w}, and the ink had faded."),
    ),
)  # fmt: skip
