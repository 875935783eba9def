"""The policy's text, its digest, and what is wrong with a bad one."""

import random
from typing import Any

import pytest
import tomli_w
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import ConfigError
from tallystick.gate.decide.policy import Policy
from tallystick.settings import parse_settings
from tests.gate.decide.calls import a_card, a_policy

verdicts = st.sampled_from(["allow", "ask", "deny"])
names = st.text(min_size=1, max_size=8)
roles = st.lists(st.sampled_from(["clerk", "boss", "é", 'a"b']), unique=True)
schemas = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(
            names,
            st.fixed_dictionaries({}, optional={"maximum": st.integers(-9, 9), "const": st.floats(-2, 2) | names}),
        ),
        "required": st.lists(names, max_size=3, unique=True),
    },
)
rules = st.fixed_dictionaries(
    {"schema": schemas}, optional={"roles": roles, "otherwise": st.sampled_from(["deny", "ask"]), "name": names}
)
tools = st.dictionaries(
    names,
    st.fixed_dictionaries(
        {},
        optional={
            "decision": verdicts, "roles": roles, "rate": st.integers(1, 99), "shadow": st.booleans(),
            "rules": st.lists(rules, max_size=2),
        },
    ),
    max_size=3,
)  # fmt: skip
configs = st.fixed_dictionaries(
    {},
    optional={
        "policy": st.fixed_dictionaries(
            {}, optional={"read": verdicts, "write": verdicts, "external": verdicts, "rate": st.integers(1, 9), "shadow": st.booleans()}
        ),
        "tools": tools,
    },
)  # fmt: skip


def _shuffled(value: Any, luck: random.Random) -> Any:
    if isinstance(value, dict):
        items = list(value.items())
        luck.shuffle(items)
        return {key: _shuffled(item, luck) for key, item in items}
    return [_shuffled(item, luck) for item in value] if isinstance(value, list) else value


@pytest.mark.promise("decide.policy-digest")
@given(configs, st.randoms(use_true_random=False))
def test_the_order_of_keys_does_not_change_the_digest(config: dict[str, Any], luck: random.Random) -> None:
    one = Policy.from_settings(parse_settings(config))
    other = Policy.from_settings(parse_settings(_shuffled(config, luck)))
    assert one.digest == other.digest
    assert one.text == other.text


@pytest.mark.promise("decide.policy-digest")
@given(configs)
def test_the_text_gives_the_same_policy_back(config: dict[str, Any]) -> None:
    policy = Policy.from_settings(parse_settings(config))
    again = Policy.from_text(policy.text)
    assert again == policy
    assert Policy.from_text(tomli_w.dumps(config)).digest == policy.digest


@pytest.mark.promise("decide.policy-digest")
def test_what_means_the_same_has_the_same_digest_and_what_does_not_has_another() -> None:
    plain = a_policy()
    assert a_policy({"look": {}}, read="allow", external="ask", shadow=False).digest == plain.digest
    assert Policy.from_text("[limits]\nsteps = 3\n").digest == plain.digest
    digests = {
        plain.digest,
        a_policy(read="ask").digest,
        a_policy(rate=5).digest,
        a_policy(shadow=True).digest,
        a_policy({"look": {"decision": "deny"}}).digest,
        a_policy({"look": {"roles": ["a"]}}).digest,
        a_policy({"look": {"roles": ["a", "b"]}}).digest,
        a_policy({"look": {"rules": [{"schema": {"type": "object"}}]}}).digest,
        a_policy({"look": {"rules": [{"schema": {"type": "object"}, "otherwise": "ask"}]}}).digest,
    }
    assert len(digests) == 9


@pytest.mark.promise("decide.policy-digest")
def test_changing_the_settings_afterwards_changes_nothing() -> None:
    overlay = {"properties": {"a": {"maximum": 1}}}
    settings = parse_settings({"tools": {"look": {"rules": [{"schema": overlay}]}}})
    policy = Policy.from_settings(settings)
    overlay["properties"]["a"]["maximum"] = 99
    settings.tools["look"].rules[0].overlay.clear()
    assert Policy.from_text(policy.text) == policy
    assert not policy.rule_for(a_card("look")).deny_checks[0].accepts({"a": 2})


@pytest.mark.promise("decide.policy-errors")
@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "telepathic"}, "tools.pay.rules[1]"),
        ({"$ref": "http://127.0.0.1:9/x"}, "tools.pay.rules[1]"),
        ({"$ref": "#"}, "tools.pay.rules[1]"),
        ({"properties": {"a": {"pattern": "(?=x)"}}}, "tools.pay.rules[1]"),
        ({"const": float("inf")}, "tools.pay.rules[1]"),
        ({"properties": {"a": {"const": None}}}, "tools.pay.rules[1]"),
    ],
    ids=["no such type", "remote reference", "circle", "pattern", "infinity", "null"],
)
def test_a_schema_that_cannot_be_used_is_named(schema: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as caught:
        a_policy({"pay": {"rules": [{"schema": {}}, {"schema": schema}]}})
    assert caught.value.code == "config_bad_value"
    assert says in str(caught.value)


@pytest.mark.promise("decide.policy-errors")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[policy\n", "config_malformed"),
        ("[policy]\nrean = 'ask'\n", "config_unknown_key"),
        ("[tools.look]\ndecision = 'maybe'\n", "config_bad_value"),
        ("[tools.look]\nrate = 0\n", "config_bad_value"),
        ("[[tools.look.rules]]\nschema = { const = 2024-01-01 }\n", "config_bad_value"),
    ],
)
def test_a_policy_that_cannot_be_read_is_an_error_with_a_code(text: str, code: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Policy.from_text(text)
    assert caught.value.code == code


def test_a_tool_nobody_registered_is_a_warning() -> None:
    policy = a_policy({"send_mial": {"decision": "deny"}, "look": {"decision": "ask"}})
    assert policy.unknown_tools({"look", "send_mail"}) == ("send_mial",)


@pytest.mark.parametrize(
    ("effect", "verdict", "by_model"),
    [("read", "allow", "allow"), ("write", "allow", "ask"), ("external", "deny", "deny"), ("unheard-of", None, None)],
)
def test_a_write_by_a_model_has_a_verdict_of_its_own_and_no_other_effect_has(
    effect: str, verdict: str | None, by_model: str | None
) -> None:
    rule = a_policy(read="allow", write="allow", model_write="ask", external="deny").rule_for(a_card("act", effect))
    assert (rule.verdict, rule.model_verdict) == (verdict, by_model)
