import re

import pytest

from tallystick.doors.cli.mcp.wrap_args import WordsError, read_words
from tallystick.doors.mcp.relay import wrap as wrapping_module

FLAGS = {"--strict", "--trust-new", "--quiet", "-q", "--json"}
WORDS = (
    ["--", "uvx", "mcp-server-git", "--", "x"],
    ["uvx", "mcp-server-git", "--strict"],
    ["--name", "My Server!", "--strict", "--trust-new", "--hold=1", "--timeout", "2", "--", "x"],
    ["--url", "https://x.example:8443/mcp", "--header", "A: b", "--header=C: d", "--max-output", "1000"],
    ["-w", "some", "--policy", "p.toml", "--start-timeout", "5", "--", "x", "-y"],
    ["-q", "--json", "--", "x"],
    ["--quiet", "--", "x", "--json"],
)


@pytest.mark.promise("relay.words")
@pytest.mark.parametrize("words", WORDS)
def test_both_ways_of_reading_the_command_line_agree(tally, monkeypatch, words):
    taken = []
    monkeypatch.setattr(wrapping_module, "wrap", lambda wrapping: taken.append(wrapping) or 0)
    # The toolkit reads options after the first word as its own, unless they are set apart.
    apart = words if "--" in words or "--url" in words else ["--", *words]
    assert tally("mcp", "wrap", *apart).code == 0
    assert taken == [read_words(words)]


@pytest.mark.promise("relay.words")
def test_what_was_said_is_what_is_meant():
    plain = read_words(WORDS[0])
    assert plain.command == ("uvx", "mcp-server-git", "--", "x")
    assert plain.name == "git"
    assert plain.workspace.endswith("/.tallystick/relay/git")
    assert read_words(WORDS[2]).name == "My-Server"
    assert read_words(WORDS[3]).headers == ("A: b", "C: d")
    assert [read_words(words).quiet for words in WORDS[4:]] == [False, True, True]


@pytest.mark.promise("relay.words")
def test_every_option_that_the_help_lists_is_taken(tally):
    listed = set(re.findall(r"(?<![\w-])(--?[a-z][a-z-]*)", tally("mcp", "wrap", "--help").out)) - {"--help", "-h"}
    assert {"--quiet", "-q", "--json", "--hold"} <= listed
    for option in sorted(listed):
        value = (
            [] if option in FLAGS else ["http://x" if option == "--url" else "A: 1" if option == "--header" else "1"]
        )
        server = [] if option == "--url" else ["--url", "http://x"]
        assert read_words([option, *value, *server])


@pytest.mark.promise("relay.home")
def test_the_help_names_one_default_for_the_workspace(tally):
    for name, default in (("wrap", "~/.tallystick/relay/NAME"), ("review", "all that were wrapped")):
        shown = " ".join(tally("mcp", name, "--help").out.split())
        assert f"Default: {default}" in shown
        assert "the nearest one above" not in shown


@pytest.mark.promise("relay.bad-input")
@pytest.mark.parametrize(
    "words",
    [[], ["--"], ["--url", "x", "y"], ["--url"], ["--bad", "x"], ["--hold", "-1", "x"], ["--timeout", "0", "x"],
     ["--max-output", "1.5", "x"], ["--timeout", "nan", "x"], ["--url", "ftp://x"], ["--header", "A: b", "--", "x"],
     ["--url", "http://x", "--header", "none"], ["--strict=1", "x"]],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(tally, words):
    with pytest.raises(WordsError):
        read_words(words)
