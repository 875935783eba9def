"""The closed word classes that the check decides with: colours, kin, ranks, doubt, acts."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

_DATA: dict[str, dict[str, str]] = tomllib.loads(
    (Path(__file__).with_name("data") / "words.toml").read_text(encoding="utf-8")
)


def _sets(section: str) -> Mapping[str, frozenset[str]]:
    return {word: frozenset(value.split()) for word, value in _DATA[section].items()}


COLOURS = _sets("colours")
"""Word → the plain colours it can be."""
FEATURES: Mapping[str, str] = _DATA["features"]
"""Noun → the field it belongs to."""
MATERIALS = _sets("materials")["names"]
KIN: Mapping[str, str] = _DATA["kin"]
"""Noun → the tie it names."""
INVERSE_KIN: Mapping[str, str] = _DATA["inverse_kin"]
FEMALE, MALE = (_sets("gender")[name] for name in ("female", "male"))
RANKS = _sets("ranks")
"""Ladder → the titles on it."""
LADDERS = {title: ladder for ladder, titles in RANKS.items() for title in titles}
"""Title → its ladder."""
DOUBT_VERBS, DOUBT_NOUNS, DOUBT_MARKS = (_sets("doubt")[name] for name in ("verbs", "nouns", "marks"))
ACTS = _sets("acts")["verbs"]
FIGURE = {word: tuple(value.split()) for word, value in _DATA["figure"].items()}
"""Adjective → the field and the side it stands on."""
OCCUPATIONS = _sets("occupations")["names"]
NO_ACTS = _sets("acts")["none"]
PARTS = _sets("parts")["names"]
