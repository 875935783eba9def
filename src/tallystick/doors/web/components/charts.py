"""Charts. Labels come from data: they are used as values, never as keys, and are drawn on the canvas, never as HTML."""

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui

SOFT = "#75828c"
"""Legible on light and dark backgrounds."""
ACCENT = "#1f8a7e"
PALETTE = (
    "#1f8a7e",
    "#c2703d",
    "#5b7fc7",
    "#b0578d",
    "#7f9a3b",
    "#9a6bc9",
    "#c9992e",
    "#3f97b5",
    "#c4545a",
    "#6c8f6a",
    "#a67c52",
    "#5d6fa3",
)
TOOLTIP = {"renderMode": "richText", "confine": True}
"""Drawn on the canvas: an HTML tooltip would be another place for untrusted text."""
_LONGEST = 34
_LINE = {"lineStyle": {"color": SOFT, "opacity": 0.35}}


def colour(number: int) -> str:
    """Return the colour of a group; grey for no group."""
    return SOFT if number < 0 else PALETTE[number % len(PALETTE)]


def short(label: str, most: int = _LONGEST) -> str:
    """Shorten a label to the available width."""
    plain = " ".join(label.split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


def bars(title: str, pairs: Sequence[tuple[str, float]], *, upright: bool) -> ui.echart:
    """Draw a bar chart.

    Args:
        title: The title, also for screen readers.
        pairs: Names and numbers.
        upright: Vertical bars, for time series; otherwise horizontal ones, with room for names.
    """
    names = [short(name, 16 if upright else _LONGEST) for name, _ in pairs]
    kinds: dict[str, Any] = {"type": "category", "data": names, "axisLine": _LINE, "axisTick": {"show": False}}
    values: dict[str, Any] = {"type": "value", "splitLine": _LINE, "axisLabel": {"color": SOFT}}
    kinds["axisLabel"] = {"color": SOFT, "hideOverlap": True, "width": 190, "overflow": "truncate"}
    if not upright:
        kinds["inverse"] = True
        kinds["axisLabel"] |= {"interval": 0}
    series = {
        "type": "bar",
        "name": title,
        "data": [number for _, number in pairs],
        "itemStyle": {"color": ACCENT},
        "barMaxWidth": 34,
        "label": {"show": not upright, "position": "right", "color": SOFT},
    }
    chart = _chart(
        title,
        {
            "grid": {"left": 8, "right": 44, "top": 16, "bottom": 8, "containLabel": True},
            "tooltip": TOOLTIP,
            "xAxis": kinds if upright else values,
            "yAxis": values if upright else kinds,
            "series": [series],
        },
    )
    high = 240 if upright else 34 + 26 * max(2, len(pairs))
    return chart.style(f"height:{high}px")


def cluster_map(points: Sequence[Sequence[float]], names: Mapping[int, str]) -> ui.echart:
    """Draw tickets on a plane, each group in its colour.

    Args:
        points: [x, y, group, ticket].
        names: Group → its name.
    """
    groups = sorted({int(point[2]) for point in points}, key=lambda number: (number < 0, number))
    series = [
        {
            "type": "scatter",
            "name": short(names.get(number, "in no group"), 48),
            "symbolSize": 8,
            "large": False,
            "itemStyle": {"color": colour(number), "opacity": 0.75},
            "emphasis": {"focus": "series"},
            "data": [
                {"value": [point[0], point[1]], "id": f"{number}:{int(point[3])}"}
                for point in points
                if int(point[2]) == number
            ],
        }
        for number in groups
    ]
    plane = {"show": False, "min": -1.06, "max": 1.06}
    options = {
        "grid": {"left": 4, "right": 4, "top": 4, "bottom": 4},
        "xAxis": plane,
        "yAxis": plane,
        "series": series,
        "tooltip": TOOLTIP | {"formatter": "{a}"},
    }
    return _chart(f"Map of {len(groups)} groups of tickets; the list beside it says the same", options)


def network(title: str, nodes: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]]) -> ui.echart:
    """Draw a graph of nodes and links at the nodes' given positions."""
    series = {
        "type": "graph",
        "layout": "none",
        "roam": True,
        "data": list(nodes),
        "links": list(links),
        "label": {
            "show": True,
            "position": "bottom",
            "color": SOFT,
            "fontSize": 11,
            "width": 130,
            "overflow": "truncate",
        },
        "edgeSymbol": ["none", "arrow"],
        "edgeSymbolSize": 7,
        "emphasis": {"focus": "adjacency"},
    }
    return _chart(title, {"tooltip": TOOLTIP | {"formatter": "{b}"}, "series": [series]})


def _chart(title: str, options: dict[str, Any]) -> ui.echart:
    chart = ui.echart(options | {"textStyle": {"fontFamily": "inherit"}, "animation": False}).classes("w-full")
    chart.props["role"] = "img"
    chart.props["aria-label"] = title
    return chart
