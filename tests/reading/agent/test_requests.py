"""A request is served by the tool whose examples are nearest, with arguments of the workspace."""

import pytest

from tallystick.reading.agent.argument_forms import assignee_in, line_in, most_in, tags_in
from tallystick.reading.agent.arguments import Subject, fill_arguments
from tallystick.reading.agent.intents import IntentIndex, read_examples
from tallystick.reading.agent.names import find_mentions, masked, named_file

EXAMPLES = read_examples(
    """
[[stock_count]]
requests = ["How many pieces of {card} do we have?", "Count the stock."]

[[letter_check]]
args = { mode = "strict" }
requests = ["Check {scene} for mistakes, strictly.", "Only the strict check of {scene}."]

[[letter_check]]
requests = ["Check {scene}.", "Is {scene} all right?", "Compare {scene} and {scene}."]

[[find_words]]
requests = ["Where do I mention the clock?", "Find the word lantern."]
"""
)
WORKSPACE = [
    named_file("Story/Scenes/SCN-01-the-orchard.md", "---\ntitle: The Orchard\n---\n# The Orchard\n"),
    named_file("Story/Scenes/SCN-02-even.md", "# Even\n"),
    named_file("Compendium/Characters/CHAR-tilda-moor.md", "---\nname: Tilda Moor\naliases: [Tilly]\n---\n"),
    named_file("Compendium/Locations/LOC-orchard.md", "---\nname: The Orchard\n---\n"),
    named_file("Story/SCN-outline.md", "# Outline: Even\n"),
]
CHECK = {
    "properties": {
        "scene_path": {"type": "string"},
        "mode": {"enum": ["usual", "strict"], "default": "usual"},
        "canon_paths": {"type": "array"},
    },
    "required": ["scene_path"],
}
FIND = {"properties": {"query": {"type": "string"}}, "required": ["query"]}
READ = {
    "properties": {
        "file_path": {"type": "string"},
        "start_line": {"type": "integer"},
        "end_line": {"type": "integer"},
    },
    "required": ["file_path"],
}


def _call(request: str, schema: dict[str, object], offered: tuple[str, ...]) -> tuple[str, object]:
    mentions = find_mentions(request, WORKSPACE)
    index = IntentIndex(EXAMPLES, None)
    best = index.rank(masked(request, mentions), offered)[0]
    return best.name, fill_arguments(schema, best, Subject(request=request, mentions=mentions, workspace=WORKSPACE))


@pytest.mark.promise("reading.agent")
def test_a_title_becomes_the_path_of_its_scene() -> None:
    name, args = _call("Please check Even for me", CHECK, ("letter_check", "find_words"))
    assert (name, args) == ("letter_check", {"scene_path": "Story/Scenes/SCN-02-even.md"})


@pytest.mark.promise("reading.agent")
def test_the_nearest_group_of_examples_brings_its_arguments() -> None:
    _, args = _call("check scene 1 for mistakes, but strictly", CHECK, ("letter_check",))
    assert args == {"scene_path": "Story/Scenes/SCN-01-the-orchard.md", "mode": "strict"}


@pytest.mark.promise("reading.agent")
def test_a_card_that_is_named_is_what_a_scene_is_held_against() -> None:
    _, args = _call("Check the orchard scene with Tilly", CHECK, ("letter_check",))
    assert args == {
        "scene_path": "Story/Scenes/SCN-01-the-orchard.md",
        "canon_paths": ["Compendium/Characters/CHAR-tilda-moor.md"],
    }


@pytest.mark.promise("reading.agent")
def test_a_search_is_for_the_words_that_no_example_asks_with() -> None:
    name, args = _call("Where do I mention the wheelbarrow?", FIND, ("letter_check", "find_words"))
    assert (name, args) == ("find_words", {"query": "wheelbarrow"})
    _, args = _call('find the word "stone cold"', FIND, ("find_words",))
    assert args == {"query": '"stone cold"'}


@pytest.mark.promise("reading.agent")
def test_without_what_it_needs_a_call_is_not_made() -> None:
    assert _call("Check it.", CHECK, ("letter_check",))[1] is None


@pytest.mark.promise("reading.agent")
def test_lines_are_read_from_the_request() -> None:
    request = "Lines 20 to 35 of Even"
    mentions = find_mentions(request, WORKSPACE)
    best = IntentIndex(EXAMPLES, None).rank(request, ("letter_check",))[0]
    args = fill_arguments(READ, best, Subject(request=request, mentions=mentions, workspace=WORKSPACE))
    assert args == {"file_path": "Story/Scenes/SCN-02-even.md", "start_line": 20, "end_line": 35}


@pytest.mark.promise("reading.agent")
@pytest.mark.parametrize(
    ("request_text", "shown"),
    [
        ("Open Even", "Open {scene}"),
        ("Even so, I like it", "{scene} so, I like it"),
        ("even so, I like it", "even so, I like it"),
        ("scenes 1 and 2", "{scene} and {scene}"),
        ("Where does Tilda live?", "Where does {person} live?"),
        ("Where is the Orchard?", "Where is {place}?"),
        ("the Orchard scene", "{scene} scene"),
        ("the last chapter", "the {scene}"),
        ("the outline", "the outline"),
        ("where does tilda live?", "where does {person} live?"),
        ("tilly's card", "{card}'s card"),
    ],
)
def test_names_become_what_they_name(request_text: str, shown: str) -> None:
    assert masked(request_text, find_mentions(request_text, WORKSPACE)) == shown


@pytest.mark.promise("reading.agent")
@pytest.mark.parametrize(
    ("request_text", "first", "last"),
    [
        ("Lines 20 to 35 of Even", 20, 35),
        ("line 14 down to 22, please", 14, 22),
        ("Even from line 20 onwards", 20, None),
        ("only line 7", 7, 7),
        ("the first ten lines of Even", None, 10),
        ("Open Even", None, None),
    ],
)
def test_lines_have_few_forms(request_text: str, first: int | None, last: int | None) -> None:
    assert (line_in(request_text, starts=True), line_in(request_text, starts=False)) == (first, last)


@pytest.mark.promise("reading.agent")
@pytest.mark.parametrize(
    ("request_text", "tags", "assignee", "most"),
    [
        ("Issues tagged pacing", ["pacing"], None, None),
        ("those tagged pacing and act-two, at most five", ["pacing", "act-two"], None, 5),
        ("what is assigned to Dora?", None, "Dora", None),
        ("closed ones on Dora's plate, max 3", None, "Dora", 3),
        ("What is a tag?", None, None, None),
        ("Is it on the table?", None, None, None),
    ],
)
def test_tags_assignees_and_counts_have_few_forms(
    request_text: str, tags: list[str] | None, assignee: str | None, most: int | None
) -> None:
    assert (tags_in(request_text), assignee_in(request_text), most_in(request_text)) == (tags, assignee, most)
