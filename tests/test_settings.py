"""Configuration: what is wrong is named, what is set in the environment wins."""

import re
from datetime import date
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tallystick.errors import ConfigError
from tallystick.section_values import read_section
from tallystick.settings import (
    CONFIG_NAME,
    OLD_NAMES,
    Settings,
    debugging,
    key_variable,
    load_settings,
    parse_settings,
    text_editor,
)


def refused(raw: dict[str, Any]) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        parse_settings(raw)
    return caught.value


def loaded(workspace: Path, text: str | None = None, **environ: str) -> Settings:
    if text is not None:
        (workspace / CONFIG_NAME).write_text(text, encoding="utf-8")
    return load_settings(workspace, environ)


def code_of(workspace: Path, text: str | None = None, **environ: str) -> str:
    with pytest.raises(ConfigError) as caught:
        loaded(workspace, text, **environ)
    return caught.value.code


def test_without_a_file_everything_has_its_default(tmp_path: Path) -> None:
    assert loaded(tmp_path) == Settings()


@pytest.mark.promise("house.settings")
@pytest.mark.parametrize("text", ["[gate", "a = ", "= 1", '"unclosed', "[a]\n[a]", "a = 1\na = 2", "\x00"])
def test_malformed_toml_is_refused(tmp_path: Path, text: str) -> None:
    assert code_of(tmp_path, text) == "config_malformed"


@pytest.mark.promise("house.settings")
@pytest.mark.parametrize("table", ["[policy]", '[tools."git.git_commit"]', '[tools."it\'s"]', r'[tools."a]\"b\u001b"]'])
def test_a_table_that_stands_there_twice_is_named_with_its_line(tmp_path: Path, table: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"line 3 begins the table {table} a second time.")) as caught:
        loaded(tmp_path, f"{table}\n\n{table}\n")
    assert caught.value.code == "config_malformed"


@pytest.mark.promise("house.settings")
def test_bytes_that_are_not_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).write_bytes(b"a = '\xff\xfe'")
    assert code_of(tmp_path) == "config_malformed"


@pytest.mark.promise("house.settings")
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / CONFIG_NAME).mkdir()
    assert code_of(tmp_path) == "config_unreadable"


@pytest.mark.promise("house.settings")
def test_a_file_that_was_asked_for_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load_settings(tmp_path, {}, tmp_path / "policy.toml")
    assert caught.value.code == "config_unreadable"
    (tmp_path / "policy.toml").write_text("policy.read = 'deny'")
    assert load_settings(tmp_path, {}, tmp_path / "policy.toml").policy.read == "deny"


@pytest.mark.promise("house.settings")
@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("polcy = {}", "polcy"),
        ("[policy]\nraed = 'allow'", "policy.raed"),
        ("[tools.look]\ndecison = 'deny'", "tools.look.decison"),
        ("[[tools.look.rules]]\nschema = {}\notherwis = 'ask'", "tools.look.rules.0.otherwis"),
        ("[auth]\nenabeld = true", "auth.enabeld"),
    ],
)
def test_an_unknown_key_is_refused_and_named(tmp_path: Path, text: str, key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text)
    assert caught.value.code == "config_unknown_key"
    assert f"'{key}'" in str(caught.value)


@pytest.mark.promise("house.settings")
@pytest.mark.parametrize(
    ("raw", "key"),
    [
        ({"policy": {"read": "maybe"}}, "policy.read"),
        ({"limits": {"steps": -1}}, "limits.steps"),
        ({"limits": {"bytes_per_step": 0}}, "limits.bytes_per_step"),
        ({"ledger": {"durability": "never"}}, "ledger.durability"),
        ({"ledger": {"segment_bytes": 1}}, "ledger.segment_bytes"),
        ({"gate": {"turn_ttl_s": 0}}, "gate.turn_ttl_s"),
        ({"server": {"port": 70_000}}, "server.port"),
        ({"tools": {"look": {"rate": 0}}}, "tools.look.rate"),
        ({"gate": 7}, "gate"),
    ],
)
def test_a_wrong_value_is_refused_and_named(raw: dict[str, Any], key: str) -> None:
    error = refused(raw)
    assert error.code == "config_bad_value"
    assert f"'{key}'" in str(error)


@pytest.mark.promise("house.settings")
def test_an_error_does_not_repeat_a_secret() -> None:
    for secret in (["hunter2"], {"hunter2": 1}):
        assert "hunter2" not in str(refused({"auth": {"jwt_secret": secret}}))
    assert "hunter2" not in repr(parse_settings({"auth": {"jwt_secret": "hunter2" * 5}}))


@pytest.mark.promise("house.settings")
def test_the_environment_goes_over_the_file(tmp_path: Path) -> None:
    settings = loaded(
        tmp_path,
        "[ledger]\ndurability = 'fsync'\ncheckpoint_every = 9\n[tools.look]\ndecision = 'allow'",
        TALLY_LEDGER__DURABILITY="os",
        TALLY_LIMITS__STEPS="3",
        TALLY_POLICY__SHADOW="true",
        TALLY_TOOLS__LOOK__DECISION="deny",
        TALLY_DATA="no setting of ours",
        HOME="neither",
    )
    assert (settings.ledger.durability, settings.ledger.checkpoint_every) == ("os", 9)
    assert (settings.limits.steps, settings.policy.shadow) == (3, True)
    assert settings.tools["look"].decision == "deny"


@pytest.mark.promise("house.settings")
@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("TALLY_LEDGER__DURABILTY", "os", "config_unknown_key"),
        ("TALLY_LEGDER__DURABILITY", "os", "config_unknown_key"),
        ("TALLY_LIMITS__STEPS", "many", "config_bad_value"),
        ("TALLY_GATE__COT__MORE", "strip", "config_bad_value"),
        ("MAX_TOOL_STEPS", "many", "config_bad_value"),
    ],
)
def test_a_wrong_name_or_value_in_the_environment_is_refused(tmp_path: Path, name: str, value: str, code: str) -> None:
    with pytest.raises(ConfigError, match=name) as caught:
        loaded(tmp_path, "[gate]\ncot = 'strip'", **{name: value})
    assert caught.value.code == code
    assert CONFIG_NAME not in str(caught.value)


@pytest.mark.promise("house.settings")
def test_a_list_in_the_environment_is_written_as_json(tmp_path: Path) -> None:
    assert loaded(tmp_path, TALLY_GATE__TOOLS='["a.py", "b.py"]').gate.tools == ("a.py", "b.py")
    for text in ("a.py", "[a.py"):
        with pytest.raises(ConfigError, match=r"TALLY_GATE__TOOLS: 'gate\.tools'.* as JSON"):
            loaded(tmp_path, TALLY_GATE__TOOLS=text)


class Shed(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    most: int = Field(default=3, ge=1)
    kinds: tuple[Literal["hand", "power"], ...] = ()
    name: str = "shed"
    since: date | None = None
    open: bool = True


def shed(workspace: Path, text: str = "", **environ: str) -> Shed:
    raw = loaded(workspace, text, **environ).rooms.section("shed")
    return read_section(Shed, raw, source=CONFIG_NAME, key="rooms.shed", strict=True)


@pytest.mark.promise("house.settings", "plugin.settings")
@pytest.mark.parametrize(
    ("text", "environ", "expected"),
    [
        (
            'most = 4\nkinds = ["hand"]\nsince = 2026-01-02',
            {},
            {"most": 4, "kinds": ("hand",), "since": date(2026, 1, 2)},
        ),
        ("", {"MOST": "4", "KINDS": '["power"]', "OPEN": "0"}, {"most": 4, "kinds": ("power",), "open": False}),
        ("most = 4", {"NAME": "[old]"}, {"most": 4, "name": "[old]"}),
        ("most = 4", {"MOST": "5"}, {"most": 5}),
    ],
)
def test_a_rooms_values_are_read_as_written_and_those_of_the_environment_converted(
    tmp_path: Path, text: str, environ: dict[str, str], expected: dict[str, Any]
) -> None:
    variables = {f"TALLY_ROOMS__SHED__{name}": value for name, value in environ.items()}
    assert shed(tmp_path, f"[rooms.shed]\n{text}\n", **variables) == Shed(**expected)


@pytest.mark.promise("house.settings", "plugin.settings")
@pytest.mark.parametrize(
    ("text", "environ", "said"),
    [
        ('most = "4"', {}, r"tallystick\.toml: 'rooms\.shed\.most'"),
        ('most = "4"', {"NAME": "x"}, r"tallystick\.toml: 'rooms\.shed\.most'"),
        ("open = 1", {}, r"tallystick\.toml: 'rooms\.shed\.open'"),
        ("", {"MOST": "0"}, r"variable TALLY_ROOMS__SHED__MOST: 'rooms\.shed\.most'"),
        ("name = 'x'", {"MOSTT": "1"}, r"variable TALLY_ROOMS__SHED__MOSTT: unknown key 'rooms\.shed\.mostt'"),
        ("", {"KINDS": "hand"}, r"variable TALLY_ROOMS__SHED__KINDS: .* as JSON"),
        ("", {"KINDS": '["hands"]'}, r"variable TALLY_ROOMS__SHED__KINDS: 'rooms\.shed\.kinds\.0'"),
    ],
)
def test_a_wrong_value_of_a_room_names_the_file_or_the_variable(
    tmp_path: Path, text: str, environ: dict[str, str], said: str
) -> None:
    variables = {f"TALLY_ROOMS__SHED__{name}": value for name, value in environ.items()}
    with pytest.raises(ConfigError, match=said):
        shed(tmp_path, f"[rooms.shed]\n{text}\n", **variables)


@pytest.mark.promise("house.settings")
@pytest.mark.parametrize("below", ["[rooms.shed]\nmost = 1\n", "[rooms]\nenabled = []\n"])
def test_the_list_of_rooms_beside_a_section_says_how_to_write_both(tmp_path: Path, below: str) -> None:
    with pytest.raises(ConfigError, match=r"Write \[rooms\] and below it enabled = ") as caught:
        loaded(tmp_path, f'rooms = ["shed"]\n\n{below}')
    assert caught.value.code == "config_malformed"
    both = loaded(tmp_path, '[rooms]\nenabled = ["shed"]\n\n[rooms.shed]\nmost = 1\n').rooms
    assert (both.enabled, both.sections(), both.section("shed")) == (("shed",), ("shed",), {"most": 1})


VALUES = {
    "APP_ENABLE_RBAC": ("true", True),
    "APP_JWT_SECRET": ("s" * 32, None),
    "APP_ENABLE_METRICS": ("0", False),
    "APP_ENABLE_TRACING": ("1", True),
    "MAX_TOOL_STEPS": ("4", 4),
    "TOOL_MAX_STEPS": ("5", 5),
    "TOOL_TOKEN_BUDGET": ("1000", 1000),
    "MAX_TOOL_BYTES_PER_STEP": ("100", 100),
    "MAX_TOOL_BYTES_PER_TURN": ("200", 200),
    "ANALYZER_BACKEND": ("offline", "offline"),
    "APP_EMBED_BACKEND": ("builtin", "builtin"),
    "APP_RERANK_BACKEND": ("builtin", "builtin"),
    "ENABLE_TOOL_DERIVATION": ("false", "false"),
    "ENABLE_TICKET_SCHEMA_VALIDATION": ("true", "true"),
    "TALLY_DATABASE_URL": ("postgresql://u@h/n", "postgresql://u@h/n"),
    "TALLY_STATE_DIR": ("/somewhere", "/somewhere"),
    "TALLY_ROOMS": ("studio, desk", ("studio", "desk")),
}


@pytest.mark.promise("house.settings")
@pytest.mark.parametrize("name", OLD_NAMES)
def test_the_names_of_older_documents_still_set_something(tmp_path: Path, name: str) -> None:
    text, value = VALUES[name]
    found: Any = loaded(tmp_path, **{name: text})
    for part in OLD_NAMES[name]:
        found = found[part] if isinstance(found, dict) else getattr(found, part)
    assert (found.get_secret_value() == text) if value is None else (found == value)


@pytest.mark.promise("house.settings")
def test_a_new_name_goes_over_an_old_one(tmp_path: Path) -> None:
    assert loaded(tmp_path, MAX_TOOL_STEPS="4", TALLY_LIMITS__STEPS="7").limits.steps == 7
    assert loaded(tmp_path, "limits.steps = 2", MAX_TOOL_STEPS="4").limits.steps == 4


def test_the_state_folder_is_the_users_unless_it_is_said_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert Settings().state_dir() == tmp_path / "tallystick"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert Settings().state_dir() == tmp_path / ".local/state/tallystick"
    assert parse_settings({"storage": {"state_dir": "~/s"}}).state_dir() == tmp_path / "s"


def test_editor_and_debugging_come_from_the_environment() -> None:
    assert (debugging({}), debugging({"TALLY_DEBUG": "0"}), debugging({"TALLY_DEBUG": "1"})) == (False, False, True)
    assert text_editor({"EDITOR": "ed", "VISUAL": "emacs"}) == "emacs"
    assert (text_editor({"EDITOR": "ed"}), text_editor({})) == ("ed", "vi")


SECTIONS = st.sampled_from([*Settings.model_fields, "nonsense", ""])
VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.promise("house.settings")
@given(st.dictionaries(SECTIONS, VALUE, max_size=3))
def test_any_data_is_settings_or_an_error_of_ours(raw: dict[str, Any]) -> None:
    try:
        parse_settings(raw)
    except ConfigError as error:
        assert error.code in {"config_unknown_key", "config_bad_value"}  # noqa: PT017 - either way is fine


@given(
    st.lists(st.sampled_from(["gate", "limits", "steps", "cot", "", "tools", "x"]), min_size=1, max_size=4), st.text()
)
def test_any_environment_is_settings_or_an_error_of_ours(parts: list[str], value: str) -> None:
    try:
        load_settings(Path("/nowhere"), {"TALLY_" + "__".join(parts).upper(): value})
    except ConfigError as error:
        assert error.code in {"config_unknown_key", "config_bad_value"}  # noqa: PT017 - either way is fine


@pytest.mark.promise("house.settings")
def test_a_model_s_key_is_also_found_under_its_older_name() -> None:
    assert key_variable("OPENAI_API_KEY", {"APP_OPENAI_API_KEY": "k"}) == "k"
    assert key_variable("OPENAI_API_KEY", {"APP_OPENAI_API_KEY": "k", "OPENAI_API_KEY": "own"}) == "own"
    assert key_variable("OPENAI_API_KEY", {}) is None
