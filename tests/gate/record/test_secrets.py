"""Secrets in arguments and in refused text: a digest that commits to the value, or nothing."""

import json
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.app.approvals import put_back
from tallystick.gate.record.masks import MARK, MASKED, masked_fields, readable
from tallystick.gate.record.secrets import TOKEN, Redactor, mask, redacted_keys

REDACTOR = Redactor(key=b"k" * 32, names={"password", "api_key", "token", "authorization"})
SECRET = "hunter2-and-more"

TOKENS = {
    "jws": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl",
    "model provider": "sk-proj-AbCdEfGhIjKlMnOpQrSt",
    "payment": "sk_live_AbCdEfGhIjKlMnOpQrSt",
    "payment, public": "pk_live_AbCdEfGhIjKlMnOp",
    "code host": "ghp_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "code host, fine": "github_pat_11ABCDEFG0abcdefghijkl_mnopqrst",
    "code host, other": "glpat-AbCdEfGhIjKlMnOpQrSt",
    "cloud": "AKIAIOSFODNN7EXAMPLE",
    "cloud, other": "AIzaSyA-1234567890abcdefghijklmnopqrstu",
    "chat": "xoxb-123456789012-AbCdEf",
    "oauth": "ya29.a0AfH6SMBabcdefghijklmnop",
    "package host": "npm_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
    "package host, other": "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDA",
    "model hub": "hf_AbCdEfGhIjKlMnOpQrStUv",
    "mail": "SG.AbCdEfGhIjKlMnOp.QrStUvWxYzAbCdEf",
    "header": "Bearer abcdefghijklmnop.qrst",
    "key": "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIr\n-----END EC PRIVATE KEY-----",
}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


def redacted(args: dict[str, Any], *names: str) -> Any:
    clean, found = REDACTOR.redact(args, frozenset(names))
    assert found == (clean != args)
    return clean


def is_digest(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() == {MARK} and value[MARK].startswith("hmac-sha256:")


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize(
    "name",
    [
        "password",
        "PASSWORD",
        "Password",
        "pass_word",
        "Pass-Word",
        " password ",
        "api_key",
        "apiKey",
        "API-KEY",
        "Api.Key",
    ],
)
def test_a_configured_name_is_secret_however_it_is_written(name: str) -> None:
    assert is_digest(redacted({name: SECRET})[name])


@pytest.mark.promise("record.secrets")
def test_a_name_the_tool_marks_is_secret_at_any_depth_and_only_for_it() -> None:
    args = {"a": [{"pin": SECRET, "other": 1}], "pin": {"x": SECRET}}
    clean = redacted(args, "pin")
    assert SECRET not in str(clean)
    assert clean["a"][0]["other"] == 1
    assert redacted(args) == args


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize("value", [SECRET, 1234, 1.5, True, ["a", SECRET], {"x": SECRET}], ids=repr)
def test_whatever_stands_under_a_secret_name_is_hidden(value: Any) -> None:
    assert is_digest(redacted({"password": value})["password"])


def test_nothing_is_no_secret() -> None:
    assert redacted({"password": None}) == {"password": None}


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("form", ["{}", "use {} please", '{{"x":"{}"}}', "a\n{}\nb"])
def test_a_token_is_hidden_wherever_it_stands(token: str, form: str) -> None:
    text = form.format(token)
    clean = redacted({"note": text, "deep": [{"x": [text]}]})
    assert token not in str(clean)
    assert clean["note"] == clean["deep"][0]["x"][0]
    assert is_digest(clean["note"] if text == token else clean["note"][MASKED][1])
    assert token not in mask(text)
    assert "MHcCAQEEIIr" not in mask(text)


@pytest.mark.promise("record.token-alone")
@pytest.mark.parametrize("token", TOKENS.values(), ids=TOKENS)
@pytest.mark.parametrize("form", ["use {} please", '{{"x":"{}"}}', "a\n{}\nb", "{} {} and {}"])
def test_all_but_the_token_is_readable(token: str, form: str) -> None:
    whole = redacted({"t": token})["t"]
    clean = redacted({"note": form.format(*[token] * 3)})["note"]
    rest = [part for part in form.format(*["\0"] * 3).split("\0") if part]
    assert [part for part in clean[MASKED] if isinstance(part, str)] == rest
    # Equal tokens have equal digests, wherever they stand.
    assert all(part == whole for part in clean[MASKED] if not isinstance(part, str))


@pytest.mark.promise("record.mask-unforged")
@given(st.dictionaries(st.text(max_size=4) | st.sampled_from(["$redacted", "$masked", "$literal"]), JSON, max_size=4))
def test_nothing_a_caller_writes_is_kept_as_a_mask(value: dict[str, Any]) -> None:
    args = {"v": value, "w": [{"deep": value}]}
    clean, _ = Redactor(key=b"k", names=()).redact(args)
    if not TOKEN.search(str(args)):
        assert list(masked_fields(clean)) == []
        # What is kept can be read back as exactly what was written.
        assert readable(clean) == args
        assert put_back(clean, shown=clean, exact=args) == args


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize(
    "text",
    [
        "The token was lost.",
        "skeleton-key",
        "Story/sk-1.md",
        "ask-me",
        "Bearer of bad news",
        "AKIA",
        "eyJ.",
        "hf_x",
        "-----BEGIN",
    ],
)
def test_prose_is_left_alone(text: str) -> None:
    assert redacted({"note": text}) == {"note": text}
    assert mask(text) == text


@pytest.mark.promise("record.secrets")
def test_the_digest_commits_to_the_value_under_its_key() -> None:
    one, same, other = (redacted({"password": value})["password"][MARK] for value in ("a", "a", "b"))
    assert one == same != other
    elsewhere, _ = Redactor(key=b"other", names={"password"}).redact({"password": "a"})
    assert elsewhere["password"][MARK] != one


@pytest.mark.promise("record.secrets")
@given(JSON, st.sampled_from(["password", "Token", "API KEY", "pin"]), st.data())
def test_a_secret_is_found_anywhere_in_any_arguments(value: Any, name: str, data: st.DataObject) -> None:
    args = {"v": value, name: SECRET}
    for wrap in data.draw(st.lists(st.sampled_from(["list", "dict"]), max_size=4)):
        args = {"in": [args] if wrap == "list" else {"deeper": args}}
    clean, found = REDACTOR.redact(args, frozenset({"pin"}))
    assert found
    assert SECRET not in orjson.dumps(clean).decode()


@given(st.dictionaries(st.text(max_size=8), JSON, max_size=4))
def test_arguments_without_a_secret_come_back_as_they_are(args: dict[str, Any]) -> None:
    clean, found = Redactor(key=b"k", names=()).redact(args)
    if not TOKEN.search(str(args)):
        assert not found
        assert clean == args


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize(
    "text",
    [
        '{{"password":"{}","n":1}}', '{{"password" : "{}"', "{{'password': '{}'}}", "password={} n", "Password: {}",
        "PASSWORD = {}", '{{\\"password\\":\\"{}\\"}}', '{{\\\\\\"api_key\\\\\\": \\\\\\"{}\\\\\\"}}', "user_password={}&x=1",
        "apiKey: '{}'", "API-KEY={}", 'x "token":\n"{}" done', "Authorization: Basic {}",
        '{{" Password ": "{}"}}', "pin: {}", 'tool(pin="{}")',
    ],
)  # fmt: skip
def test_in_text_that_is_no_arguments_what_follows_a_secret_name_is_hidden(text: str) -> None:
    whole = text.format(SECRET)
    assert SECRET in whole
    assert SECRET not in REDACTOR.mask(whole, frozenset({"pin"}))


@st.composite
def escaped_keys(draw: st.DrawFn, names: tuple[str, ...]) -> tuple[str, str]:
    """A secret name in any case, and as JSON may write it: each letter as it is, or escaped."""
    name = "".join(draw(st.sampled_from([one.lower(), one.upper()])) for one in draw(st.sampled_from(names)))
    return name, "".join(draw(st.sampled_from([one, *escapes_of(one)])) for one in name)


def escapes_of(letter: str) -> list[str]:
    units = letter.encode("utf-16-be")
    codes = [units[at : at + 2].hex() for at in range(0, len(units), 2)]
    return ["".join(f"\\u{code}" for code in codes), "".join(f"\\u{code.upper()}" for code in codes)]


@pytest.mark.promise("record.secrets")
@given(
    escaped_keys(("password", "api_key", "пароль", "𝗉𝗂𝗇")), st.text(), st.integers(0, 3), st.sampled_from([": ", ":"])
)
def test_however_the_letters_of_a_secret_key_are_escaped_its_value_is_hidden(
    key: tuple[str, str], before: str, depth: int, colon: str
) -> None:
    redactor = Redactor(key=b"k", names={"password", "api_key", "пароль", "𝗉𝗂𝗇"})
    text = f'{{"before":{json.dumps(before)},"{key[1]}"{colon}"with spaces, {SECRET}","after":1}}'
    assert key[0] in json.loads(text)
    for _ in range(depth):
        text = json.dumps({"quoted": text})
    clean = redactor.mask(text)
    assert SECRET not in clean
    assert "with spaces" not in clean
    assert redactor.mask(clean) == clean


@pytest.mark.promise("record.secrets")
@pytest.mark.parametrize(
    "text",
    [
        '"{{\\u0022password\\u0022:\\u0022a, {}\\u0022}}"', '{{"p\\u0061ssword":"a\\u0022 {}"}}', '{{"\\u005fpassword": "{}"}}',
        '{{"body":"user: a\\npassword: {}"}}', '{{"p\\u0061ss\\u005fword" : "{}"', "{{'\\u0070assword': '{}'}}",
        '{{"body":"the key is\\nsk-{}"}}', '{{"body":"the key is \\u0073k-{}"}}', '{{"pin\\u0020":"{}"}}',
    ],
)  # fmt: skip
def test_escapes_around_a_secret_do_not_keep_it_from_being_seen(text: str) -> None:
    assert SECRET not in REDACTOR.mask(text.format(SECRET), frozenset({"pin"}))


def test_text_with_escapes_stays_readable_but_for_what_is_secret() -> None:
    assert (
        REDACTOR.mask('{"p\\u0061ssword":"a\\"b","path":"St\\u00f6ry\\n","token":"c"}')
        == '{"p\\u0061ssword":[redacted],"path":"St\\u00f6ry\\n","token":[redacted]}'
    )
    for text in ('{"xp\\u0061ssword":"a"}', '{"note":"C:\\\\passwords\\\\x"}', "\\u0070assword", "\\ud800\\u12"):
        assert REDACTOR.mask(text) == text


def test_text_without_a_backslash_is_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tallystick.gate.record.secrets.Unescaped", None)
    assert REDACTOR.mask('{"password":"a"}') == '{"password":[redacted]}'


@pytest.mark.promise("record.secrets")
def test_the_rest_of_the_text_stays_readable() -> None:
    assert (
        REDACTOR.mask('{"password":"a\\"b","path":"Story/x.md"} done')
        == '{"password":[redacted],"path":"Story/x.md"} done'
    )
    assert REDACTOR.mask('{"password":"never closed') == '{"password":[redacted]'
    assert REDACTOR.mask("a passwordless door: open") == "a passwordless door: open"
    assert REDACTOR.mask("?password=[redacted]&a=1") == "?password=[redacted]&a=1"


@pytest.mark.promise("admit.linear")
@pytest.mark.parametrize(
    "text",
    ["password:" * 8_000, '"password"' + " " * 64_000, 'password="' * 7_000, "p_a_s_s" * 9_000, "\\" * 64_000,
     'password="\\"' * 6_000, "-----BEGIN PRIVATE KEY-----" * 2_400, "eyJ" * 20_000, "sk-" * 20_000,
     "\\u0070" * 12_000, "\\n" * 36_000, "\\u0070assword:" * 5_000, 'p\\u0061ssword="' * 5_000, "\\ud800" * 12_000,
     "\\\\n" * 24_000, ("\\" * 50 + "password:") * 1_200, "password:" + "\\" * 64_000, "s\\u006b-" * 8_000],
)  # fmt: skip
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    REDACTOR.mask(text)
    assert time.process_time() - started < 1


@given(st.text())
def test_any_text_can_be_masked(text: str) -> None:
    REDACTOR.mask(text, frozenset({"pin"}))


def test_keys_under_which_something_was_hidden_are_known_again() -> None:
    assert redacted_keys(redacted({"password": "x", "n": 1, "d": {"password": "y"}})) == {"password"}
