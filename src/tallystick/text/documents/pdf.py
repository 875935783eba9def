"""PDF: text page by page, read in a separate process.

A PDF can be made so that reading it takes hours or all memory there is. The process that reads it has little of both,
and whatever becomes of it, ours goes on.
"""

import subprocess
import sys
from typing import Any

import orjson

from tallystick.import_limits import DEFAULT, ImportLimits
from tallystick.text.documents.model import DocumentRefused, ParsedDocument
from tallystick.text.headings import Heading

WITHIN_S = 60.0
"""A manual of a thousand pages takes some twenty seconds."""


def read_pdf(data: bytes, limits: ImportLimits = DEFAULT, *, within_s: float = WITHIN_S) -> ParsedDocument:
    """One document; each page is a section.

    Raises:
        DocumentRefused: `damaged`, `locked`, `too_slow`, `too_large`, `part_missing` or `no_text`.
    """
    try:
        # Isolated: neither the environment nor the folder we run in adds anything to what it imports.
        done = subprocess.run(  # noqa: S603 - our own module, and a number
            [sys.executable, "-I", "-m", "tallystick.text.documents.pdf_process", str(limits.document_chars)],
            input=data,
            capture_output=True,
            timeout=within_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"Reading it takes more than {within_s:g} seconds. Save it again as a simpler PDF, or as text."
        raise DocumentRefused(message, code="too_slow") from None
    try:
        found = orjson.loads(done.stdout)
    except orjson.JSONDecodeError:
        raise DocumentRefused("It cannot be read as a PDF. Save it again, or as text.", code="damaged") from None
    if found.get("code") == "too_large":
        message = f"It holds more text than one document may. Split it, or raise {limits.named('document_chars')}."
        raise DocumentRefused(message, code="too_large")
    if "code" in found:
        raise DocumentRefused(_MESSAGES[found["code"]], code=found["code"])
    return _written(found)


_MESSAGES = {
    "damaged": "It cannot be read as a PDF. Save it again, or as text.",
    "locked": "It is locked with a password. Save it without.",
    "part_missing": "PDFs need pypdf: pip install 'tallystick[desk]'.",
    "no_text": "It holds pictures of pages and no text. Run text recognition on it first.",
}


def _written(found: dict[str, Any]) -> ParsedDocument:
    lines: list[str] = []
    headings: list[Heading] = []
    for number, page in enumerate(found["pages"], start=1):
        inner = [" ".join(line.split()) for line in page.splitlines()]
        if any(inner):
            lines += [""] if lines else []
            headings.append(Heading(line=len(lines) + 1, level=1, text=f"Page {number}", takes=0))
            lines += inner
    about = found["about"]
    return ParsedDocument(text="\n".join(lines), headings=tuple(headings), title=about.get("title", ""), about=about)
