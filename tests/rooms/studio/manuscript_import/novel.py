"""One small novel, written down in every format by hand, so that no reader is tested with its own writer."""

import io
import zipfile
from pathlib import Path

from docx import Document
from docx.enum.text import WD_ALIGN_PARAGRAPH

TITLE, AUTHOR = "The Salt Road", "Ines Marlow"
BOOK: list[tuple[str, list[tuple[str | None, list[list[tuple[str, str]]]]]]] = [
    (
        "Chapter 1: Arrival",
        [
            (
                None,
                [
                    [("Rain fell on the quay, 5 * 3 drops to the stone.", "")],
                    [("She was ", ""), ("not", "i"), (" afraid; she was ", ""), ("certain", "b"), (".", "")],
                ],
            ),
            (
                None,
                [
                    [("“Who sent you?” he asked — softly.", "")],
                    [("Nobody", "bi"), (" & <everybody>, snake_case, #3.", "")],
                ],
            ),
        ],
    ),
    (
        "Chapter 2: The Ledger",
        [
            ("The count", [[("Été, naïve, Zoë: the names stood in ", ""), ("her", "i"), (" hand.", "")]]),
            ("The door", [[("It was open.", "")], [("1. was the first word on the page.", "")]]),
        ],
    ),
    ("Epilogue", [(None, [[("The road went on.", "")]])]),
]


def plain_book() -> list[tuple[str, list[list[str]]]]:
    """The words alone: chapters, scenes, paragraphs."""
    return [
        (title, [["".join(text for text, _ in spans) for spans in paragraphs] for _, paragraphs in scenes])
        for title, scenes in BOOK
    ]


def write_markdown(path: Path) -> Path:
    marks = {"": "", "i": "*", "b": "**", "bi": "***"}
    escapes = {"5 * 3": "5 \\* 3", "& <every": "& \\<every", "1. was": "1\\. was"}
    told = [f"---\ntitle: {TITLE}\nauthor: {AUTHOR}\n---", f"# {TITLE}"]
    for chapter, scenes in BOOK:
        told.append(f"## {chapter}")
        for place, (title, paragraphs) in enumerate(scenes):
            if title:
                told.append(f"### {title}")
            elif place:
                told.append("* * *")
            for spans in paragraphs:
                text = "".join(f"{marks[style]}{words}{marks[style]}" for words, style in spans)
                for sign, escaped in escapes.items():
                    text = text.replace(sign, escaped)
                told.append(text)
    path.write_text("\n\n".join(told) + "\n", encoding="utf-8")
    return path


def write_docx(path: Path) -> Path:
    document = Document()
    document.core_properties.title, document.core_properties.author = TITLE, AUTHOR
    document.add_paragraph(TITLE, style="Title")
    for chapter, scenes in BOOK:
        document.add_heading(chapter, level=1)
        for place, (title, paragraphs) in enumerate(scenes):
            if title:
                document.add_heading(title, level=2)
            elif place:
                document.add_paragraph("#").alignment = WD_ALIGN_PARAGRAPH.CENTER
            for spans in paragraphs:
                paragraph = document.add_paragraph()
                for words, style in spans:
                    # Word cuts text into runs wherever it likes.
                    for piece in (words[:3], words[3:]):
                        run = paragraph.add_run(piece)
                        run.italic, run.bold = "i" in style or None, "b" in style or None
                document.add_paragraph("")
    document.save(str(path))
    return path


CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
    '<rootfiles><rootfile full-path="EPUB/package.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)


def write_epub(path: Path, pages: dict[str, str] | None = None, **extra: bytes) -> Path:
    made = pages if pages is not None else {f"c{place}.xhtml": page for place, page in enumerate(_pages())}
    items = "".join(
        f'<item id="i{n}" href="{name}" media-type="application/xhtml+xml"/>' for n, name in enumerate(made)
    )
    spine = "".join(f'<itemref idref="i{n}"/>' for n in range(len(made)))
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="x">'
        f'<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{TITLE}</dc:title><dc:creator>{AUTHOR}'
        '</dc:creator><dc:identifier id="x">x</dc:identifier><dc:language>en</dc:language></metadata><manifest>'
        '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
        f'<item id="css" href="s.css" media-type="text/css"/>{items}</manifest>'
        f'<spine><itemref idref="nav"/>{spine}</spine></package>'
    )
    parts = {
        "mimetype": b"application/epub+zip", "META-INF/container.xml": CONTAINER.encode(),
        "EPUB/package.opf": package.encode(), "EPUB/nav.xhtml": page_of("<nav><h1>Contents</h1></nav>").encode(),
        "EPUB/s.css": b"p{margin:0} .it, span.slanted { font-style: italic }\n.strong{font-weight:bold}",
        **{f"EPUB/{name}": text.encode() for name, text in made.items()}, **extra,
    }  # fmt: skip
    path.write_bytes(zipped(parts))
    return path


def page_of(body: str, *, doctype: bool = True) -> str:
    head = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">\n'
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{head if doctype else ""}<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>x</title></head><body>{body}</body></html>'
    )


def _pages() -> list[str]:
    tags = {"": "{}", "i": '<span class="slanted">{}</span>', "b": "<b>{}</b>", "bi": '<i class="strong">{}</i>'}
    pages = []
    for chapter, scenes in BOOK:
        told = [f"<div><h1>{chapter}</h1>"]
        for place, (title, paragraphs) in enumerate(scenes):
            if title:
                told.append(f"<h2>{title}</h2>")
            elif place:
                told.append('<p class="centered">*&nbsp;*&nbsp;*</p>')
            for spans in paragraphs:
                words = "".join(tags[style].format(_html(text)) for text, style in spans)
                told.append(f"<p>\n  {words}\n</p>")
        pages.append(page_of("\n".join([*told, "</div>"])))
    return pages


def _html(text: str) -> str:
    escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return escaped.replace("é", "&eacute;").replace("—", "&mdash;")


def write_novelwriter(folder: Path) -> Path:
    (folder / "content").mkdir(parents=True)
    marks = {"": "{}", "i": "_{}_", "b": "**{}**", "bi": "**_{}_**"}
    items, number = (
        [
            "",
            '<item handle="0000000000001" parent="None" order="0" type="ROOT" class="NOVEL"><name>Novel</name></item>',
        ],
        2,
    )
    documents = [f"#! {TITLE}\n\n>> By {AUTHOR} <<\n"]
    for chapter, scenes in BOOK:
        text = f"## {chapter}\n\n"
        for place, (title, paragraphs) in enumerate(scenes):
            if title:
                documents.append(text)
                text = f"### {title}\n\n"
            elif place:
                text += ">> * * * <<\n\n"
            text += "".join("".join(marks[s].format(w) for w, s in spans) + "\n\n" for spans in paragraphs)
        documents.append(text)
    for text in documents:
        handle = f"{number:013x}"
        items.append(
            f'<item handle="{handle}" parent="0000000000001" order="{number}" type="FILE" class="NOVEL" layout="DOCUMENT">'
            f"<name>Doc {number}</name></item>"
        )
        (folder / "content" / f"{handle}.nwd").write_text(
            f"%%~name: Doc {number}\n%%~kind: NOVEL/DOCUMENT\n{text}", encoding="utf-8"
        )
        number += 1
    # The file's order is not the tree's.
    (folder / "nwProject.nwx").write_text(project_file([*reversed(items)]), encoding="utf-8")
    return folder


def project_file(items: list[str], version: str = "1.5") -> str:
    return (
        f'<?xml version="1.0" encoding="utf-8"?><novelWriterXML appVersion="2.7" fileVersion="{version}">'
        f"<project><name>{TITLE}</name><author>{AUTHOR}</author></project><content>{''.join(items)}</content></novelWriterXML>"
    )


def write_text(path: Path) -> Path:
    """Without titles of scenes and without bold, which plain text does not have."""
    told = [f"{TITLE.upper()}\n\nby {AUTHOR}\n\n\nCONTENTS\n\n" + "\n\n".join(title for title, _ in BOOK)]
    for chapter, scenes in BOOK:
        told.append(f"\n{chapter}\n")
        for place, (_, paragraphs) in enumerate(scenes):
            if place:
                told.append("     *     *     *")
            for spans in paragraphs:
                text = "".join(f"_{words}_" if style == "i" else words for words, style in spans)
                told.append("\n".join(_wrapped(text)))
    path.write_text("\n\n".join(told) + "\n", encoding="utf-8")
    return path


def _wrapped(text: str) -> list[str]:
    lines = [""]
    for word in text.split(" "):
        if len(lines[-1]) + len(word) > 38:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def zipped(parts: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target.getvalue()
