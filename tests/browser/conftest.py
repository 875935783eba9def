"""One browser for the tests of a module; a window of its own for each test.

Not longer: while it is open its library keeps an event loop running, and tests beside these want to run their own.
"""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser

from tallystick.app.discovery import manifests
from tests.browser.serving import DESKTOP, Served, Visit, a_browser


@pytest.fixture(scope="module", autouse=True)
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Switch every room on, in this process and in the servers that it starts; not longer than the module's tests run.

    Both have one state folder, which holds the mirrors of their ledgers.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TALLY_STATE_DIR", str(tmp_path_factory.mktemp("state")))
        patch.setenv("TALLY_ROOMS", ",".join(manifests()))
        yield


@pytest.fixture(autouse=True)
def _own_state() -> None:
    """The state folder is the module's."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as opened:
        yield opened


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Opens a window: `visit(served, size=PHONE)`."""
    contexts = []

    def make(served: Served, size: tuple[int, int] = DESKTOP) -> Visit:
        context = browser.new_context(viewport={"width": size[0], "height": size[1]}, reduced_motion="reduce")
        contexts.append(context)
        return Visit(context.new_page(), served)

    yield make
    for context in contexts:
        context.close()
