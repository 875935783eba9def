"""People who do not exist, with addresses and numbers that belong to nobody and that pass every check."""

from collections.abc import Mapping, Sequence
from random import Random

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
            "first": first, "last": last, "email": f"{first}.{last}{number}@{host}".lower(),
            "phone": _phone(chance), "card": _card(chance), "iban": _iban(chance),
            "ip": f"{chance.choice(('192.0.2', '198.51.100', '203.0.113'))}.{chance.randrange(1, 255)}",
        }  # fmt: skip


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
