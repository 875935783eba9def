"""Map tool ids to names that model APIs accept: most allow only letters, digits, `_` and `-`, at most 64 characters.

A dot becomes two underscores. If the result is ambiguous or too long, it ends in a digest of the id. The mapping is
built from all ids at once, so each shown name maps back to exactly one tool.
"""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256

LONGEST = 64
"""Maximum characters of a tool name in the strictest common API."""
_DIGEST = 8


class ApiNames:
    """Bidirectional mapping between ids and shown names for one set of tools."""

    def __init__(self, ids: Iterable[str]) -> None:
        known = tuple(ids)
        plain = {tool_id: _plain(tool_id) for tool_id in known}
        claims: dict[str, int] = {}
        for tool_id, name in plain.items():
            claims[name] = claims.get(name, 0) + 1
            # An id that needs no change keeps its name; other ids that would map to it get a digest.
            if name != tool_id and name in plain:
                claims[name] += 1
        self._shown = {
            tool_id: name if name == tool_id or (claims[name] == 1 and len(name) <= LONGEST) else _cut(tool_id)
            for tool_id, name in plain.items()
        }
        self._meant = {shown: tool_id for tool_id, shown in self._shown.items()}

    def shown(self, tool_id: str) -> str:
        """Return the name shown to the client."""
        return self._shown.get(tool_id, tool_id)

    def meant(self, name: str) -> str:
        """Return the id of a shown name; an unknown name is returned unchanged, so that the gate refuses it."""
        return self._meant.get(name, name) if name not in self._shown else name


@lru_cache(maxsize=64)
def api_names(ids: tuple[str, ...]) -> ApiNames:
    """Return the mapping for a set of tools; cached, because every turn uses the same set."""
    return ApiNames(ids)


def _plain(tool_id: str) -> str:
    name = tool_id.replace(".", "__")
    return name if len(name) <= LONGEST else _cut(tool_id)


def _cut(tool_id: str) -> str:
    digest = sha256(tool_id.encode()).hexdigest()[:_DIGEST]
    return f"{tool_id.replace('.', '__')[: LONGEST - _DIGEST - 1]}_{digest}"
