"""`tally models`."""

from pathlib import Path

import pytest

from tallystick.storage.agents import Registry
from tests.doors.cli.conftest import Tally

KEY_ROWS = b"\x80"
"""`vocab/key2row` of the parser: an empty map."""


@pytest.fixture(autouse=True)
def _models_folder(tmp_path_factory, monkeypatch) -> None:
    monkeypatch.setenv("TALLY_MODELS__FOLDER", str(tmp_path_factory.mktemp("models")))


@pytest.mark.promise("models.fetch", "models.verify")
def test_a_file_is_added_verified_found_damaged_and_removed(tally: Tally, tmp_path: Path) -> None:
    (tmp_path / "key2row").write_bytes(KEY_ROWS)
    added = tally("--json", "models", "fetch", "en-core-web-sm", "--from", str(tmp_path / "key2row"))
    assert added.code == 0, added.err
    state = {item["name"]: item["state"] for item in tally("--json", "models").json["items"]}
    assert state["en-core-web-sm"].startswith("incomplete")
    assert state["minilm-int8"] == "not fetched"
    refused = tally("models", "path", "en-core-web-sm")
    assert (refused.code, refused.error) == (1, "model_missing")
    folder = Path(added.json["items"][0]["path"])
    (folder / "vocab" / "key2row").write_bytes(b"?")
    checked = tally("--json", "models", "verify", "en-core-web-sm")
    assert checked.code == 1
    wrong = [each["path"] for each in checked.json["items"][0]["problems"] if each["state"] == "wrong_checksum"]
    assert wrong == ["vocab/key2row"]
    assert tally("--json", "models", "remove", "en-core-web-sm").json["freed"] == 1
    assert not folder.exists()


@pytest.mark.promise("models.fetch")
def test_bad_input_names_what_exists_and_changes_nothing(tally: Tally, tmp_path: Path) -> None:
    assert tally("models", "fetch", "gpt-9").error == "model_unknown"
    assert tally("models", "fetch", "--from", str(tmp_path / "x")).error == "model_name_needed"
    assert tally("models", "fetch", "minilm-int8", "--from", str(tmp_path / "x")).error == "model_source_missing"
    assert tally("models", "verify").code == 0
    assert "not fetched" in tally("models", "list").out


@pytest.mark.promise("models.use")
def test_every_agent_or_one_gets_a_model_and_gives_it_back(tally: Tally, workspace: Path, token: str) -> None:
    assert tally("models", "use", "qwen2.5-coder-1.5b", "--yes").error == "person_required"
    assert tally("models", "use", "qwen2.5-coder-1.5b", "--token", token).code == 0
    used = {(each.provider, each.model) for each in map(Registry(workspace).endpoint, ["assistant", "critic"])}
    assert used == {("local", "qwen2.5-coder-1.5b")}
    assert tally("models", "use", "ollama/qwen3:8b", "--agent", "critic", "--token", token).code == 0
    critic, writer = Registry(workspace).endpoint("critic"), Registry(workspace).endpoint("writer")
    assert (critic.provider, critic.model, writer.provider) == ("ollama", "qwen3:8b", "local")
    assert tally("models", "use", "offline", "--token", token).code == 0
    assert Registry(workspace).endpoint("critic").provider == "offline"
    for wrong, code in (("minilm-int8", "model_unknown"), ("nobody/x", "endpoint_invalid")):
        assert tally("models", "use", wrong, "--token", token).error == code


@pytest.mark.promise("models.use")
@pytest.mark.parametrize(
    ("name", "model", "address", "variable"),
    [
        ("openai", "gpt-6-luna", "https://api.openai.com/v1", "OPENAI_API_KEY"),
        ("gemini", "gemini-3.8-flash", "https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
        ("anthropic", "claude-sonnet-5-5", "https://api.anthropic.com/v1", "ANTHROPIC_API_KEY"),
        ("ollama/qwen3:8b", "qwen3:8b", "http://localhost:11434/v1", None),
        ("lmstudio/qwen3-4b", "qwen3-4b", "http://localhost:1234/v1", None),
        ("llamacpp", "default", "http://localhost:8080/v1", None),
    ],
)
def test_a_provider_is_used_by_its_name(tally: Tally, token: str, monkeypatch, name, model, address, variable) -> None:
    if variable is not None:
        monkeypatch.setenv(variable, "sk-1")
    used = tally("--json", "models", "use", name, "--agent", "critic", "--token", token).json
    assert (used["model"], used["address"], used["key_env"], used["key_found"]) == (model, address, variable, True)
    assert (used["usd_per_million_tokens"] is not None) == (variable is not None)


@pytest.mark.promise("models.use")
def test_azure_is_used_at_its_own_address(tally: Tally, workspace: Path, token: str, monkeypatch) -> None:
    monkeypatch.delenv("AZURE_OPENAI_API_KEY", raising=False)
    url = "https://name.openai.azure.com/openai/deployments/small?api-version=2024-10-21"
    used = tally("models", "use", "azure/small", "--base-url", url, "--token", token)
    assert used.code == 0, used.err
    assert "AZURE_OPENAI_API_KEY" in used.err
    assert "models.prices" in used.err
    assert Registry(workspace).endpoint("critic").base_url == url


@pytest.mark.promise("models.use")
@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["azure"], "model_name_needed"),
        (["ollama"], "model_name_needed"),
        (["azure/small"], "endpoint_invalid"),
        (["azure/small", "--base-url", "https://name.openai.azure.com/openai/deployments/small"], "endpoint_invalid"),
        (["openai", "--base-url", "https://host/v1?api-version=1"], "endpoint_invalid"),
        (["nobody"], "endpoint_invalid"),
    ],
)
def test_what_is_missing_is_named_and_nothing_changes(tally: Tally, workspace: Path, token: str, words, code) -> None:
    refused = tally("models", "use", *words, "--token", token)
    assert (refused.code, refused.error) == (1, code)
    assert Registry(workspace).endpoint("critic").provider == "offline"
