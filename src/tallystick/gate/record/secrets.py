"""Secrets in arguments are stored as a keyed digest, never as text.

The digest commits to the value (the same secret gives the same digest under one key) without revealing it. Secrets are:
values under configured names, under names that the tool's schema marks `writeOnly` or the card lists, and anything that
looks like a token, in any place. In a text only the token is masked, so that a caller cannot hide the rest of the text
from the log by adding a token (see `masks.py`). Spellings of a name are equivalent (`api_key`, `Api-Key`, `apiKey`), as
they are when a call is validated (`gate/admit`).
"""

import hmac
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import orjson

from tallystick.gate.record.escapes import Span, Unescaped
from tallystick.gate.record.masks import MARK, MASK, RESERVED, literal, masked_text
from tallystick.gate.tool import Card

_PLAIN_STARTS = ("eyJ", "AKIA", "ASIA", "AIza", "ya29.", "earer ", "SG.")
_SEPARATED_STARTS = (
    ("-", ("sk-", "rk-", "glpat-", "xox", "-----BEGIN", "pypi-")),
    ("_", ("sk_", "rk_", "pk_live", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "npm_", "hf_")),
)
"""Cheap pre-check: text with none of these contains no token that `TOKEN` matches. In the second group, the separator
(`-` or `_`) is searched first: every token with one of these starts contains it, and most texts do not."""
_SHORTEST_TOKEN = 15

_PEM_BETWEEN = r"(?:[\s\"'+,;]|\\++[nrt]?+)"
"""Separators between two lines of a PEM key, in any quoting."""
_PEM_BODY = (
    rf"(?:{_PEM_BETWEEN}++(?=[A-Za-z0-9+/=]{{16}}|[A-Za-z0-9+/=]{{1,76}}{_PEM_BETWEEN}{{0,6}}-----END|-----END)"
    rf"|[A-Za-z0-9+/=]{{16,}}+|[A-Za-z0-9+/=]{{1,76}}+(?={_PEM_BETWEEN}{{0,6}}-----END)"
    rf"|{_PEM_BETWEEN}*+(?:Proc-Type|DEK-Info):[ ]?[A-Za-z0-9,-]{{1,80}}+)*+"
)
"""Lines of base64, never prose: text after the BEGIN line is masked only if it is a key."""

TOKEN = re.compile(
    r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}"  # JWS, JWE
    r"|\b(?:sk|rk)[-_][A-Za-z0-9_-]{16,}|\bpk_live_[A-Za-z0-9]{16,}"  # model and payment providers
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}|\bglpat-[A-Za-z0-9_-]{16,}|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b(?:[^A-Za-z0-9/+]{1,4}[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+]))?"  # id and secret key
    r"|\bAIza[A-Za-z0-9_-]{30,}|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bya29\.[A-Za-z0-9_-]{20,}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{30,}|\bhf_[A-Za-z0-9]{20,}"
    r"|\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----" + _PEM_BODY + r"(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?"
    r"|\b[Bb]earer [A-Za-z0-9._~+/-]{16,}=*"
)


LONGEST_NAME = 64
"""Longer keys are never treated as secret names, so that their folded forms do not fill the cache."""
_SEPARATORS = str.maketrans("", "", " \t\n\r_.-")
_NESTED = (dict, list, tuple, str, Mapping)
"""Types that may contain a secret; exact `str`, the most frequent type, is handled before this check."""


class Redactor:
    """Replaces secrets in arguments with keyed digests."""

    def __init__(self, *, key: bytes, names: Iterable[str]) -> None:
        self._key = key
        self._names = frozenset(map(_fold, names))
        # Cached, because each tool always passes the same set.
        self._all_names = lru_cache(maxsize=1024)(self._with)
        self._looked_for = lru_cache(maxsize=1024)(lambda names: self._all_names(names) | RESERVED)

    def redact(self, args: Mapping[str, Any], secret_names: frozenset[str] = frozenset()) -> tuple[Any, bool]:
        """Return the arguments with secrets replaced, and whether there were any.

        Args:
            args: The arguments.
            secret_names: Names that this tool marks as secret.
        """
        # Nearly every call has no secret, and costs only this check.
        names = self._looked_for(secret_names)
        if not _may_hold_secret(args, names):
            return args, False
        clean = self._walk(args, self._all_names(secret_names))
        return clean, clean != args

    def plain_names(self, names: Iterable[str], secret_names: frozenset[str]) -> frozenset[str]:
        """Return the argument names that are neither secret nor reserved."""
        known = self._looked_for(secret_names)
        return frozenset(name for name in names if not _is_name(name, known))

    def mask(self, text: str, secret_names: frozenset[str] = frozenset()) -> str:
        """Mask tokens, and the values after secret names, in text that could not be parsed as arguments.

        This is heuristic: it recognises `"password": "x"`, `password=x` and similar forms, at any level of quoting,
        with or without escaped characters.
        """
        names = _assignments(self._all_names(secret_names))
        hidden = list(_values(text, (name.span() for name in names.finditer(text))))
        if "\\" in text:
            hidden = _joined(hidden + _escaped(text, names))
        shown: list[str] = []
        position = 0
        for start, end in hidden:
            shown += (text[position:start], MASK)
            position = end
        return mask("".join(shown) + text[position:])

    def _with(self, secret_names: frozenset[str]) -> frozenset[str]:
        return self._names.union(map(_fold, secret_names))

    def _walk(self, value: Any, names: frozenset[str]) -> Any:
        if isinstance(value, str):
            spans = token_spans(value)
            return masked_text(value, spans, self._digest) if spans else value
        if isinstance(value, Mapping):
            return literal(
                {
                    key: self._digest(item) if item is not None and _is_name(key, names) else self._walk(item, names)
                    for key, item in value.items()
                }
            )
        if isinstance(value, list | tuple):
            return [self._walk(item, names) for item in value]
        return value

    def _digest(self, value: Any) -> dict[str, str]:
        return {MARK: "hmac-sha256:" + hmac.digest(self._key, orjson.dumps(value), "sha256").hex()}


def mask(text: str) -> str:
    """Mask anything that looks like a token, in text that is not arguments."""
    return TOKEN.sub(MASK, text) if _may_hold_token(text) else text


def token_spans(text: str) -> list[Span]:
    """Return the spans of tokens in a text, including those that appear only after resolving escapes."""
    spans = [token.span() for token in TOKEN.finditer(text)] if _may_hold_token(text) else []
    if "\\" in text and _may_hold_token((plain := Unescaped(text)).text):
        spans = _joined(spans + [plain.spot(token) for token in TOKEN.finditer(plain.text)])
    return spans


def redacted_keys(shown: Mapping[str, Any]) -> frozenset[str]:
    """Return the keys whose value is a digest in place of a secret."""
    return frozenset(key for key, value in shown.items() if isinstance(value, Mapping) and value.keys() == {MARK})


def secret_names(card: Card) -> frozenset[str]:
    """Return a tool's secret argument names: listed on the card, or marked `writeOnly` in its schema at any depth."""
    root = card.input_schema
    found = set(card.secrets)
    stack: list[Any] = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Mapping):
            properties = node.get("properties")
            if isinstance(properties, Mapping):
                found.update(name for name, sub in properties.items() if _is_secret(sub, root))
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
    return frozenset(found)


def _is_secret(schema: Any, root: Mapping[str, Any]) -> bool:
    """Return whether a schema is `writeOnly` itself, in an alternative (`SecretStr | None`), an item or a reference."""
    stack, seen = [schema], set[str]()
    while stack:
        node = stack.pop()
        if not isinstance(node, Mapping):
            continue
        if node.get("writeOnly") is True:
            return True
        for keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
            alternatives = node.get(keyword)
            stack.extend(alternatives if isinstance(alternatives, list) else ())
        stack.append(node.get("items"))
        reference = node.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/$defs/") and reference not in seen:
            seen.add(reference)
            definitions = root.get("$defs")
            name = reference.removeprefix("#/$defs/")
            stack.append(definitions.get(name) if isinstance(definitions, Mapping) else None)
    return False


def _may_hold_token(text: str) -> bool:
    if len(text) >= _SHORTEST_TOKEN:
        # Plain loops: a generator would double the cost, for every text of every call.
        for start in _PLAIN_STARTS:
            if start in text:
                return True
        for separator, starts in _SEPARATED_STARTS:
            if separator in text:
                for start in starts:
                    if start in text:
                        return True
    return False


def _may_hold_secret(value: Any, names: frozenset[str]) -> bool:
    """Return whether a mapping or some values may contain a token or a secret name."""
    if type(value) is dict or isinstance(value, Mapping):
        for key in value:
            if _is_name(key, names):
                return True
        value = value.values()
    for item in value:
        if type(item) is str:
            if len(item) >= _SHORTEST_TOKEN and (_may_hold_token(item) or "\\" in item):
                return True
        elif isinstance(item, _NESTED) and (isinstance(item, str) or _may_hold_secret(item, names)):
            return True
    return False


def _is_name(key: str, names: frozenset[str]) -> bool:
    return len(key) <= LONGEST_NAME and _fold(key) in names


@lru_cache(maxsize=4096)
def _fold(name: str) -> str:
    return name.lower().translate(_SEPARATORS)


@lru_cache(maxsize=256)
def _assignments(names: frozenset[str]) -> re.Pattern[str]:
    """Compile a pattern for a secret name and the quote, colon or equals sign before its value."""
    if not names:
        return re.compile(r"(?!)")
    # A separator may occur between any two letters of a folded name.
    spelled = ("[ _.-]?".join(map(re.escape, name)) for name in sorted(names, key=len, reverse=True))
    return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(spelled)})[\s_.-]*+\\*[\"']?\s*+[:=]\s*+", re.IGNORECASE)


def _values(text: str, names: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans of the values after some names; a name inside another name's value is skipped."""
    position = 0
    for start, end in names:
        if start >= position:
            position = _end_of_value(text, end)
            yield end, position


def _escaped(text: str, names: re.Pattern[str]) -> list[Span]:
    """Return the spans of secrets found only after resolving escapes in the name, in the token or before the token."""
    plain = Unescaped(text)
    found = (plain.spot(name) for name in names.finditer(plain.text))
    tokens = TOKEN.finditer(plain.text) if _may_hold_token(plain.text) else ()
    return [*_values(text, found), *map(plain.spot, tokens)]


def _joined(spans: list[Span]) -> list[Span]:
    """Return the spans in order, with overlapping and adjacent ones merged."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _end_of_value(text: str, start: int) -> int:
    """Return the end of the value that begins at `start`; the end of the text if a quote is never closed."""
    quote = _QUOTE.match(text, start)
    if quote is None:
        return _BARE.match(text, start).end()  # type: ignore[union-attr] # always matches, even an empty string
    mark = quote[0]
    at = text.find(mark, quote.end())
    while at > 0 and text[at - 1] == "\\":
        at = text.find(mark, at + 1)
    return len(text) if at < 0 else at + len(mark)


_QUOTE = re.compile(r"\\*[\"']|\\+u002[27]")
# An existing mask counts as a value, so that masking is idempotent.
_BARE = re.compile(rf"{re.escape(MASK)}|(?:(?:bearer|basic|token|digest)\s++)?[^\s,;&)}}\]]*+", re.IGNORECASE)
