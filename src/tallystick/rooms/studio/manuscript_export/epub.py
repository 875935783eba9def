"""The book as an e-book (EPUB 3): one document per chapter, a table of contents, nothing from outside.

Archives are reproducible: their bytes depend only on their content.
"""

import io
import zipfile
from collections.abc import Iterable, Iterator
from hashlib import sha256
from uuid import NAMESPACE_URL, uuid5
from xml.sax.saxutils import escape, quoteattr

from tallystick.rooms.studio.manuscript_export.manuscript import SECTION, ExportBlock, ExportBook, ExportChapter
from tallystick.rooms.studio.manuscript_import.inline import Span

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The earliest time in a zip file; the real time would make bytes differ."""


def zip_archive(parts: Iterable[tuple[str, bytes]], *, stored: frozenset[str] = frozenset()) -> bytes:
    """The parts in their order.

    Args:
        parts: Name and content of each.
        stored: Which are not compressed.
    """
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, data in parts:
            entry = zipfile.ZipInfo(name, date_time=EPOCH)
            entry.compress_type = zipfile.ZIP_STORED if name in stored else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            # The system that wrote it would differ otherwise.
            entry.create_system = 3
            archive.writestr(entry, data, compresslevel=9)
    return target.getvalue()


def without_timestamps(data: bytes) -> bytes:
    """The same archive without its timestamps."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return zip_archive([(name, archive.read(name)) for name in archive.namelist()])


_MIME = "application/epub+zip"
_MOMENT = "2000-01-01T00:00:00Z"
"""EPUB requires a modification time; a constant keeps the bytes equal."""
_CONTAINER = """<?xml version="1.0" encoding="UTF-8"?>
<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">
<rootfiles><rootfile full-path="OEBPS/content.opf" media-type="application/oebps-package+xml"/></rootfiles>
</container>
"""
_CSS = """body { margin: 1em; line-height: 1.4; }
p { margin: 0; text-indent: 1.2em; }
h1 + p, h2 + p, h3 + p, hr + p { text-indent: 0; }
hr { border: none; height: 2em; margin: 0; }
blockquote p { text-indent: 0; }
"""


def to_epub(book: ExportBook) -> bytes:
    """The whole file."""
    pages = [(f"chapter-{number:04d}.xhtml", chapter) for number, chapter in enumerate(book.chapters, start=1)]
    documents = [(name, _page(book, chapter).encode()) for name, chapter in pages]
    digest = sha256(b"".join(data for _, data in documents)).hexdigest()
    identifier = f"urn:uuid:{uuid5(NAMESPACE_URL, f'{book.title}/{book.author}/{digest}')}"
    parts = [
        ("mimetype", _MIME.encode()),
        ("META-INF/container.xml", _CONTAINER.encode()),
        ("OEBPS/content.opf", _package(book, [name for name, _ in pages], identifier).encode()),
        ("OEBPS/nav.xhtml", _contents(book, pages).encode()),
        ("OEBPS/style.css", _CSS.encode()),
        *((f"OEBPS/{name}", data) for name, data in documents),
    ]
    return zip_archive(parts, stored=frozenset({"mimetype"}))


def _package(book: ExportBook, names: list[str], identifier: str) -> str:
    items = "".join(
        f'<item id="c{place}" href="{name}" media-type="application/xhtml+xml"/>\n' for place, name in enumerate(names)
    )
    spine = "".join(f'<itemref idref="c{place}"/>\n' for place in range(len(names)))
    author = f"<dc:creator>{escape(book.author)}</dc:creator>\n" if book.author else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="book-id"'
        f" xml:lang={quoteattr(book.language)}>\n"
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">\n'
        f'<dc:identifier id="book-id">{identifier}</dc:identifier>\n'
        f"<dc:title>{escape(book.title or 'Untitled')}</dc:title>\n{author}"
        f"<dc:language>{escape(book.language)}</dc:language>\n"
        f'<meta property="dcterms:modified">{_MOMENT}</meta>\n</metadata>\n<manifest>\n'
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>\n'
        f'<item id="css" href="style.css" media-type="text/css"/>\n{items}</manifest>\n'
        f"<spine>\n{spine}</spine>\n</package>\n"
    )


def _contents(book: ExportBook, pages: list[tuple[str, ExportChapter]]) -> str:
    entries = "".join(
        f'<li><a href="{name}">{escape(f"{chapter.part}: " if chapter.part else "")}{escape(chapter.title)}</a></li>\n'
        for name, chapter in pages
    )
    body = f'<nav epub:type="toc" id="toc"><h1>Contents</h1>\n<ol>\n{entries}</ol>\n</nav>'
    return _document(book, "Contents", body)


def _page(book: ExportBook, chapter: ExportChapter) -> str:
    level = 2 if book.has_parts else 1
    return _document(book, chapter.title, "\n".join(_chapter(chapter, level)), "chapter")


def _chapter(chapter: ExportChapter, level: int) -> Iterator[str]:
    if chapter.part:
        yield f"<h1>{escape(chapter.part)}</h1>"
    yield f"<h{level}>{escape(chapter.title)}</h{level}>"
    for place, scene in enumerate(chapter.scenes):
        if scene.title:
            yield f"<h{level + 1}>{escape(scene.title)}</h{level + 1}>"
        elif place:
            yield "<hr/>"
        yield from (_block(block, level) for block in scene.blocks)


def _block(block: ExportBlock, level: int) -> str:
    if block.kind == "break":
        return "<hr/>"
    told = ["".join(map(_span, paragraph)) for paragraph in block.paragraphs]
    if block.kind == "quote":
        return f"<blockquote>{''.join(f'<p>{inner}</p>' for inner in told)}</blockquote>"
    inner = told[0]
    if block.kind == "heading":
        return f"<h{level + SECTION}>{inner}</h{level + SECTION}>"
    if block.kind == "item":
        opened, closed = ("<ul>", "</ul>") if block.number is None else (f'<ol start="{block.number}">', "</ol>")
        return f"{opened}<li>{inner}</li>{closed}"
    return f"<p>{inner}</p>"


def _span(span: Span) -> str:
    text = escape(span.text).replace("\n", "<br/>")
    text = f"<em>{text}</em>" if span.italic else text
    return f"<strong>{text}</strong>" if span.bold else text


def _document(book: ExportBook, title: str, body: str, kind: str = "") -> str:
    section = f'<section epub:type="{kind}">\n{body}\n</section>' if kind else body
    language = quoteattr(book.language)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
        f" lang={language} xml:lang={language}>\n"
        f'<head>\n<title>{escape(title)}</title>\n<link rel="stylesheet" type="text/css" href="style.css"/>\n</head>\n'
        f"<body>\n{section}\n</body>\n</html>\n"
    )
