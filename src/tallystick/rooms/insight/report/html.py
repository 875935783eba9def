"""A report as one HTML page: no scripts, no external resources, all user text escaped; charts as SVG."""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from tallystick.rooms.insight.report.appendix import HEADING, lines_of
from tallystick.rooms.insight.report.blocks import (
    Block,
    Chart,
    Line,
    NumberPiece,
    Paragraph,
    Piece,
    Quotes,
    Section,
    Table,
)

_WIDTH = 760
_ROW, _LABEL, _ROOM = 24, 230, 70
_HEIGHT, _FOOT, _TOP = 220, 58, 20
_LEFT = 40
"""Room for the slanted label of the first bar."""
_LONGEST = 34
_STYLE = """
:root{color-scheme:light dark;--ink:#1d2530;--soft:#5b6675;--line:#d8dee6;--back:#fff;--bar:#2f6f9f}
@media(prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#9aa6b5;--line:#333c48;--back:#14181e;--bar:#6fb1e0}}
body{font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--back);
max-width:60rem;margin:2rem auto;padding:0 1rem}
h1,h2,h3{line-height:1.25}h2{margin-top:2.4rem;border-top:1px solid var(--line);padding-top:1.2rem}
table{border-collapse:collapse;width:100%;font-size:.93rem}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right}
th:first-child,td:first-child{text-align:left}.wide{overflow-x:auto}
blockquote{margin:.6rem 0;padding:.2rem 1rem;border-left:3px solid var(--bar)}
cite{color:var(--soft);font-style:normal;font-size:.88rem}
svg{width:100%;height:auto}svg text{fill:var(--ink);font:12px system-ui,sans-serif}svg rect{fill:var(--bar)}
pre{overflow-x:auto;font-size:.78rem}.head{color:var(--soft)}
"""


def as_html(title: str, head: Iterable[str], sections: Iterable[Section], appendix: Mapping[str, Any]) -> str:
    """The whole page, its appendix at the end."""
    parts = [f"<h1>{escape(title)}</h1>", *(f'<p class="head">{escape(line)}</p>' for line in head)]
    for section in sections:
        parts.append(f"<h{section.level}>{escape(section.title)}</h{section.level}>")
        parts += [_block(block) for block in section.blocks]
    body = "\n".join(parts)
    listed = escape("\n".join(lines_of(appendix, body)), quote=False)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n"
        f"<h2>{HEADING}</h2>\n<p>Every number above, with the query that gives it again.</p>\n"
        f'<details><summary>Show</summary><pre id="tally-figures">\n{listed}\n</pre></details>\n</body>\n</html>\n'
    )


def _block(block: Block) -> str:
    if isinstance(block, Paragraph):
        return f"<p>{_line(block.line)}</p>"
    if isinstance(block, Table):
        return _table(block)
    if isinstance(block, Quotes):
        return "\n".join(
            f"<blockquote>{escape(said.words)} <cite>ticket {said.ticket_id}</cite></blockquote>" for said in block.said
        )
    return as_svg(block)


def _table(table: Table) -> str:
    head = "".join(f'<th scope="col">{escape(each)}</th>' for each in table.head)
    rows = "\n".join(f"<tr>{''.join(f'<td>{_line(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
    return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table></div>'


def _line(line: Line) -> str:
    return "".join(map(_piece, line))


def _piece(piece: Piece) -> str:
    if isinstance(piece, NumberPiece):
        return (
            f'<data data-f="{piece.note_id}" value="{escape(piece.figure.written)}">{escape(piece.figure.shown)}</data>'
        )
    return escape(piece, quote=False)


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
