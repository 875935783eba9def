"""Making the index: by rules, by a model that behaves and by one that does not."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tallystick.errors import ConfigError
from tallystick.rooms.studio.canon.index import CanonIndex
from tallystick.rooms.studio.canon.index_file import CanonFiles
from tallystick.rooms.studio.model_answers import ModelUnavailable
from tallystick.storage.files import FileSources
from tests.rooms.studio.projects import lay_out, shelf_of

PEOPLE = "Compendium/Characters/"
FILES = {
    f"{PEOPLE}ada.md": "# Ada\n\nAda never lies.\n",
    f"{PEOPLE}ben.md": "# Ben\n\nEyes: grey\n",
    f"{PEOPLE}cleo.md": "# Cleo\n\nShe sings.\n",
}


def index_of(root: Path, files: dict[str, str] | None = None) -> CanonIndex:
    return CanonIndex(
        shelf_of(root, FILES if files is None else files), CanonFiles(root), now=lambda: "2026-01-01T00:00:00Z"
    )


def canon(root: Path) -> bytes:
    return (root / ".control-room" / "canon" / "canon-index.md").read_bytes()


class Model:
    """Answers well, but for the cards it is told to answer otherwise."""

    def __init__(self, **otherwise: str | ModelUnavailable) -> None:
        self.asked: list[str] = []
        self.otherwise = otherwise

    def __call__(self, prompt: str) -> str | ModelUnavailable:
        name = prompt.rpartition("# ")[2].split("\n")[0].lower()
        self.asked.append(name)
        good = {
            "type": "character", "scope": ["book"], "hardness": "hard", "topics": ["people"], "defines": [],
            "constraints": [], "summary": f"All about {name}.",
        }  # fmt: skip
        return self.otherwise.get(name, json.dumps(good))


def problems(status: dict[str, Any]) -> dict[str, str]:
    return {one["path"].rpartition("/")[2]: one["code"] for one in status["problems"]}


@pytest.mark.promise("canon.rules", "canon.status")
def test_the_index_is_made_by_rules_and_served_as_canon(tmp_path: Path) -> None:
    index = index_of(tmp_path)
    before = index.status()
    assert (before["state"], before["cards"], before["indexed"]) == ("absent", 3, 0)
    told: list[dict[str, Any]] = []
    made = index.build(tell=told.append)
    assert (made["state"], made["indexed"], made["by"], made["problems"]) == ("current", 3, "rules", [])
    assert [(one["done"], one["total"], one["by"]) for one in told] == [
        (1, 3, "rules"),
        (2, 3, "rules"),
        (3, 3, "rules"),
    ]
    served = FileSources(tmp_path).read("Story/Compendium/Canon.md")
    assert served is not None
    assert (served.path, served.sha256) == ("Canon.md", made["index_sha256"])
    assert "Ada never lies." in served.text


@pytest.mark.promise("canon.same-bytes")
def test_the_same_cards_give_the_same_bytes(tmp_path: Path) -> None:
    index_of(tmp_path / "one").build()
    first = canon(tmp_path / "one")
    index_of(tmp_path / "one").build()
    assert canon(tmp_path / "one") == first
    index_of(tmp_path / "two", dict(reversed(FILES.items()))).build()
    assert canon(tmp_path / "two") == first


@pytest.mark.promise("canon.status")
def test_the_status_says_what_changed_since(tmp_path: Path) -> None:
    index = index_of(tmp_path)
    index.build()
    lay_out(tmp_path, {f"{PEOPLE}ada.md": "# Ada\n\nAda lies.\n", f"{PEOPLE}dora.md": "# Dora\n"})
    (tmp_path / f"{PEOPLE}ben.md").unlink()
    found = index.status()
    assert found["state"] == "stale"
    assert [path.rpartition("/")[2] for path in found["changed"]] == ["ada.md", "ben.md", "dora.md"]
    assert index.build()["state"] == "current"
    (tmp_path / ".control-room" / "canon" / "canon-index.md").write_text("mine\n")
    assert index.status()["state"] == "stale"


@pytest.mark.promise("canon.one-bad-card", "canon.model")
def test_a_bad_answer_about_one_card_does_not_stop_the_rest(tmp_path: Path) -> None:
    made = index_of(tmp_path).build(agent="continuity", ask=Model(ben="I would rather not."))
    assert (made["state"], made["by"], made["agent"]) == ("current", "model", "continuity")
    assert problems(made) == {"ben.md": "extraction_not_json"}
    text = canon(tmp_path).decode()
    assert "All about ada." in text
    assert "Ben, character; Eyes: grey" in text


@pytest.mark.promise("canon.one-bad-card")
def test_a_card_without_a_name_is_told_and_left_out(tmp_path: Path) -> None:
    made = index_of(tmp_path, FILES | {f"{PEOPLE}x.md": "---\nname:\n---\n"}).build()
    assert (made["cards"], problems(made)) == (3, {"x.md": "card_without_name"})


@pytest.mark.promise("canon.one-bad-card")
def test_a_silent_model_is_asked_once_and_rules_do_the_rest(tmp_path: Path) -> None:
    model = Model(ben=ModelUnavailable(code="endpoint_unreachable"))
    made = index_of(tmp_path).build(agent="continuity", ask=model)
    assert model.asked == ["ada", "ben"]
    assert problems(made) == {"ben.md": "endpoint_unreachable", "cleo.md": "model_silent"}
    assert made["indexed"] == 3


@pytest.mark.promise("canon.durable", "canon.same-bytes")
def test_what_a_model_has_read_it_is_not_asked_again(tmp_path: Path) -> None:
    index = index_of(tmp_path)
    index.build(agent="continuity", ask=Model())
    first = canon(tmp_path)
    again = Model()
    index.build(agent="continuity", ask=again)
    assert (again.asked, canon(tmp_path)) == ([], first)
    lay_out(tmp_path, {f"{PEOPLE}ben.md": "# Ben\n\nEyes: blue\n"})
    index.build(agent="continuity", ask=again)
    assert again.asked == ["ben"]
    index.build(agent="critic", ask=again)
    index.build(agent="continuity", ask=again, fresh=True)
    assert again.asked == ["ben", *["ada", "ben", "cleo"] * 2]
    assert index.build()["by"] == "rules"


def test_an_empty_compendium_gives_an_empty_index(tmp_path: Path) -> None:
    made = index_of(tmp_path, {}).build()
    assert (made["state"], made["cards"]) == ("current", 0)


@pytest.mark.parametrize("spoil", [lambda meta: meta.write_text("{"), lambda meta: meta.mkdir()])
def test_a_damaged_file_is_an_error_and_stays(tmp_path: Path, spoil: Callable[[Path], object]) -> None:
    index = index_of(tmp_path)
    meta = tmp_path / ".control-room" / "canon" / "canon-meta.json"
    meta.parent.mkdir(parents=True)
    spoil(meta)
    with pytest.raises(ConfigError) as caught:
        index.build()
    assert caught.value.code == "canon_meta_damaged"
    assert meta.exists()


@pytest.mark.promise("canon.boot")
def test_the_first_index_says_that_it_is_being_built(tmp_path: Path) -> None:
    seen: list[str] = []

    def now() -> str:
        seen.append(index.status()["state"])
        return "2026-01-01T00:00:00Z"

    index = CanonIndex(shelf_of(tmp_path, FILES), CanonFiles(tmp_path), now=now)
    made = index.build_first()
    assert (seen, made is not None and made["state"]) == (["building"], "current")
    assert index.build_first() is None
    (tmp_path / "without").mkdir()
    assert index_of(tmp_path / "without", {}).build_first() is None
