"""REPLY by rules: the sentences of the evidence that answer each need, each with its reference. Nothing is added."""

import re
from collections.abc import Iterable

from tallystick.rooms.desk.judging.case import Case, Shown
from tallystick.rooms.desk.judging.matching import relevance, sentences
from tallystick.rooms.desk.judging.policy import VerdictPolicy

GREETING = "Hello,"
CLOSING = "Kind regards"
MOST = 3
"""Sentences for one need: an answer, not the document."""
LONGEST = 400
_MARKS = re.compile(r"(\*\*|__|`|(?<!\w)[*_])(\S(?:.*?\S)?)\1")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BEGINS = re.compile(r"[-*•>|#]|\d{1,3}[.)]\s")


def draft(case: Case, policy: VerdictPolicy) -> str:
    """A reply from evidence that holds; empty when there is none."""
    answers = []
    for place, need in enumerate(case.needs):
        pieces = [one for one in case.shown if one.need == place and one.relevance >= policy.threshold]
        told = _answer(need.question, pieces)
        if told:
            answers.append(" ".join(told))
    return "\n\n".join([GREETING, *answers, CLOSING]) if answers else ""


def _answer(question: str, pieces: Iterable[Shown]) -> list[str]:
    """The best piece, sentence by sentence; of a long one what speaks most of the question, in its order."""
    best = max(pieces, key=lambda one: one.relevance, default=None)
    if best is None:
        return []
    told = [sentence for sentence in _plain(best.snippet) if len(sentence) <= LONGEST]
    chosen = sorted(range(len(told)), key=lambda place: (-relevance(question, told[place]), place))[:MOST]
    return [f"{_stopped(told[place])} [ev:{best.evidence_id}]" for place in sorted(chosen)]


def _plain(snippet: str) -> list[str]:
    """Sentences without what is only there for the eye: headings, tables, marks."""
    kept = []
    for line in _unwrapped(snippet):
        if line.startswith(("#", "|")):
            continue
        for one in sentences(line):
            words = _MARKS.sub(r"\2", _LINK.sub(r"\1", one.lstrip("#>*-• "))).strip()
            if words and any(map(str.isalnum, words)):
                kept.append(words)
    return kept


def _unwrapped(snippet: str) -> list[str]:
    """Lines as they are meant: a line that only goes on belongs to the one before."""
    lines: list[str] = []
    goes_on = False
    for raw in snippet.splitlines():
        line = raw.strip()
        if goes_on and line and not _BEGINS.match(line):
            lines[-1] += f" {line}"
        elif line:
            lines.append(line)
        goes_on = bool(line) and not line.startswith(("#", "|"))
    return lines


def _stopped(sentence: str) -> str:
    return sentence if sentence[-1:] in ".!?" else f"{sentence}."
