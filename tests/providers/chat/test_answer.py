"""Reading answers without trust, waiting with measure, and grammars that mean what the schema means."""

import json
import re
from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.providers.chat.answer import ChatAnswer, whole
from tallystick.providers.chat.failures import ProviderFailure, model_error, passes, refused_fields, refuses_form
from tallystick.providers.chat.forms import Shaped
from tallystick.providers.chat.grammar import grammar_of
from tallystick.providers.chat.patience import LONGEST_S, OBEYED_S, asked_pause_s, pause_s
from tallystick.providers.chat.request import request_body
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError, Said, ToolDefinition
from tests.providers.chat.asking import KEY, SCHEMA, asking

ENDPOINT = Endpoint(agent_id="a", provider="openai", model="m")
NAMES = st.sampled_from(
    ["choices", "message", "delta", "content", "tool_calls", "function", "name", "arguments", "index", "usage",
     "prompt_tokens", "finish_reason", "model", "id", "refusal", "error", "code"]
)  # fmt: skip
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("stop")),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=5)),
    max_leaves=20,
)


@pytest.mark.promise("providers.misbehaving")
@given(st.lists(JSON, max_size=4), st.sampled_from(["message", "delta"]), st.booleans())
def test_any_json_gives_an_answer_or_a_code(bodies, part, streamed) -> None:
    answer = ChatAnswer(limit=100)
    for body in bodies:
        assert isinstance(answer.take(body, part=part), str | ModelError)
    done = answer.done(ENDPOINT, asked=10, streamed=streamed)
    assert isinstance(done, Said | ModelError)
    if isinstance(done, Said):
        assert done.finish in {"stop", "length", "tool_calls", "content_filter"}
        done.text.encode()


@pytest.mark.promise("providers.failures")
@given(st.integers(300, 599), JSON)
def test_any_failure_has_a_code_and_one_line_without_the_key(status, body) -> None:
    failure = ProviderFailure(status=status, body={"error": {"message": f"{KEY}\n{body}"}} if status % 2 else body)
    made = model_error(failure, ENDPOINT, address="http://localhost/v1", key=KEY)
    assert KEY not in made.message
    assert "\n" not in made.message
    assert len(made.message) < 500
    passes(failure)
    refuses_form(failure)
    refused_fields(failure, {"temperature": 1})


@pytest.mark.promise("providers.failures")
def test_a_model_that_declines_is_heard() -> None:
    answer = ChatAnswer()
    message = {"content": None, "refusal": "I cannot do that."}
    answer.take({"choices": [{"message": message, "finish_reason": "content_filter"}]}, part="message")
    done = answer.done(ENDPOINT, asked=0, streamed=False)
    assert isinstance(done, Said)
    assert (done.text, done.finish) == ("I cannot do that.", "content_filter")


@given(st.text(st.characters(), max_size=8))
def test_text_can_always_be_written_and_whole_text_stays_as_it_is(text: str) -> None:
    whole(text).encode()
    if not re.search("[\ud800-\udfff]", text):
        assert whole(text) == text


@pytest.mark.promise("providers.retries")
@given(st.integers(0, 12), st.one_of(st.none(), st.floats(0, 1e9)), st.floats(0, 1, exclude_max=True))
def test_no_wait_is_longer_than_its_bound(attempt, asked, chance) -> None:
    seconds = pause_s(attempt, asked, lambda: chance)
    if asked is None:
        assert seconds is not None
        assert 0.25 <= seconds <= LONGEST_S
    else:
        assert seconds == (asked if asked <= OBEYED_S else None)


@pytest.mark.promise("providers.retries")
@pytest.mark.parametrize(
    ("text", "seconds"),
    [("3", 3.0), ("0.5", 0.5), ("-2", 0.0), ("", None), ("soon", None), ("nan", None), ("inf", None),
     (formatdate(1_000_007, usegmt=True), 7.0), (formatdate(999_000, usegmt=True), 0.0)],
)  # fmt: skip
def test_retry_after_is_read_as_seconds_or_as_a_date(text, seconds) -> None:
    assert asked_pause_s({"retry-after": text}, 1_000_000.0) == seconds


@pytest.mark.promise("providers.native")
def test_a_call_is_demanded_where_the_turn_demands_one() -> None:
    offer = ToolDefinition(name="t", description="d", schema={})
    plain = Shaped(form="plain", fields={})
    body = request_body(asking(offers=(offer,), require_call=True), ENDPOINT, plain)
    assert body["tool_choice"] == "required"
    assert "tool_choice" not in request_body(asking(offers=(offer,)), ENDPOINT, plain)
    refused = ProviderFailure(status=400, body={"error": {"message": "tool_choice 'required' is not supported"}})
    assert refused_fields(refused, body) == {"tool_choice"}


@pytest.mark.promise("providers.forms")
def test_a_grammar_names_every_rule_it_uses() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#/$defs/t"}, "x": {"enum": ['a"\\\n', 1, None]}}}
    odd = {"$ref": "https://example.org", "type": "object"}
    many = {"type": ["string", "null"], "minLength": 2}
    for schema in (
        SCHEMA, {"$ref": "#/$defs/t", "$defs": {"t": tree}}, odd, many, {}, {"type": "object", "properties": {}},
        {"type": "array", "items": True}, {"allOf": []}, {"type": "object", "properties": {"a": {}, "b": {}}},
    ):  # fmt: skip
        grammar = grammar_of(schema)
        assert grammar is not None
        made = {line.split(" ::= ")[0] for line in grammar.splitlines()}
        bare = re.sub(r'"(\\.|[^"\\])*"|\[(\\.|[^\]\\])*\]', "", grammar)
        used = set(re.findall(r"[a-z][a-z0-9-]*", bare))
        assert used <= made


@pytest.mark.promise("providers.forms")
def test_a_grammar_that_would_be_endless_is_not_made() -> None:
    wide = {"type": "object", "properties": {str(number): {"const": number} for number in range(3000)}}
    assert grammar_of(wide) is None


def test_the_envelope_stands_in_the_grammar_as_it_must_be_written() -> None:
    grammar = grammar_of(SCHEMA)
    assert grammar is not None
    assert json.dumps('"nonce"') in grammar
    assert json.dumps('"n1"') in grammar
