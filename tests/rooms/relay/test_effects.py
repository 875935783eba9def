import pytest

from tallystick.rooms.relay.effects import effect_of


@pytest.mark.promise("relay.effects")
@pytest.mark.parametrize(
    ("name", "annotations", "effect"),
    [
        ("git_status", {"readOnlyHint": True}, "read"),
        ("open_nodes", {"readOnlyHint": True, "openWorldHint": False}, "read"),
        ("delete_file", {"readOnlyHint": True, "openWorldHint": False}, "write"),
        ("fetch", {"readOnlyHint": True, "openWorldHint": True}, "external"),
        ("git_status", {"readOnlyHint": False, "openWorldHint": False}, "write"),
        ("get_x", {"destructiveHint": True}, "external"),
        ("list_tables", None, "read"),
        ("tables_list", None, "read"),
        ("readFile", None, "read"),
        ("get_and_delete", None, "external"),
        ("createIssue", None, "external"),
        ("write_query", {"openWorldHint": False}, "write"),
        ("fetch_url", None, "external"),
        ("frobnicate", None, "external"),
        ("frobnicate", "nonsense", "external"),
        ("", None, "external"),
    ],
)
def test_of_what_a_tool_says_and_how_it_is_named_the_worse_counts(name, annotations, effect):
    assert effect_of({"name": name, "annotations": annotations})[0] == effect
