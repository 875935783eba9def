import pytest

from tallystick.doors.mcp.relay.effects import JOINS, MILD, OUTSIDE, READS, STRONG, WRITES, effect_of


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
        ("tables_list", None, "external"),
        ("purge_log", {"readOnlyHint": True}, "external"),
        ("resend_mail", {"readOnlyHint": True, "openWorldHint": False}, "write"),
        ("get_order", {"readOnlyHint": True}, "read"),
        ("resume_point", {"readOnlyHint": True}, "read"),
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


DOUBTFUL = """
    purge_log truncate_log destroy_tree flush_query terminate_query search_and_destroy find_and_overwrite overwrite_head
    wipe_head mark_read tweet_status post_status refund_status toggle_status unlock_status shutdown_info format_info
    forward_info withdraw_info rotate_key_info eval_info email_summary_info reboot_check check_in_guest notify_help
    shell_help drain_stat empty_trash_view log_workout list_item_for_sale list_unsubscribe get_or_make_user
    get_rid_of_user get_lock read_then_burn find_resend list_republish do_sql_query read_sql get_shell query sql shell
    request call command run exec eval query_database execute_query run_query explain_query resolve_issue head_home
    log check get_d\u00e9l\u00e9te get_d\u0435lete deletefile getanddelete
"""


@pytest.mark.promise("relay.effects", "relay.first-policy")
@pytest.mark.parametrize("name", DOUBTFUL.split())
def test_a_name_that_may_do_more_than_read_asks(name):
    assert effect_of({"name": name})[0] != "read"


SERVERS = {
    "filesystem": (
        """read_file read_text_file read_media_file read_multiple_files list_directory list_directory_with_sizes
        directory_tree search_files get_file_info list_allowed_directories""",
        "write_file edit_file create_directory move_file",
    ),
    "git": (
        "git_status git_diff git_diff_staged git_diff_unstaged git_log git_show",
        "git_add git_branch git_checkout git_commit git_create_branch git_init git_reset",
    ),
    "fetch": ("", "fetch"),
    "sqlite": ("read_query list_tables describe_table", "write_query create_table append_insight"),
    "time": ("get_current_time convert_time", ""),
    "memory": (
        "read_graph search_nodes open_nodes",
        "create_entities create_relations add_observations delete_entities delete_observations delete_relations",
    ),
    "everything": (
        """echo get-annotated-message get-env get-resource-links get-resource-reference get-structured-content get-sum
        get-tiny-image getTinyImage getResourceReference getResourceLinks""",
        """add annotatedMessage gzip-file-as-resource longRunningOperation printEnv sampleLLM simulate-research-query
        startElicitation structuredContent toggle-simulated-logging toggle-subscriber-updates
        trigger-elicitation-request trigger-long-running-operation trigger-sampling-request""",
    ),
}


@pytest.mark.promise("relay.effects", "relay.first-policy")
@pytest.mark.parametrize("server", SERVERS)
def test_tools_of_servers_that_many_have_are_told_apart_by_name_alone(server):
    reading, asking = (names.split() for names in SERVERS[server])
    assert {name: effect_of({"name": name})[0] == "read" for name in (*reading, *asking)} == {
        **dict.fromkeys(reading, True),
        **dict.fromkeys(asking, False),
    }


def test_no_word_both_reads_and_writes():
    assert READS.isdisjoint(WRITES | JOINS | OUTSIDE)
    assert STRONG.isdisjoint(MILD)
