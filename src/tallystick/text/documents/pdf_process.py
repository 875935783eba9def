"""The process that reads one PDF: bytes in, pages as JSON out, with limits on time and memory.

Imports nothing of ours, so that it starts quickly and needs little.
"""

import io
import json
import logging
import resource
import sys
import warnings
from itertools import islice

MAX_PAGES = 2_000
MAX_PROPERTIES = 100
MEMORY = 1024**3
CPU_S = 60


def main(most: int) -> dict[str, object]:
    """The pages, or a code.

    Args:
        most: Characters of all pages together.
    """
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    logging.disable()
    warnings.simplefilter("ignore")
    try:
        from pypdf import PdfReader  # noqa: PLC0415 - under the limits, and only here
    except ImportError:
        return {"code": "part_missing"}
    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    if reader.is_encrypted and not reader.decrypt(""):
        return {"code": "locked"}
    pages: list[str] = []
    for page in reader.pages[:MAX_PAGES]:
        pages.append(page.extract_text())
        most -= len(pages[-1])
        if most < 0:
            return {"code": "too_large"}
    if not any(map(str.strip, pages)):
        return {"code": "no_text"}
    said = islice((reader.metadata or {}).items(), MAX_PROPERTIES)
    return {"pages": pages, "about": {name.lower().removeprefix("/"): str(value)[:500] for name, value in said}}


if __name__ == "__main__":
    try:
        answer = main(int(sys.argv[1]))
    except Exception:  # noqa: BLE001 - whatever a broken file breaks, the answer is that it is broken
        answer = {"code": "damaged"}
    # Half characters, which broken fonts give, are escaped here and decoded by the parent process.
    sys.stdout.write(json.dumps(answer))
