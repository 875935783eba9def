"""The recipes of docs/relay.md, as they stand there, in front of a server that has the tools they name."""

import json
import re
import tomllib

import pytest

from tests.house.sources import ROOT
from tests.wrapped import Client, House, refusal, server, text_of

PAGE = (ROOT / "docs" / "relay.md").read_text(encoding="utf-8")
COOKBOOK = PAGE.split("\n## Policy cookbook\n")[1].split("\n## ")[0]
RECIPES = re.findall(r"^```toml\n(.*?)^```$", COOKBOOK, re.MULTILINE | re.DOTALL)
FILE = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS = {"git": ("git_commit", "git_reset", "git_branch_delete"), "filesystem": ("write_file", "edit_file")}
NOTES = "/home/me/notes"


def recipe(name):
    """The only recipe that holds these words."""
    [found] = [text for text in RECIPES if name in text]
    return found


@pytest.fixture
def kitchen(tmp_path):
    """Starts a server of this name by a recipe alone, as `--policy FILE` does."""
    house = House(tmp_path)

    def start(name, text, *, hello=True):
        (tmp_path / "recipe.toml").write_text(text)
        definitions = [{"name": tool, "inputSchema": FILE} for tool in TOOLS[name]]
        (tmp_path / "tools.json").write_text(json.dumps(definitions))
        command = server("--definitions", str(tmp_path / "tools.json"))
        options = ("--name", name, "--hold", "0", "--policy", str(tmp_path / "recipe.toml"))
        return Client(house.command(*options, command=command), home=house.home, hello={} if hello else None)

    return start


def verdict(client, tool, args=None):
    """What became of a call: it ran, or why it did not."""
    answer = client.call(tool, args)
    return refusal(answer)["reason"] if answer["result"].get("isError") else text_of(answer) and "ran"


@pytest.mark.promise("relay.cookbook")
def test_every_recipe_of_the_page_is_one_that_is_tried_here():
    tables = [tuple(tomllib.loads(text)) for text in RECIPES]
    assert tables == [("tools",), ("tools",), ("approvals",)]
    assert recipe("git.git_commit") != recipe("inside_notes") != recipe("elicitation")


@pytest.mark.promise("relay.cookbook", "relay.unsaid")
def test_one_tool_is_let_through_and_another_refused(kitchen):
    with kitchen("git", recipe("git.git_commit")) as client:
        assert verdict(client, "git_commit") == "ran"
        assert verdict(client, "git_reset") == "tool_denied"
        assert verdict(client, "git_branch_delete") == "approval_required"


@pytest.mark.promise("relay.cookbook", "relay.bad-input")
def test_a_recipe_that_was_put_behind_the_table_that_is_there_is_told_which_one_and_where(kitchen):
    first = '[tools."git.git_commit"]\ndecision = "ask"\n\n'
    client = kitchen("git", first + recipe("git.git_commit"), hello=False)
    client.begin("initialize", {})
    while client.line() is not None:
        pass
    assert client.close() == 4
    assert 'line 4 begins the table [tools."git.git_commit"] a second time. Change the table' in client.errors


@pytest.mark.promise("relay.cookbook", "relay.unsaid")
def test_writes_inside_the_folder_pass_and_no_spelling_of_a_path_leads_out_of_it(kitchen):
    inside = ["a.txt", "sub/a.txt", "sub/deep/a.b.txt", "two..dots", "with a space", "é/ü"]
    outside = [
        f"{NOTES}/{rest}"
        for rest in (
            "sub/../../evil.txt", "../evil.txt", "..", "sub/..", "sub/../a.txt", "./../../evil.txt", "./a.txt", "sub/.",
            "/../evil.txt", "sub//../../evil.txt", "a\n/../../evil.txt", "sub\\..\\..\\evil.txt", ".bashrc", "sub/", "",
        )
    ]  # fmt: skip
    outside += [NOTES, f"{NOTES}-evil/a.txt", "/etc/passwd", "notes/a.txt", f"x{NOTES}/a.txt", f"/x\n{NOTES}/a.txt"]
    with kitchen("filesystem", recipe("inside_notes")) as client:
        for rest in inside:
            assert (rest, verdict(client, "write_file", {"path": f"{NOTES}/{rest}"})) == (rest, "ran")
        for path in outside:
            assert (path, verdict(client, "write_file", {"path": path})) == (path, "approval_required")
        assert verdict(client, "write_file", {}) == "approval_required"
        assert verdict(client, "edit_file", {"path": f"{NOTES}/a.txt"}) == "approval_required"
