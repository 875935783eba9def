"""Every number of a report, computed again from the tickets as they are now.

1. The appendix is read, out of Markdown or HTML; the dataset is still the one that the report is of.
2. Each figure's query is computed again and held against what the report says.
3. Each number in the text is the one that its figure has.
4. Each quote stands in its ticket.
5. The text is as it was made.
"""

import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from html import unescape
from typing import TYPE_CHECKING, Any

from tallystick.records import record
from tallystick.rooms.insight.figures.book import Figures
from tallystick.rooms.insight.reports.appendix import FENCE, HEADING, digest, read_lines

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

MAX_BYTES = 50_000_000
_MARK_MD = re.compile(r'\[([^\[\]\n]{1,80})\]\(#figures "(f\d{1,6})"\)')
_MARK_HTML = re.compile(r'data-f="(f\d{1,6})"[^<>]{0,200}>([^<>]{1,80})<')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_PRE = '<pre id="tally-figures">'


@record
class Difference:
    """One thing that is not as the report says."""

    note_id: str
    """`f12`, `q3`; `report` where it concerns the whole."""
    label: str
    kind: str
    """`figure`, `quote`, `text`, `dataset` or `unreadable`."""
    said: str
    now: str | None
    """None: it cannot be computed any more."""
    query: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "id": self.note_id, "label": self.label, "kind": self.kind, "said": self.said, "now": self.now,
            "query": self.query,
        }  # fmt: skip


@record
class Recheck:
    """What came of it."""

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
    book = Figures(store)
    differences = [*_figures(appendix, book), *_marks(body, appendix), *_quotes(appendix, store)]
    if digest(body) != appendix.get("text_sha256"):
        differences.append(_whole("text", "The text was changed after the report was made."))
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


def _figures(appendix: dict[str, Any], book: Figures) -> Iterator[Difference]:
    for each in appendix["figures"]:
        now = book.value(str(each.get("query", "")))
        said = _decimal(str(each.get("value", "")))
        if now is not None and said is not None:
            rounded = now.quantize(Decimal(1).scaleb(min(0, int(said.as_tuple().exponent))))
            if rounded == said:
                continue
            yield _differs(each, str(rounded))
        else:
            yield _differs(each, None if now is None else str(now))


def _marks(body: str, appendix: dict[str, Any]) -> Iterator[Difference]:
    """Numbers in the text that are not what their figures have."""
    known = {str(each.get("id")): each for each in appendix["figures"]}
    found = [(note, shown) for shown, note in _MARK_MD.findall(body)] + _MARK_HTML.findall(body)
    for note, written in found:
        shown, each = unescape(written), known.get(note)
        if each is None:
            yield Difference(note_id=note, label="A number without a query", kind="text", said=shown, now=None)
        elif shown != each.get("shown") or not _reads_as(shown, str(each.get("value", ""))):
            yield Difference(
                note_id=note, label=str(each.get("label", "")), kind="text", said=shown,
                now=str(each.get("value", "")), query=str(each.get("query", "")),
            )  # fmt: skip


def _quotes(appendix: dict[str, Any], store: "Store") -> Iterator[Difference]:
    for each in appendix["quotes"]:
        ticket = store.ticket(each["ticket_id"])
        text = None if ticket is None else " ".join(ticket.said.text.split())
        words = str(each.get("words", ""))
        if text is None or words not in text:
            label = f"Words of ticket {each['ticket_id']}"
            now = None if text is None else text[: len(words)]
            yield Difference(note_id=str(each.get("id")), label=label, kind="quote", said=words, now=now)


def _reads_as(shown: str, value: str) -> bool:
    """Whether what is shown is the value: `1,204` is 1204, `2024-03-01` is 20240301, `< 0.0001` is 0.0000."""
    plain = shown.replace(",", "")
    said = _decimal(value)
    if said is None:
        return False
    if plain.startswith("<"):
        return said == 0
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", plain):
        return Decimal(plain.replace("-", "")) == said
    number = _NUMBER.search(plain)
    return number is not None and Decimal(number[0]) == said


def _decimal(text: str) -> Decimal | None:
    try:
        found = Decimal(text)
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _differs(each: dict[str, Any], now: str | None) -> Difference:
    return Difference(
        note_id=str(each.get("id")), label=str(each.get("label", "")), kind="figure",
        said=str(each.get("shown", "")), now=now, query=str(each.get("query", "")),
    )  # fmt: skip


def _whole(kind: str, said: str, now: str | None = None) -> Difference:
    return Difference(note_id="report", label="The report", kind=kind, said=said, now=now)
