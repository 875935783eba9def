"""Tool ids as clients may say them: most model APIs allow letters, digits, `_` and `-`, and 64 of them.

A dot is shown as two underscores. Where that would name two tools, or be too long, the end is a digest of the id. The
table is made from all ids at once, so a shown name leads back to exactly one tool.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

LONGEST = 64
"""What the strictest common API takes."""
_DIGEST = 8


class ShownNames:
    """Both directions between ids and shown names, for one set of tools."""

    def __init__(self, ids: Iterable[str]) -> None:
        known = tuple(ids)
        plain = {tool_id: _plain(tool_id) for tool_id in known}
        claims: dict[str, int] = {}
        for tool_id, name in plain.items():
            claims[name] = claims.get(name, 0) + 1
            # An id that needs no change keeps its name, whoever else would like to have it.
            if name != tool_id and name in plain:
                claims[name] += 1
        self._shown = {
            tool_id: name if name == tool_id or (claims[name] == 1 and len(name) <= LONGEST) else _cut(tool_id)
            for tool_id, name in plain.items()
        }
        self._meant = {shown: tool_id for tool_id, shown in self._shown.items()}

    def shown(self, tool_id: str) -> str:
        """The name a client is given."""
        return self._shown.get(tool_id, tool_id)

    def meant(self, name: str) -> str:
        """The id that a name means; a name that nobody was given stays what it is, for the gate to refuse."""
        return self._meant.get(name, name) if name not in self._shown else name


@lru_cache(maxsize=64)
def shown_names(ids: tuple[str, ...]) -> ShownNames:
    """The names of a set of tools; remembered, since the same set comes again with every turn."""
    return ShownNames(ids)


def _plain(tool_id: str) -> str:
    name = tool_id.replace(".", "__")
    return name if len(name) <= LONGEST else _cut(tool_id)


def _cut(tool_id: str) -> str:
    digest = sha256(tool_id.encode()).hexdigest()[:_DIGEST]
    return f"{tool_id.replace('.', '__')[: LONGEST - _DIGEST - 1]}_{digest}"
