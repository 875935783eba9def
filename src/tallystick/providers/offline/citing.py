"""The Evidence line, and a look at the whole answer with the eyes of the check that it will meet.

Nothing is quoted that does not stand word for word in what was seen. The parts of an answer that the check would not
take are left out one by one, until what is left holds; so a hostile file can make an answer poorer, never wrong.
"""

import re
from collections.abc import Iterable, Sequence

from tallystick.gate.quotes import Folded, find_quote, fold_text, split_lines, word_count
from tallystick.gate.reply.claims import Claim, read_claims
from tallystick.gate.reply.evidence import LineFault, evidence_line, fenced_lines, split_items
from tallystick.gate.reply.leaks import find_leak
from tallystick.gate.reply.own_text import Origin
from tallystick.gate.reply.quotations import check_quotations
from tallystick.gate.reply.references import RECEIPT
from tallystick.gate.reply.surroundings import CitedText
from tallystick.providers.offline.passages import OfflinePassage
from tallystick.records import record
from tallystick.text.stems import stem
from tallystick.text.words import identifier_words

MIN_WORDS, MAX_WORDS = 3, 40
"""Of a quote that names its line."""
GOOD_WORDS = 6
_CUTS = re.compile(r"[\"“”„‟«»;…`]|\.{2,}|\s{1,4}[-–—]{1,3}\s{1,4}|--+|—")  # noqa: RUF001
"""A quote stops before anything that an Evidence line or the folding of quotes reads specially."""
_EDGES = " ,.:!?()[]{}<>|#*_-'’‘"  # noqa: RUF001
_FOLDERS = {
    "anything": ("",),
    "receipt": ("",),
    "outline": ("Story/",),
    "scenes": ("Story/",),
    "compendium": ("Compendium/", "Story/Compendium/"),
    "canon": ("Canon.md", "Story/Compendium/Canon.md"),
}
"""Where the files of a source lie; the same as `gate.reply.roles` knows."""
_UNFIT = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@record
class Quote:
    """Words as they stand in a file."""

    text: str
    path: str
    line: int
    receipt_id: str | None = None
    """Cited instead of the path, where an Evidence line could not be read with a path of this form."""

    @property
    def item(self) -> str:
        """As it stands on the Evidence line."""
        source = f"{self.path}:L{self.line}" if self.receipt_id is None else f"receipt {self.receipt_id}"
        return f'"{self.text}" {source}'


def quote_from(passage: OfflinePassage, wanted: frozenset[str]) -> Quote | None:
    """The piece of a passage that says most of what was asked for, with the line it begins on."""
    source = fold_text(passage.excerpt.text)
    best: tuple[tuple[bool, int, int], Quote] | None = None
    for piece in _pieces(passage.text):
        match = find_quote(piece, source)
        count = word_count(piece)
        if match is None or count < MIN_WORDS:
            continue
        quote = _readable(passage, piece, _line_of(passage, piece, match.first_line))
        fit = sum(stem(word) in wanted for word in identifier_words(piece))
        rank = (count >= GOOD_WORDS, fit, -abs(count - 2 * GOOD_WORDS))
        if quote is not None and (best is None or rank > best[0]):
            best = rank, quote
    return None if best is None else best[1]


def evidence(quotes: Sequence[Quote], receipts: Iterable[str], more: Sequence[str] = ()) -> str:
    """The Evidence line.

    Args:
        quotes: From files.
        receipts: Of the calls the answer rests on.
        more: Items that are written already.
    """
    items = [quote.item for quote in quotes]
    items += [*more, *(f"receipt {receipt}" for receipt in receipts)]
    return f"Evidence: {'; '.join(dict.fromkeys(items))}"


def would_pass(reply: str, seen: Sequence[Folded], tool_names: Iterable[str]) -> bool:
    """Whether a reply has the form that the check wants, and quotes only what was seen.

    Args:
        reply: The whole answer.
        seen: What was shown to this agent.
        tool_names: Names whose call syntax must not stand in it.
    """
    if _UNFIT.search(reply) or find_leak(reply, tool_names) is not None:
        return False
    lines = split_lines(reply)
    line = evidence_line(lines)
    if isinstance(line, LineFault):
        return False
    items = split_items(line.body)
    claims = [] if isinstance(items, LineFault) else read_claims(items, line.tag)
    if not claims or any(claim.fault for claim in claims):
        return False
    skip = fenced_lines(lines) | set(range(line.number, line.last + 1))
    if any(RECEIPT.search(text) for number, text in enumerate(lines) if not line.number <= number <= line.last):
        # A receipt that somebody wrote into a text is not ours to vouch for.
        return False
    texts = [CitedText(text=text, origin=Origin()) for text in seen]
    return not check_quotations(lines, skip, texts, lambda _passage, _cited: False)


def fits_role(path: str, wanted: Sequence[str]) -> bool:
    """Whether a file is one that the role has to look at; the same words as `gate.reply.roles` knows."""
    if not wanted:
        return True
    is_outline = "outline" in path.rpartition("/")[2].casefold()
    in_compendium = path.startswith(("Compendium/", "Story/Compendium/"))
    known = {
        "anything": True,
        "receipt": True,
        "outline": is_outline,
        "scenes": path.startswith("Story/") and not is_outline and not in_compendium,
        "compendium": in_compendium,
        "canon": path in {"Canon.md", "Story/Compendium/Canon.md"},
    }
    return any(known.get(source.casefold(), False) or _lies_in(path, source) for source in wanted)


def scope_holds_role(scope: str, wanted: Sequence[str]) -> bool:
    """Whether a search over this pattern looked through files that the role has to look at."""
    searched = scope.partition("*")[0]
    folders = [folder for source in wanted for folder in _FOLDERS.get(source.casefold(), (source.partition("*")[0],))]
    return any(folder.startswith(searched) or searched.startswith(folder) for folder in folders)


def _lies_in(path: str, source: str) -> bool:
    """A path, a folder, or a pattern whose fixed beginning is one."""
    folder = source.partition("*")[0].rstrip("/")
    return path == source or (bool(folder) and path.startswith(f"{folder}/"))


def _pieces(text: str) -> Iterable[str]:
    """The parts of a sentence between signs that must not stand in a quote, none too long."""
    for part in _CUTS.split(text):
        words = part.split()
        piece = " ".join(words[:MAX_WORDS]).strip(_EDGES)
        if piece and _UNFIT.search(piece) is None:
            yield piece


def _line_of(passage: OfflinePassage, piece: str, found_on: int) -> int:
    """The line of the piece in the file: within the passage, not where the same words stand first."""
    within = find_quote(piece, fold_text(passage.text))
    if within is None:
        return passage.excerpt.first_line + found_on - 1
    return passage.line + within.first_line - 1


def _readable(passage: OfflinePassage, piece: str, line: int) -> Quote | None:
    """The quote in a form that the Evidence line is read back from: by its path, else by its receipt."""
    excerpt = passage.excerpt
    for receipt_id in (None, excerpt.receipt_id):
        quote = Quote(text=piece, path=excerpt.path, line=line, receipt_id=receipt_id)
        if _line_holds(quote):
            return quote
    return None


def _line_holds(quote: Quote) -> bool:
    """Whether an Evidence line with this quote is read as this quote, this path and this line."""
    line = evidence_line([evidence([quote], ["rcpt_0"])])
    items = line if isinstance(line, LineFault) else split_items(line.body)
    if isinstance(items, LineFault):
        return False
    claims = read_claims(items)
    return any(_is(claim, quote) for claim in claims) and not any(claim.fault for claim in claims)


def _is(claim: Claim, quote: Quote) -> bool:
    if claim.quote != quote.text:
        return False
    if quote.receipt_id is not None:
        return claim.receipt == quote.receipt_id
    return claim.path is not None and claim.path.path == quote.path and claim.path.lines == (quote.line, quote.line)
