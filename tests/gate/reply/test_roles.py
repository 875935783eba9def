import pytest

from tallystick.gate.reply.findings import Item
from tallystick.gate.reply.roles import looks_where_it_should, sources_of
from tallystick.gate.reply.surroundings import Checked


def checked(path: str, *, ok: bool = True) -> Checked:
    return Checked(item=Item(kind="content", source=path, ok=ok), paths=(path,))


@pytest.mark.parametrize(
    ("wanted", "path", "fits"),
    [
        (["Notes/*"], "Notes/a.md", True),
        (["Notes/*"], "Note/a.md", False),
        (["*.txt"], "Notes/plan.txt", True),
        (["Notes/*/plan*.md"], "Notes/x/y/plan-2.md", True),
        (["Notes/*/plan*.md"], "Notes/x/y/plot-2.md", False),
        (["a*a"], "a", False),
        (["Notes"], "Notes/a.md", True),
        (["Notes/a.md"], "Notes/a.md", True),
        (["scenes"], "Story/Compendium/Canon.md", False),
        (["scenes"], "Story/SCN-outline.md", False),
        (["scenes"], "Story/one.md", True),
        (["outline"], "Plans/outline.md", True),
        (["compendium"], "Story/Compendium/mara.md", True),
    ],
)
def test_sources_are_named_by_kind_or_pattern(wanted: list[str], path: str, *, fits: bool) -> None:
    assert looks_where_it_should(wanted, [checked(path)], "Plans/outline.md") is fits
    assert looks_where_it_should(wanted, [checked(path, ok=False)], "Plans/outline.md") is False


def test_an_agent_without_a_role_may_look_anywhere() -> None:
    assert sources_of(None, {"critic": ["x"]}) == ()
    assert sources_of("someone", {}) == ()
    assert sources_of("Chief_of Staff", {}) == ("receipt",)
    assert looks_where_it_should((), [], None)
