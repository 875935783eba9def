"""Reads the stored counts for display: in total, per agent, per conference, per session."""

from typing import Any

from tallystick.gate.session import valid_session_id
from tallystick.telemetry.rejections import Rejections, complete, load


class StoredCounts:
    """The counts of a workspace, over all its processes."""

    def __init__(self, rejections: Rejections) -> None:
        self._rejections = rejections

    def totals(self) -> dict[str, Any]:
        """Return the total counts, and the numbers of sessions, agents and conferences."""
        found = self._rejections.totals()
        sessions = len(self._names())
        return {
            "totals": found["totals"],
            "sessions": sessions,
            "agents": len(found["agents"]),
            "conferences": len(found["conferences"]),
        }

    def agents(self) -> list[dict[str, Any]]:
        """Return the counts of each agent, sorted by name."""
        found: dict[str, Any] = self._rejections.totals()["agents"]
        return [{"agent_id": name, **found[name]} for name in sorted(found)]

    def conferences(self) -> list[dict[str, Any]]:
        """Return the counts of each conference, sorted by name, without its agents."""
        found: dict[str, Any] = self._rejections.totals()["conferences"]
        return [{"conference_id": name, **_without_agents(found[name])} for name in sorted(found)]

    def conference(self, conference_id: str) -> dict[str, Any] | None:
        """Return the counts of one conference with its agents; None: nothing was counted."""
        found: dict[str, Any] | None = self._rejections.totals()["conferences"].get(conference_id)
        if found is None:
            return None
        agents = found.get("agents", {})
        return {
            "conference_id": conference_id,
            **_without_agents(found),
            "agents": [{"agent_id": name, **agents[name]} for name in sorted(agents)],
        }

    def sessions(self, *, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
        """Return the counts of each session, most recently updated first, and the number of sessions."""
        self._rejections.flush()
        names = self._names()
        chosen = names[offset : offset + limit]
        return [{"session_id": name, **self._session(name)["totals"]} for name in chosen], len(names)

    def session(self, session_id: str) -> dict[str, Any] | None:
        """Return the counts of one session with its agents and conferences; None: nothing was counted."""
        self._rejections.flush()
        if not valid_session_id(session_id) or not self._path(session_id).exists():
            return None
        return {"session_id": session_id, **self._session(session_id)}

    def _session(self, session_id: str) -> dict[str, Any]:
        return complete(load(self._path(session_id)))

    def _path(self, session_id: str) -> Any:
        return self._rejections.folder / "sessions" / f"{session_id}.json"

    def _names(self) -> list[str]:
        folder = self._rejections.folder / "sessions"
        if not folder.is_dir():
            return []
        files = [each for each in folder.glob("*.json") if valid_session_id(each.stem)]
        return [each.stem for each in sorted(files, key=lambda each: (-each.stat().st_mtime_ns, each.stem))]


def _without_agents(count: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in count.items() if name != "agents"}
