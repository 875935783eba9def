"""Cards of a compendium as authors write them: front matter, lines, a list or a table."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from benchmarks.continuity.people import Person


@dataclass(frozen=True, kw_only=True)
class Card:
    path: str
    text: str
    line: int
    """Where the fact stands."""


def card_of(person: Person, key: str, settled: Mapping[str, str], rng: random.Random) -> Card:
    """One card for one person, with the fact among harmless others."""
    value = settled.get("digits", settled["v"])
    write = rng.choice((_front, _plain, _list, _table))
    lines = write(person, key, value)
    slug = re.sub(r"[^a-z0-9]+", "-", person.name.lower()).strip("-")
    at = next(
        number
        for number, line in enumerate(lines, 1)
        if value in line and key.lower() in line.lower().replace("_", " ")
    )
    return Card(path=f"Compendium/Characters/CHAR-{slug}.md", text="\n".join(lines) + "\n", line=at)


def _front(person: Person, key: str, value: str) -> list[str]:
    aliases = [f"aliases: [{person.short}]"] if person.short != person.name else []
    head = [
        "---",
        f"name: {person.name}",
        "type: character",
        *aliases,
        f"{key.lower().replace(' ', '_')}: {value}",
        "---",
    ]
    return [*head, "", f"# {person.name}", "", "Appears when least expected."]


def _plain(person: Person, key: str, value: str) -> list[str]:
    return [
        *_heading(person),
        "Role: secondary",
        f"{key}: {value}",
        "Manner: dry",
        "",
        "Has a way of leaving doors open.",
    ]


def _list(person: Person, key: str, value: str) -> list[str]:
    return [*_heading(person), "- **Role:** secondary", f"- **{key}:** {value}", "- **Manner:** talks little"]


def _table(person: Person, key: str, value: str) -> list[str]:
    return [
        *_heading(person),
        "| Trait | Value |",
        "|---|---|",
        "| Role | secondary |",
        f"| {key} | {value} |",
        "| Manner | brisk |",
    ]


def _heading(person: Person) -> list[str]:
    aliases = [f"Aliases: {person.short}", ""] if person.short != person.name else []
    return [f"# {person.name}", "", *aliases]
