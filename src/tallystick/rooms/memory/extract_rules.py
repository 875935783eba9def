"""The sentences that extraction understands: one table."""

import re
from typing import NamedTuple

_ME = r"(?P<subject>I|my|we)"
_NAME = r"(?P<subject>(?:[A-Z][\w'.-]*)(?: (?:of |the |de |van |von )?[A-Z0-9][\w'.-]*){0,4})"
_WHO = rf"(?:{_ME.replace('|my', '')}|{_NAME.replace('?P<subject>', '?P<named>')})"
_REST = r"(?P<object>[^,;:.!?]+(?:\.\d[^,;:.!?]*)*)"
_NOW = r"(?:(?:now|currently|still|really|also|just|always) )?"


class Rule(NamedTuple):
    """One form of sentence."""

    pattern: re.Pattern[str]
    """With groups `subject`, `object`, and `predicate` unless it is fixed; `no` when it denies."""
    predicate: str = ""
    volatility: str = "medium"
    negated: bool = False
    longest: int = 80
    """Characters of subject and object; what is longer is no name of anything."""


def _verb(positive: str, base: str) -> tuple[str, str]:
    """A sentence with this verb, by the speaker and about somebody: as said, and as denied."""
    said = (
        rf"(?:(?P<no>(?:don't|doesn't|do not|does not|no longer|never|didn't|did not) (?:{base}))|{_NOW}(?:{positive}))"
    )
    return rf"^(?:Yes, |No, |Well, |And |But |So )?I {said} {_REST}", rf"^{_NAME} {said} {_REST}"


def _both(positive: str, base: str, predicate: str, volatility: str = "medium") -> tuple[Rule, Rule]:
    mine, named = _verb(positive, base)
    flags = re.IGNORECASE
    return Rule(re.compile(mine, flags), predicate, volatility), Rule(re.compile(named), predicate, volatility)


RULES: tuple[Rule, ...] = (
    Rule(re.compile(rf"^(?:Hi|Hello|Hey)?[,! ]*(?:{_ME}'?m called|my name is|my name's|I am called) {_REST}", re.IGNORECASE), "name", "static"),
    Rule(re.compile(rf"^{_NAME}(?:'s|’s) name is {_REST}"), "name", "static"),  # noqa: RUF001
    Rule(re.compile(r"^my (?P<predicate>[a-z][\w -]{1,30}?) (?:is|are|was) (?P<no>not |no longer )?(?P<object>[^,;:.!?]+(?:\.\d[^,;:.!?]*)*)", re.IGNORECASE)),
    *_both(r"live in|lives in|moved to|relocated to|reside in|resides in", "live in", "lives_in", "low"),
    *_both(r"work for|works for|work at|works at|am employed by|is employed by", "work for|work at", "works_for", "low"),
    *_both(r"was born on", "born on", "born_on", "static"),
    *_both(r"was born in", "born in", "born_in", "static"),
    *_both(r"prefer|prefers", "prefer", "prefers", "low"),
    *_both(r"like|likes|love|loves|enjoy|enjoys", "like|love|enjoy", "likes", "low"),
    *_both(r"hate|hates|dislike|dislikes", "hate|dislike", "dislikes", "low"),
    *_both(r"decided (?:to|on)|(?:have|has) decided (?:to|on)", "decide on", "decided", "low"),
    *_both(r"am allergic to|is allergic to|'m allergic to", "am allergic to", "allergic_to", "static"),
    *_both(r"speak|speaks", "speak", "speaks", "low"),
    *_both(r"own|owns", "own", "owns", "low"),
    *_both(r"use|uses", "use", "uses", "medium"),
    *_both(r"require|requires|need|needs", "require|need", "requires", "medium"),
    Rule(re.compile(rf"^{_NAME} (?:was founded|was established) in {_REST}"), "founded_in", "static"),
    Rule(re.compile(rf"^{_NAME} (?:was (?:written|created|designed|painted|invented) by) {_REST}"), "made_by", "static"),
    Rule(re.compile(rf"^[Tt]he (?P<predicate>[a-z][\w -]{{1,30}}?) of (?P<subject>(?:the )?[\w][\w '.-]{{0,50}}?) is (?P<no>not |no longer )?{_REST}")),
    Rule(re.compile(rf"^{_NAME}(?:'s|’s) (?P<predicate>[a-z][\w -]{{1,30}}?) is (?P<no>not |no longer )?{_REST}")),  # noqa: RUF001
    Rule(re.compile(rf"^{_NAME} is (?P<no>not |no longer )?(?:an? )(?P<object>[^,;:.!?]+)"), "is_a", "low"),
)  # fmt: skip
"""Tried in order; the first that fits is taken."""
