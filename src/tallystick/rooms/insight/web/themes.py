"""Themes: a map of the clusters, and for each its terms, size, quotes and tickets."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nicegui import events, run, ui

from tallystick.doors.web.kit import cluster_map, colour, counted, text
from tallystick.rooms.insight.room import Insight
from tallystick.rooms.insight.web.ticket import open_ticket, ticket_lines

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import ClusterRun

PAGE = 20
"""Tickets of a group that are fetched at once."""


class Themes:
    """One grouping in one window."""

    def __init__(self, room: Insight, run_: "ClusterRun") -> None:
        self._room = room
        self._run = run_
        self._clusters: dict[int, Mapping[str, Any]] = {
            int(one["cluster_id"]): one for one in run_.figures.get("clusters", ())
        }
        self._buttons: dict[int, ui.element] = {}

    async def show(self) -> None:
        """Build it; the largest group is chosen."""
        figures = self._run.figures
        self._facts(figures)
        names = {number: str(one["label"]) for number, one in self._clusters.items()}
        with ui.element("div").classes("tally-map-grid"):
            with ui.column().classes("gap-1 tally-grow"):
                points = figures.get("map", {}).get("points", [])
                chart = cluster_map(points, names).classes("tally-map tally-card")
                chart.on_point_click(self._clicked)
                shown, every = len(points), int(figures.get("map", {}).get("of", len(points)))
                ui.label(_about(shown, every)).classes("tally-soft")
            with ui.column().classes("tally-groups gap-1").props('role="group" aria-label="Groups"'):
                for number in self._clusters:
                    self._button(number)
        self._chosen = ui.column().classes("w-full gap-2").props('role="region" aria-label="The chosen group"')
        if self._clusters:
            await self._choose(next(iter(self._clusters)))

    def _facts(self, figures: Mapping[str, Any]) -> None:
        groups = counted(figures.get("cluster_count", len(self._clusters)), "group")
        said = [f"{groups} of {counted(figures.get('tickets', 0), 'ticket')}"]
        if figures.get("stability") is not None:
            said.append(f"stability {figures['stability']:.2f}")
        if figures.get("noise_count"):
            said.append(f"{figures['noise_count']:,} in none")
        ui.label(", ".join(said)).classes("tally-soft")
        if figures.get("approximation"):
            ui.label(str(figures["approximation"])).classes("tally-soft tally-text")

    def _button(self, number: int) -> None:
        one = self._clusters[number]
        with ui.element("button").classes("tally-group").props('type="button" aria-pressed="false"') as button:
            ui.element("span").classes("tally-dot").style(f"background:{colour(number)}")
            ui.label(str(one["label"])).classes("tally-group-name")
            ui.label(f"{int(one['size']):,}").classes("tally-soft")
            ui.label(f"{100 * float(one['share']):.0f} %").classes("tally-soft tally-share")
        button.on("click", lambda: self._choose(number))
        self._buttons[number] = button

    async def _clicked(self, event: events.EChartPointClickEventArguments) -> None:
        # What the browser says it was: looked up, never trusted.
        group, _, ticket = str(event.data.get("id", "") if isinstance(event.data, Mapping) else "").partition(":")
        if group.lstrip("-").isdigit() and int(group) in self._clusters:
            await self._choose(int(group))
        elif ticket.isdigit():
            await open_ticket(self._room, int(ticket))

    async def _choose(self, number: int) -> None:
        for each, button in self._buttons.items():
            button.props["aria-pressed"] = "true" if each == number else "false"
        one = self._clusters[number]
        self._chosen.clear()
        with self._chosen, ui.column().classes("tally-card gap-2"):
            with ui.row().classes("tally-row"):
                ui.element("span").classes("tally-dot").style(f"background:{colour(number)}")
                text("h2", str(one["label"])).classes("tally-first")
            ui.label(f"{counted(int(one['size']), 'ticket')}, {100 * float(one['share']):.1f} % of all").classes(
                "tally-soft"
            )
            with ui.row().classes("tally-row"):
                for term in one.get("terms", ())[:12]:
                    ui.label(str(term)).classes("tally-badge tally-quiet")
            for quote in one.get("medoids", ()):
                with ui.column().classes("tally-quote gap-0"):
                    ui.label(str(quote["text"])).classes("tally-text")
                    ui.label(f"ticket {quote['ticket_id']}").classes("tally-soft")
            text("h3", "Its tickets").classes("tally-third")
            self._members = ui.column().classes("w-full gap-0")
            await self._more(number, 0)

    async def _more(self, number: int, offset: int) -> None:
        store, run_id = self._room.store, self._run.run_id

        def read() -> Any:
            ids = store.members(run_id, number, limit=PAGE, offset=offset)
            found = store.tickets_of(ids)
            return [found[one] for one in ids if one in found]

        tickets = await run.io_bound(read) or []
        size = int(self._clusters[number]["size"])
        with self._members:
            ticket_lines(self._room, tickets)
            if offset + len(tickets) < size and tickets:
                words = f"More ({size - offset - len(tickets):,})"
                more = ui.button(words, icon="expand_more").props("flat dense")

                async def on() -> None:
                    more.delete()
                    await self._more(number, offset + PAGE)

                more.on_click(on)


def _about(shown: int, every: int) -> str:
    words = "Near to each other: they say nearly the same. Click a dot, or a group in the list."
    return words if shown >= every else f"{words} {shown:,} of {every:,} different texts are drawn."
