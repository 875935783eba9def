"""Any room's tools from their cards: somebody else's room gets its page without a line of ours."""

import os
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.serving import DESKTOP, PHONE, ROOT, Served, Visit, fits, serving
from tests.verifying import verify

Open = Callable[..., Visit]
NASTY = "<script>document.title='owned'</script>"
ROOM = '''
"""A room of somebody else."""

from typing import Annotated, Literal

from pydantic import Field

from tallystick import ToolError, tool
from tallystick.plugin import Manifest, Room


@tool(effect="read")
def acme_stretch(
    text: Annotated[str, Field(description="What is stretched", max_length=100)],
    times: Annotated[int, Field(ge=1, le=5)] = 2,
    how: Literal["plain", "loud"] = "plain",
    marks: list[str] | None = None,
    turned: bool = False,
) -> dict[str, str]:
    "Say a text several times."
    if text == "break":
        raise ToolError("It broke, on purpose.")
    said = " ".join([text] * times)
    return {"said": (said.upper() if how == "loud" else said) + "".join(marks or []), "turned": str(turned)}


@tool(effect="external")
def acme_ring(number: str) -> str:
    "Ring somebody up."
    return f"rang {number}"


@tool(effect="read", roles={"admin"})
def acme_count() -> int:
    "Takes nothing."
    return 7


class Acme(Room):
    name = "acme"

    def __init__(self, context):
        pass

    def tools(self):
        return (acme_stretch, acme_ring, acme_count)


MANIFEST = Manifest(name="acme", summary="Stretch, ring and count.", room="acme_room:Acme", tools=("acme_stretch", "acme_ring", "acme_count"))
'''


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server on whose machine another distribution with a room is installed."""
    site = tmp_path_factory.mktemp("site")
    about = site / "acme_room-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-room\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[tallystick.rooms]\nacme = acme_room:MANIFEST\n")
    (site / "acme_room.py").write_text(ROOM)
    path = os.pathsep.join([str(ROOT / "src"), str(site)])
    with serving(tmp_path_factory.mktemp("roomy"), PYTHONPATH=path, TALLY_ROOMS="acme,memory,studio") as server:
        yield server


@pytest.mark.promise("page.rooms")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_every_installed_room_stands_there_with_its_tools(
    served: Served, visit: Open, how_large: tuple[int, int]
) -> None:
    here = visit(served, how_large)
    page = here.open("/rooms")
    for name in ("Acme", "Memory", "Studio"):
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="acme_stretch")).to_be_visible()
    fits(page)
    here.check()
    page = here.open("/rooms/acme_nothing")
    expect(page.get_by_text("There is no such tool")).to_be_visible()
    here.check()


@pytest.mark.promise("page.rooms", "page.text")
@pytest.mark.parametrize("how_large", [DESKTOP, PHONE])
def test_a_tool_is_called_by_keyboard_and_its_receipt_opened(
    served: Served, visit: Open, how_large: tuple[int, int]
) -> None:
    here = visit(served, how_large)
    page = here.open("/rooms/acme_stretch")
    page.get_by_label("times").fill("3")
    page.get_by_label("how").press("Enter")
    page.get_by_role("option", name="loud").click()
    page.get_by_label("marks").fill("!\n?")
    page.get_by_role("checkbox", name="turned").press("Space")
    came = page.get_by_label("What came of it")
    page.get_by_label("text *").fill("To be or not to be.")
    page.get_by_role("button", name="Call it").press("Enter")
    expect(came).to_contain_text("TO BE OR NOT TO BE.!?")
    if how_large == DESKTOP:
        here.picture("rooms")
    page.get_by_label("text *").fill(NASTY)
    page.get_by_role("button", name="Call it").press("Enter")
    expect(came).to_contain_text((NASTY.upper() + " ") * 2 + NASTY.upper() + "!?")
    expect(came).to_contain_text('"turned": "True"')
    here.check()
    came.get_by_role("link", name="rcpt_").press("Enter")
    page.wait_for_url("**/receipts/rcpt_*")
    expect(page.get_by_text("acme_stretch").first).to_be_visible()
    assert page.title().startswith("Receipt")
    here.check()


@pytest.mark.promise("page.rooms")
def test_what_does_not_fit_fails_or_is_held_is_told_and_what_was_typed_stays(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/rooms/acme_stretch")
    page.get_by_label("text *").fill("x")
    page.get_by_label("times").fill("9")
    page.get_by_role("button", name="Call it").click()
    expect(page.get_by_label("What came of it")).to_contain_text("rejected")
    expect(page.get_by_label("times")).to_have_value("9")
    page.get_by_label("times").fill("1")
    page.get_by_label("text *").fill("break")
    page.get_by_role("button", name="Call it").click()
    expect(page.get_by_label("What came of it")).to_contain_text("It broke, on purpose.")
    here.check()
    page = here.open("/rooms/acme_ring")
    page.get_by_label("number *").fill("112")
    page.get_by_role("button", name="Call it").click()
    page.get_by_role("link", name="See what is held").click()
    page.wait_for_url("**/approvals/*")
    expect(page.get_by_text("112")).to_be_visible()
    here.check()


@pytest.mark.promise("page.rooms")
def test_a_tool_without_arguments_is_called_too_and_the_ledger_verifies(served: Served, visit: Open) -> None:
    here = visit(served)
    page = here.open("/rooms/acme_count")
    expect(page.get_by_text("It takes no arguments.")).to_be_visible()
    page.get_by_role("button", name="Call it").press("Enter")
    expect(page.get_by_label("What came of it")).to_contain_text("7")
    here.check()
    assert verify(served.workspace, served.state).ok
