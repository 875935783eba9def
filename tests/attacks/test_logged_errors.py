"""A tool's error often repeats its arguments; the log must not hold a password that was one."""

import logging
from pathlib import Path
from typing import Any

import pytest

from tallystick import Gate, tool

SECRET = "correct horse\n'battery'"


@tool(effect="read")
def log_in(user: str, password: str, pin: int) -> str:
    "Log in."
    raise ValueError(f"{user} cannot log in with {password!r} / {password} / {pin}")


@tool(effect="read", inline=True)
def open_door(keys: dict[str, list[str]]) -> str:
    "Open the door."
    raise RuntimeError(f"no key of {keys} fits")


@pytest.mark.promise("execute.failures")
@pytest.mark.parametrize(
    ("name", "args", "secrets"),
    [
        ("log_in", {"user": "ada", "password": SECRET, "pin": 48_151}, [SECRET, repr(SECRET)[1:-1], "48151"]),
        ("open_door", {"keys": {"front": ["brass-7731"]}}, ["brass-7731"]),
    ],
)
def test_an_error_is_logged_without_the_values_of_the_call(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, args: dict[str, Any], secrets: list[str]
) -> None:
    with Gate.open(tmp_path / "ws") as gate, caplog.at_level(logging.DEBUG):
        gate.register(log_in)
        gate.register(open_door)
        outcome = gate.call_sync(name, args)
    assert outcome.failed
    assert "[argument]" in caplog.text
    assert f"in {name}" in caplog.text
    for secret in secrets:
        assert secret not in caplog.text
