"""The page with 10,000 receipts, 5,000 tickets and 2,000 propositions: how soon it can be used, in real Chromium.

"Usable" is from asking for the address to the first row on the screen with the socket up; "second browser" is from a
change made by another process to its row in a window that is open. Both are medians over several tries, in a fresh
window each; the worst stands beside them. "Scrolling" goes down the list by 100 pixels a frame, as a fast wheel does, and
counts how long each frame took.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from tallystick import Gate
from tallystick.gate.record.receipt import Draft
from tallystick.gate.session import Session
from tests.browser.many import add_tickets, remember, write_many
from tests.browser.serving import Served, Visit, a_browser, serving

PROMISES = ("page.speed",)
FULL = {"receipts": 10_000, "tickets": 5_000, "propositions": 2_000}
GOAL_MS = 1_000
FRAMES = 240
LATE_MS = 50
"""A frame this late is seen as a stutter."""
SCROLL = """async ([frames, step]) => {
  const list = document.querySelector('.tally-list .q-table__middle') || document.scrollingElement;
  const took = [];
  let before = await new Promise(requestAnimationFrame);
  for (let frame = 0; frame < frames; frame++) {
    list.scrollTop += step;
    const now = await new Promise(requestAnimationFrame);
    took.push(now - before);
    before = now;
  }
  return {took, top: list.scrollTop};
}"""
ROWS = {
    "/receipts": ".tally-list tbody tr:nth-child(2)", "/desk": "a.tally-ticket", "/memory": ".tally-list tbody tr:nth-child(2)",
}  # fmt: skip


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    workspace = folder / "many"
    # The promised numbers either way: a page over less would say nothing. Only the tries differ.
    write_many(workspace, **FULL)
    tries = 15 if full else 5
    with serving(workspace) as served, a_browser() as browser, Gate.open(workspace) as gate:
        _opened(browser, served, "/", "main")
        rows = [_measured(browser, served, gate, path, tries) for path in ROWS]
    lines = [
        "A new browser profile each time, so nothing is cached; worst of all tries behind the median.", "",
        "| page | usable after load, ms | usable after the first byte, ms | change in a second browser, ms "
        f"| frames of scrolling, ms: median, p95 | over {LATE_MS} ms |",
        "|---|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    lines += [
        f"| {row['page']} | {row['loaded_ms']} ({row['loaded_worst']}) | {row['usable_ms']} ({row['usable_worst']}) "
        f"| {row['second_ms']} ({row['second_worst']}) "
        f"| {row['frame_ms']}, {row['frame_p95']} | {row['late_frames']} of {FRAMES} |"
        for row in rows
    ]
    goal = f"usable after load and a change seen in a second browser, each under {GOAL_MS} ms"
    return {"markdown": "\n".join(lines), "rows": rows, "goal": goal}


def _measured(browser: Browser, served: Served, gate: Gate, path: str, tries: int) -> dict[str, Any]:
    opened = [_opened(browser, served, path, ROWS[path]) for _ in range(tries)]
    usable, loaded = [one[0] for one in opened], [one[1] for one in opened]
    seen = _seen(browser, served, gate, path, tries)
    frames = sorted(_scrolled(browser, served, path))
    return {
        "page": path, "usable_ms": round(statistics.median(usable)), "usable_worst": round(max(usable)),
        "loaded_ms": round(statistics.median(loaded)), "loaded_worst": round(max(loaded)),
        "second_ms": round(statistics.median(seen)), "second_worst": round(max(seen)),
        "frame_ms": round(statistics.median(frames), 1), "frame_p95": round(frames[int(len(frames) * 0.95)], 1),
        "late_frames": sum(one > LATE_MS for one in frames),
    }  # fmt: skip


def _opened(browser: Browser, served: Served, path: str, row: str) -> tuple[float, float]:
    """Milliseconds until a row is there and the socket is up: since the page was asked for, and since it was loaded."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    here = Visit(context.new_page(), served)
    began = time.perf_counter()
    here.page.goto(served.base + path, wait_until="commit")
    here.page.wait_for_function(
        "row => window.did_handshake && document.querySelector(row)?.getBoundingClientRect().height", arg=row
    )
    took = (time.perf_counter() - began) * 1e3
    since: float = here.page.evaluate("performance.now() - performance.getEntriesByType('navigation')[0].loadEventEnd")
    context.close()
    return took, since


def _scrolled(browser: Browser, served: Served, path: str) -> list[float]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = Visit(context.new_page(), served).open(path)
    page.wait_for_selector(ROWS[path])
    page.evaluate(SCROLL, [10, 1])
    found: dict[str, Any] = page.evaluate(SCROLL, [FRAMES, 100])
    context.close()
    return [float(one) for one in found["took"]]


def _seen(browser: Browser, served: Served, gate: Gate, path: str, tries: int) -> list[float]:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    page = Visit(context.new_page(), served).open(path)
    page.wait_for_selector(ROWS[path])
    took = []
    for number in range(tries):
        sign = _change(gate, path, number)
        began = time.perf_counter()
        sign()
        page.wait_for_function(
            "words => document.querySelector('.tally-main').innerText.includes(words)", arg=_sign(path, number)
        )
        took.append((time.perf_counter() - began) * 1e3)
    context.close()
    return took


def _change(gate: Gate, path: str, number: int) -> Callable[[], Any]:
    if path == "/receipts":
        draft = Draft(kind="note", session=Session(session_id=f"elsewhere-{number}"), inputs=b"{}")
        return lambda: gate.ledger.record_sync(draft)
    if path == "/desk":
        return lambda: add_tickets(gate, 5, begin=FULL["tickets"] + 5 * number)
    return lambda: remember(gate, FULL["propositions"] + number)


def _sign(path: str, number: int) -> str:
    """Words that stand on the page once the change has come."""
    if path == "/desk":
        return f"Done {FULL['tickets'] * 2 // 5 + 2 * (number + 1):,}"
    if path == "/memory":
        return f"{FULL['propositions'] + number + 1:,}"
    return f"elsewhere-{number}"
