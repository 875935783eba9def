"""Folders of Markdown: a project of ours, a vault, a file a chapter; and novelWriter's cards and synopses."""

from pathlib import Path

import pytest

from tallystick.gate.reply.sources import Source
from tallystick.rooms.studio.book.outline import parse_outline
from tallystick.rooms.studio.manuscript_import.importer import read_source
from tallystick.rooms.studio.manuscript_import.project_files import files_of
from tests.offline_turns import write_files
from tests.rooms.studio.manuscript_import.novel import project_file, write_novelwriter

CARD = "---\ntype: character\naliases: [Tom]\n---\n# Tomas Reed\n\nSee [[Mira Holt|her]].\n"


@pytest.mark.promise("studio.import-folder")
def test_a_project_in_our_layout_comes_over_byte_for_byte(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    write_files(
        folder,
        {"Story/Scenes/SCN-a.md": "# A\r\n\r\nText.\r\n", "Compendium/Characters/CHAR-x.md": CARD, "Notes/n.md": "n"},
    )
    (folder / "Canon.md").write_text("compiled", encoding="utf-8")
    (folder / "cover.png").write_bytes(b"\x89PNG\0")
    (folder / ".obsidian").mkdir()
    (folder / ".obsidian/app.md").write_text("x", encoding="utf-8")
    found = read_source(folder)
    assert files_of(found) == {
        path: (folder / path).read_bytes() for path in ("Story/Scenes/SCN-a.md", "Compendium/Characters/CHAR-x.md", "Notes/n.md")
    }  # fmt: skip
    assert {(loss.kind, loss.where) for loss in found.losses} == {
        ("not_carried", "Canon.md"),
        ("attachment", "cover.png"),
    }


@pytest.mark.promise("studio.import-folder")
def test_a_vault_finds_its_places_and_keeps_front_matter_and_links(tmp_path: Path) -> None:
    folder = tmp_path / "vault"
    folder.mkdir()
    write_files(
        folder,
        {
            "Scenes/01 - Arrival.md": "---\npov: Mira\n---\nRain on [[The Quay]].\n",
            "Scenes/02 - Salt.md": "Salt. ![[map.png]]\n",
            "People/Mira Holt.md": "# Mira Holt\n",
            "loose/Tomas.md": CARD,
            "Outline.md": "# Outline\n\n1. Arrival\n",
            "Ideas.md": "An idea.\n",
        },
    )
    (folder / "Scenes/away.md").symlink_to(tmp_path)
    found = read_source(folder)
    files = {path: data.decode() for path, data in files_of(found).items()}
    assert files == {
        "Story/Scenes/SCN-01-arrival.md": "---\npov: Mira\n---\nRain on [[The Quay]].\n",
        "Story/Scenes/SCN-02-salt.md": "Salt. ![[map.png]]\n",
        "Compendium/Characters/Mira Holt.md": "# Mira Holt\n",
        "Compendium/Characters/Tomas.md": CARD,
        "Story/SCN-outline.md": "# Outline\n\n1. Arrival\n",
        "Notes/Ideas.md": "An idea.\n",
    }
    assert [(loss.kind, loss.where) for loss in found.losses] == [("image", "Scenes/02 - Salt.md")]


@pytest.mark.promise("studio.import-folder")
def test_chapters_with_breaks_in_them_become_scenes(tmp_path: Path) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    write_files(
        folder, {"1 First.md": "One.\n\n* * *\n\nTwo.\n", "2 Second.md": "# Salt\n\nThree.\n", "10 Tenth.md": "Ten.\n"}
    )
    found = read_source(folder)
    assert [(c.title, [s.blocks for s in c.scenes]) for c in found.chapters] == [
        ("1 First", [("One.",), ("Two.",)]), ("Salt", [("Three.",)]), ("10 Tenth", [("Ten.",)]),
    ]  # fmt: skip


@pytest.mark.promise("studio.import-folder", "studio.import-losses")
def test_text_that_is_not_utf8_is_read_as_it_was_meant_and_said_so(tmp_path: Path) -> None:
    folder = tmp_path / "old"
    folder.mkdir()
    (folder / "a.md").write_bytes("Été\n".encode("cp1252"))
    found = read_source(folder)
    assert files_of(found) == {"Story/Scenes/SCN-a.md": "Été\n".encode()}
    assert [loss.kind for loss in found.losses] == ["encoding"]
    single = tmp_path / "b.txt"
    single.write_bytes("Chapter 1\n\nÉté\n".encode("cp1252"))
    assert [loss.kind for loss in read_source(single).losses] == ["encoding"]


@pytest.mark.promise("studio.import-folder", "studio.import-losses")
@pytest.mark.parametrize("encoding", ["cp1251", "koi8_r", "utf-16-le"])
def test_other_encodings_of_an_import_are_recognised(tmp_path: Path, encoding: str) -> None:
    text = "Он вышел из дома рано утром и пошёл к реке, где его ждал старый рыбак с лодкой.\n"
    (tmp_path / "a.md").write_bytes(text.encode(encoding))
    found = read_source(tmp_path)
    assert files_of(found) == {"Story/Scenes/SCN-a.md": text.encode()}
    assert [loss.kind for loss in found.losses] == ["encoding"]


@pytest.mark.promise("studio.import-losses")
def test_a_document_of_a_project_that_is_no_text_is_a_loss_and_the_rest_is_read(tmp_path: Path) -> None:
    folder = write_novelwriter(tmp_path / "project")
    broken = max((folder / "content").iterdir())
    broken.write_bytes(b"\0\1\2")
    found = read_source(folder)
    assert "chapter_unreadable" in [loss.kind for loss in found.losses]
    assert len(files_of(found)) > 1


STORY = """# Part One

## Arrival

### The Quay

@pov: Mira
@char: Mira, Tom

%Synopsis: She comes.

% a thought -- of mine

She [u]came[/u][footnote:f1] *home*.
Then left.

> Quoted. <

[newpage]

%Footnote.f1: no
"""


def item(handle: int, parent: str, group: str, layout: str = "", kind: str = "FILE", name: str = "x") -> str:
    return (
        f'<item handle="{handle:013x}" parent="{parent}" order="{handle}" type="{kind}" class="{group}" '
        f'layout="{layout}"><name>{name}</name></item>'
    )


@pytest.mark.promise("studio.import-folder", "studio.import-losses")
def test_a_novelwriter_project_brings_cards_references_and_an_outline(tmp_path: Path) -> None:
    folder = tmp_path / "nw"
    (folder / "content").mkdir(parents=True)
    roots = {1: "NOVEL", 2: "CHARACTER", 3: "WORLD", 4: "TRASH"}
    items = [item(number, "None", group, kind="ROOT") for number, group in roots.items()]
    texts = {
        16: (1, "NOVEL", "DOCUMENT", STORY),
        17: (2, "CHARACTER", "NOTE", "# Mira Holt\n\n@tag: Mira | Mira H.\n\n%Short: A pilot\n\nShe fears water.\n\n## Past\n\nLong.\n"),
        18: (2, "CHARACTER", "NOTE", "# Tomas Reed\n\n@tag: Tom\n\nTall.\n"),
        19: (3, "WORLD", "NOTE", "# The Quay\n\nWet.\n"),
        20: (4, "TRASH", "DOCUMENT", "### Old\n\nGone.\n"),
    }  # fmt: skip
    for handle, (root, group, layout, text) in texts.items():
        items.append(item(handle, f"{root:013x}", group, layout, name=f"d{handle}"))
        (folder / "content" / f"{handle:013x}.nwd").write_text(text, encoding="utf-8")
    aside = item(22, f"{1:013x}", "NOVEL", "DOCUMENT").replace("<name>", '<name active="no">')
    items += [
        aside,
        item(21, f"{1:013x}", "NOVEL", "DOCUMENT", name="missing"),
        item(16, f"{16:013x}", "NOVEL", "DOCUMENT"),
    ]
    (folder / "nwProject.nwx").write_text(project_file(items), encoding="utf-8")
    found = read_source(folder / "nwProject.nwx")
    files = {path: data.decode() for path, data in files_of(found).items()}
    assert sorted(files) == [
        "Compendium/Characters/CHAR-mira-holt.md", "Compendium/Characters/CHAR-tomas-reed.md",
        "Compendium/Locations/LOC-the-quay.md", "Story/SCN-outline.md", "Story/Scenes/SCN-the-quay.md",
    ]  # fmt: skip
    scene = files["Story/Scenes/SCN-the-quay.md"]
    assert "part: Part One\nchapter: Arrival\npov: Mira Holt\n" in scene
    assert 'characters: ["Mira Holt", "Tomas Reed"]\nsynopsis: She comes.\n' in scene
    assert "<!-- a thought - - of mine -->\n\nShe came \\*home\\*.\\\nThen left.\n\n> Quoted.\n" in scene
    assert files["Compendium/Characters/CHAR-mira-holt.md"].startswith(
        '---\nname: Mira Holt\ntype: character\naliases: ["Mira"]\n---\n\n# Mira Holt\n\nShe fears water.\n\n## Past\n'
    )
    outline = parse_outline(Source(path="o", text=files["Story/SCN-outline.md"], sha256=""))
    assert [(beat.title, beat.pov, beat.scene) for beat in outline.beats] == [("The Quay", "Mira Holt", "SCN-the-quay")]
    assert {loss.kind for loss in found.losses} == {
        "footnote",
        "formatting",
        "layout",
        "not_carried",
        "chapter_unreadable",
    }
