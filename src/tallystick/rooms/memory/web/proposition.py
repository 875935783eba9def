"""One proposition: its status and why, evidence for and against it as list and graph, its history, what-if."""

from collections.abc import Collection, Mapping
from math import cos, pi, sin
from typing import Any

from nicegui import events, run, ui

from tallystick.doors.web.kit import SOFT, PageContext, heading, network, section, short, text
from tallystick.rooms.memory.room import Memory
from tallystick.rooms.memory.web.proposition_list import COLOURS, says, state_badge

MOST = 40
"""Observations that can still be told apart."""
INNER, OUTER = 130.0, 250.0
STANCES = {"support": "#1d8a4e", "contradiction": "#c4463c"}


def evidence_graph(found: Mapping[str, Any], status: str | None, silent: Collection[str]) -> None:
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
    # Nothing is drawn straight below the centre, where its label is.
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
    name: str,
    label: str,
    size: int,
    colour: str,
    place: tuple[float, float],
    *,
    pale: bool = False,
    square: bool = False,
) -> dict[str, Any]:
    return {
        "id": name,
        "name": short(label, 60),
        "symbolSize": size,
        "x": place[0],
        "y": place[1],
        "symbol": "roundRect" if square else "circle",
        "itemStyle": {"color": colour, "opacity": 0.2 if pale else 1},
    }


def _link(source: str, target: str, colour: str, *, pale: bool = False) -> dict[str, Any]:
    return {
        "source": source,
        "target": target,
        "lineStyle": {"color": colour, "opacity": 0.15 if pale else 0.7, "width": 2},
    }


def _at(angle: float, far: float) -> tuple[float, float]:
    return round(cos(angle) * far * 1.35, 1), round(sin(angle) * far, 1)


SHOWN = 50
"""Pieces of evidence that are listed."""
FIGURES = (("belief", "believed"), ("disbelief", "disbelieved"), ("conflict", "in conflict"), ("freshness", "fresh"))


class PropositionPage:
    """One proposition, in one window."""

    def __init__(self, context: PageContext, room: Memory, found: Mapping[str, Any]) -> None:
        self._context = context
        self._room = room
        self._now = self._found = found
        self._id = str(found["proposition"]["id"])
        self._silent: set[str] = set()
        """Sources that are left out, to see what if."""
        self._asked = 0

    def show(self) -> None:
        """Build it."""
        one = self._now["proposition"]
        heading(says(one), f"{one['class']}, {one['volatility']} volatility, {one['id']}")
        self._standing = ui.column().classes("w-full").props('role="status"')
        self._timeline()
        with ui.element("div").classes("tally-two"):
            with ui.column().classes("gap-2 tally-grow"):
                section("What it rests on")
                self._graph = ui.column().classes("w-full gap-1")
                self._sources()
            with ui.column().classes("gap-2 tally-grow"):
                self._evidence = ui.column().classes("w-full gap-2")
        self._history()
        self._draw(self._found["standing"])

    # -- as it stands --------------------------------------------------------------------------------------------------

    def _draw(self, standing: Mapping[str, Any] | None, note: str = "") -> None:
        self._standing.clear()
        with self._standing, ui.column().classes("tally-card gap-1"):
            with ui.row().classes("tally-row"):
                state_badge("unsupported" if standing is None else str(standing["status"]))
                words = "Nothing would speak for it." if standing is None else str(standing["words"])
                ui.label(words).classes("tally-text text-weight-medium")
            if note:
                ui.label(note).classes("tally-warn tally-text")
            if standing is not None:
                figures = standing["figures"]
                shares = ", ".join(f"{figures[name] / 100:.0f} % {said}" for name, said in FIGURES)
                ui.label(f"{shares}; rule {standing['rule']}").classes("tally-soft")
        self._graph.clear()
        with self._graph:
            evidence_graph(self._found, None if standing is None else str(standing["status"]), self._silent)
        self._evidence.clear()
        with self._evidence:
            self._edges()

    def _edges(self) -> None:
        for stance, title in (("support", "For it"), ("contradiction", "Against it")):
            edges = [edge for edge in self._found["edges"] if edge["stance"] == stance]
            section(f"{title} {len(edges):,}")
            if not edges:
                ui.label("Nothing.").classes("tally-soft")
            for edge in edges[:SHOWN]:
                _edge(edge, left_out=_source(edge) in self._silent)
        for rival in self._found["rivals"]:
            ui.link(f"Says otherwise: {says(rival)}", f"/memory/{rival['id']}")
        if self._found["superseded_by"]:
            ui.link("What took its place", f"/memory/{self._found['superseded_by']}")

    # -- what if -------------------------------------------------------------------------------------------------------

    def _sources(self) -> None:
        names = sorted({_source(edge) for edge in self._now["edges"]} - {""})
        text("h3", "What if a source had never spoken?").classes("tally-third")
        with ui.column().classes("gap-0").props('role="group" aria-label="Sources"'):
            for name in names[:SHOWN]:
                ui.switch(name, value=True, on_change=lambda event, who=name: self._silence(who, event))
        if not names:
            ui.label("There are no sources left.").classes("tally-soft")

    async def _silence(self, who: str, event: events.ValueChangeEventArguments[Any]) -> None:
        (self._silent.discard if event.value else self._silent.add)(who)
        if not self._silent:
            self._slider.enable()
            self._draw(self._found["standing"])
            return
        # Both at once would be two questions in one answer.
        self._slider.value = self._last
        self._slider.disable()
        first, *others = sorted(self._silent)
        self._asked += 1
        mine = self._asked
        then = await run.io_bound(lambda: self._room.queries.what_if(self._id, without=first, also=others))
        if then is None or mine != self._asked:
            return
        was = str(then["with"]["status"])
        became = "nothing would speak for it" if then["then"] is None else str(then["then"]["status"])
        note = f"Without {', '.join(sorted(self._silent))}: {was} → {became}. Nothing is changed by this."
        self._draw(then["then"], note)

    # -- as it stood ---------------------------------------------------------------------------------------------------

    def _timeline(self) -> None:
        first, self._last = int(self._now["proposition"]["seq"]), max(0, self._context.gate.ledger.size() - 1)
        with ui.column().classes("w-full gap-0"):
            with ui.row().classes("tally-row"):
                self._when = ui.label("As it stands now").classes("tally-soft").props('role="status"')
                self._back = ui.button("Back to now", on_click=lambda: self._go(self._last)).props("flat dense")
                self._back.set_visibility(False)
            with ui.element("div").classes("tally-slider"):
                self._slider = ui.slider(min=first, max=max(first + 1, self._last), step=1, value=self._last)
            self._slider.props('aria-label="As it stood at this place of the log" label')
            self._slider.on("change", lambda: self._as_of(int(self._slider.value or 0)))

    async def _as_of(self, seq: int) -> None:
        self._asked += 1
        mine = self._asked
        now = seq >= self._last
        found = await run.io_bound(lambda: self._room.queries.explain(self._id, as_of_seq=None if now else seq))
        if mine != self._asked:
            return
        if found is None:
            self._when.text = f"At record {seq:,} it was not there yet."
            return
        self._found = found
        self._back.set_visibility(not now)
        self._when.text = (
            "As it stands now" if now else f"As it stood at record {seq:,}, {found['standing']['at'][:16]}"
        )
        self._draw(found["standing"])

    def _history(self) -> None:
        section("How it came to this")
        for change in self._now["history"]:
            with ui.row().classes("tally-row tally-line"):
                ui.label(str(change["at"])[:16].replace("T", " ")).classes("tally-mono tally-soft")
                state_badge(str(change["after"]))
                ui.label(str(change["words"])).classes("tally-text col-grow")
                button = ui.button("Then", on_click=lambda seq=int(change["seq"]): self._go(seq)).props("flat dense")
                button.props["aria-label"] = f"As it stood at record {change['seq']}"

    async def _go(self, seq: int) -> None:
        if not self._silent:
            self._slider.value = seq
            await self._as_of(seq)


def _edge(edge: Mapping[str, Any], *, left_out: bool) -> None:
    seen = edge["observation"] or {}
    with ui.column().classes("tally-quote gap-0" + (" tally-left-out" if left_out else "")):
        ui.label(str(edge["quote"] or seen.get("text", "(erased)"))).classes("tally-text")
        with ui.row().classes("tally-row"):
            weighed = str(seen.get("weighed_as", "")).replace("_", " ")
            if not edge["backed"]:
                weighed = "model inference: only an agent says that it bears on this"
            ui.label(f"{_source(edge) or '?'}, {weighed}, {str(seen.get('observed_at', ''))[:10]}").classes(
                "tally-soft"
            )
            ui.link("receipt", f"/receipts/{edge['receipt_id']}").classes("tally-chip")


def _source(edge: Mapping[str, Any]) -> str:
    return str((edge["source"] or {}).get("id", ""))
