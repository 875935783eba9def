"""The context of a reply check, and the quote check shared by all claim types."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from tallystick.errors import PathRefused
from tallystick.gate.codes import Bucket
from tallystick.gate.quotes import Folded, Match, occurrences
from tallystick.gate.reply.claims import Claim
from tallystick.gate.reply.diagnosis import diagnose
from tallystick.gate.reply.findings import Item, Matched
from tallystick.gate.reply.own_text import Origin, OwnText, around
from tallystick.gate.reply.sources import ReceiptBook, Source, Sources
from tallystick.gate.reply.support.grounds import Ground
from tallystick.gate.reply.support.scorer import SupportScorer

LINE_TOLERANCE = 2
"""Lines by which a citation may be off, because files are edited while agents read them."""
MAX_EXCERPT = 4_000
"""Characters. If the cited lines are longer (a file may be one line), the quote itself is kept as the excerpt."""
_MAX_PLACES = 10_000
"""Maximum occurrences of one quote that are examined; a quote that occurs more often proves nothing."""
_EDGE = re.compile(r"^\s*(?:…|\.{3,4}|\[(?:…|\.{3})\])\s*|(?:(?<!\s)\s++)?(?:…|\.{3,4}|\[(?:…|\.{3})\])\s*$")
"""An ellipsis at the edge of a quote: it leaves nothing out within the quote."""
OWN_TEXT = "The agent wrote this itself. Cite a source that others wrote: a file, a record, or a result that shows it."


@dataclass(frozen=True, kw_only=True, slots=True)
class Surroundings:
    """Where a reply was given and what it may cite."""

    sources: Sources
    receipts: ReceiptBook
    own: OwnText
    """Recognises text that the same agent wrote."""
    session_id: str
    round_id: str | None = None
    conference_id: str | None = None
    conference: bool = False
    scorer: SupportScorer | None = None
    """Judges claims that every rule accepted."""
    opinions: bool = False
    """Whether opinions are allowed: one that no quote can prove is then reported as undecided instead of refused."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CitedText:
    """A text named by a claim, and its origin."""

    text: Folded
    origin: Origin


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """The result of checking one claim, and the texts it named."""

    item: Item
    texts: tuple[CitedText, ...] = ()
    """Texts in which quotations of the body may be found."""
    paths: tuple[str, ...] = ()
    """Its source files, used to check the required sources of a role."""
    grounds: tuple[Ground, ...] = ()
    """What the cited evidence says, used to check whether it supports the claims in the body."""
    term: str | None = None
    """The term of a verified absence."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Passage:
    """An occurrence of a quote in a text."""

    match: Match
    quote: str
    """The quote as it occurs there: without a final comma or full stop that the reply added."""


def failed(
    claim: Claim, code: str, reason: str, *texts: CitedText, bucket: Bucket = Bucket.EVIDENCE_INVALID
) -> Checked:
    """Build the result of a claim that failed its check."""
    item = Item(kind=claim.kind, source=claim.source, ok=False, code=code, reason=reason, bucket=bucket)
    return Checked(item=item, texts=texts)


def cited(source: Source) -> CitedText:
    """Wrap a file or record as a text that may be quoted."""
    return CitedText(text=source.folded, origin=Origin(path=source.path, changed_ns=source.changed_ns))


def read_source(claim: Claim, path: str, around: Surroundings) -> Source | Checked:
    """Return the file that a claim names, or the failed claim if it cannot be read."""
    try:
        source = around.sources.read(path)
    except PathRefused as refused:
        return failed(claim, refused.code, str(refused))
    if source is not None:
        return source
    return failed(claim, "no_such_file", f"There is no such file.{_suggestion(path, around)}")


def check_quote(
    claim: Claim, quote: str, cited: CitedText, where: Surroundings, lines: tuple[int, int] | None = None
) -> Passage | Checked:
    """Return the first occurrence of a quote that is not the agent's own text, or the failed claim."""
    elsewhere: Match | None = None
    own = False
    for passage in islice(passages(quote, cited.text), _MAX_PLACES):
        match = passage.match
        if lines is not None and not _lies_within(match, lines):
            elsewhere = elsewhere or match
        elif own := is_own(passage, cited, where):
            continue
        else:
            return passage
    if own:
        return failed(claim, "own_text", OWN_TEXT, cited)
    if elsewhere is not None:
        reason = f"The quote is on L{elsewhere.first_line}-L{elsewhere.last_line}; correct the lines."
        return failed(claim, "wrong_lines", reason, cited, bucket=Bucket.QUOTE_NOT_FOUND)
    return _not_found(claim, quote, cited)


def passages(quote: str, text: Folded) -> Iterator[Passage]:
    """Yield each occurrence of a quote; if none, those of its other spellings (see `_spellings`)."""
    for spelling in (quote, *_spellings(quote)):
        found = False
        dropped = spelling != quote and quote.endswith((",", ".")) and not spelling.endswith((",", "."))
        for match in occurrences(spelling, text):
            # The source's question or exclamation must not be quoted as a statement.
            if dropped and text.text[match.end : match.end + 3].lstrip("'\"").startswith(("?", "!")):
                continue
            found = True
            yield Passage(match=match, quote=spelling)
        if found:
            return


def _spellings(quote: str) -> Iterator[str]:
    """Yield the variants of a quote that undo what authors change at its edges.

    They lack an ellipsis or a final comma or full stop, or have the case of the first letter swapped.
    """
    bare = _EDGE.sub("", quote).strip()
    ends = [bare, *([bare[:-1]] if bare.endswith((",", ".")) and not bare.endswith("..") else [])]
    for each in ends:
        if each and each != quote:
            yield each
        if each[:1].isalpha() and each[:1].swapcase() != each[:1]:
            yield each[:1].swapcase() + each[1:]


def is_own(passage: Passage, cited: CitedText, where: Surroundings) -> bool:
    """Whether a quote found in a text is the agent's own."""
    match = passage.match
    return where.own.holds(passage.quote, around(cited.text, match.start, match.end), cited.origin)


def matched_in(source: Source, passage: Passage) -> Matched:
    """Build the record of a quote that was found."""
    match, quote = passage.match, passage.quote
    excerpt = "\n".join(source.lines[match.first_line - 1 : match.last_line])
    if len(excerpt) > MAX_EXCERPT:
        excerpt = quote
    return Matched(
        path=source.path,
        sha256=source.sha256,
        first_line=match.first_line,
        last_line=match.last_line,
        quote=quote,
        excerpt=excerpt,
        normalised=quote not in excerpt,
    )


def _not_found(claim: Claim, quote: str, cited: CitedText) -> Checked:
    why = diagnose(quote, cited.text)
    closest = None
    if why.line is not None:
        closest = {"line": why.line, "text": why.text, "similarity": why.similarity}
    item = Item(
        kind=claim.kind,
        source=claim.source,
        ok=False,
        code=why.code,
        reason=why.advice,
        bucket=Bucket.QUOTE_NOT_FOUND,
        closest=closest,
    )
    return Checked(item=item, texts=(cited,))


def _lies_within(match: Match, lines: tuple[int, int]) -> bool:
    first, last = lines
    if not first - LINE_TOLERANCE <= match.first_line <= last + LINE_TOLERANCE:
        return False
    # A single line number gives only the start of the quote; a range also gives its end.
    return first == last or match.last_line <= last + LINE_TOLERANCE


def _suggestion(path: str, around: Surroundings) -> str:
    name = path.rpartition("/")[2]
    try:
        near = around.sources.expand(f"**/{name}") if name and "*" not in path else []
    except PathRefused:
        near = []
    return f" Did you mean {near[0]}?" if near else " Name a file of the workspace."
