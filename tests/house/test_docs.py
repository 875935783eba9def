"""Documents that fail the build when they lie.

Code fences say what is to be done with them: ```` ```python run ```` is run, ```` ```console run ```` has its `$` lines
run and its other lines compared (`…` stands for anything), and all such blocks of one document share one folder, in
order. Python that is not run must compile; TOML must parse, and be a valid configuration when its first line names
`tallystick.toml`.
"""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tallystick.doors.cli.app import app
from tallystick.settings import CONFIG_NAME, parse_settings
from tests.house.commands import run
from tests.house.sources import ROOT

README = ROOT / "README.md"
DOCUMENTS = [
    path
    for path in (README, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md")))
    if path.exists()
]
FENCE = re.compile(r"^(?P<mark>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=mark)[ ]*$", re.MULTILINE | re.DOTALL)
TALLY = re.compile(r"(?:`|^\$ )tally((?: [a-z][a-z-]*)+)", re.MULTILINE)
MAKE = re.compile(r"(?:`|^\$ |^)make ([a-z][a-z-]*)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


@dataclass(frozen=True, kw_only=True)
class Fence:
    """One code block."""

    info: str
    body: str
    line: int


documents = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())


@pytest.mark.promise("house.readme")
def test_the_readme_is_short_and_names_the_two_commands() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text.splitlines()) < 170
    assert "make demo" in text
    assert "make test" in text


@pytest.mark.promise("house.readme")
def test_every_example_in_the_readme_is_run_and_the_help_is_shown() -> None:
    blocks = list(_fences(README))
    python = [block.info for block in blocks if block.info.startswith("python")]
    assert python
    assert set(python) == {"python run"}
    assert any(block.info == "console run" and block.body.startswith("$ tally --help\n") for block in blocks)


@pytest.mark.promise("house.docs")
@documents
def test_what_a_document_says_is_run_does_run(document: Path, tmp_path: Path) -> None:
    for block in _fences(document):
        where = f"{document.name}:{block.line}"
        if block.info == "python run":
            done = run([sys.executable, "-c", block.body], tmp_path)
            assert done.returncode == 0, f"{where}\n{done.stdout}{done.stderr}"
        elif block.info == "console run":
            for command, expected in _commands(block.body):
                done = run(["bash", "-c", command], tmp_path)
                assert _agrees(command, expected, done.stdout), f"{where}: {command}\n{done.stdout}{done.stderr}"


@pytest.mark.promise("house.docs")
@documents
def test_code_that_is_only_shown_is_at_least_code(document: Path) -> None:
    for block in _fences(document):
        if block.info.startswith("python"):
            ast.parse(block.body, filename=f"{document.name}:{block.line}")
        elif block.info == "toml":
            table = tomllib.loads(block.body)
            if CONFIG_NAME in block.body.splitlines()[0]:
                parse_settings(table)


@pytest.mark.promise("house.docs")
@documents
def test_links_lead_to_files_that_are_there(document: Path) -> None:
    text = FENCE.sub("", document.read_text(encoding="utf-8"))
    dead = [
        link
        for link in LINK.findall(text)
        if "://" not in link and not link.startswith("mailto:") and not (document.parent / link).exists()
    ]
    assert not dead


@pytest.mark.promise("house.docs")
def test_every_make_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = {name for document in DOCUMENTS for name in MAKE.findall(_code_of(document))}
    assert named
    assert sorted(named - targets) == []


@pytest.mark.promise("house.docs")
def test_every_tally_command_that_is_named_exists() -> None:
    named = sorted({name for document in DOCUMENTS for name in TALLY.findall(_code_of(document))})
    assert named
    assert not [name.strip() for name in named if CliRunner().invoke(app, [*name.split(), "--help"]).exit_code]


def test_output_is_compared_line_by_line_and_help_as_a_whole() -> None:
    assert _agrees("tally x", "receipt …, ok\n", "noise\nreceipt rcpt_1, ok\n")
    assert not _agrees("tally x", "ok\n", "not ok\n")
    assert not _agrees("tally x", "second\nfirst\n", "first\nsecond\n")
    assert not _agrees("tally --help", "a\n", "a\nb\n")


def _fences(document: Path) -> Iterator[Fence]:
    text = document.read_text(encoding="utf-8")
    for match in FENCE.finditer(text):
        yield Fence(info=match["info"].strip(), body=match["body"], line=text.count("\n", 0, match.start()) + 1)


def _code_of(document: Path) -> str:
    """Inline code and the lines of console blocks: where commands are named."""
    text = document.read_text(encoding="utf-8")
    blocks = [
        block.body for block in _fences(document) if block.info.split(" ")[0] in {"console", "sh", "bash", "shell"}
    ]
    return "\n".join([*re.findall(r"`[^`\n]+`", FENCE.sub("", text)), *blocks])


def _commands(body: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def _agrees(command: str, expected: str, output: str) -> bool:
    """Whether each expected line stands in the output, in order; help must be the same as a whole."""
    if command.endswith("--help"):
        return _trimmed(expected) == _trimmed(output)
    lines = iter(output.splitlines())
    wanted = [".*".join(map(re.escape, line.strip().split("…"))) for line in expected.splitlines() if line.strip()]
    return all(any(re.fullmatch(pattern, line.strip()) for line in lines) for pattern in wanted)


def _trimmed(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]
