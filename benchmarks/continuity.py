"""The continuity check on twin projects: each novel clean and with planted errors, findings written for a scorer.

`python -m benchmarks.continuity FOLDER OUT` reads `FOLDER/NOVEL/clean` and `FOLDER/NOVEL/planted` and writes
`OUT/NOVEL.clean.jsonl` and `OUT/NOVEL.planted.jsonl`: scene, line, kind and quote of each finding, and the other end.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

from tallystick.reading.parser import open_parser
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.continuity.book_check import BookReading
from tallystick.rooms.studio.continuity.findings import Finding
from tallystick.settings import Settings
from tallystick.storage.files import FileSources

TWINS = ("clean", "planted")


def checked(project: Path) -> tuple[tuple[Finding, ...], int]:
    """The findings in a project, and how many words it has."""
    reading = BookReading(BookReader(FileSources(project)).book(), open_parser(Settings().models_dir()))
    found = reading.findings()
    return found.findings, found.looked_at.words


def row(finding: Finding) -> dict[str, Any]:
    """A finding as scorers take it."""
    scene, other = finding.second, finding.first
    shown: dict[str, Any] = {"scene": scene.path, "file": scene.path, "line": scene.line, "line_end": scene.end_line}
    shown |= {"kind": finding.rule, "quote": scene.quote, "message": finding.message}
    return shown | ({} if finding.from_card else {"other_scene": other.path, "other_line": other.line})


def main(folder: Path, out: Path) -> None:
    """Check every twin of a folder."""
    out.mkdir(parents=True, exist_ok=True)
    for novel in sorted(path for path in folder.iterdir() if all((path / twin).is_dir() for twin in TWINS)):
        for twin in TWINS:
            began = time.process_time()
            findings, words = checked(novel / twin)
            took = time.process_time() - began
            lines = "".join(json.dumps(row(one)) + "\n" for one in findings)
            (out / f"{novel.name}.{twin}.jsonl").write_text(lines, encoding="utf-8")
            sys.stdout.write(
                f"{novel.name} {twin}: {len(findings)} findings, {words:,} words, {took:.1f} s of one core\n"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
