"""Verifies the stored policies and tool definitions that records name by digest."""

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any


def definition_faults(
    stored: Callable[[str, str], bytes | None], policies: Iterable[Any], tools: Iterable[Any]
) -> Iterator[tuple[str, str]]:
    """Yield code and reason for every definition that is missing or was changed.

    Args:
        stored: Returns a stored definition by kind (`policies`, `tools`) and digest.
        policies: The digests of policies that records name.
        tools: The versions of tools that records name, each the digest of a definition.
    """
    for kind, named, what in (("policies", policies, "policy"), ("tools", tools, "tool")):
        # A signed digest is always of this form; anything else is no file's name.
        for digest in sorted(digest for digest in named if isinstance(digest, str) and digest.isalnum()):
            data = stored(kind, digest)
            if data is None:
                yield f"{what}_missing", f"the stored definition of {what} {digest}, which records name, is gone"
            elif sha256(data).hexdigest() != digest:
                yield f"{what}_differs", f"the stored definition of {what} {digest}, which records name, was changed"
