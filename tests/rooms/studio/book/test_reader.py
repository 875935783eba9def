"""The whole book, found through the tree."""

import random
import time
from pathlib import Path

import pytest

from tallystick.rooms.studio.book.model import Book
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.storage.files import FileSources
from tests.rooms.studio.projects import lay_out, shelf_of
from tests.sizes import size

SCENE = "Story/Scenes/SCN-"


def slugs(book: Book) -> list[str]:
    return [scene.slug for scene in book.scenes]


@pytest.mark.promise("book.order")
@pytest.mark.parametrize(
    ("files", "order"),
    [
        # The outline names them, by link and by title.
        ({"Story/SCN-outline.md": "- Zebra\n- [[SCN-alpha]]\n", f"{SCENE}alpha.md": "", f"{SCENE}zebra.md": ""},
         ["zebra", "alpha"]),
        # What it does not name stays behind the one before it.
        ({"Story/SCN-outline.md": "- Zebra\n- Alpha\n", f"{SCENE}01-alpha.md": "", f"{SCENE}02-beta.md": "",
          f"{SCENE}03-zebra.md": ""}, ["03-zebra", "01-alpha", "02-beta"]),
        # One name is no order.
        ({"Story/SCN-outline.md": "- Zebra\n- Other\n", f"{SCENE}1-alpha.md": "", f"{SCENE}2-zebra.md": ""},
         ["1-alpha", "2-zebra"]),
        ({f"{SCENE}a.md": "---\norder: 2\n---\n", f"{SCENE}b.md": "---\norder: 1\n---\n"}, ["b", "a"]),
        ({f"{SCENE}a.md": "---\nchapter: 2\nscene: 1\n---\n", f"{SCENE}b.md": "---\nchapter: 1\nscene: 9\n---\n"},
         ["b", "a"]),
        ({f"{SCENE}10-a.md": "", f"{SCENE}9-b.md": "", f"{SCENE}c.md": ""}, ["9-b", "10-a", "c"]),
        ({"Story/Scenes/Part 2/01.md": "", "Story/Scenes/Part 1/02.md": "", "Story/Scenes/Part 1/01.md": ""},
         ["01", "02", "01"]),
        ({f"{SCENE}b.md": "", f"{SCENE}a.md": ""}, ["a", "b"]),
    ],
)  # fmt: skip
def test_scenes_stand_in_reading_order(tmp_path: Path, files: dict[str, str], order: list[str]) -> None:
    book = shelf_of(tmp_path, files).book()
    assert slugs(book) == order
    assert [scene.order for scene in book.scenes] == list(range(len(order)))


@pytest.mark.promise("book.discovery")
def test_scenes_cards_and_outline_are_told_apart(tmp_path: Path) -> None:
    book = shelf_of(tmp_path, {
        "Story/SCN-outline.md": "- Harbour\n",
        f"{SCENE}03-the-harbour.md": "---\ntitle: The Harbour\npov: Mara\n---\nRain.\n",
        f"{SCENE}the-outline-of-the-coast.md": "# Scene 4: The Coast (POV: Tom)\n\nRain.\n",
        f"{SCENE}quay.md": "# The Quay\n*POV: Ada*\n\nRain.\n",
        "Compendium/Characters/CHAR-mara.md": "# Mara\n",
        "Compendium/_template.md": "# Name\n",
        "Compendium/README.md": "x",
        "README.md": "x",
        "Canon.md": "# Canon\n",
        "Notes/ideas.md": "x",
        "cover.png": b"\x89PNG\0",
    }).book()  # fmt: skip
    assert {scene.slug: (scene.title, scene.number, scene.pov, scene.body_line) for scene in book.scenes} == {
        "03-the-harbour": ("The Harbour", 3, "Mara", 5),
        "the-outline-of-the-coast": ("The Coast", 4, "Tom", 1),
        "quay": ("The Quay", None, "Ada", 1),
    }
    assert [card.path for card in book.cards] == ["Compendium/Characters/CHAR-mara.md"]
    assert book.outline is not None
    assert book.outline.path == "Story/SCN-outline.md"
    assert book.complaints == ()


@pytest.mark.promise("book.discovery")
def test_a_project_laid_out_otherwise_is_read_too(tmp_path: Path) -> None:
    book = shelf_of(tmp_path, {
        "chapter-10.md": "x", "chapter-2.txt": "x", "my outline.md": "- One\n", "README.md": "x",
        "People/Mara.md": "x", "harbour.md": "---\ntype: location\n---\n", "CHAR-tom.md": "x", "Research/tides.md": "x",
    }).book()  # fmt: skip
    assert slugs(book) == ["chapter-2", "chapter-10"]
    assert [(card.name, card.kind) for card in book.cards] == [
        ("Tom", "character"), ("Mara", "character"), ("Harbour", "location"),
    ]  # fmt: skip
    assert book.outline is not None
    assert book.outline.path == "my outline.md"


@pytest.mark.promise("book.discovery")
def test_an_empty_workspace_is_an_empty_book(tmp_path: Path) -> None:
    assert shelf_of(tmp_path, {}).book() == Book(scenes=(), cards=(), outline=None, complaints=())


@pytest.mark.promise("book.complaints")
def test_whatever_cannot_be_read_is_a_complaint_and_the_rest_works(tmp_path: Path) -> None:
    sources = FileSources(lay_out(tmp_path, {
        f"{SCENE}good.md": "It rained.\n",
        f"{SCENE}big.md": b"x" * 50_000,
        f"{SCENE}binary.md": b"\0\1\2",
        f"{SCENE}latin.md": b"First.\nCaf\xe9 noir.\n",
        f"{SCENE}utf16.md": "Café.\n".encode("utf-16"),
        f"{SCENE}marked.md": "\ufeffCafé.\n",
        f"{SCENE}front.md": "---\ntitle: a: b\n---\nx\n",
        "Compendium/Characters/a.md": "---\nname: Ada\naliases: [Grey, Gull]\n---\n",
        "Compendium/Characters/b.md": "# Ben\n\nAliases: grey, Ada\n",
        "Compendium/Characters/c.md": "# Ben\n",
        "Compendium/Characters/d.md": "---\nname:\n---\n",
    }), max_bytes=40_000)  # fmt: skip
    book = BookReader(sources).book()
    assert [(complaint.code, complaint.path.rpartition("/")[2], complaint.line) for complaint in book.complaints] == [
        ("alias_taken", "b.md", 3),
        ("alias_taken", "b.md", 3),
        ("name_taken", "c.md", 1),
        ("card_without_name", "d.md", 1),
        ("file_too_large", "SCN-big.md", 1),
        ("file_not_text", "SCN-binary.md", 1),
        ("front_matter_invalid", "SCN-front.md", 2),
        ("file_not_utf8", "SCN-latin.md", 2),
    ]
    assert slugs(book) == ["front", "good", "latin", "marked", "utf16"]
    # What two cards are called is the name of neither; a name of one's own stays.
    assert {card.path[-4]: (card.name, card.aliases) for card in book.cards} == {
        "a": ("Ada", ("Gull",)), "b": ("Ben", ()), "c": ("Ben", ()),
    }  # fmt: skip


@pytest.mark.promise("book.complaints")
def test_a_scene_of_fifty_megabytes_is_a_complaint(tmp_path: Path) -> None:
    book = shelf_of(tmp_path, {f"{SCENE}big.md": b"word " * 10_000_000, f"{SCENE}good.md": "It rained.\n"}).book()
    assert [complaint.code for complaint in book.complaints] == ["file_too_large"]
    assert slugs(book) == ["good"]


@pytest.mark.promise("book.complaints")
def test_a_complaint_says_what_the_book_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = b"\0"
    files = {
        "Story/SCN-outline.md": binary, f"{SCENE}a.md": binary, "Compendium/Lore/b.md": binary, "Notes/c.md": binary,
        "Compendium/Lore/d.md": "---\nname:\n---\n",
    }  # fmt: skip
    lacking = {"SCN-outline.md": "outline", "SCN-a.md": "scene", "b.md": "card", "d.md": "card"}
    book = shelf_of(tmp_path, files).book()
    assert {one.path.rpartition("/")[2]: one.left_out for one in book.left_out} == lacking
    monkeypatch.setattr("tallystick.rooms.studio.book.reader.MAX_FILES", 2)
    assert [one.code for one in shelf_of(tmp_path, {}).book().left_out if one.path.startswith("Story/")] == [
        "too_many_files", "too_many_files",
    ]  # fmt: skip


@pytest.mark.promise("book.quick")
def test_what_has_changed_shows_at_once_and_what_has_not_is_the_same(tmp_path: Path) -> None:
    shelf = shelf_of(tmp_path, {f"{SCENE}a.md": "One.\n", f"{SCENE}b.md": "Two.\n"})
    before = shelf.book()
    assert shelf.book() is before
    (tmp_path / f"{SCENE}a.md").write_text("# Other\n")
    after = shelf.book()
    assert [scene.title for scene in after.scenes] == ["Other", "B"]
    (tmp_path / f"{SCENE}b.md").unlink()
    assert slugs(shelf.book()) == ["a"]


@pytest.mark.promise("book.quick")
def test_a_long_book_is_read_again_quickly(tmp_path: Path) -> None:
    chance = random.Random(7)
    words = ["harbour", "storm", "letter", "rope", "gull", "tide", "lantern", "pilot", "ferry", "stone"]
    scenes = size(40, 200)
    files = {
        f"{SCENE}{number:03}.md": "---\ntitle: T\npov: Mara\n---\n"
        + "\n\n".join(" ".join(chance.choices(words, k=100)) + "." for _ in range(10))
        for number in range(scenes)
    }
    shelf = shelf_of(tmp_path, files | {f"Compendium/Lore/l{number}.md": f"# L{number}\n" for number in range(60)})
    shelf.book()
    taken: list[float] = []
    for _ in range(5):
        began = time.process_time()
        shelf.book()
        taken.append(time.process_time() - began)
    # Measured at 7 ms for 200 scenes and 60 cards; the bound is the promise, with room for a busy machine.
    assert min(taken) < 0.05
