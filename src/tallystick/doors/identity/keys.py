"""The keys that verify token signatures.

The algorithm follows from the key alone: a secret is HS256, an RSA key RS256, a P-256 key ES256, an Ed25519 key EdDSA.
The algorithm and key named in a token are only compared with that, never used to choose.

A key is configured as a shared secret, or as a file: PEM (public key), a JSON Web Key, or a JSON Web Key Set.
"""

import os
import re
import stat
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jiter
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from joserfc.errors import JoseError, SecurityWarning
from joserfc.jwk import ECKey, Key, OctKey, OKPKey, RSAKey
from joserfc.jws import JWSRegistry

from tallystick.errors import ConfigError
from tallystick.settings import AuthSettings

SAMPLE_SECRETS = frozenset(
    {
        "replace-this-sample-secret-before-use",
        "a-string-secret-at-least-256-bits-long",
        "your-256-bit-secret",
    }
)
"""Sample secrets: the first is from this project's documentation, the others from pages people copy tokens from."""

MIN_SECRET_BYTES = 32
"""RFC 7518, 3.2: at least as long as the hash. A shorter secret can be brute-forced."""
MIN_RSA_BITS = 2048
MAX_KEY_FILE_BYTES = 1024 * 1024


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifyingKey:
    """One key with its only algorithm."""

    key: Key
    algorithm: str
    """The algorithm's name in the library."""
    names: tuple[str, ...]
    """The accepted values of `alg` in a token for this key."""
    kid: str | None = None

    def verifies(self, signed: bytes, signature: bytes) -> bool:
        """Return whether the signature is valid; an error in the library counts as invalid."""
        try:
            return bool(_REGISTRY.get_alg(self.algorithm).verify(signed, signature, self.key))
        except (JoseError, ValueError):
            return False


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyRing:
    """All keys that tokens may be signed with; usually one."""

    keys: tuple[VerifyingKey, ...]

    def pick(self, kid: str | None) -> VerifyingKey | None:
        """Choose the key that a token names; a token without `kid` is accepted only if there is a single key.

        A public key of an issuer may come without the id that its tokens carry. The shared secret has none, so a token
        that names a key was not made for it.
        """
        if len(self.keys) == 1:
            only = self.keys[0]
            nameless = only.kid is None and not only.algorithm.startswith("HS")
            return only if kid is None or nameless or only.kid == kid else None
        return next((key for key in self.keys if kid is not None and key.kid == kid), None)


_TAKEN: dict[str, tuple[type[Key], str, tuple[str, ...]]] = {
    "oct": (OctKey, "HS256", ("HS256",)),
    "RSA": (RSAKey, "RS256", ("RS256",)),
    "EC": (ECKey, "ES256", ("ES256",)),
    # RFC 9864 renamed EdDSA to Ed25519; issuers still send the old name.
    "OKP": (OKPKey, "Ed25519", ("EdDSA", "Ed25519")),
}
_CURVES = {"EC": "P-256", "OKP": "Ed25519"}
_REGISTRY = JWSRegistry(algorithms=[algorithm for _, algorithm, _ in _TAKEN.values()])


class _Unusable(Exception):  # noqa: N818 - never leaves this module
    """Why a key cannot be used."""


class _OtherPurpose(_Unusable):
    """A valid key for another purpose; other keys of the set may still be usable."""


def key_ring(auth: AuthSettings, *, folder: Path) -> KeyRing:
    """Load the configured key.

    Args:
        auth: The settings.
        folder: The base of a relative key file path.

    Raises:
        ConfigError: No key, two kinds of key, or an unusable key; the message says what to change.
    """
    if auth.jwt_secret is not None and auth.jwt_public_key_file is not None:
        raise ConfigError("auth: set jwt_secret or jwt_public_key_file, not both.", code="auth_two_keys")
    if auth.jwt_secret is not None:
        secret = auth.jwt_secret.get_secret_value()
        return _ring_of_secret(secret, development=auth.development)
    if auth.jwt_public_key_file is not None:
        return _ring_of_file(folder / Path(auth.jwt_public_key_file).expanduser(), development=auth.development)
    raise ConfigError("auth.enabled needs auth.jwt_secret or auth.jwt_public_key_file.", code="auth_no_key")


def ring_of_text(text: str, *, development: bool = False) -> KeyRing:
    """Read keys from PEM, a JSON Web Key or a JSON Web Key Set."""
    try:
        if not text.lstrip().startswith("{"):
            return KeyRing(keys=(_key_of_pem(text),))
        loaded = _parse_json(text)
        if "keys" in loaded:
            return _ring_of_set(loaded["keys"], development=development)
        return KeyRing(keys=(_key_of_jwk(loaded, development=development),))
    except _Unusable as reason:
        message = f"auth.jwt_public_key_file: {reason}. Give the issuer's public signing key (RSA, P-256 or Ed25519)."
        raise ConfigError(message, code="auth_bad_key") from None


def _ring_of_secret(secret: str, *, development: bool) -> KeyRing:
    if not development and secret in SAMPLE_SECRETS:
        raise ConfigError(
            "auth.jwt_secret is a sample from the documents. Make your own, e.g. with `openssl rand -hex 32`.",
            code="auth_sample_secret",
        )
    if not development and len(secret.encode()) < MIN_SECRET_BYTES:
        raise ConfigError(
            f"auth.jwt_secret has under {MIN_SECRET_BYTES} bytes. Make a longer one, e.g. with `openssl rand -hex 32`.",
            code="auth_short_secret",
        )
    if not secret or "-----BEGIN" in secret:
        # With a public key as the HS256 secret, everyone could sign tokens.
        raise ConfigError("auth.jwt_secret is empty or a PEM key; set jwt_public_key_file.", code="auth_bad_key")
    key = OctKey(secret.encode(), secret.encode())
    return KeyRing(keys=(VerifyingKey(key=key, algorithm="HS256", names=("HS256",)),))


def _ring_of_file(path: Path, *, development: bool) -> KeyRing:
    try:
        with path.open("rb") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            data = file.read(MAX_KEY_FILE_BYTES)
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise ConfigError(
            f"auth.jwt_public_key_file {path.name} cannot be read: {reason}.", code="auth_key_unreadable"
        ) from None
    ring = ring_of_text(text, development=development)
    if mode & 0o077 and any(key.algorithm == "HS256" for key in ring.keys):
        raise ConfigError(
            f"{path.name} holds a secret and others may read it: run `chmod 600 {path.name}`.", code="key_exposed"
        )
    return ring


def _ring_of_set(entries: object, *, development: bool) -> KeyRing:
    if not isinstance(entries, Sequence) or isinstance(entries, str):
        raise _Unusable("`keys` is not a list")
    keys: list[VerifyingKey] = []
    reasons: list[str] = []
    for entry in entries:
        try:
            keys.append(_key_of_jwk(entry, development=development))
        except _OtherPurpose as reason:
            # Issuers also publish encryption keys and keys of other algorithms.
            reasons.append(str(reason))
    if not keys:
        raise _Unusable("no key in the set can be used: " + "; ".join(reasons[:3]))
    kids = [key.kid for key in keys]
    if len(keys) > 1 and (None in kids or len(set(kids)) < len(kids)):
        raise _Unusable("each key of a set needs a `kid` of its own")
    if len({key.algorithm == "HS256" for key in keys}) > 1:
        raise _Unusable("a set must not mix secrets and public keys")
    return KeyRing(keys=tuple(keys))


def _key_of_jwk(jwk: object, *, development: bool) -> VerifyingKey:
    if not isinstance(jwk, Mapping):
        raise _Unusable("a key is not a JSON object")
    kind, algorithm, names = _TAKEN.get(str(jwk.get("kty")), (None, "", ()))
    if kind is None:
        raise _OtherPurpose("its kty is none of oct, RSA, EC, OKP")
    _check_marks(jwk, algorithm, names)
    try:
        key = _imported(kind, dict(jwk))
    except (JoseError, ValueError, TypeError, KeyError, UnsupportedAlgorithm):
        raise _Unusable("a key is malformed") from None
    _check_strength(key, development=development)
    kid = jwk.get("kid")
    return VerifyingKey(key=key, algorithm=algorithm, names=names, kid=kid if isinstance(kid, str) else None)


def _check_marks(jwk: Mapping[str, Any], algorithm: str, names: tuple[str, ...]) -> None:
    operations = jwk.get("key_ops", ["verify"])
    if jwk.get("use", "sig") != "sig":
        raise _OtherPurpose("a key is marked for another use than signatures")
    if not isinstance(operations, list) or "verify" not in operations:
        raise _OtherPurpose("a key's key_ops do not allow verify")
    if jwk.get("alg", algorithm) not in names:
        raise _OtherPurpose("a key is marked for another algorithm")
    if jwk.get("crv") != _CURVES.get(jwk["kty"]):
        raise _OtherPurpose("its curve is not P-256 or Ed25519")
    if "d" in jwk:
        raise _Unusable("it is a private key, which does not belong here")


_PUBLIC_PEM = re.compile(r"\s*-----BEGIN (?:RSA )?PUBLIC KEY-----")


def _key_of_pem(text: str) -> VerifyingKey:
    if not _PUBLIC_PEM.match(text):
        raise _Unusable("it is neither a PEM public key nor a JSON Web Key")
    for kty in ("RSA", "EC", "OKP"):
        kind, algorithm, names = _TAKEN[kty]
        try:
            key = _imported(kind, text)
            curve = key.dict_value.get("crv")
        except (JoseError, ValueError, TypeError, UnsupportedAlgorithm):
            continue
        if curve == _CURVES.get(kty):
            _check_strength(key, development=False)
            return VerifyingKey(key=key, algorithm=algorithm, names=names)
    raise _Unusable("the PEM key is not RSA, P-256 or Ed25519")


def _imported(kind: type[Key], value: str | dict[str, Any]) -> Key:
    with warnings.catch_warnings():
        # The library only warns about weak keys; `_check_strength` refuses them.
        warnings.simplefilter("ignore", SecurityWarning)
        return kind.import_key(value)


def _check_strength(key: Key, *, development: bool) -> None:
    if isinstance(key, OctKey) and len(key.raw_value) < MIN_SECRET_BYTES and not development:
        raise _Unusable(f"a secret has under {MIN_SECRET_BYTES} bytes")
    if isinstance(key, RSAKey) and isinstance(key.public_key, RSAPublicKey):
        modulus = key.public_key.public_numbers().n
        if modulus.bit_length() < MIN_RSA_BITS:
            raise _Unusable(f"an RSA key has under {MIN_RSA_BITS} bits")
        if has_roca_fingerprint(modulus):
            raise _Unusable("an RSA key comes from the flawed generator of CVE-2017-15361")


_ROCA_PRIMES = (11, 13, 17, 19, 37, 53, 61, 71, 73, 79, 97, 103, 107, 109, 127, 151, 157)
_ROCA_GENERATOR = 65537


def has_roca_fingerprint(modulus: int) -> bool:
    """Return whether the modulus has the ROCA fingerprint (primes derived from powers of 65537): it can be factored.

    The false-positive rate for sound keys is about 1 in 2^27.
    """
    return all(modulus % prime in _powers(prime) for prime in _ROCA_PRIMES)


def _powers(prime: int) -> frozenset[int]:
    return frozenset(pow(_ROCA_GENERATOR, exponent, prime) for exponent in range(prime))


def _parse_json(text: str) -> dict[str, Any]:
    try:
        loaded = jiter.from_json(text.encode(), catch_duplicate_keys=True, allow_inf_nan=False)
    except ValueError:
        raise _Unusable("it is not valid JSON") from None
    if not isinstance(loaded, dict):
        raise _Unusable("it is not a JSON object")
    return loaded
