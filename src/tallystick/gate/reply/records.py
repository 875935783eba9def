"""Check citations of application records (`ticket:12`, `ev:3`, `obs:9f`) and of figures with the query behind them."""

from decimal import Decimal, InvalidOperation
from urllib.parse import parse_qsl

from tallystick.gate.quotes import word_count
from tallystick.gate.reply.claims import MISSING, Claim
from tallystick.gate.reply.findings import Item
from tallystick.gate.reply.own_text import Origin
from tallystick.gate.reply.sources import Source, folded, sha256_text
from tallystick.gate.reply.support.grounds import Ground, ground_in_text
from tallystick.gate.reply.surroundings import OWN_TEXT, Checked, Surroundings, check_quote, cited, failed, matched_in
from tallystick.text.words import identifier_words

MIN_WORDS = 3
"""Minimum words of a quote, low because records are short; a shorter quote must be the whole record."""


def check_record(claim: Claim, around: Surroundings, *, bare: bool) -> Checked:
    """Check a claim that cites a record or a figure; `bare` allows a record id without a quote."""
    if claim.figure is not None:
        return _check_figure(claim, *claim.figure, around)
    text = around.sources.resolve(claim.record or "")
    if text is None:
        return failed(claim, "record_unknown", "There is no such record; copy its id from where you read it.")
    source = Source(path=claim.record or "", text=text, sha256=sha256_text(text))
    if claim.quote is not None:
        return _check_words(claim, claim.quote, source, around)
    if not bare:
        return failed(claim, "claim_incomplete", MISSING["record"], cited(source))
    if around.own.holds(text, text, Origin(path=source.path)):
        return failed(claim, "own_text", OWN_TEXT, cited(source))
    item = Item(kind="record", source=claim.source, ok=True)
    # Without a quote, the record as a whole is what the sentence must be supported by.
    return Checked(item=item, texts=(cited(source),), paths=(source.path,), grounds=(Ground(quote=text),))


def _check_words(claim: Claim, quote: str, source: Source, around: Surroundings) -> Checked:
    if word_count(quote) < MIN_WORDS and folded(quote).text != source.folded.text:
        return failed(claim, "quote_too_short", f"Quote at least {MIN_WORDS} words of the record.", cited(source))
    passage = check_quote(claim, quote, cited(source), around)
    if isinstance(passage, Checked):
        return passage
    item = Item(kind="record", source=claim.source, ok=True, matched=matched_in(source, passage))
    ground = ground_in_text(passage.quote, source.folded, passage.match)
    return Checked(item=item, texts=(cited(source),), paths=(source.path,), grounds=(ground,))


def _check_figure(claim: Claim, written: str, query: str, around: Surroundings) -> Checked:
    value = around.sources.recompute(query)
    if value is None:
        return failed(claim, "query_unknown", "The query is unknown; copy it from the tool's result.")
    try:
        said = Decimal(written.replace(",", "").rstrip("."))
        # Compare at the precision of the written figure: 12.3 matches any value that rounds to it.
        right = value.quantize(Decimal(1).scaleb(min(0, int(said.as_tuple().exponent)))) == said
    except (InvalidOperation, ValueError):
        return failed(claim, "claim_unreadable", "The figure is not a number; write it with digits.")
    if not right:
        return failed(claim, "figure_differs", f"The query gives {value}.")
    return Checked(item=Item(kind="record", source=claim.source, ok=True), grounds=(_figure_ground(written, query),))


def _figure_ground(written: str, query: str) -> Ground:
    """Return what a figure says: `600 tickets`, and on further lines the query's arguments, `1 dataset`."""
    name, _, arguments = query.partition("?")
    facts = [f"{written} {' '.join(identifier_words(name))}"]
    facts += [f"{value} {' '.join(identifier_words(key))}" for key, value in parse_qsl(arguments)]
    return Ground(quote="\n".join(facts))
