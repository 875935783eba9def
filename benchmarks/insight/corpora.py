"""Messages whose intents people wrote down, and tickets by the million that nobody wrote."""

from __future__ import annotations

import csv
import json
import os
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.sample.tickets import sample

DATA = Path(os.environ.get("TALLY_DATA", Path(__file__).parents[3] / "shared" / "data"))
Labelled = tuple[list[str], list[str]]
"""Texts, and what each is about."""


def banking77() -> Labelled:
    with (DATA / "banking77" / "dev" / "train.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return [row["text"] for row in rows], [row["category"] for row in rows]


def clinc150() -> Labelled:
    rows = json.loads((DATA / "clinc150" / "dev" / "data_full.train_val.json").read_text(encoding="utf-8"))["train"]
    return [text for text, _ in rows], [intent for _, intent in rows]


def dstc11() -> Labelled:
    lines = (DATA / "dstc11-intents" / "dev" / "development" / "test-utterances.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in lines.splitlines()]
    return [row["utterance"] for row in rows], [row["intent"] for row in rows]


def endava() -> Labelled:
    with (DATA / "endava-it-tickets" / "dev" / "all_tickets.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row.get("body")]
    return [f"{row['title']}\n{row['body']}" for row in rows], [row["category"] for row in rows]


CORPORA: dict[str, Callable[[], Labelled]] = {
    "banking77": banking77, "clinc150": clinc150, "dstc11 development": dstc11, "endava": endava,
}  # fmt: skip


def there() -> dict[str, Labelled]:
    """The corpora that are on this machine."""
    found = {}
    for name, read in CORPORA.items():
        try:
            found[name] = read()
        except FileNotFoundError:
            continue
    return found


def generated(many: int, seed: int = 1) -> Iterator[NewTicket]:
    """Tickets put together from the sample's sentences, with words and numbers of their own, so that few are alike."""
    chance = random.Random(seed)
    rows = list(csv.DictReader(sample().decode().splitlines()))
    sentences = [part.strip() for row in rows for part in row["description"].split(".") if len(part) > 20]
    words = sorted({word for text in sentences for word in text.split() if word.isalpha()})
    kinds = sorted({(row["department"], row["product"]) for row in rows})
    for _ in range(many):
        said = chance.sample(sentences, chance.randint(1, 3))
        said.append(" ".join(chance.choices(words, k=chance.randint(2, 6))))
        department, product = chance.choice(kinds)
        yield NewTicket(external_id=None, created_at=None, text=". ".join(said), department=department, product=product)
