"""The lines of a card: key and value, table cells, list entries and prose, each with the scenes it holds for."""

import re
from collections.abc import Iterator, Sequence

from tallystick.records import record
from tallystick.rooms.studio.book.model import CanonCard, Scene
from tallystick.rooms.studio.continuity.statements import END
from tallystick.rooms.studio.continuity.story_time import dates_in

_LONGEST_KEY = 5
"""Words of a key; a longer text before a colon is prose."""
_SCENE = r"(?:SCN-[\w-]{1,120}|scene\s+\d{1,4})"
_RANGE = re.compile(rf"(?P<from>{_SCENE})\s*(?:to|until|through|–|—|-)\s*(?P<to>{_SCENE})", re.IGNORECASE)  # noqa: RUF001
_FROM = re.compile(
    rf"(?:\bfrom\s+(?:the\s+end\s+of\s+)?(?P<a>{_SCENE})|(?P<b>{_SCENE})\s+(?:onwards?|on\b)|\b(?:since|after)\s+(?P<c>{_SCENE}))",
    re.IGNORECASE,
)
_UNTIL = re.compile(rf"\b(?:until|before|up\s+to|till)\s+(?P<a>{_SCENE})", re.IGNORECASE)
_IN = re.compile(rf"(?P<a>{_SCENE})", re.IGNORECASE)
_KEY = re.compile(
    r"\s*+(?:[-*+•]\s++|\d{1,3}[.)]\s++)?(?:\*\*|__|\*|_)?(?P<key>[^:|*]{1,60}?)(?:\*\*|__|\*|_)?\s*+:(?!//)(?:\*\*|__|\*|_)?\s*(?P<value>\S.*)\Z"
)
_MARK = re.compile(r"\A\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+|>\s*)")
_RULE = re.compile(r"[|\s:*_=-]+")
_SCOPE = re.compile(rf"\s*+(?:-\s*+)?from:\s*+(?P<scene>{_SCENE})\s*\Z", re.IGNORECASE)
_BARE_KEY = re.compile(r"\s*+(?:\*\*|__)?([\w /-]{1,60}?)(?:\*\*|__)?\s*+:(?:\*\*|__)?\s*")
_HARD = re.compile(r"\A\s*(?:hard|soft|firm|loose)\s*\Z", re.IGNORECASE)


@record
class CardLine:
    """One thing a card says."""

    card: CanonCard
    line: int
    key: str
    """In small letters; empty for prose."""
    text: str
    """The value, or the prose."""
    written: str
    """The whole line, for quoting."""
    first_scene: int
    last_scene: int
    scoped: bool
    """Whether the line itself names scenes."""
    day: int | None
    hard: bool = True


class SceneOrder:
    """Scenes by the ways cards name them."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._orders: dict[str, int] = {}
        for scene in scenes:
            for name in (scene.slug, scene.path.rpartition("/")[2].removesuffix(".md").removeprefix("SCN-")):
                self._orders[name.casefold()] = scene.order
            if scene.number is not None:
                self._orders.setdefault(str(scene.number), scene.order)
            if (found := re.match(r"\d+", scene.slug)) is not None:
                self._orders.setdefault(str(int(found[0])), scene.order)

    def order_of(self, name: str) -> int | None:
        """The place of a scene: `SCN-03`, `SCN-03-the-cellar`, `scene 3`."""
        plain = re.sub(r"\A(?:scn-|scene\s+)", "", name.casefold().strip())
        if plain in self._orders:
            return self._orders[plain]
        digits = re.match(r"\d+", plain)
        return self._orders.get(str(int(digits[0]))) if digits else None

    def range_of(self, text: str) -> tuple[int, int, bool]:
        """The first and the last scene that a text holds for, and whether it says so."""
        if (found := _RANGE.search(text)) is not None:
            return self._at(found["from"], 0), self._at(found["to"], END), True
        if (found := _FROM.search(text)) is not None:
            after = 1 if found["c"] and found[0].lower().startswith("after") else 0
            return self._at(found["a"] or found["b"] or found["c"], 0) + after, END, True
        if (found := _UNTIL.search(text)) is not None:
            return (
                0,
                self._at(found["a"], END) - (0 if found[0].lower().startswith(("until", "up", "till")) else 1),
                True,
            )
        if (found := _IN.search(text)) is not None:
            order = self.order_of(found["a"])
            return (0, END, False) if order is None else (order, order, True)
        return 0, END, False

    def _at(self, name: str, otherwise: int) -> int:
        found = self.order_of(name)
        return otherwise if found is None else found


def lines_of(card: CanonCard, order: SceneOrder, year: int | None) -> Iterator[CardLine]:
    """Yield what a card says, line by line."""
    reader = _CardReader(card, order, year)
    for number, raw in enumerate(card.source.lines, 1):
        yield from reader.read(number, raw)


class _CardReader:
    """Reads the lines of one card, and keeps the table, list or heading that they stand under."""

    def __init__(self, card: CanonCard, order: SceneOrder, year: int | None) -> None:
        self._card, self._order, self._year = card, order, year
        self._list_key = ""
        self._header: list[str] | None = None
        self._scope: tuple[int, int] | None = None
        """The scenes that a heading or a `from:` above names."""

    def read(self, number: int, raw: str) -> Iterator[CardLine]:
        """Yield what one line says."""
        stripped = raw.strip()
        if not stripped or _RULE.fullmatch(stripped) or stripped.startswith(("#", "```")):
            self._begin(stripped)
        elif stripped.startswith("|"):
            yield from self._row(number, raw, stripped)
        elif (found := _SCOPE.match(raw)) is not None and self._order.order_of(found["scene"]) is not None:
            self._scope = (self._order.order_of(found["scene"]) or 0, END)
        else:
            self._header = None
            yield from self._plain(number, raw, stripped)

    def _begin(self, stripped: str) -> None:
        """A heading, a rule or an empty line ends what stood above."""
        if stripped.startswith("#"):
            first, last, scoped = self._order.range_of(stripped)
            self._scope, self._list_key = (first, last) if scoped else None, ""
        if not stripped.startswith("|"):
            self._header = None
        if stripped.startswith("---"):
            self._scope = None

    def _row(self, number: int, raw: str, stripped: str) -> Iterator[CardLine]:
        cells = [cell.strip(" *_") for cell in stripped.strip("|").split("|")]
        if self._header is None:
            self._header = cells
            return
        key, hard = cells[0].casefold(), not any(cell.casefold() == "soft" for cell in cells[1:])
        values = [cell for cell in cells[1:] if not _HARD.match(cell)]
        if len(values) > 1 and len(self._header) > 2:  # noqa: PLR2004
            for title, value in zip(self._header[1:], values, strict=False):
                yield self._line(number, raw, f"{key} / {title.casefold()}", value, hard=hard)
        elif values:
            yield self._line(number, raw, key, " ".join(values), hard=hard)

    def _plain(self, number: int, raw: str, stripped: str) -> Iterator[CardLine]:
        keyed = _KEY.match(raw)
        if keyed is not None and len(keyed["key"].split()) <= _LONGEST_KEY and _IN.search(keyed["key"]) is None:
            dated = next(dates_in(keyed["key"], self._year), None)
            key = "" if dated else keyed["key"].strip().casefold()
            yield self._line(number, raw, key, keyed["value"].strip(" []"))
            self._list_key = ""
            return
        bare = _BARE_KEY.fullmatch(raw)
        if bare is not None or stripped.lower() in {"constraints", "terms"}:
            self._list_key = (bare[1] if bare else stripped).strip().casefold()
            return
        self._list_key = self._list_key if _MARK.match(raw) else ""
        yield self._line(number, raw, self._list_key, _MARK.sub("", raw).strip())

    def _line(self, number: int, raw: str, key: str, text: str, *, hard: bool = True) -> CardLine:
        first, last, scoped = self._order.range_of(raw)
        if not scoped and self._scope is not None:
            (first, last), scoped = self._scope, True
        dated = next(dates_in(raw, self._year), None)
        soft = str(self._card.front.get("hardness") or "").casefold() == "soft" or "(soft)" in raw
        return CardLine(
            card=self._card,
            line=number,
            key=key,
            text=text,
            written=" ".join(raw.split()),
            first_scene=first,
            last_scene=last,
            scoped=scoped,
            day=dated.day if dated else None,
            hard=hard and not soft,
        )
