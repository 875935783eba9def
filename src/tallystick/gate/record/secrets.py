"""Secrets in arguments are stored as a keyed digest, never as text.

The digest commits to the value (the same secret gives the same digest under one key) without giving it away. What is
secret: values under configured names, under names the tool's schema marks `writeOnly` or the card lists, and strings
that look like a token wherever they stand.
"""

import hmac
import re
from collections.abc import Iterable, Mapping
from typing import Any

import orjson

MARK = "$redacted"

_TOKEN_STARTS = (
    b"eyJ", b"sk-", b"sk_", b"rk_", b"pk_live", b"ghp_", b"gho_", b"ghu_", b"ghs_", b"ghr_", b"github_pat_", b"glpat-", b"AKIA", b"ASIA", b"AIza", b"xox", b"-----BEGIN",
    b"ya29.", b"npm_", b"pypi-", b"Bearer ", b"bearer ", b"hf_", b"SG.",
)  # fmt: skip
"""Cheap first look: arguments without any of these hold no token we know."""

TOKEN = re.compile(
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"  # JWS
    r"|\b(?:sk|rk)[-_][A-Za-z0-9_-]{16,}|\bpk_live_[A-Za-z0-9]{16,}"  # model and payment providers
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bya29\.[A-Za-z0-9_-]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----"
    r"|\b[Bb]earer [A-Za-z0-9._~+/-]{16,}=*"
)


class Redactor:
    """Replaces secrets in arguments by keyed digests."""

    def __init__(self, *, key: bytes, names: Iterable[str]) -> None:
        self._key = key
        self._names = frozenset(name.lower() for name in names)
        self._needles = tuple(f'"{name}"'.encode() for name in sorted(self._names))

    def redact(self, args: Mapping[str, Any], data: bytes, secret_names: frozenset[str]) -> tuple[Any, bool]:
        """Give the arguments with secrets replaced, and whether there were any.

        Args:
            args: The arguments.
            data: Their JSON bytes; one look at these spares the walk for nearly every call.
            secret_names: Names this tool marks secret.
        """
        if not self._worth_walking(data, secret_names):
            return args, False
        clean = self._walk(args, self._names | {name.lower() for name in secret_names})
        return clean, clean != args

    def _worth_walking(self, data: bytes, secret_names: frozenset[str]) -> bool:
        if secret_names:
            return True
        low = data.lower()
        return any(needle in low for needle in self._needles) or any(start in data for start in _TOKEN_STARTS)

    def _walk(self, value: Any, names: frozenset[str]) -> Any:
        if isinstance(value, Mapping):
            return {
                key: self._digest(item) if str(key).lower() in names and item is not None else self._walk(item, names)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._walk(item, names) for item in value]
        if isinstance(value, str) and TOKEN.search(value):
            return self._digest(value)
        return value

    def _digest(self, value: Any) -> dict[str, str]:
        return {MARK: "hmac-sha256:" + hmac.digest(self._key, orjson.dumps(value), "sha256").hex()}


def mask(text: str) -> str:
    """Replace anything that looks like a token, for text that was never arguments (a rejected message)."""
    return TOKEN.sub("[redacted]", text)


def write_only(schema: Mapping[str, Any]) -> frozenset[str]:
    """Names of properties a schema marks `writeOnly`, at any depth."""
    found: set[str] = set()
    stack: list[Any] = [schema]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            for name, sub in (node.get("properties") or {}).items():
                if isinstance(sub, Mapping) and sub.get("writeOnly") is True:
                    found.add(name)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return frozenset(found)
