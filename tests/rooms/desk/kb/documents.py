"""Documents in every format, made small."""

import io
import zipfile
from pathlib import Path

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_HEADINGS = {1: "Heading1", 2: "Heading2"}


def put(root: Path, path: str, data: str | bytes) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data.encode() if isinstance(data, str) else data)
    return place


def docx(body: str, *, core: str = "", extra: dict[str, bytes] | None = None) -> bytes:
    """A Word document with this in its body."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/document.xml", f'<w:document xmlns:w="{_W}"><w:body>{body}</w:body></w:document>')
        archive.writestr(
            "docProps/core.xml",
            '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
            f'xmlns:dc="http://purl.org/dc/elements/1.1/">{core}</cp:coreProperties>',
        )
        for name, data in (extra or {}).items():
            archive.writestr(name, data)
    return held.getvalue()


def paragraph(text: str, *, level: int | None = None, listed: bool = False, form: str = "") -> str:
    style = "" if level is None else f'<w:pStyle w:val="{_HEADINGS[level]}"/>'
    number = "<w:numPr/>" if listed else ""
    return f"<w:p><w:pPr>{style}{number}</w:pPr><w:r><w:rPr>{form}</w:rPr><w:t>{text}</w:t></w:r></w:p>"


def pdf(*pages: str, info: str = "") -> bytes:
    """A PDF of plain pages, one line of text for each line given."""
    objects: list[bytes] = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for page in pages:
        lines = "".join(f"({line}) Tj 0 -16 Td " for line in page.splitlines())
        stream = f"BT /F1 12 Tf 72 720 Td {lines}ET".encode()
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
        content = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {content} 0 R /Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>".encode()
    objects.append(f"<< {info} >>".encode())
    out, offsets = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, start=1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, each)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = f"<< /Size {len(objects) + 1} /Root 1 0 R /Info {len(objects)} 0 R >>".encode()
    return out + b"xref\n0 %d\n0000000000 65535 f \n%strailer\n%s\nstartxref\n%d\n%%%%EOF\n" % (
        len(objects) + 1,
        table,
        trailer,
        len(out),
    )
