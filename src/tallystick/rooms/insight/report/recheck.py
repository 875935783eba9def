"""Recheck: compute every number of a report again from the current tickets.

1. The appendix is read, out of Markdown or HTML; the dataset is still the one that the report is of.
2. Each figure's query is computed again and held against what the report says, wherever it says it.
3. Each quote stands in its ticket, and in the text as it was taken.
4. The text is as it was made. What was changed in it by hand is told place by place, as far as it is known what stood
   there.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from html import unescape
from typing import TYPE_CHECKING, Any

from tallystick.records import record
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.report.appendix import FENCE, HEADING, digest, read_lines
from tallystick.rooms.insight.report.marks import ComputedNumber, Mark, marks_in, quotes_in, with_numbers, with_quotes

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

_PLACES = {"text": "in the text", "markup": "in the page's markup", "figures": "in the list of figures"}


@record
class Difference:
    """One difference between a report and the tickets."""

    note_id: str
    """`f12`, `q3`; `report` where it concerns the whole."""
    label: str
    kind: str
    """`figure` and `quote`: the tickets say otherwise. `text`: the report was changed after it was made.

    `dataset`: its tickets are not here. `unreadable`: it is no report of ours.
    """
    said: str
    now: str | None
    """The recomputed value; None if it cannot be computed any more."""
    place: str = ""
    """Of a change by hand: `text`, `figures` (their list), `markup` (what a page's markup says of a number)."""
    query: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "id": self.note_id,
            "label": self.label,
            "kind": self.kind,
            "said": self.said,
            "now": self.now,
            "place": self.place,
            "query": self.query,
        }

    def sentence(self) -> str:
        """What is wrong and what would be right, on one line."""
        if self.note_id == "report":
            return self._of_the_whole()
        return f"{self.note_id}  {self.label}: {self._of_one()}"

    def _of_one(self) -> str:
        if self.kind == "text":
            right = "and no figure stands behind it" if self.now is None else f"right is {self.now}"
            return f"changed by hand {_PLACES.get(self.place, '')}: it says {self.said}, {right}"
        if self.kind == "quote":
            now = "and that ticket is not there any more" if self.now is None else f"the ticket says {self.now}"
            return f"the report quotes {self.said}, {now}"
        now = "and it cannot be computed from the tickets any more" if self.now is None else f"now it is {self.now}"
        return f"the report says {self.said}, {now}  {self.query}".rstrip()

    def _of_the_whole(self) -> str:
        if self.kind != "dataset":
            return self.said
        here = "which is not in this workspace" if self.now is None else f"and here that is {self.now}"
        return f"The report is of {self.said}, {here}. Recheck it in the workspace in which it was made."


_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_DIGITS = 8
_PRE = '<pre id="tally-figures">'


@record
class CheckedFigure:
    """A figure of the appendix, computed again."""

    each: dict[str, Any]
    """As the appendix has it."""
    right: ComputedNumber | None
    """None: it cannot be computed any more."""
    listed: bool
    """Whether the appendix has the right value."""

    @property
    def shown(self) -> str:
        """As the appendix says that it is shown."""
        return str(self.each.get("shown", ""))


@record
class Recheck:
    """The result."""

    checked: int
    """Figures and quotes that were computed or looked up again."""
    differences: tuple[Difference, ...]

    @property
    def ok(self) -> bool:
        """Whether everything is as the report says."""
        return not self.differences

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {"ok": self.ok, "checked": self.checked, "differences": [one.as_dict() for one in self.differences]}


def recheck(report: str, store: "Store") -> Recheck:
    """Hold a report against the tickets."""
    body, appendix = _parted(report.replace("\r\n", "\n"))
    if appendix is None:
        return Recheck(checked=0, differences=(_whole("unreadable", "The report has no appendix that can be read."),))
    dataset = store.dataset(appendix["dataset_id"])
    if dataset is None or dataset.file_hash != appendix.get("file_hash"):
        said = f"dataset {appendix['dataset_id']} of file {str(appendix.get('file_hash'))[:12]}"
        now = None if dataset is None else f"file {dataset.file_hash[:12]}"
        return Recheck(checked=0, differences=(_whole("dataset", said, now),))
    marks, book = marks_in(body), Figures(store)
    figures = {str(each.get("id")): _computed(each, marks, book) for each in appendix["figures"]}
    differences = [*_numbers(body, appendix, figures, marks), *_quotes(appendix, store)]
    return Recheck(checked=len(appendix["figures"]) + len(appendix["quotes"]), differences=tuple(differences))


def _parted(report: str) -> tuple[str, dict[str, Any] | None]:
    """The text and the appendix."""
    if _PRE in report:
        page, _, rest = report.partition(_PRE)
        body = page.partition("<main>")[2].partition("</main>")[0]
        return body, read_lines(unescape(rest.partition("</pre>")[0]).strip().splitlines())
    body, found, rest = report.rpartition(f"\n## {HEADING}\n")
    listed = rest.partition(f"{FENCE}json")[2].partition(f"\n{FENCE}")[0]
    return body, read_lines(listed.strip().splitlines()) if found and listed else None


# -- numbers ---------------------------------------------------------------------------------------------------------
def _computed(each: dict[str, Any], marks: list[Mark], book: Figures) -> CheckedFigure:
    now, said = book.value(str(each.get("query", ""))), _decimal(str(each.get("value", "")))
    if now is None:
        return CheckedFigure(each=each, right=None, listed=False)
    rounded = now if said is None else now.quantize(Decimal(1).scaleb(min(0, int(said.as_tuple().exponent))))
    listed, value = str(each.get("shown", "")), str(rounded)
    written = [listed, *(mark.shown for mark in marks if mark.note_id == each.get("id"))]
    shown = next((text for text in written if _reads_as(text, value)), None) or _like(listed, rounded)
    return CheckedFigure(each=each, right=ComputedNumber(shown=shown, value=value), listed=rounded == said)


def _numbers(
    body: str, appendix: dict[str, Any], figures: dict[str, CheckedFigure], marks: list[Mark]
) -> Iterator[Difference]:
    """What is not as it should be: other tickets, or another hand."""
    made = appendix.get("text_sha256")
    right = {note: one.right for note, one in figures.items() if one.right is not None}
    quotes = [str(each.get("words", "")) for each in appendix["quotes"]]
    requoted = list(_requoted(body, appendix))
    before = with_quotes(body, quotes) if requoted else body
    # The tickets are as they were if the text was made with the numbers that they give now, or if their checksum is.
    restored = digest(with_numbers(before, right)) == made
    same = any(one.listed and str(one.each.get("query", "")).startswith("checksum?") for one in figures.values())
    by_hand = digest(body) != made and (restored or same)
    found = [
        *_misprints(figures, marks, by_hand=by_hand),
        *(each for one in figures.values() for each in _listed(one, marks, by_hand=by_hand)),
        *requoted,
    ]
    yield from found
    then = {note: _then(one) for note, one in figures.items()}
    if digest(body) != made and not (found and (restored or digest(with_numbers(before, then)) == made)):
        more = "Other words of the text" if found else "Words of the text"
        yield _whole("text", f"{more} were changed after the report was made; what they were is not kept.")


def _then(one: CheckedFigure) -> ComputedNumber:
    """What the text said: where the tickets are others now, what the appendix says."""
    return (
        one.right if one.listed and one.right else ComputedNumber(shown=one.shown, value=str(one.each.get("value", "")))
    )


def _misprints(figures: dict[str, CheckedFigure], marks: list[Mark], *, by_hand: bool) -> Iterator[Difference]:
    """Numbers in the text that are not right, each once.

    Where the appendix is wrong too and says the same, the tickets have changed; unless they have not.
    """
    told: set[tuple[str, str]] = set()
    for mark in marks:
        one = figures.get(mark.note_id)
        if one is None:
            label = "A number without a query"
            yield Difference(note_id=mark.note_id, label=label, kind="text", place="text", said=mark.shown, now=None)
            continue
        then, right = _then(one), one.right or _then(one)
        place, said, now = "text", mark.shown, right.shown
        if said in {now, *(() if by_hand else (then.shown,))}:
            place, said, now = "markup", mark.value or right.value, right.value
            if said in {now, *(() if by_hand else (then.value,))}:
                continue
        if (mark.note_id, said) not in told:
            told.add((mark.note_id, said))
            yield _number(one, "text", place, said, now)


def _listed(one: CheckedFigure, marks: list[Mark], *, by_hand: bool) -> Iterator[Difference]:
    """What the appendix says of a figure and the tickets do not."""
    if one.right is None:
        yield _number(one, "figure", "", one.shown, None)
    elif one.listed:
        if one.shown != one.right.shown:
            yield _number(one, "text", "figures", one.shown, one.right.shown)
    else:
        says_right = any(mark.note_id == one.each.get("id") and mark.shown == one.right.shown for mark in marks)
        changed = by_hand or says_right
        said = str(one.each.get("value", "")) if one.shown == one.right.shown else one.shown
        now = one.right.value if one.shown == one.right.shown else one.right.shown
        yield _number(one, "text" if changed else "figure", "figures" if changed else "", said, now)


def _number(one: CheckedFigure, kind: str, place: str, said: str, now: str | None) -> Difference:
    return Difference(
        note_id=str(one.each.get("id")),
        label=str(one.each.get("label", "")),
        kind=kind,
        place=place,
        said=said,
        now=now,
        query=str(one.each.get("query", "")),
    )


# -- quotes ----------------------------------------------------------------------------------------------------------
def _requoted(body: str, appendix: dict[str, Any]) -> Iterator[Difference]:
    """Quotes that differ from the tickets; none where quotes cannot be matched to the appendix."""
    found = quotes_in(body)
    if len(found) != len(appendix["quotes"]):
        return
    for (_, said), each in zip(found, appendix["quotes"], strict=True):
        words = str(each.get("words", ""))
        if said != words:
            label = f"Words of ticket {each['ticket_id']}"
            yield Difference(note_id=str(each.get("id")), label=label, kind="text", place="text", said=said, now=words)


def _quotes(appendix: dict[str, Any], store: "Store") -> Iterator[Difference]:
    for each in appendix["quotes"]:
        ticket = store.ticket(each["ticket_id"])
        text = None if ticket is None else " ".join(ticket.said.text.split())
        words = str(each.get("words", ""))
        if text is None or words not in text:
            label = f"Words of ticket {each['ticket_id']}"
            now = None if text is None else text[: len(words)]
            yield Difference(note_id=str(each.get("id")), label=label, kind="quote", said=words, now=now)


# -- reading numbers -------------------------------------------------------------------------------------------------
def _reads_as(shown: str, value: str) -> bool:
    """Whether what is shown is the value: `1,204` is 1204, `2024-03-01` is 20240301, `< 0.0001` is 0.0000."""
    plain = shown.replace(",", "")
    said = _decimal(value)
    if said is None:
        return False
    if plain.startswith("<"):
        return said == 0
    if _DAY.fullmatch(plain):
        return Decimal(plain.replace("-", "")) == said
    number = _NUMBER.search(plain)
    return number is not None and Decimal(number[0]) == said


def _decimal(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _like(shown: str, value: Decimal) -> str:
    """A value, written as another is: with its unit, as a date, as a p-value."""
    if _DAY.fullmatch(shown) and 0 < value < 10**_DATE_DIGITS:
        text = f"{int(value):0{_DATE_DIGITS}}"
        return f"{text[:4]}-{text[4:6]}-{text[6:]}"
    plain = shown.replace("<", "=", 1)
    return _NUMBER.sub(lambda _: f"{value:,}", plain, count=1) if _NUMBER.search(plain) else f"{value:,}"


def _whole(kind: str, said: str, now: str | None = None) -> Difference:
    return Difference(note_id="report", label="The report", kind=kind, said=said, now=now)
