"""Check the receipts that a reply cites.

A receipt is accepted if it exists and verifies, was issued in this round of the conference (a discussion of several
agents in rounds) or, outside a conference, in this session, and belongs to a call that ran. Text quoted with it must
occur in the tool's result.
"""

from collections.abc import Iterator

from tallystick.gate.record.quotable import quotable, strings_in
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.reply.claims import MISSING, Claim
from tallystick.gate.reply.findings import Item
from tallystick.gate.reply.own_text import Origin
from tallystick.gate.reply.sources import folded
from tallystick.gate.reply.support.grounds import call_context, ground_in_text, ground_of_call, ran
from tallystick.gate.reply.surroundings import Checked, CitedText, Passage, Surroundings, check_quote, failed

_RESULTS = frozenset({"outcome", "report"})
"""Kinds of receipt that contain the result of a call, unlike those of a call that is waiting, started or approved."""
_MAX_PATH = 300


def check_tool_result(claim: Claim, around: Surroundings) -> Checked:
    """Check a cited receipt and the text quoted from it."""
    if claim.receipt is None:
        return failed(claim, "claim_incomplete", MISSING["tool_result"])
    receipt = around.receipts.find(claim.receipt)
    if receipt is None:
        return failed(
            claim, "receipt_unknown", "There is no valid receipt with this id; copy it from the tool's result."
        )
    fault = _fault(receipt, around, quoting=claim.quote is not None)
    if fault is not None:
        return failed(claim, *fault)
    texts = tuple(_texts(receipt))
    quoted: str | None = None
    ground = ground_of_call(receipt)
    if claim.quote is not None:
        found = _find(claim, claim.quote, receipt, texts, around)
        if isinstance(found, Checked):
            return found
        quoted = found[0].quote
        ground = ground_in_text(quoted, found[1].text, found[0].match, context=call_context(receipt), receipt=receipt)
    item = Item(kind="tool_result", source=claim.source, ok=True, quote=quoted, receipt=claim.receipt)
    return Checked(item=item, texts=texts, paths=_paths(receipt), grounds=(ground,))


def _find(
    claim: Claim, quote: str, receipt: Receipt, texts: tuple[CitedText, ...], around: Surroundings
) -> tuple[Passage, CitedText] | Checked:
    if receipt.erased:
        return failed(claim, "receipt_erased", "The content of this receipt was erased; quote another source.")
    if not any(map(str.isalnum, quote)):
        return failed(claim, "quote_too_short", "Quote some words of the result, or leave the quote out.")
    refusals: list[Checked] = []
    own: Checked | None = None
    for text in texts:
        # The last text is the whole result as JSON. Skip it if the quote was already found to be the agent's own text:
        # the context differs there, so the same words might not be recognised as own.
        if own is not None and text is texts[-1]:
            return own
        passage = check_quote(claim, quote, text, around)
        if not isinstance(passage, Checked):
            return passage, text
        own = passage if passage.item.code == "own_text" else own
        refusals.append(passage)
    if not refusals:
        return failed(claim, "receipt_empty", "The tool gave nothing back that could be quoted.")
    # Of several strings, report the one most similar to the quote.
    return own or max(refusals, key=lambda refusal: (refusal.item.closest or {}).get("similarity") or 0)


def _fault(receipt: Receipt, around: Surroundings, *, quoting: bool) -> tuple[str, str] | None:
    header = receipt.header
    if header.get("kind") not in _RESULTS:
        return "receipt_no_result", "This receipt contains no result; cite the receipt of the finished call."
    if around.conference:
        same_conference = around.conference_id in {None, header.get("conference_id")}
        if around.round_id is None or header.get("round_id") != around.round_id or not same_conference:
            return "receipt_foreign", "The receipt is from another round; cite a receipt of this round."
    elif header.get("session_id") != around.session_id:
        return "receipt_foreign", "The receipt is from another session; run the tool in this one."
    if (header.get("outcome") or {}).get("status") == "rejected" and not quoting:
        return "receipt_refused", "The call was refused and has no result; to report the refusal, quote its reason."
    return None


def _texts(receipt: Receipt) -> Iterator[CitedText]:
    """Yield the texts that can be quoted: each string of the tool's result, then the whole result as JSON."""
    origin = Origin(receipt=receipt, named=_paths(receipt))
    if not ran(receipt) and receipt.outputs is None:
        # A call that was refused or failed returned nothing; the recorded reason can be quoted instead.
        yield CitedText(text=folded(str(receipt.header["outcome"].get("reason", ""))), origin=origin)
        return
    excerpt = () if receipt.excerpt is None else (receipt.excerpt,)
    for text in excerpt if receipt.outputs is None else quotable(receipt.outputs):
        yield CitedText(text=folded(text), origin=origin)


def _paths(receipt: Receipt) -> tuple[str, ...]:
    """Return the files related to a call: those it recorded and those named in its arguments and result."""
    recorded = [str(ref.get("path", "")) for ref in receipt.header.get("file_refs") or ()]
    named = [text for side in (receipt.inputs, receipt.outputs) for text in strings_in(side) if _is_path(text)]
    return tuple(dict.fromkeys([*recorded, *named]))


def _is_path(text: str) -> bool:
    return len(text) <= _MAX_PATH and "\n" not in text and ("/" in text or "." in text[-9:])
