"""Checkpoints: size and root of the log as a C2SP signed note, which third parties can read and keep.

    tallystick/5f0c…        origin: the log's name
    1024                    number of records
    CsUYapGG…=              base64 of the Merkle root
                            (blank line)
    — tallystick/5f0c… Az3grlgt…=    base64(key id ‖ Ed25519 signature over the text above the blank line)

https://c2sp.org/signed-note and https://c2sp.org/tlog-checkpoint specify the format. Parsing is strict: a note that
deviates from the format was not written by this log.
"""

import base64
import binascii
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from tallystick.gate.record.tree import HASH_SIZE

ED25519 = b"\x01"
"""The signature type byte that signed-note assigns."""
MAX_NOTE_BYTES = 64 * 1024
MAX_SIGNATURES = 64
"""The specification requires support for at least 16; a note with more than 64 is rejected."""
_DASH = "— "
_ID_SIZE = 4
_MAX_DIGITS = 20
"""Digits of a log's size (64 bits). Python itself refuses to parse a number of thousands of digits."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """The origin, size and root of a log at one moment."""

    origin: str
    size: int
    root: bytes

    def text(self) -> str:
        """Return the text to sign."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class NoteVerifier:
    """The public key of a log."""

    name: str
    public: bytes

    @property
    def key_id(self) -> bytes:
        """First four bytes of SHA-256(name ‖ newline ‖ type ‖ public key)."""
        return sha256(self.name.encode() + b"\n" + ED25519 + self.public).digest()[:_ID_SIZE]

    def vkey(self) -> str:
        """Return the key as one line of text, for distribution."""
        return f"{self.name}+{self.key_id.hex()}+{base64.b64encode(ED25519 + self.public).decode()}"

    def verifies(self, signature: bytes, text: bytes) -> bool:
        """Return whether this key made the signature over the text."""
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, text)
        except (InvalidSignature, ValueError):
            return False
        return True


class NoteSigner:
    """The private key of a log."""

    def __init__(self, name: str, seed: bytes) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self.verifier = NoteVerifier(name=name, public=self._key.public_key().public_bytes_raw())

    def sign(self, text: str) -> bytes:
        """Return the signed note for a text that ends in a newline."""
        signature = base64.b64encode(self.verifier.key_id + self._key.sign(text.encode())).decode()
        return f"{text}\n{_DASH}{self.verifier.name} {signature}\n".encode()


def parse_vkey(line: str) -> NoteVerifier:
    """Parse a verifier key.

    Raises:
        ValueError: Not an Ed25519 vkey line, or its key id does not match its key.
    """
    parts = line.strip("\n").split("+", 2)
    key = _base64(parts[2]) if len(parts) == 3 else None  # noqa: PLR2004 - name, id, key
    if key is None or not good_name(parts[0]) or key[:1] != ED25519 or len(key) != 1 + HASH_SIZE:
        raise ValueError("not an Ed25519 verifier key (name+id+base64)")
    verifier = NoteVerifier(name=parts[0], public=key[1:])
    if parts[1] != verifier.key_id.hex():
        raise ValueError("the verifier key's id does not match its key")
    return verifier


def good_name(name: str) -> bool:
    """Return whether a key name is valid: not empty, no white space, no plus sign."""
    return bool(name) and "+" not in name and not any(letter.isspace() for letter in name)


def open_note(note: bytes, verifiers: Iterable[NoteVerifier]) -> tuple[str, NoteVerifier] | None:
    """Return a note's text and signer; None if no known key signed it, or a known key's signature is invalid."""
    parsed = split_note(note)
    if parsed is None:
        return None
    text, signatures = parsed
    known = {(verifier.name, verifier.key_id): verifier for verifier in verifiers}
    signer: NoteVerifier | None = None
    for name, value in signatures:
        verifier = known.get((name, value[:_ID_SIZE]))
        if verifier is None:
            continue  # a witness or an unknown key: the specification says to ignore it
        if not verifier.verifies(value[_ID_SIZE:], text.encode()):
            return None
        signer = signer or verifier
    return None if signer is None else (text, signer)


def open_checkpoint(note: bytes, verifiers: Iterable[NoteVerifier]) -> tuple[Checkpoint, NoteVerifier] | None:
    """Return a note's checkpoint and signer; None unless one of these keys signed it as a checkpoint of its own log."""
    opened = open_note(note, verifiers)
    checkpoint = None if opened is None else parse_checkpoint(opened[0])
    if opened is None or checkpoint is None or checkpoint.origin != opened[1].name:
        return None
    return checkpoint, opened[1]


def split_note(note: bytes) -> tuple[str, list[tuple[str, bytes]]] | None:
    """Split a note into text and signatures (name, key id ‖ signature), unverified; None if it is not a note."""
    if len(note) > MAX_NOTE_BYTES:
        return None
    try:
        whole = note.decode()
    except UnicodeDecodeError:
        return None
    if any(letter < " " and letter != "\n" for letter in whole):
        return None
    text, blank, tail = whole.rpartition("\n\n")
    lines = tail.split("\n")
    # The last signature line ends in a newline too, so the last element must be empty.
    if not blank or lines.pop() or not 1 <= len(lines) <= MAX_SIGNATURES:
        return None
    signatures = [_signature(line) for line in lines]
    if None in signatures:
        return None
    return text + "\n", [signature for signature in signatures if signature is not None]


def notes_in(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the notes in a file that holds several, with or without empty lines between them.

    A part without a signature, such as a write cut off by a crash, is skipped.
    """
    text: list[bytes] = []
    signatures: list[bytes] = []
    ended = False
    for line in lines:
        if ended and line.startswith(_DASH.encode()):
            signatures.append(line)
            continue
        if signatures:
            yield b"".join([*text, b"\n", *signatures])
        if signatures or (ended and line != b"\n"):
            text, signatures, ended = [], [], False
        if line == b"\n":
            ended = bool(text)
        else:
            text.append(line)
    if signatures:
        yield b"".join([*text, b"\n", *signatures])


def parse_checkpoint(text: str) -> Checkpoint | None:
    """Parse the text of a checkpoint; None if the format is wrong (extension lines are allowed)."""
    lines = text.split("\n")
    if len(lines) < 4 or lines.pop() or not all(lines):  # noqa: PLR2004 - origin, size, root, end
        return None
    origin, size, root = lines[0], lines[1], _base64(lines[2])
    if not (size.isascii() and size.isdecimal()) or (size[0] == "0" and size != "0") or len(size) > _MAX_DIGITS:
        return None
    if root is None or len(root) != HASH_SIZE:
        return None
    return Checkpoint(origin=origin, size=int(size), root=root)


def _signature(line: str) -> tuple[str, bytes] | None:
    if not line.startswith(_DASH):
        return None
    name, _, encoded = line.removeprefix(_DASH).partition(" ")
    value = _base64(encoded)
    if not good_name(name) or value is None or len(value) <= _ID_SIZE:
        return None
    return name, value


def _base64(text: str) -> bytes | None:
    """Decode standard padded base64 in its one canonical form; None for any other text."""
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return value if base64.b64encode(value).decode() == text else None
