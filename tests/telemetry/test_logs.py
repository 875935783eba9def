"""Logs say what happened and never a secret. K10 of the abuse list, for logs."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any, Literal

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from tallystick.settings import AuthSettings, RedactSettings, Settings, StorageSettings
from tallystick.telemetry.logs import MASK, Masker, set_up_logs

NAMES = RedactSettings().keys
JWT_SECRET = "kept by the server and nobody else"
STARTUP = "5f" * 32
SETTINGS = Settings(
    auth=AuthSettings(jwt_secret=JWT_SECRET),  # type: ignore[arg-type]
    storage=StorageSettings(database_url="postgresql://tally:pass-of-the-database@db.example/tally"),
)


@pytest.fixture(params=["json", "console"])
def log(request: pytest.FixtureRequest) -> Iterator[io.StringIO]:
    """Where everything logged in this test goes."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    form: Literal["json", "console"] = request.param
    set_up_logs(SETTINGS, masker=Masker(names=NAMES, values=[STARTUP]), form=form, stream=stream)
    yield stream
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


TOKENS = [
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLXBhcnQ",
    "sk-proj-abcdefghijklmnopqrstuvwxyz123456",
    "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "AKIAIOSFODNN7EXAMPLE",
    JWT_SECRET,
    STARTUP,
    "pass-of-the-database",
]


@pytest.mark.promise("telemetry.logs-masked")
@pytest.mark.parametrize("secret", TOKENS)
def test_k10_a_token_is_masked_wherever_in_a_log_it_stands(log: io.StringIO, secret: str) -> None:
    ours = structlog.get_logger("tallystick.test")
    ours.info("event %s", secret)
    ours.info("event", note=f"before {secret} after", deep={"list": [secret, {"x": secret}]})
    theirs = logging.getLogger("some.library")
    theirs.warning("Authorization: Bearer %s", secret)
    theirs.warning("%s", {"args": [secret]})
    try:
        int(secret)
    except ValueError:
        ours.exception("failed")
        theirs.exception("failed with %s", secret)
    assert secret not in log.getvalue()
    assert log.getvalue().count(MASK) >= 6


@pytest.mark.promise("telemetry.logs-masked")
@pytest.mark.parametrize("name", sorted(NAMES))
def test_k10_what_stands_under_a_secret_name_is_masked(log: io.StringIO, name: str) -> None:
    value = "hunter2-ordinary-word"
    ours = structlog.get_logger()
    ours.info("event", **{name: value, f"db_{name}": value, name.upper(): value})
    ours.info("event", args={name: {"nested": value}})
    for text in (
        f"{name}={value}", f"{name}: {value}", f'"{name}": "{value}"', f"'{name}': '{value}'", f"X_{name.upper()}={value}",
        f"{{'{name}': '{value}'}}", f"?{name}={value}&b=c",
    ):  # fmt: skip
        logging.getLogger("lib").info("request %s sent", text)
    assert value not in log.getvalue()


@pytest.mark.promise("telemetry.logs-masked")
def test_k10_keys_and_logins_in_text_are_masked(log: io.StringIO) -> None:
    pem = "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0\nAAAA\n-----END PRIVATE KEY-----"
    logging.getLogger("lib").info("loaded %s from %s", pem, "https://ada:s3cretword@host.example/x")
    structlog.get_logger().info("loaded", material=pem)
    written = log.getvalue()
    assert "MIIEvQIBADANBgkqhkiG9w0" not in written
    assert "s3cretword" not in written
    assert "host.example" in written


def test_what_is_no_secret_is_written_as_it_is() -> None:
    masker = Masker(names=NAMES)
    for text in (
        "tokens: 500",
        "the token was refreshed",
        "sha256 of Story/one.md",
        "rcpt_01HX7",
        "secretary of state",
    ):
        assert masker.text(text) == text
    assert masker.value({"count": 7, "ok": None, "share": 0.5}) == {"count": 7, "ok": None, "share": 0.5}


def test_json_lines_stay_json_and_say_when_who_and_what() -> None:
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    set_up_logs(SETTINGS, stream=stream)
    try:
        structlog.get_logger("tallystick.gate").warning("held", password='quo"te', items={"a"}, thing=object())
        logging.getLogger("some.library").info('{"token": "abc def"}')
    finally:
        root.handlers, root.level = handlers, level
        structlog.reset_defaults()
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first["event"] == "held"
    assert first["level"] == "warning"
    assert first["logger"] == "tallystick.gate"
    assert first["timestamp"].endswith("Z")
    assert first["password"] == MASK
    assert "abc def" not in second["event"]


@pytest.mark.promise("telemetry.logs-masked")
@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=8, max_size=40), st.text(), st.text())
def test_a_known_secret_never_survives_whatever_surrounds_it(secret: str, before: str, after: str) -> None:
    masker = Masker(names=NAMES, values=[secret])
    masked: Any = masker.value({"note": before + secret + after, "list": [secret]})
    assert secret not in masked["note"].replace(MASK, "") or secret in (before + after)
    assert masked["list"] == [MASK]


def test_long_text_is_cut_between_words_and_masked_at_both_ends() -> None:
    masker = Masker(names=NAMES, values=[STARTUP])
    text = f"{TOKENS[0]} begin " + f"{TOKENS[1]} {STARTUP} " * 1000 + f"the end {TOKENS[2]}"
    masked = masker.text(text)
    assert len(masked) < 9_000
    assert masked.startswith(MASK + " begin")
    assert masked.endswith("the end " + MASK)
    assert not any(part in masked for part in ("sk-proj", STARTUP[:20], TOKENS[2][:20]))
    assert masker.text("word" * 10_000).startswith("[… ")


def test_masking_takes_no_time_on_text_made_to_take_long() -> None:
    masker = Masker(names=NAMES, values=["x" * 10])
    for text in (
        "password" + " " * 100_000,
        "://" + "a" * 100_000,
        "eyJ" * 50_000,
        'token="' + '\\"' * 50_000,
        "a-" * 50_000,
    ):
        assert masker.text(text) is not None
