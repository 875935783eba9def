"""A proposition, the observations around it and their sources, as a picture."""

from collections.abc import Collection, Mapping
from math import cos, pi, sin
from typing import Any

from tallystick.doors.web.kit import SOFT, network, short
from tallystick.rooms.memory.web.proposition_list import says
from tallystick.rooms.memory.web.states import COLOURS

MOST = 40
"""Observations that can still be told apart."""
INNER, OUTER = 130.0, 250.0
STANCES = {"support": "#1d8a4e", "contradiction": "#c4463c"}


def neighbourhood(found: Mapping[str, Any], status: str | None, silent: Collection[str]) -> None:
    """Draw it.

    Args:
        found: What `explain` gives.
        status: The state in whose colour the middle is; None: nothing speaks for it.
        silent: Sources that are left out: they and their words are shown pale.
    """
    nodes = [_node("p", says(found["proposition"]), 46, COLOURS.get(status or "", SOFT), (0.0, 0.0))]
    links: list[dict[str, Any]] = []
    edges = sorted(found["edges"][:MOST], key=lambda edge: (_source(edge), edge["seq"]))
    places: dict[str, list[float]] = {}
    # Nothing lies straight below the middle: its own words stand there.
    turned = 0.5 if len(edges) % 2 == 0 else 0.0
    for number, edge in enumerate(edges):
        angle = 2 * pi * (number + turned) / len(edges) - pi / 2
        pale = _source(edge) in silent
        words = str(edge["quote"] or (edge["observation"] or {}).get("text", "(erased)"))
        node = _node(f"o{number}", short(words, 60), 16, STANCES[edge["stance"]], _at(angle, INNER), pale=pale)
        node["label"] = {"show": False}
        nodes.append(node)
        links.append(_link(f"o{number}", "p", STANCES[edge["stance"]], pale=pale))
        places.setdefault(_source(edge), []).append(angle)
        links.append(_link(f"s:{_source(edge)}", f"o{number}", SOFT, pale=pale))
    for source, angles in places.items():
        middle = sum(angles) / len(angles)
        nodes.append(
            _node(f"s:{source}", source or "?", 24, SOFT, _at(middle, OUTER), pale=source in silent, square=True)
        )
    for number, rival in enumerate(found["rivals"][:5]):
        place = (-OUTER + 60.0 * number, OUTER + 60)
        nodes.append(_node(f"r{number}", says(rival), 26, COLOURS["contested"], place))
        links.append(_link(f"r{number}", "p", COLOURS["contested"]))
    title = f"{len(edges)} observations of {len(places)} sources around: {says(found['proposition'])}"
    network(title, nodes, links).classes("tally-network tally-card")


def _node(
    name: str, label: str, size: int, colour: str, place: tuple[float, float], *, pale: bool = False,
    square: bool = False,
) -> dict[str, Any]:  # fmt: skip
    return {
        "id": name, "name": short(label, 60), "symbolSize": size, "x": place[0], "y": place[1],
        "symbol": "roundRect" if square else "circle",
        "itemStyle": {"color": colour, "opacity": 0.2 if pale else 1},
    }  # fmt: skip


def _link(source: str, target: str, colour: str, *, pale: bool = False) -> dict[str, Any]:
    return {
        "source": source,
        "target": target,
        "lineStyle": {"color": colour, "opacity": 0.15 if pale else 0.7, "width": 2},
    }


def _at(angle: float, far: float) -> tuple[float, float]:
    return round(cos(angle) * far * 1.35, 1), round(sin(angle) * far, 1)


def _source(edge: Mapping[str, Any]) -> str:
    return str((edge["source"] or {}).get("id", ""))
