"""Verify a bundled reply against its reply-check receipt, without the sources: text, quotes, excerpts, cited receipts.

The Evidence line is the line of a reply that lists its sources (`Evidence: …`).

The maker of a bundle may have signed anything, so every type is checked: a value of the wrong type raises
`BundleInvalid`, like every other failed check.
"""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.gate.record.portable_receipt import BundleInvalid, PortableReceipt

_SHOWN = ("path", "sha256", "lines", "quote", "excerpt")
_NAMED = ("path", "sha256", "lines", "excerpt_sha256")


def excerpts_of(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the quoted excerpts, as the reply check recorded them."""
    return [{name: item[name] for name in _SHOWN if name in item} for item in _items(payload) if "excerpt" in item]


def cited_by(payload: Mapping[str, Any]) -> list[str]:
    """Return the ids of the receipts that the reply cites."""
    return list(map(_text, _list(payload.get("receipts", []))))


def check_evidence(bundle: Mapping[str, Any], receipts: Mapping[str, PortableReceipt]) -> tuple[int, list[str]]:
    """Compare the reply with the receipt of its reply check.

    Returns:
        The number of quotes found in their excerpts or in tool results, and notes that are not errors.

    Raises:
        BundleInvalid: The first failed check.
    """
    check = receipts.get(bundle["check"])
    if check is None or check.header.get("kind") != "reply_check":
        raise BundleInvalid("the receipt of the reply check is missing")
    payload = check.outputs_json()
    if not isinstance(payload, dict):
        raise BundleInvalid(f"{check.receipt_id}: the findings of the check are missing")
    if payload.get("ok") is not True or _status(check) != "accepted":
        raise BundleInvalid("the reply did not pass its check")
    _check_reply(bundle, payload)
    if bundle["excerpts"] != excerpts_of(payload):
        raise BundleInvalid("the excerpts are not those that the check recorded")
    quotes = sum(_check_item(item, check, receipts) for item in _items(payload))
    return quotes, list(_check_cited(payload, check, receipts))


def _check_reply(bundle: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
    if sha256(bundle["reply"].encode()).hexdigest() != payload.get("reply_sha256"):
        raise BundleInvalid("the reply is not the one that was checked")
    line = payload.get("line")
    if bundle["evidence"] != line:
        raise BundleInvalid("the Evidence line is not the one that was checked")
    if line is not None and _text(line) not in bundle["reply"]:
        raise BundleInvalid("the Evidence line is not in the reply")


def _check_item(item: Mapping[str, Any], check: PortableReceipt, receipts: Mapping[str, PortableReceipt]) -> int:
    """Check one claim; return 1 if it is a quote that was found, else 0."""
    if item.get("ok") is not True:
        raise BundleInvalid(f"a claim failed the check: {_shown(item.get('source'))}")
    if item.get("quote") is None:
        return 0
    quote, excerpt = _text(item["quote"]), item.get("excerpt")
    if excerpt is None:
        return _check_result(quote, item, receipts)
    if sha256(_text(excerpt).encode()).hexdigest() != item.get("excerpt_sha256"):
        raise BundleInvalid(f"an excerpt of {_shown(item.get('path'))} does not match its hash")
    if not _is_named(item, check):
        raise BundleInvalid(f"the receipt of the check does not name the excerpt of {_shown(item.get('path'))}")
    if find_quote(quote, fold_text(excerpt)) is None:
        raise BundleInvalid(f"a quote is not in its excerpt of {_shown(item.get('path'))}")
    return 1


def _is_named(item: Mapping[str, Any], check: PortableReceipt) -> bool:
    wanted = [item.get(name) for name in _NAMED]
    refs = map(_mapping, _list(check.header.get("file_refs", [])))
    return any([ref.get(name) for name in _NAMED] == wanted for ref in refs)


def _check_result(quote: str, item: Mapping[str, Any], receipts: Mapping[str, PortableReceipt]) -> int:
    """Check a quote from a tool result: it must occur in one of its strings, or in the whole result as JSON."""
    receipt = receipts.get(_text(item.get("receipt")))
    if receipt is None:
        raise BundleInvalid(f"the quoted receipt is missing: {_shown(item.get('source'))}")
    if receipt.erased:
        return 0  # cannot be verified any more; `_check_cited` adds a note
    if not any(find_quote(quote, text) for text in receipt.quotable):
        raise BundleInvalid(f"a quote is not in the output of {receipt.receipt_id}")
    return 1


def _check_cited(
    payload: Mapping[str, Any], check: PortableReceipt, receipts: Mapping[str, PortableReceipt]
) -> Iterator[str]:
    """Check the cited receipts; yield notes.

    The bundle must contain exactly the cited receipts, that of the check, and the records of their erasures. Each
    cited one must belong to the reply's session, or to its round of a conference (a discussion of several agents in
    rounds), and none to a rejected call.
    """
    cited = cited_by(payload)
    erasures = {name for name, item in receipts.items() if item.header.get("kind") == "erasure"} - {*cited}
    if receipts.keys() - erasures != {check.receipt_id, *cited}:
        raise BundleInvalid("the receipts are not those that the reply cites")
    links = _mapping(check.header.get("links", {}))
    if set(cited) != {_text(value) for name, value in links.items() if name.startswith("cites_")}:
        raise BundleInvalid("the receipt of the check does not name the receipts that the reply cites")
    for receipt_id in cited:
        header = receipts[receipt_id].header
        same_round = header.get("round_id") is not None and header.get("round_id") == check.header.get("round_id")
        if header.get("session_id") != check.header.get("session_id") and not same_round:
            raise BundleInvalid(f"{receipt_id} belongs to another session")
        if _status(receipts[receipt_id]) == "rejected":
            raise BundleInvalid(f"{receipt_id} belongs to a rejected call")
        if receipts[receipt_id].erased:
            yield f"{receipt_id}: payload erased"


def _status(receipt: PortableReceipt) -> Any:
    return _mapping(receipt.header.get("outcome", {})).get("status")


def _items(payload: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(map(_mapping, _list(payload.get("items"))))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BundleInvalid("the findings of the check are malformed")
    return value


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise BundleInvalid("the findings of the check are malformed")
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BundleInvalid("the findings of the check are malformed")
    return value


def _shown(value: Any) -> str:
    """Return an untrusted value as text for a message, truncated."""
    return str(value)[:200]
