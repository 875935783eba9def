"""Parse the per-sentence form, in which every sentence carries its own reference in square brackets.

    The app crashes when it is opened [ticket:12 "crashes as soon as I open it"]. 41 tickets say so [figure 41 = …].

A reference has the syntax of an Evidence line item; here a record id alone is enough. References are removed from the
text before it is sent.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tallystick.gate.reply.claims import Claim, read_claims
from tallystick.gate.reply.courtesy import is_courtesy, is_signature
from tallystick.gate.reply.evidence import LineFault, split_items
from tallystick.gate.reply.references import has_reference

_BRACKET = re.compile(r"\[[^\[\]\n]{1,2000}\]")
_MASK = "\x1a"
MAX_REFERENCES = 1_000
"""Maximum references in one reply; further ones are ignored, so their sentences count as having none."""
_END = re.compile(rf"[.!?…]{{1,6}}[\"'”’)*_]{{0,4}}(?:[ \t]{{0,3}}{_MASK}++[.!?]?+){{0,16}}(?=\s|$)")  # noqa: RUF001
_TITLES = frozenset({"mr", "mrs", "ms", "dr", "prof", "st"})
_ABBREVIATIONS = frozenset(
    {
        "no",
        "nr",
        "vs",
        "etc",
        "e.g",
        "i.e",
        "a.m",
        "p.m",
        "approx",
        "fig",
        "cf",
        "inc",
        "ltd",
        "jan",
        "feb",
        "mar",
        "apr",
        "jun",
        "jul",
        "aug",
        "sep",
        "sept",
        "oct",
        "nov",
        "dec",
    }
)
_BEFORE_SIGN = re.compile(r"[ \t]{1,8}(?=[.,;:!?])")
_LIST_MARK = " \t-*+#>•"


@dataclass(frozen=True, kw_only=True, slots=True)
class Sentence:
    """A sentence without its references, and the claims parsed from them."""

    text: str
    claims: tuple[Claim, ...]
    is_courtesy: bool


def read_sentences(text: str, *, kind: str | None = None) -> list[Sentence]:
    """Split a reply into sentences.

    Args:
        text: The reply with its references.
        kind: The only kind of record that counts as a reference (`ticket` for `[ticket:12]`); other brackets are text.
            None: every bracket that parses as a reference is one.
    """
    masked, references = _mask(text, kind)
    sentences: list[Sentence] = []
    before = ""
    for start, end in _spans(masked):
        plain = masked[start:end].replace(_MASK, "").strip().lstrip(_LIST_MARK).strip()
        claims = tuple(claim for at, claims in references if start <= at < end for claim in claims)
        if not any(map(str.isalnum, plain)):
            # A reference on a line of its own belongs to the preceding sentence.
            if claims and sentences:
                last = sentences.pop()
                sentences.append(Sentence(text=last.text, claims=last.claims + claims, is_courtesy=last.is_courtesy))
            continue
        courtesy = not claims and (is_courtesy(plain) or is_signature(plain, before))
        sentences.append(Sentence(text=plain, claims=claims, is_courtesy=courtesy))
        before = plain
    return sentences


def written_sentences(text: str, *, kind: str | None = None) -> list[str]:
    """Return the sentences as written, with their references, so that each can be checked separately."""
    masked, _ = _mask(text, kind)
    pieces: list[str] = []
    for start, end in _spans(masked):
        written = text[start:end].strip()
        # A reference on a line of its own belongs to the preceding sentence.
        if not any(map(str.isalnum, masked[start:end].replace(_MASK, ""))):
            if pieces and written:
                pieces[-1] += f" {written}"
        elif written:
            pieces.append(written)
    return pieces


def strip_references(text: str, *, kind: str | None = None) -> str:
    """Return the text to send: without references and without the spaces they leave before punctuation."""
    kept = _BRACKET.sub(lambda found: "" if _claims_of(found.group(), kind) else found.group(), text)
    return "\n".join(_BEFORE_SIGN.sub("", line).rstrip() for line in kept.split("\n")).strip()


def _mask(text: str, kind: str | None) -> tuple[str, list[tuple[int, list[Claim]]]]:
    """Mask the references, so that full stops inside them do not end a sentence."""
    references: list[tuple[int, list[Claim]]] = []

    def cover(found: re.Match[str]) -> str:
        claims = _claims_of(found.group(), kind) if len(references) < MAX_REFERENCES else []
        if not claims:
            return found.group()
        references.append((found.start(), claims))
        return _MASK * len(found.group())

    return _BRACKET.sub(cover, text.replace(_MASK, " ")), references


def _claims_of(bracket: str, kind: str | None) -> list[Claim]:
    inside = bracket[1:-1]
    if kind is not None and not inside.lstrip().startswith(f"{kind}:"):
        return []
    items = split_items(inside)
    if isinstance(items, LineFault) or not any(has_reference(part.text) for item in items for part in item):
        return []
    return read_claims(items)


def _spans(masked: str) -> Iterator[tuple[int, int]]:
    line_start = 0
    for line in masked.split("\n"):
        start = line_start
        for end in _END.finditer(line):
            stop = line_start + end.end()
            if not _goes_on(line[max(0, end.start() - 20) : end.start()], line[end.end() : end.end() + 8]):
                yield start, stop
                start = stop
        if start < line_start + len(line):
            yield start, line_start + len(line)
        line_start += len(line) + 1


def _goes_on(before: str, after: str) -> bool:
    """Whether a full stop belongs to an abbreviation.

    In doubt the sentence ends here, which is the stricter choice: the rest then needs a reference of its own.
    """
    word = before.rpartition(" ")[2].lstrip("(\"'").lower()
    return word in _TITLES or (word in _ABBREVIATIONS and after.lstrip()[:1].islower())
