"""The image and the compose file, read: no container engine is needed for this, and none is started.

What only a build could show (that the base image has what is asked of it) is not shown here.
"""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from tallystick.doors.cli.app import app
from tallystick.doors.http.guard import refuse_bind
from tallystick.doors.identity.loopback import is_loopback_host
from tallystick.errors import ConfigError
from tallystick.settings import OLD_NAMES, Settings, load_settings
from tests.house.sources import ROOT

pytestmark = pytest.mark.promise("install.containers")

DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
COMPOSE = (ROOT / "compose.yaml").read_text(encoding="utf-8")
OURS = ("serve", "worker")
SECRETS = {"APP_JWT_SECRET": "s" * 32, "POSTGRES_PASSWORD": "p"}
FOREIGN = {"PYTHONUNBUFFERED"}
"""Names that are Python's own."""


def steps() -> list[tuple[str, str]]:
    """The instructions with what they are given, lines joined and comments left out."""
    kept = "\n".join(line for line in DOCKERFILE.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", "", kept)
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


def given(name: str) -> list[str]:
    return [rest for step, rest in steps() if step == name]


def services(environ: Mapping[str, str] = SECRETS) -> dict[str, Any]:
    """The services, as compose would read them: anchors merged, variables put in."""

    def put(found: re.Match[str]) -> str:
        if found[1] not in environ:
            raise KeyError(found[1])
        return environ[found[1]]

    loaded = yaml.safe_load(re.sub(r"\$\{(\w+):\?[^}]*\}", put, COMPOSE))
    found: dict[str, Any] = loaded["services"]
    return found


def settings_of(name: str, tmp_path: Any) -> Settings:
    return load_settings(tmp_path, {key: str(value) for key, value in services()[name]["environment"].items()})


def test_every_file_that_is_copied_is_there_and_is_sent_to_the_build() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = [word for words in given("COPY") if "--from" not in words for word in shlex.split(words)[:-1]]
    assert copied
    for source in copied:
        assert (ROOT / source).exists(), source
    assert set(copied) == sent


def test_the_image_is_slim_and_its_process_is_not_root() -> None:
    assert {words.split()[0].rpartition(":")[2] for words in given("FROM")} == {"3.12-slim"}
    (user,) = given("USER")
    assert int(user) > 0
    order = [name for name, _ in steps()]
    assert order.index("USER") > max(index for index, name in enumerate(order) if name == "RUN")


def test_the_images_command_is_one_of_ours_and_listens_on_loopback(tmp_path: Any) -> None:
    (entry,), (command,) = given("ENTRYPOINT"), given("CMD")
    assert json.loads(entry) == ["tally"]
    _parses(json.loads(command))
    environ = dict(pair.split("=") for words in given("ENV") for pair in words.split())
    assert set(environ) <= {*OLD_NAMES, *FOREIGN}
    assert is_loopback_host(load_settings(tmp_path, environ).server.host)
    assert given("EXPOSE") == [str(Settings().server.port)]


@pytest.mark.parametrize("name", OURS)
def test_a_service_runs_a_real_command_with_settings_that_exist(name: str, tmp_path: Any) -> None:
    service = services()[name]
    _parses(service["command"])
    for variable in service["environment"]:
        assert variable in OLD_NAMES or _is_setting(variable), variable
    settings = settings_of(name, tmp_path)
    assert settings.storage.database_url == "postgresql://tally:p@postgres:5432/tally"
    refuse_bind(settings)
    with pytest.raises(ConfigError):
        refuse_bind(settings.model_copy(update={"auth": settings.auth.model_copy(update={"enabled": False})}))


@pytest.mark.parametrize("secret", SECRETS)
def test_without_its_secrets_nothing_starts(secret: str) -> None:
    with pytest.raises(KeyError, match=secret):
        services({name: value for name, value in SECRETS.items() if name != secret})


def test_what_the_services_share_is_declared_and_only_this_machine_reaches_the_port() -> None:
    declared = yaml.safe_load(COMPOSE)["volumes"]
    places = [place for service in services().values() for place in service["volumes"]]
    assert {place.partition(":")[0] for place in places} == set(declared)
    assert [port for service in services().values() for port in service.get("ports", ())] == ["127.0.0.1:8787:8787"]
    for name in OURS:
        assert set(services()[name]["depends_on"]) <= set(services())
    mounted = {place.partition(":")[2] for name in OURS for place in services()[name]["volumes"]}
    assert mounted == set(json.loads(given("VOLUME")[0]))


def _parses(words: list[str]) -> None:
    """The command is there, and so is every option that is given."""
    told = CliRunner().invoke(app, [words[0], "--help"])
    assert told.exit_code == 0
    for option in _options(words):
        assert option in told.output, option


def _options(words: list[str]) -> Iterator[str]:
    return (word for word in words if word.startswith("--"))


def _is_setting(variable: str) -> bool:
    section, _, key = variable.removeprefix("TALLY_").lower().partition("__")
    field = Settings.model_fields.get(section)
    return field is not None and key in getattr(field.annotation, "model_fields", {})
