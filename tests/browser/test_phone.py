"""Every page with something on it, on a screen as narrow as a phone's."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.serving import PHONE, ROOT, Served, Visit, fits, serving

Open = Callable[..., Visit]
LISTS = ("/conference", "/receipts", "/issues", "/insight", "/memory", "/desk", "/rooms")
"""Pages that lead on to one of what they list."""
OTHERS = ("/", "/workspace?path=Story/Scenes/SCN-the-vestry.md", "/approvals", "/runs", "/telemetry", "/settings")
FIRST = """path => [...document.querySelectorAll('.tally-main a[href]')].map(link => link.getAttribute('href'))
.find(href => href.startsWith(path + '/')) || null"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """What the demo leaves, a novel, tickets, a memory and a desk, and an open issue."""
    folder = tmp_path_factory.mktemp("phone")
    workspace, state = folder / "shown", folder / "shown-state"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TALLY_STATE_DIR": str(state)}
    for words in (["demo", "--no-serve"], ["issues", "new", "Ida's hair is red here and black there"]):
        command = [sys.executable, "-m", "tallystick", *words, "--workspace", str(workspace)]
        subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    with serving(workspace) as server:
        yield server


@pytest.mark.promise("page.phone")
def test_every_page_fits_a_phone_and_so_does_one_of_what_it_lists(shown: Served, visit: Open) -> None:
    here = visit(shown, PHONE)
    for path in OTHERS:
        page = here.open(path)
        page.wait_for_function("window.did_handshake")
        if "path=" in path:
            expect(page.get_by_label("Text of the file")).to_be_visible()
        fits(page)
        here.check()
    for path in LISTS:
        page = here.open(path)
        first = page.wait_for_function(FIRST, arg=path).json_value()
        fits(page)
        here.check()
        page = here.open(str(first))
        page.wait_for_function("window.did_handshake")
        fits(page)
        here.check()
