"""Bars, drawn as SVG: the lengths are the numbers, and each number names its figure."""

from html import escape

from tallystick.rooms.insight.reports.blocks import Chart

_WIDTH = 760
_ROW, _LABEL, _ROOM = 24, 230, 70
_HEIGHT, _FOOT, _TOP = 220, 58, 20
_LEFT = 40
"""Room for the slanted label of the first bar."""
_LONGEST = 34


def as_svg(chart: Chart) -> str:
    """One chart."""
    most = max((float(noted.figure.value) for _, noted in chart.bars), default=0.0)
    drawn = _upright(chart, most) if chart.upright else _lying(chart, most)
    height = _HEIGHT + _FOOT + _TOP if chart.upright else _ROW * max(1, len(chart.bars)) + 8
    title = escape(chart.title)
    return (
        f"<p><strong>{title}</strong></p>\n"
        f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{title}">\n{drawn}\n</svg>'
    )


def _lying(chart: Chart, most: float) -> str:
    parts: list[str] = []
    for place, (label, noted) in enumerate(chart.bars):
        top = place * _ROW + 4
        long = _scaled(float(noted.figure.value), most, _WIDTH - _LABEL - _ROOM)
        title, base = escape(label), top + 13
        parts.append(
            f'<text x="{_LABEL - 8}" y="{base}" text-anchor="end">{escape(_short(label))}</text>'
            f'<rect x="{_LABEL}" y="{top}" width="{long}" height="{_ROW - 7}" rx="2"><title>{title}</title></rect>'
            f'<text x="{_LABEL + long + 6:.1f}" y="{base}" data-f="{noted.note_id}">'
            f"{escape(noted.figure.shown)}</text>"
        )
    return "\n".join(parts)


def _upright(chart: Chart, most: float) -> str:
    step = (_WIDTH - _LEFT) / max(1, len(chart.bars))
    parts: list[str] = []
    for place, (label, noted) in enumerate(chart.bars):
        high = _scaled(float(noted.figure.value), most, _HEIGHT)
        left, top = _LEFT + place * step + step * 0.12, _TOP + _HEIGHT - high
        middle = _LEFT + place * step + step / 2
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{step * 0.76:.1f}" height="{high}" rx="2">'
            f"<title>{escape(label)}</title></rect>"
            f'<text x="{middle:.1f}" y="{top - 5:.1f}" text-anchor="middle" data-f="{noted.note_id}">'
            f"{escape(noted.figure.shown)}</text>"
            f'<text x="{middle:.1f}" y="{_TOP + _HEIGHT + 14}" text-anchor="end" '
            f'transform="rotate(-35 {middle:.1f} {_TOP + _HEIGHT + 14})">{escape(_short(label))}</text>'
        )
    return "\n".join(parts)


def _scaled(value: float, most: float, room: float) -> float:
    return round(room * max(0.0, value) / most, 1) if most else 0.0


def _short(label: str) -> str:
    return label if len(label) <= _LONGEST else label[: _LONGEST - 1] + "…"
