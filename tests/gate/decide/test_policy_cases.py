"""`tally policy test`: the case file and its results."""

import pytest

from tallystick.errors import ConfigError
from tallystick.gate.decide.policy_cases import read_cases, run_cases
from tests.gate.decide.calls import a_card, a_policy

CASES = """
[[case]]
name = "small payments go through"
tool = "pay"
args = { amount = 5 }
roles = ["clerk"]
expect = "allow"

[[case]]
tool = "pay"
args = { amount = 500 }
roles = ["clerk"]
expect = "ask"
reason = "approval_required"

[[case]]
tool = "pay"
args = { amount = 500 }
roles = ["clerk"]
granted = true
expect = "allow"

[[case]]
tool = "pay"
roles = []
expect = "deny"
reason = "role_missing"

[[case]]
tool = "pay"
roles = ["owner"]
allowed_tools = ["look"]
expect = "deny"
reason = "tool_not_allowed_this_turn"

[[case]]
tool = "pay"
authenticated = false
expect = "deny"

[[case]]
tool = "nobody_has_this"
expect = "deny"
reason = "unknown_tool"

[[case]]
tool = "elsewhere"
effect = "external"
expect = "ask"
"""
RULES = {"pay": {"rules": [{"schema": {"properties": {"amount": {"maximum": 100}}}, "otherwise": "ask"}]}}
CARDS = {"pay": a_card("pay", "write", roles=frozenset({"clerk"}))}


@pytest.mark.promise("decide.policy-test")
def test_every_case_that_says_what_policy_decides_holds() -> None:
    results = run_cases(read_cases(CASES), a_policy(RULES), CARDS)
    assert [(result.place, result.ok) for result in results] == [(place, True) for place in range(1, 9)]


@pytest.mark.promise("decide.policy-test")
def test_a_case_that_expects_another_verdict_or_reason_fails() -> None:
    swapped = CASES.replace('expect = "allow"', 'expect = "deny"').replace('"role_missing"', '"tool_denied"')
    results = run_cases(read_cases(swapped), a_policy(RULES), CARDS)
    assert [result.place for result in results if not result.ok] == [1, 3, 4]
    assert results[0].decision.verdict == "allow"


@pytest.mark.promise("decide.policy-test")
def test_a_policy_in_shadow_is_tested_for_what_it_says() -> None:
    results = run_cases(read_cases(CASES), a_policy(RULES, shadow=True), CARDS)
    assert all(result.ok for result in results)
    denied = run_cases(
        read_cases('[[case]]\ntool="look"\nexpect="deny"\n'), a_policy(read="deny", shadow=True), {"look": a_card()}
    )
    assert denied[0].ok


@pytest.mark.promise("decide.policy-test")
@pytest.mark.parametrize(
    ("text", "code", "names"),
    [
        ("[[case]\n", "config_malformed", "line"),
        ("", "config_bad_value", "case"),
        ("case = []\n", "config_bad_value", "case"),
        ('[[case]]\ntool = "pay"\n', "config_bad_value", "case.1.expect"),
        (
            '[[case]]\ntool="a"\nexpect="deny"\n[[case]]\ntool="b"\nexpect="perhaps"\n',
            "config_bad_value",
            "case.2.expect",
        ),
        ('[[case]]\ntool="a"\nexpect="deny"\nrole=["x"]\n', "config_bad_value", "case.1.role"),
    ],
)
def test_a_case_file_that_cannot_be_used_is_named(text: str, code: str, names: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_cases(text, source="cases.toml")
    assert caught.value.code == code
    assert names in str(caught.value)
