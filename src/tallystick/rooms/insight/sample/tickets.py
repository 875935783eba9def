"""Generates the sample tickets of Tideline Energy, March and April 2026; the output is reproducible.

What customers say is put together from sentences in `wording.json`, and some of it stands there whole. The people,
their addresses and numbers are invented (from ranges that are kept free for that); they are there to be replaced.

The months differ on purpose: version 4.2 of the app comes out on 7 April and signs people out, and it loses the times
at which cars are charged. And the backlog of meter readings is gone in April.

    python -m tallystick.rooms.insight.sample.tickets > tickets.csv
"""

import csv
import io
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from random import Random
from typing import Any

import orjson

from tallystick.records import record

HOW_MANY = 340
"""Fewer than tickets: some write again."""


class People:
    """The customers of the sample."""

    def __init__(self, first: Sequence[str], last: Sequence[str], chance: Random) -> None:
        self._chance = chance
        self._all = [self._person(chance.choice(first), chance.choice(last), number) for number in range(HOW_MANY)]

    def any(self) -> Mapping[str, str]:
        """One of them."""
        return self._chance.choice(self._all)

    def _person(self, first: str, last: str, number: int) -> Mapping[str, str]:
        chance = self._chance
        host = chance.choice(("example.com", "example.org", "example.net", "mail.example.com"))
        return {
            "first": first,
            "last": last,
            "email": f"{first}.{last}{number}@{host}".lower(),
            "phone": _phone(chance),
            "card": _card(chance),
            "iban": _iban(chance),
            "ip": f"{chance.choice(('192.0.2', '198.51.100', '203.0.113'))}.{chance.randrange(1, 255)}",
        }


SEED = 42
MONTHS = {"march": date(2026, 3, 1), "april": date(2026, 4, 1)}
RELEASE = date(2026, 4, 7)
LAST = date(2026, 4, 30)
COLUMNS = (
    "ticket_id",
    "created_at",
    "department",
    "product",
    "priority",
    "status",
    "customer_email",
    "subject",
    "description",
    "resolution",
    "resolved_at",
    "reassignments",
)
FILE = "tickets.csv"
Theme = Mapping[str, Any]
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
_ROUTERS = ("Fritzbox", "TP-Link", "Speedport", "Netgear", "provider's own box")
_PHONES = ("Pixel 8", "Galaxy S22", "iPhone 13", "iPhone SE", "Fairphone 5", "Galaxy A54")


def sample() -> bytes:
    """The file as it comes with the package."""
    return (files("tallystick.rooms.insight.sample") / FILE).read_bytes()


def make() -> bytes:
    """The file, made anew."""
    rows = sorted(_rows(Random(SEED)), key=lambda row: row.created)  # noqa: S311 - a sample, not a secret
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    for number, row in enumerate(rows, start=1):
        table.writerow([f"TL-{20_000 + number}", row.created.strftime("%Y-%m-%d %H:%M:%S"), *row.cells])
    return text.getvalue().encode()


@record
class Row:
    """A ticket; its number follows from when it came."""

    created: datetime
    cells: tuple[str, ...]


def _rows(chance: Random) -> list[Row]:
    wording = orjson.loads((files("tallystick.rooms.insight.sample") / "wording.json").read_bytes())
    people = People(wording["first"], wording["last"], chance)
    writer = _Writer(wording, chance)
    rows: list[Row] = []
    for theme in wording["themes"]:
        for month, first in MONTHS.items():
            for _ in range(theme[month]):
                created = _moment(theme, first, chance)
                rows.append(_row(theme, created, writer, people, chance))
    return rows


def _moment(theme: Theme, first: date, chance: Random) -> datetime:
    """Some time of the month, mostly on working days; of what a release broke, after it and most in its first days."""
    if theme.get("after_release") and first == MONTHS["april"]:
        day = RELEASE + timedelta(days=min(int(chance.expovariate(1 / 7)), (LAST - RELEASE).days))
    else:
        day = first + timedelta(days=chance.randrange(30))
    if day.weekday() >= 5 and chance.random() < 0.6 and day + timedelta(days=2) <= LAST:  # noqa: PLR2004 - the weekend
        day += timedelta(days=2)
    return datetime(day.year, day.month, day.day, chance.choice(range(7, 22)), chance.randrange(60), tzinfo=UTC)


def _row(theme: Theme, created: datetime, writer: "_Writer", people: People, chance: Random) -> Row:
    person = people.any()
    low, high = theme["hours"]
    resolved = created + timedelta(minutes=chance.randrange(low * 60, high * 60))
    is_open = resolved.date() > LAST
    moved = chance.choices((0, 1, 2, 3), (70, 20, 8, 2) if theme["department"] != "Digital" else (30, 40, 20, 10))[0]
    subject, text = writer.write(theme, person, created)
    return Row(
        created=created,
        cells=(
            theme["department"],
            chance.choice(theme["products"]),
            chance.choice(theme["priorities"]),
            "open" if is_open else "closed",
            person["email"],
            subject,
            text,
            "" if is_open else chance.choice(theme["resolutions"]),
            "" if is_open else resolved.strftime("%Y-%m-%d %H:%M:%S"),
            str(moved),
        ),
    )


class _Writer:
    """Writes as a customer would."""

    def __init__(self, wording: Mapping[str, Any], chance: Random) -> None:
        self._wording = wording
        self._chance = chance

    def write(self, theme: Theme, person: Mapping[str, str], created: datetime) -> tuple[str, str]:
        """Subject and text."""
        chance, pick = self._chance, self._chance.choice
        early = bool(theme.get("after_release")) and created.date() < RELEASE
        facts = {**self._facts(created), **person}
        subject = pick([one for one in theme["subjects"] if not early or not {"update", "4.2"} & set(one.split())])
        if theme.get("only_whole") or (not early and chance.random() < len(theme["whole"]) / 40):
            return subject.format_map(facts), pick(theme["whole"]).format_map(facts)
        details = theme["details_before"] if early else theme["details"]
        parts = [pick(self._wording["greetings"]), pick(theme["problems"]), pick(details)]
        if chance.random() < 0.25:  # noqa: PLR2004 - some say more
            parts.append(pick(details))
        if theme["contact"] and chance.random() < 0.3:  # noqa: PLR2004 - some say how to reach them
            parts.append(pick(self._wording["contact"][pick(theme["contact"])]))
        parts += [pick(theme["asks"]) if chance.random() < 0.8 else "", pick(self._wording["closings"])]  # noqa: PLR2004
        text = " ".join(part.format_map(facts) for part in dict.fromkeys(parts) if part)
        return subject.format_map(facts), self._typed(text)

    def _facts(self, created: datetime) -> dict[str, str]:
        chance, pick = self._chance, self._chance.choice
        streets = chance.sample(self._wording["streets"], 2)
        before = created - timedelta(days=chance.randrange(1, 20))
        after = created + timedelta(days=chance.randrange(4, 30))
        return {
            "amount": f"£{chance.randrange(38, 260)}.{chance.randrange(100):02d}",
            "fee": f"£{chance.randrange(6, 60)}",
            "date": f"{before.day} {before:%B}",
            "soon": f"{after.day} {after:%B}",
            "month": pick(["January", "February", f"{created:%B}"]),
            "weekday": pick(_DAYS),
            "time": f"{pick(range(1, 12))} o'clock",
            "n": str(chance.randrange(2, 29)),
            "street": f"{chance.randrange(2, 90)} {streets[0]}",
            "street2": streets[1],
            "kwh": f"{chance.randrange(180, 4200)}",
            "reading": f"{chance.randrange(10_000, 99_999)}",
            "pct": str(chance.randrange(4, 15)),
            "rate": f"{chance.randrange(19, 31)}p",
            "code": f"E{chance.randrange(41, 60)}",
            "router": pick(_ROUTERS),
            "phone_model": pick(_PHONES),
            "release": f"{RELEASE.day} April",
            "customer": f"TL{chance.randrange(100_000, 999_999)}",
        }

    def _typed(self, text: str) -> str:
        """As it comes off a phone: some write without capitals, and some fingers slip, but never in a number."""
        chance = self._chance
        if chance.random() < 0.1:  # noqa: PLR2004
            text = text.lower()
        if chance.random() < 0.2:  # noqa: PLR2004
            words = text.split(" ")
            place = chance.randrange(len(words))
            word = words[place]
            if word.isalpha() and len(word) > 5:  # noqa: PLR2004 - a short word would become another one
                at = chance.randrange(1, len(word) - 2)
                words[place] = word[:at] + word[at + 1] + word[at] + word[at + 2 :]
            text = " ".join(words)
        return text


if __name__ == "__main__":
    sys.stdout.buffer.write(make())


def _phone(chance: Random) -> str:
    """From the ranges that are kept for stories."""
    last = f"{chance.randrange(1000):03d}"
    return chance.choice((f"07700 900{last}", f"+44 7700 900{last}", f"020 7946 0{last}", f"+44 (0)20 7946 0{last}"))


def _card(chance: Random) -> str:
    """A number of no bank, whose last digit is right."""
    digits = "400000" + f"{chance.randrange(10**9):09d}"
    doubled = [int(digit) * (2 if place % 2 == 0 else 1) for place, digit in enumerate(digits)]
    check = -sum(value - 9 if value > 9 else value for value in doubled) % 10  # noqa: PLR2004 - Luhn
    whole = f"{digits}{check}"
    return " ".join(whole[at : at + 4] for at in range(0, 16, 4)) if chance.random() < 0.5 else whole  # noqa: PLR2004


def _iban(chance: Random) -> str:
    """An account of no bank, whose check digits are right."""
    account = f"TEST{chance.randrange(10**14):014d}"
    number = int("".join(str(int(sign, 36)) for sign in f"{account}GB00"))
    whole = f"GB{98 - number % 97:02d}{account}"
    return " ".join(whole[at : at + 4] for at in range(0, len(whole), 4)) if chance.random() < 0.5 else whole  # noqa: PLR2004
