"""A real `tally serve` and a real Chromium, for the tests of the page."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
DESKTOP, PHONE = (1280, 800), (375, 740)
PATIENCE_MS = 60_000
"""Ten times what anything here takes on a busy machine: it tells an answer from a hang."""
AGAIN_MS = 2_000
"""After which a person would try once more what had no effect: the page was still drawing itself."""
HARMLESS = ("favicon",)


class Served:
    """A running server."""

    def __init__(self, workspace: Path, state: Path, *, port: int = 0, **environment: str) -> None:
        self.process = subprocess.Popen(
            [*_program(), "serve", "--workspace", str(workspace), "--port", str(port)],
            env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "TALLY_STATE_DIR": str(state), **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.workspace, self.state = workspace, state
        self.base = self.token = said = ""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            said += line
            if line.startswith("Tallystick on "):
                self.base = line.split()[2].rstrip("/")
            elif line.startswith("Start-up token"):
                self.token = line.rpartition(": ")[2].strip()
            elif line.startswith("It is also in "):
                return
        raise AssertionError(f"it did not start: {said}")

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=120)


def _program() -> list[str]:
    """The program; measured too, where the tests are: the pages run in no other process."""
    coverage = sys.modules.get("coverage")
    if coverage is None or coverage.Coverage.current() is None:
        return [sys.executable, "-m", "tallystick"]
    measured = ["run", "--parallel-mode", "--branch", f"--source={ROOT / 'src'}", f"--data-file={ROOT / '.coverage'}"]
    return [sys.executable, "-m", "coverage", *measured, "-m", "tallystick"]


@contextmanager
def serving(workspace: Path, *, port: int = 0, **environment: str) -> Iterator[Served]:
    """Serve a workspace while something is tried; its state lies beside it where a fixture starts before any test."""
    state = os.environ.get("TALLY_STATE_DIR") or workspace.with_name(f"{workspace.name}-state")
    served = Served(workspace, Path(state), port=port, **environment)
    try:
        yield served
    finally:
        served.end()


class Visit:
    """One page in one window, and everything its console complained about."""

    def __init__(self, page: Page, served: Served) -> None:
        self.page = page
        self.served = served
        self.complaints: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        expect.set_options(timeout=PATIENCE_MS)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(f"pageerror: {error}"))

    def _heard(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(word in message.text for word in HARMLESS):
            self.complaints.append(message.text)

    def open(self, path: str) -> Page:
        """Go to a path and wait until its socket is up."""
        self.page.goto(self.served.base + path)
        self.page.wait_for_function("window.socket && window.socket.connected")
        return self.page

    def log_in(self, onward: str = "/", token: str | None = None) -> Page:
        """Log in with the start-up token, or with one of an issuer."""
        self.page.goto(f"{self.served.base}/login?next={onward}")
        self.page.fill("#token", token or self.served.token)
        self.page.press("#token", "Enter")
        self.page.wait_for_url(f"**{onward}")
        self.page.wait_for_function("window.socket && window.socket.connected")
        return self.page

    def check(self, *, allowed: tuple[str, ...] = ()) -> None:
        """No complaint in the console, and nothing serious found by axe."""
        said = [each for each in self.complaints if not any(word in each for word in allowed)]
        wrong = said + (serious(self.page) and self._still())
        assert not wrong, "\n".join(wrong)

    def _still(self) -> list[str]:
        """What axe finds once the page has drawn itself: half a page has no labels yet."""
        self.page.wait_for_timeout(AGAIN_MS)
        return serious(self.page)

    def picture(self, name: str, size: tuple[int, int] = DESKTOP) -> None:
        """Keep a picture for the docs, when asked for: `TALLY_PICTURES=1`. A page full of text takes a smaller one."""
        if os.environ.get("TALLY_PICTURES"):
            IMAGES.mkdir(parents=True, exist_ok=True)
            before = self.page.viewport_size
            self.page.set_viewport_size({"width": size[0], "height": size[1]})
            self.page.wait_for_timeout(300)
            self.page.screenshot(path=IMAGES / f"{name}.png")
            if before is not None:
                self.page.set_viewport_size(before)


def fits(page: Page) -> None:
    """Nothing is wider than the window, once what draws itself anew has done so."""
    page.wait_for_function("document.documentElement.scrollWidth <= window.innerWidth + 1")


def serious(page: Page) -> list[str]:
    """What axe calls serious or worse, each with the first place it was found."""
    found: dict[str, Any] = Axe().run(page).response
    return [
        f"{each['id']}: {each['nodes'][0]['failureSummary'][:300]} ({each['nodes'][0]['html'][:160]})"
        for each in found["violations"]
        if each["impact"] in {"serious", "critical"}
    ]


def chromium() -> str:
    """The browser of this machine."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        pytest.skip("left out: the page in a browser, Chromium is not installed (apt-get install chromium)")
    return found


@contextmanager
def a_browser() -> Iterator[Browser]:
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"])
        try:
            yield browser
        finally:
            browser.close()
