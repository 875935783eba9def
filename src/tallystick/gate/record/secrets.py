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
    "eyJ", "sk-", "sk_", "rk-", "rk_", "pk_live", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
    "AKIA", "ASIA", "AIza", "xox", "-----BEGIN", "ya29.", "npm_", "pypi-", "earer ", "hf_", "SG.",
)  # fmt: skip
"""A cheap first look: text with none of these holds no token that `TOKEN` knows."""
_SHORTEST_TOKEN = 15

TOKEN = re.compile(
    r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*"  # JWS
    r"|\b(?:sk|rk)[-_][A-Za-z0-9_-]{16,}|\bpk_live_[A-Za-z0-9]{16,}"  # model and payment providers
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|\bAIza[A-Za-z0-9_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bya29\.[A-Za-z0-9_-]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,10000}"
    r"|\b[Bb]earer [A-Za-z0-9._~+/-]{16,}=*"
)


class Redactor:
    """Replaces secrets in arguments by keyed digests."""

    def __init__(self, *, key: bytes, names: Iterable[str]) -> None:
        self._key = key
        self._names = frozenset(name.lower() for name in names)

    def redact(self, args: Mapping[str, Any], secret_names: frozenset[str] = frozenset()) -> tuple[Any, bool]:
        """Give the arguments with secrets replaced, and whether there were any.

        Args:
            args: The arguments.
            secret_names: Names this tool marks secret.
        """
        names = self._names if not secret_names else self._names | {name.lower() for name in secret_names}
        if not _worth_walking(args, names):
            return args, False
        clean = self._walk(args, names)
        return clean, clean != args

    def _walk(self, value: Any, names: frozenset[str]) -> Any:
        if isinstance(value, Mapping):
            return {
                key: self._digest(item) if str(key).lower() in names and item is not None else self._walk(item, names)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            return [self._walk(item, names) for item in value]
        if isinstance(value, str) and _may_hold_token(value) and TOKEN.search(value):
            return self._digest(value)
        return value

    def _digest(self, value: Any) -> dict[str, str]:
        return {MARK: "hmac-sha256:" + hmac.digest(self._key, orjson.dumps(value), "sha256").hex()}


def _worth_walking(args: Mapping[str, Any], names: frozenset[str]) -> bool:
    """Whether there can be a secret at all: nearly every call is flat, and this look is all it costs."""
    for key, value in args.items():
        kind = type(value)
        if key.lower() in names or (kind is str and _may_hold_token(value)) or kind in {dict, list, tuple}:
            return True
    return False


def _may_hold_token(text: str) -> bool:
    return len(text) >= _SHORTEST_TOKEN and any(start in text for start in _TOKEN_STARTS)


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
