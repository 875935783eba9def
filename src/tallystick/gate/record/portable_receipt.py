"""A portable receipt: header and payload as text, as stored in a bundle."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Any

import orjson

from tallystick.gate.quotes import Folded, fold_text
from tallystick.gate.record.canonical import canonical
from tallystick.gate.record.payload import BLOB, ERASED, SALT
from tallystick.gate.record.quotable import quotable
from tallystick.gate.record.receipt import Receipt
from tallystick.gate.record.record_signer import seq_of


class BundleInvalid(Exception):  # noqa: N818 - a finding, turned into a report where the bundle is checked
    """A check of a bundle failed; the message says which."""


@dataclass(frozen=True, kw_only=True)
class PortableReceipt:
    """A receipt's header bytes and payload columns, with blobs inlined."""

    stored: bytes
    inputs: bytes
    outputs: bytes

    @cached_property
    def header(self) -> dict[str, Any]:
        """The parsed header."""
        header: dict[str, Any] = orjson.loads(self.stored)
        return header

    @property
    def receipt_id(self) -> str:
        """The receipt's id."""
        return str(self.header["receipt_id"])

    @property
    def seq(self) -> int:
        """The receipt's sequence number."""
        seq: int = self.header["seq"]
        return seq

    @property
    def erased(self) -> bool:
        """Whether the payload was erased."""
        return ERASED in {self.inputs[:1], self.outputs[:1]}

    def outputs_json(self) -> Any:
        """Return the parsed outputs; None if there are none, they are not JSON, or they were erased."""
        if not self.outputs or self.erased:
            return None
        try:
            return orjson.loads(self.outputs[SALT:])
        except orjson.JSONDecodeError:
            return None

    @cached_property
    def quotable(self) -> tuple[Folded, ...]:
        """The quotable texts of the outputs, folded for search; cached, since several quotes may cite one result."""
        return tuple(map(fold_text, quotable(self.outputs_json())))

    def as_dict(self) -> dict[str, str]:
        """Return the receipt in bundle form."""
        return {name: getattr(self, key).decode() for name, key in _NAMES.items()}

    def check_payload(self) -> None:
        """Compare the payload with the digests in the header; raise `BundleInvalid` if they differ."""
        for column, name in ((self.inputs, "inputs_digest"), (self.outputs, "outputs_digest")):
            digest = self.header.get(name)
            if column == ERASED and digest is not None:
                continue
            if (sha256(column).hexdigest() if column else None) != digest:
                raise BundleInvalid(f"{self.receipt_id}: {name.removesuffix('_digest')} do not match their digest")


def erased_by(header: dict[str, Any]) -> str | None:
    """Return the id of the receipt whose payload this record of an erasure erases."""
    links = header.get("links")
    erased = links.get("erased") if isinstance(links, dict) else None
    return erased if isinstance(erased, str) else None


def portable_receipt(
    columns: tuple[bytes, bytes, bytes], receipt: Receipt, blob: Callable[[str], bytes | None]
) -> PortableReceipt:
    """Convert a verified receipt to its portable form, with blobs inlined."""
    if receipt.erased:
        inputs, outputs = (ERASED if column else b"" for column in columns[1:])
        return PortableReceipt(stored=columns[0], inputs=inputs, outputs=outputs)
    whole = [
        blob(receipt.header[name]) if column[:1] == BLOB else column
        for column, name in zip(columns[1:], ("inputs_digest", "outputs_digest"), strict=True)
    ]
    return PortableReceipt(stored=columns[0], inputs=whole[0] or b"", outputs=whole[1] or b"")


_NAMES = {"header": "stored", "inputs": "inputs", "outputs": "outputs"}


def parse_portable(item: Any) -> PortableReceipt:
    """Parse a receipt from a bundle.

    Raises:
        BundleInvalid: The item is malformed.
    """
    if not isinstance(item, dict) or item.keys() != {*_NAMES, "path"}:
        raise BundleInvalid("a receipt is malformed")
    if not all(isinstance(item[name], str) for name in _NAMES):
        raise BundleInvalid("a receipt is malformed")
    portable = PortableReceipt(**{key: item[name].encode() for name, key in _NAMES.items()})
    try:
        header = orjson.loads(portable.stored)
        exact = isinstance(header, dict) and canonical(header) == portable.stored
    except ValueError:
        exact = False
    if not exact or not isinstance(header.get("receipt_id"), str) or type(header.get("seq")) is not int:
        raise BundleInvalid("a receipt's header is malformed")
    if seq_of(header["receipt_id"]) != header["seq"]:
        raise BundleInvalid(f"{header['receipt_id']}: the id does not match the sequence number")
    return portable
