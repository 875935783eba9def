"""Every extra declares what its room or feature needs: it works with the extra's own packages and no others."""

import json
import re
import threading
import tomllib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tallystick.app.discovery import manifests
from tallystick.extras import EXTRAS, install_command
from tests.house.sources import ROOT
from tests.install.environments import Environment, by_links
from tests.install.using import doctor, end, get, served, talk
from tests.scripted_server import Says, ScriptedServer

DECLARED = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
COLLECTIONS = {"all", "dev"}
"""Extras that only name others."""
NOT_HERE = {"local", "embeddings", "pydantic_ai"}
"""A model on this machine is hundreds of megabytes, and Pydantic AI is in no lock: the development environment holds neither."""
MODULES = {extra.name: extra.modules for extra in EXTRAS.values()} | {
    room.name: room.requires for room in manifests().values() if room.requires
}
"""Extra → the modules that it must bring; a room's stand in its manifest."""

ASK_A_MODEL = """
import asyncio, sys
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, Message
endpoint = Endpoint(agent_id="a", provider="lmstudio", model="m", base_url=sys.argv[1])
asked = Ask(messages=(Message(role="user", content="hello"),))
print(asyncio.run(OpenAiCompatible(endpoint, memory=CapabilityBook()).ask(asked)).text)
"""
SEND_A_SPAN = """
import sys
from tallystick.settings import Settings, TelemetrySettings
from tallystick.telemetry.tracing import open_tracing
tracing = open_tracing(Settings(telemetry=TelemetrySettings(tracing=True, otlp_endpoint=sys.argv[1])))
with tracing._tracer.start_as_current_span("a call"):
    pass
tracing.close()
"""
LOAD_MINILM = """
from pathlib import Path
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tallystick.errors import ToolError
from tallystick.providers.embeddings.minilm import MiniLm
print(Tokenizer(WordLevel({"rain": 0}, unk_token="rain")).encode("rain").ids)
try:
    MiniLm(Path("nowhere"))
except ToolError as error:
    print(type(error.__cause__).__name__)
"""
SPLIT_WITH_SPACY = """
import spacy
english = spacy.blank("en")
english.add_pipe("sentencizer")
print(len(list(english("It rained. It was dark.").sents)))
"""


def studio(environment: Environment) -> None:
    (environment.work / "book.md").write_text("---\ntitle: One\n---\n\n# One\n\nIt rained.\n", encoding="utf-8")
    checked = environment.tally("--json", "studio", "check", "book.md")
    assert checked.returncode in {0, 1}, checked.stderr
    assert json.loads(checked.stdout)
    called = environment.tally("--json", "call", "prose_analyzer", json.dumps({"text": "It rained. It was dark."}))
    assert "part_missing" not in called.stdout + called.stderr


def insight(environment: Environment) -> None:
    rows = [f"Parcel {number} is late again,2026-01-{1 + number % 28:02d}" for number in range(24)]
    (environment.work / "t.csv").write_text("\n".join(["text,created_at", *rows]), encoding="utf-8")
    made = environment.tally("insight", "report", "t.csv", "--out", "report.html")
    assert made.returncode == 0, made.stderr
    assert "<html" in (environment.work / "report.html").read_text("utf-8")


def desk(environment: Environment) -> None:
    folder = environment.work / "kb"
    folder.mkdir()
    (folder / "hours.md").write_text("# Hours\n\nThe office opens at nine on weekdays.\n", encoding="utf-8")
    tried = environment.tally("--json", "desk", "try", "When does the office open?", "--kb", "kb")
    assert tried.returncode == 0, tried.stderr
    assert "nine" in tried.stdout


def page(environment: Environment) -> None:
    with served(environment) as (address, told):
        assert "Without the page" not in told
        status, body = get(f"{address}/", accept="text/html")
        assert (status, "<html" in body.lower()) == (200, True)
        assert "tallystick[studio]" in get(f"{address}/rooms", accept="text/html")[1]


def models(environment: Environment) -> None:
    with ScriptedServer(Says("hello to you")) as server:
        said = environment.run("python", "-c", ASK_A_MODEL, server.base_url)
    assert "hello to you" in said.stdout, said.stdout + said.stderr


def mcp(environment: Environment) -> None:
    environment.switch_on("memory")
    answers = talk(environment, "mcp", "serve", messages=[{"id": 1, "method": "tools/list"}])
    assert "mem.search" in json.dumps(answers[1]["result"]["tools"])


def durable(environment: Environment) -> None:
    worker = environment.start("worker", "--id", "w1")
    assert worker.stderr is not None
    try:
        told = ""
        while "is running" not in told:
            line = worker.stderr.readline()
            assert line, told
            told += line
    finally:
        end(worker)
    assert worker.returncode == 0


def postgres(environment: Environment) -> None:
    # Nothing listens there: the driver is what says so.
    url = {"TALLY_STORAGE__DATABASE_URL": "postgresql://tally@127.0.0.1:1/tally"}
    told = environment.tally("--json", "doctor", **url)
    found = {check["check"]: check["message"] for check in json.loads(told.stdout)["checks"]}
    assert "OperationalError" in found["database"]


def tracing(environment: Environment) -> None:
    received: list[str] = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            received.append(self.path)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with HTTPServer(("127.0.0.1", 0), Collector) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        sent = environment.run("python", "-c", SEND_A_SPAN, f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        thread.join()
    assert sent.returncode == 0, sent.stderr
    assert received == ["/v1/traces"]


def reading(environment: Environment) -> None:
    # The model's file is fetched, not installed: it is what is missing, and no package.
    said = environment.run("python", "-c", LOAD_MINILM)
    assert said.stdout.split() == ["[0]", "NoSuchFile"], said.stdout + said.stderr


def parser(environment: Environment) -> None:
    said = environment.run("python", "-c", SPLIT_WITH_SPACY)
    assert said.stdout.split() == ["2"], said.stderr


def example(name: str) -> Callable[[Environment], None]:
    def runs(environment: Environment) -> None:
        done = environment.run("python", str(ROOT / "examples" / name))
        assert done.returncode == 0, done.stdout + done.stderr

    return runs


USES: dict[str, Callable[[Environment], None]] = {
    "studio": studio, "insight": insight, "desk": desk, "page": page, "models": models, "mcp": mcp,
    "durable": durable, "postgres": postgres, "tracing": tracing, "agents": example("agents_sdk.py"),
    "langgraph": example("langgraph_agent.py"), "reading": reading, "parser": parser,
}  # fmt: skip


@pytest.mark.promise("install.extras")
@pytest.mark.parametrize("extra", USES)
def test_an_extra_alone_brings_all_that_its_feature_needs(extra: str, tmp_path: Path, wheel: Path) -> None:
    environment = by_links(tmp_path, wheel, extra)
    if extra in manifests():
        environment.switch_on(extra)
    found = doctor(environment)
    assert found.get(f"room {extra}", "on") == "on"
    assert f"extra {extra}" not in found
    USES[extra](environment)


def test_every_extra_is_shown_or_named_as_left_out() -> None:
    assert set(USES) | NOT_HERE == set(DECLARED) - COLLECTIONS == set(MODULES)


@pytest.mark.promise("install.extras")
@pytest.mark.parametrize("extra", sorted(set(MODULES) - NOT_HERE))
def test_an_extra_counts_as_installed_only_with_every_package_it_declares(extra: str) -> None:
    modules = packages_distributions()
    brought = {canonicalize_name(name) for module in MODULES[extra] for name in modules[module.partition(".")[0]]}
    declared = {canonicalize_name(Requirement(each).name) for each in DECLARED[extra]}
    assert declared <= brought


def test_the_command_that_is_named_is_one_that_pip_takes() -> None:
    for extra in EXTRAS:
        found = re.fullmatch(r"pip install '(.+)'", install_command(extra))
        assert found is not None
        assert Requirement(found[1]).extras == {extra}
