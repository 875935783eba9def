"""HTML: the visible text of a page, in lines. Nothing is fetched or executed."""

import re
from html.parser import HTMLParser

from tallystick.text.documents.model import DocumentRefused, ParsedDocument
from tallystick.text.headings import Heading

MAX_CHARS = 4_000_000
MAX_DEPTH = 2_000
"""Open elements; a page that nests deeper is no page."""
_VOID = frozenset(
    {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
)
_UNSEEN = {
    "script": "script",
    "style": "style",
    "template": "template",
    "noscript": "noscript",
    "iframe": "frame",
    "object": "embedded",
    "svg": "picture",
    "math": "formula",
    "select": "form",
    "textarea": "form",
    "button": "form",
    "nav": "navigation",
    "dialog": "hidden text",
    "head": "",
}
"""Elements without document text → the name under which they are reported; empty: not reported."""
_BLOCK_LIST = """
p div section article main header footer aside ul ol li dl dt dd table tr blockquote pre hr h1 h2 h3 h4 h5 h6
figure figcaption address details summary form fieldset body html
"""
_BLOCK = frozenset(_BLOCK_LIST.split())
_IMPLIED = frozenset({(tag, tag) for tag in ("p", "li", "dt", "dd", "tr", "td", "th")} | {("body", "head")})
_NEAR = 64
"""How far out an end may lie from what it ends; looking further at each of a million ends would take for ever."""
_HEADING = re.compile(r"h([1-6])\Z")
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*(?:0*+\.0++|0++)\s*+(?:;|\Z|!)"
    r"|font-size\s*:\s*(?:0*+\.0++|0++)\s*+(?:[a-z%]++\s*+)?(?:;|\Z|!)|text-indent\s*:\s*-\d{3}|(?:left|top)\s*:\s*-\d{3,}"
)
_TAG = re.compile(r"<[/!?]?[a-zA-Z!]")
MAX_TAGS = 200_000


def read_html(text: str) -> ParsedDocument:
    """One page.

    Raises:
        DocumentRefused: `too_large` or `too_deep`.
    """
    if len(text) > MAX_CHARS or len(_TAG.findall(text)) > MAX_TAGS:
        raise DocumentRefused("The page is larger than any document. Split it, or save its text.", code="too_large")
    page = _Page()
    # Fed whole and never closed: a comment or tag without an end then ends the page, as it does in a browser, where
    # closing would make the parser look for that end again at every sign. The last tag brings out the last words.
    page.feed(f"{text}<br>")
    page.end_line()
    lines, headings = page.lines, page.headings
    while lines and not lines[-1]:
        lines.pop()
    title = " ".join(page.title.split()) or next((heading.text for heading in headings), "")
    return ParsedDocument(
        text="\n".join(lines),
        headings=tuple(headings),
        title=title,
        about=page.about,
        left_out=tuple(sorted(page.left_out)),
    )


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self.headings: list[Heading] = []
        self.title = ""
        self.about: dict[str, str] = {}
        self.left_out: set[str] = set()
        self._open: list[str] = []
        self._unseen_from: int | None = None
        """The depth at which a hidden element began."""
        self._in_title = False
        self._line: list[str] = []
        self._level: int | None = None
        self._cells = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "meta":
            self._meta(given)
        elif tag == "title":
            self._in_title = not self.title
        if tag not in _VOID:
            self._end_implied(tag)
            if len(self._open) >= MAX_DEPTH:
                raise DocumentRefused(
                    "The page nests deeper than any document. Save it again as plain HTML.", code="too_deep"
                )
            self._open.append(tag)
        self._look(tag, given)
        if self._unseen_from is None:
            self._begin(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag == "title":
            self._in_title = False
        if tag in _BLOCK and self._unseen_from is None:
            self.end_line()
        # What was left open inside ends with it; an end without a beginning means nothing.
        if tag in self._open[-_NEAR:]:
            while self._open.pop() != tag:
                pass
            self._see_again()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data[:500]
        elif self._unseen_from is None:
            self._line.append(data)

    def handle_comment(self, data: str) -> None:
        if data.strip():
            self.left_out.add("comment")

    def end_line(self) -> None:
        """Put down what was gathered as a line; blank ones only between paragraphs."""
        text = " ".join("".join(self._line).split())
        self._line, self._cells = [], 0
        level, self._level = self._level, None
        if not any(map(str.isalnum, text)):
            if self.lines and self.lines[-1]:
                self.lines.append("")
            return
        self.lines.append(text)
        if level is not None:
            self.headings.append(Heading(line=len(self.lines), level=level, text=text))

    def _end_implied(self, tag: str) -> None:
        """HTML lets a paragraph, an item or a cell end where the next begins, and the head where the body does."""
        if self._open and (tag, self._open[-1]) in _IMPLIED:
            self._open.pop()
            self._see_again()

    def _see_again(self) -> None:
        if self._unseen_from is not None and len(self._open) < self._unseen_from:
            self._unseen_from = None

    def _look(self, tag: str, given: dict[str, str]) -> None:
        """Whether from here on nothing is seen until the element ends."""
        if self._unseen_from is not None or tag in _VOID:
            return
        why = _UNSEEN.get(tag)
        if why is None and _is_hidden(given):
            why = "hidden text"
        if why is not None:
            self._unseen_from = len(self._open)
            if why:
                self.left_out.add(why)

    def _begin(self, tag: str) -> None:
        if tag in {"td", "th"}:
            self._line.append(" | " if self._cells else "")
            self._cells += 1
        elif tag == "br":
            level = self._level
            self.end_line()
            self._level = level
        elif tag in _BLOCK:
            self.end_line()
            if found := _HEADING.match(tag):
                self._level = int(found[1])
            elif tag == "li":
                self._line.append("- ")

    def _meta(self, given: dict[str, str]) -> None:
        name = given.get("name", "").strip().lower().replace("-", "_")
        if name and len(self.about) < 100:  # noqa: PLR2004 - more than any page has
            self.about.setdefault(name[:60], given.get("content", "").strip()[:500])


def _is_hidden(given: dict[str, str]) -> bool:
    if "hidden" in given or given.get("aria-hidden", "").lower() == "true":
        return True
    return _HIDING.search(given.get("style", "").lower()) is not None
