"""What has been counted, read back for people: in all, per agent, per conference, per session."""

from typing import Any

from tallystick.gate.session import valid_session_id
from tallystick.telemetry.rejections import Rejections, complete, load


class Counted:
    """The counts of a workspace, of all its processes."""

    def __init__(self, rejections: Rejections) -> None:
        self._rejections = rejections

    def totals(self) -> dict[str, Any]:
        """Of everything, and how many sessions, agents and conferences it was."""
        found = self._rejections.totals()
        sessions = len(self._names())
        return {
            "totals": found["totals"], "sessions": sessions, "agents": len(found["agents"]),
            "conferences": len(found["conferences"]),
        }  # fmt: skip

    def agents(self) -> list[dict[str, Any]]:
        """Of each agent, by name."""
        found: dict[str, Any] = self._rejections.totals()["agents"]
        return [{"agent_id": name, **found[name]} for name in sorted(found)]

    def conferences(self) -> list[dict[str, Any]]:
        """Of each conference, by name, without its agents."""
        found: dict[str, Any] = self._rejections.totals()["conferences"]
        return [{"conference_id": name, **_without_agents(found[name])} for name in sorted(found)]

    def conference(self, conference_id: str) -> dict[str, Any] | None:
        """Of one conference, with its agents; None: nothing was counted there."""
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
        """Of each session, the one counted in last first, and how many there are."""
        self._rejections.flush()
        names = self._names()
        chosen = names[offset : offset + limit]
        return [{"session_id": name, **self._session(name)["totals"]} for name in chosen], len(names)

    def session(self, session_id: str) -> dict[str, Any] | None:
        """Of one session, with its agents and conferences; None: nothing was counted there."""
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
