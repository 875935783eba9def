"""`tally studio check` and `tally studio cards`."""

import json
from pathlib import Path

import pytest
from docx import Document

from tests.doors.cli.conftest import Tally
from tests.doors.http.talking import serve_agent
from tests.rooms.studio.continuity.telling import grammar
from tests.rooms.studio.projects import lay_out
from tests.scripted_server import Says, ScriptedServer, Seen

OPENING = 'Helen Marlowe walked home with Tobias. "Rain," said Helen. Tobias laughed. Helen smiled at Tobias.'
TROUBLE = "Helen had green eyes.\n\nThe boats came in.\n\nThe lamp shone into Helen's brown eyes."


@pytest.fixture
def novel(tmp_path: Path) -> Path:
    folder = tmp_path / "desk"
    folder.mkdir()
    path = folder / "MyNovel.txt"
    path.write_text(f"{OPENING}\n\n{TROUBLE}\n")
    return path


@pytest.mark.promise("continuity.first-use")
def test_a_novel_is_checked_without_set_up_and_nothing_is_left_behind(tally: Tally, novel: Path) -> None:
    checked = tally("studio", "check", str(novel))
    assert checked.code == 1
    assert "MyNovel.txt:3: Helen had green eyes." in checked.out
    assert "MyNovel.txt:7: The lamp shone into Helen's brown eyes." in checked.out
    assert [path.name for path in novel.parent.iterdir()] == ["MyNovel.txt"]


def test_json_gives_findings_what_was_looked_at_and_receipts(tally: Tally, novel: Path) -> None:
    told = tally("studio", "check", str(novel), "--json").json
    assert [one["rule_id"] for one in told["findings"]] == ["eye-colour"]
    assert told["looked_at"]["words"] > 20
    assert len(told["receipts"]) == 1


def test_a_clean_novel_ends_well_and_says_how_much_was_read(tally: Tally, novel: Path) -> None:
    novel.write_text(OPENING)
    checked = tally("studio", "check", str(novel))
    assert (checked.code, checked.out) == (0, "")
    assert "no contradictions" in checked.err


def test_a_folder_and_a_word_file_are_checked_too(tally: Tally, tmp_path: Path) -> None:
    folder = tmp_path / "book"
    folder.mkdir()
    first, second = TROUBLE.split("\n\nThe boats came in.\n\n")
    (folder / "01.md").write_text(f"# One\n\n{OPENING}\n\n{first}\n")
    (folder / "02.md").write_text(f"# Two\n\n{second}\n")
    assert tally("studio", "check", str(folder), "--json").json["findings"][0]["scene"]["path"] == "02.md"
    document = Document()
    document.add_heading("One", level=1)
    for text in (OPENING, *TROUBLE.split("\n\n")):
        document.add_paragraph(text)
    document.save(str(tmp_path / "MyNovel.docx"))
    told = tally("studio", "check", str(tmp_path / "MyNovel.docx"), "--json")
    assert [one["rule_id"] for one in told.json["findings"]] == ["eye-colour"]


@pytest.mark.promise("continuity.first-use")
@pytest.mark.parametrize("form", ["docx", "epub"])
def test_of_a_manuscript_the_chapter_and_the_paragraph_are_named(tally: Tally, tmp_path: Path, form: str) -> None:
    first, second = TROUBLE.split("\n\nThe boats came in.\n\n")
    source = tmp_path / "novel.md"
    source.write_text(
        f"# Salt\n\n## Arrival\n\n{OPENING}\n\n> Dear\n>\n> you\n\n* * *\n\n{first}\n\n"
        f"## Later\n\n### The Vestry\n\nIt rained.\n\n* * *\n\n{second}\n"
    )
    work, novel = tmp_path / "work", tmp_path / f"MyNovel.{form}"
    tally("studio", "init", str(work))
    tally("studio", "import", str(source), "-w", str(work))
    assert tally("studio", "export", str(novel), "-w", str(work)).code == 0
    (finding,) = tally("studio", "check", str(novel), "--json").json["findings"]
    canon, scene = finding["canon"], finding["scene"]
    assert (canon["path"], canon["chapter"], canon["scene"], canon["paragraph"]) == (novel.name, "Arrival", None, 4)
    assert (scene["chapter"], scene["paragraph"], "line" in scene) == ("Later", 2, False)
    text = tally("studio", "check", str(novel))
    assert f"{novel.name}, “Arrival”, paragraph 4: {first}" in text.out
    assert "Story/Scenes" not in text.out + text.err
    proposed = tally("studio", "cards", str(novel))
    assert f"{novel.name}, “Arrival”, paragraph 4" in proposed.out
    assert "Story/Scenes" not in proposed.out


def test_a_workspace_is_checked_with_its_cards(tally: Tally, tmp_path: Path) -> None:
    tally("studio", "init", str(tmp_path))
    (tmp_path / "Story" / "Scenes" / "SCN-one.md").write_text(f"# One\n\n{OPENING}\n\nHelen had brown eyes.\n")
    (tmp_path / "Compendium" / "Characters" / "CHAR-helen.md").write_text(
        "---\nname: Helen Marlowe\neyes: green\n---\n"
    )
    told = tally("studio", "check", "--workspace", str(tmp_path), "--json")
    assert told.code == 1
    assert [one["canon"]["path"] for one in told.json["findings"]] == ["Compendium/Characters/CHAR-helen.md"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (("check", "nothing.txt"), "source_missing"),
        (("check", "--focus", "plot"), "usage"),
        (("cards", "nothing.txt", "--write"), "usage"),
    ],
)
def test_what_cannot_be_checked_is_said(tally: Tally, args: tuple[str, ...], code: str) -> None:
    refused = tally("studio", *args)
    assert (refused.code, refused.error) == (2 if code == "usage" else 1, code)


def test_an_empty_file_is_nothing_to_check(tally: Tally, novel: Path) -> None:
    novel.write_text("")
    assert tally("studio", "check", str(novel)).code in {0, 1}


@pytest.mark.promise("book.complaints")
def test_a_book_that_could_not_be_read_whole_is_not_called_clean(tally: Tally, tmp_path: Path) -> None:
    tally("studio", "init", str(tmp_path))
    scenes = tmp_path / "Story" / "Scenes"
    (scenes / "SCN-one.md").write_bytes(b"# One\n\nCaf\xe9.\n")
    (tmp_path / "Compendium/Lore/one.md").write_text("# Tide\n")
    (tmp_path / "Compendium/Lore/two.md").write_text("# Tide\n")
    told = tally("studio", "check", "-w", str(tmp_path), "--json")
    assert (told.code, [one["code"] for one in told.json["complaints"]]) == (0, ["name_taken", "file_not_utf8"])
    (scenes / "SCN-big.md").write_bytes(b"word " * 4_000_000)
    told = tally("studio", "check", "-w", str(tmp_path), "--json")
    assert (told.code, told.json["complaints_total"]) == (1, 3)
    assert told.json["complaints"][0]["code"] == "file_too_large"
    text = tally("studio", "check", "-w", str(tmp_path))
    assert (text.code, text.out) == (1, "")
    assert "left out (scene): Story/Scenes/SCN-big.md:1: file_too_large" in text.err
    alone = tally("studio", "check", str(scenes / "SCN-big.md"))
    assert (alone.code, alone.error) == (1, "file_too_large")


@pytest.mark.promise("continuity.every-finding")
def test_the_check_names_every_file_it_could_not_read_as_it_is(tally: Tally, tmp_path: Path) -> None:
    tally("studio", "init", str(tmp_path))
    for number in range(120):
        (tmp_path / "Story" / "Scenes" / f"SCN-{number}-x.md").write_bytes(b"Caf\xe9.\n")
    told = tally("studio", "check", "-w", str(tmp_path))
    assert sum("file_not_utf8" in line for line in told.err.splitlines()) == 120


@pytest.mark.promise("continuity.cards")
def test_cards_are_proposed_with_their_lines_and_written_only_when_asked(tally: Tally, tmp_path: Path) -> None:
    tally("studio", "init", str(tmp_path))
    story = f"# One\n\n{OPENING}\n\nHelen had green eyes. Helen looked up. Tobias nodded. They lived in Larkhill. He slept in Larkhill, in Larkhill.\n"
    (tmp_path / "Story" / "Scenes" / "SCN-one.md").write_text(story)
    proposed = tally("studio", "cards", "-w", str(tmp_path), "--json").json["items"]
    helen = next(one for one in proposed if one["name"].startswith("Helen"))
    assert helen["facts"][0] | {"quote": ""} == {
        "field": "eyes", "value": "green", "path": "Story/Scenes/SCN-one.md", "line": 5, "quote": "",
    }  # fmt: skip
    assert {one["kind"] for one in proposed} == {"character", "location"}
    assert not (tmp_path / helen["path"]).exists()
    written = tally("studio", "cards", "--write", "-w", str(tmp_path), "--json").json["written"]
    assert helen["path"] in written
    assert "| eyes | green | Story/Scenes/SCN-one.md:5 |" in (tmp_path / helen["path"]).read_text()
    again = tally("studio", "cards", "--write", "-w", str(tmp_path), "--json").json
    assert (again["items"], again["written"]) == ([], [])


@pytest.mark.promise("continuity.statements-kept")
def test_explain_shows_what_was_understood_of_each_card_line_and_keeps_the_rest(tally: Tally, tmp_path: Path) -> None:
    tally("studio", "init", str(tmp_path))
    (tmp_path / "Story" / "Scenes" / "SCN-one.md").write_text(f"# One\n\n{OPENING}\n")
    card = tmp_path / "Compendium" / "Characters" / "CHAR-helen.md"
    card.write_text("---\nname: Helen Marlowe\n---\n# Helen Marlowe\n\nEyes: green\nFavourite hymn: the old one\n")
    told = tally("studio", "cards", "--explain", "-w", str(tmp_path), "--json").json
    assert (told["understood"], told["lines"]) == (2, 3)
    assert [one["text"] for one in told["items"] if not one["understood"]] == ["Favourite hymn: the old one"]
    assert "2 of 3 lines understood" in tally("studio", "cards", "--explain", "-w", str(tmp_path)).err


@pytest.mark.promise("continuity.without-grammar")
def test_without_the_grammar_the_check_says_what_it_leaves_out(
    tally: Tally, novel: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "nothing"))
    checked = tally("studio", "check", str(novel))
    assert checked.code == 0
    assert "not checked without the grammar: age" in checked.err
    assert "tally models fetch en-core-web-sm" in checked.err
    assert tally("studio", "cards", str(novel)).error == "parser_missing"


@pytest.mark.promise("continuity.model")
def test_a_model_reads_the_scenes_against_the_cards(tally: Tally, workspace: Path) -> None:
    grammar()
    quote = "Helen sold her last loaf and shut the bakery door"
    lay_out(
        workspace,
        {
            "Story/Scenes/SCN-01-a.md": f"# A\n\n{quote}.\n",
            "Compendium/Characters/CHAR-helen.md": "# Helen\n\n- Trade: keeps the ferry, never the bakery\n",
        },
    )

    def said(seen: Seen) -> str:
        if "both_can_be_true" in seen.text:
            return json.dumps({"told_as": "fact", "both_can_be_true": False})
        return json.dumps({"conflicts": [{"quote": quote, "fact": 1}]})

    assert tally("studio", "check", "--model", "nobody").code == 1
    assert tally("studio", "check", "novel.txt", "--model", "critic").code == 2
    with ScriptedServer(always=Says(said)) as server:
        serve_agent(workspace, server)
        told = tally("studio", "check", "--model", "critic")
        again = tally("studio", "check", "--model", "critic", "--json").json
    assert (told.code, f"SCN-01-a.md:3: {quote}" in told.out) == (1, True)
    assert "1 paragraph read with 2 calls" in told.err
    assert [one["rule_id"] for one in again["findings"]] == ["contradiction"]
    assert again["model"]["calls"] == 0
