"""How a name goes wrong under a tired hand."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

_BY_EAR = (
    (r"^C(?=[aou])", "K"), (r"^K(?=[aou])", "C"), (r"ph", "f"), (r"ie", "ei"), (r"ei", "ie"), (r"(?<=[^aeiou])y$", "ey"),
    (r"ey$", "y"), (r"ck", "k"), (r"er$", "ar"), (r"en$", "an"), (r"on$", "en"), (r"an$", "en"), (r"(?<=[a-z])z", "s"),
    (r"(?<=[aeiou])s(?=[aeiou])", "z"), (r"(?<=[a-z])th(?=[aeiou])", "t"), (r"sh", "sch"), (r"(?<=[^aeiou])i(?=[^aeiou])", "y"),
    (r"(?<=[a-z])y(?=[a-z])", "i"), (r"(?<=[^aeiouy])e$", ""), (r"ough", "off"), (r"oo", "ou"), (r"ai", "ay"), (r"ll", "l"),
    (r"nn", "n"), (r"tt", "t"), (r"rr", "r"), (r"ss", "s"), (r"mm", "m"), (r"pp", "p"), (r"(?<=[aeiou])t$", "tt"),
    (r"(?<=[aeiou])l$", "ll"), (r"(?<=[aeiou])n$", "nn"), (r"(?<=[aeiou])l(?=[aeiou])", "ll"), (r"(?<=[aeiou])n(?=[aeiou])", "nn"),
    (r"(?<=[aeiou])r(?=[aeiou])", "rr"), (r"(?<=[aeiou])s(?=t)", "ss"), (r"rc", "rk"), (r"ct", "kt"),
)  # fmt: skip


def slip(name: str, text: str, rng: random.Random) -> str | None:
    """Another spelling of a name that the book does not have; None where none comes to mind."""
    by_ear = [other for other in _respelled(name) if _is_new(other, text)]
    by_hand = [other for other in _swapped(name) if _is_new(other, text)]
    first, second = (by_ear, by_hand) if rng.random() < 0.8 else (by_hand, by_ear)
    found = first or second
    return rng.choice(found) if found else None


def _respelled(name: str) -> Iterator[str]:
    for pattern, other in _BY_EAR:
        changed = re.sub(pattern, other, name, count=1)
        if changed != name and not changed.startswith(name + "s"):
            yield changed


def _swapped(name: str) -> Iterator[str]:
    """Two letters inside it change places."""
    for at in range(2, len(name) - 2):
        if name[at] != name[at + 1]:
            yield name[:at] + name[at + 1] + name[at] + name[at + 2 :]


def _is_new(other: str, text: str) -> bool:
    return re.search(rf"\b{other}\b", text, re.IGNORECASE) is None
