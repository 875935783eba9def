"""What a reply check's receipt binds, checked again without the sources: reply, quotes, excerpts, cited receipts."""

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

from tallystick.gate.quotes import find_quote, fold_text
from tallystick.gate.record.carried import Broken, Carried

_SHOWN = ("path", "sha256", "lines", "quote", "excerpt")


def excerpts_of(payload: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The quoted excerpts, as the check recorded them."""
    items = [item for item in payload.get("items", ()) if isinstance(item, dict) and "excerpt" in item]
    return [{name: item[name] for name in _SHOWN if name in item} for item in items]


def check_evidence(bundle: Mapping[str, Any], receipts: Mapping[str, Carried]) -> tuple[int, list[str]]:
    """Hold the reply against the receipt of its check.

    Returns:
        How many quotes were found in their excerpts, and what is worth knowing.

    Raises:
        Broken: The first thing that does not hold.
    """
    check = receipts.get(bundle["check"])
    if check is None or check.header.get("kind") != "reply_check":
        raise Broken("the receipt of the reply check is not there")
    payload = check.outputs_json()
    if not isinstance(payload, dict):
        raise Broken(f"{check.receipt_id}: what the check found is not there")
    if payload.get("ok") is not True or (check.header.get("outcome") or {}).get("status") != "accepted":
        raise Broken("the reply did not pass its check")
    _check_reply(bundle, payload)
    if bundle["excerpts"] != excerpts_of(payload):
        raise Broken("the excerpts are not those that the check recorded")
    quotes = sum(_check_item(item, check, receipts) for item in _items(payload))
    return quotes, list(_check_cited(payload, check, receipts))


def _check_reply(bundle: Mapping[str, Any], payload: Mapping[str, Any]) -> None:
    if sha256(bundle["reply"].encode()).hexdigest() != payload.get("reply_sha256"):
        raise Broken("the reply is not the one that was checked")
    line = payload.get("line")
    if bundle["evidence"] != line:
        raise Broken("the Evidence line is not the one that was checked")
    if line is not None and line not in bundle["reply"]:
        raise Broken("the Evidence line does not stand in the reply")


def _items(payload: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    items = payload.get("items")
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Broken("what the check found is malformed")
    yield from items


def _check_item(item: Mapping[str, Any], check: Carried, receipts: Mapping[str, Carried]) -> int:
    """One claim; 1 if it is a quote that was found."""
    if item.get("ok") is not True:
        raise Broken(f"a claim did not hold: {item.get('source')}")
    quote, excerpt = item.get("quote"), item.get("excerpt")
    if quote is None:
        return 0
    if excerpt is None:
        excerpt = _output_text(item, receipts)
    elif sha256(excerpt.encode()).hexdigest() != item.get("excerpt_sha256"):
        raise Broken(f"an excerpt of {item.get('path')} does not fit its hash")
    elif not _is_named(item, check):
        raise Broken(f"the receipt of the check does not name the excerpt of {item.get('path')}")
    if find_quote(quote, fold_text(excerpt)) is None:
        raise Broken(f"a quote does not stand in its excerpt of {item.get('path') or item.get('source')}")
    return 1


def _is_named(item: Mapping[str, Any], check: Carried) -> bool:
    names = ("path", "sha256", "lines", "excerpt_sha256")
    wanted = {name: item.get(name) for name in names}
    return any({name: ref.get(name) for name in names} == wanted for ref in check.header.get("file_refs", ()))


def _output_text(item: Mapping[str, Any], receipts: Mapping[str, Carried]) -> str:
    """What the quoted receipt's tool gave back: all its text, string by string."""
    receipt = receipts.get(str(item.get("receipt")))
    if receipt is None:
        raise Broken(f"the receipt that is quoted is not there: {item.get('source')}")
    return "\n\n".join(_strings(receipt.outputs_json()))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _check_cited(payload: Mapping[str, Any], check: Carried, receipts: Mapping[str, Carried]) -> Iterator[str]:
    """The receipts the reply cites: all there, none besides, of this session or round, and of calls that ran."""
    cited = payload.get("receipts", [])
    if receipts.keys() != {check.receipt_id, *cited}:
        raise Broken("the receipts are not those that the reply cites")
    if set(cited) != {value for name, value in check.header.get("links", {}).items() if name.startswith("cites_")}:
        raise Broken("the receipt of the check does not name the receipts that the reply cites")
    for receipt_id in cited:
        header = receipts[receipt_id].header
        same_round = header.get("round_id") is not None and header.get("round_id") == check.header.get("round_id")
        if header.get("session_id") != check.header.get("session_id") and not same_round:
            raise Broken(f"{receipt_id} belongs to another session")
        if (header.get("outcome") or {}).get("status") == "rejected":
            raise Broken(f"{receipt_id} is of a call that was refused")
        if receipts[receipt_id].erased:
            yield f"{receipt_id}: payload erased"
