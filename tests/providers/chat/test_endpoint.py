"""Base URLs as people write them, and keys where people put them."""

import asyncio
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.providers.chat.endpoint import NO_KEY, USUAL_ADDRESSES, address_of, is_loopback, key_of
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError
from tests.providers.chat.asking import KEY, asking, code

GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"


def endpoint(provider: str = "lmstudio", base_url: str | None = None, **fields) -> Endpoint:
    return Endpoint(agent_id="a", provider=provider, model="m", base_url=base_url, **fields)


@pytest.mark.promise("providers.addresses")
@pytest.mark.parametrize(
    ("provider", "given_", "address"),
    [
        ("lmstudio", None, "http://localhost:1234/v1"),
        ("ollama", None, "http://localhost:11434/v1"),
        ("openai", None, "https://api.openai.com/v1"),
        ("openrouter", None, "https://openrouter.ai/api/v1"),
        ("lmstudio", "http://10.0.0.5:1234", "http://10.0.0.5:1234/v1"),
        ("lmstudio", " http://10.0.0.5:1234/v1/ ", "http://10.0.0.5:1234/v1"),
        ("llamacpp", "http://localhost:8080/v1/chat/completions", "http://localhost:8080/v1"),
        ("llamacpp", "http://localhost:8080/chat/completions", "http://localhost:8080/v1"),
        ("vllm", "https://host/proxy/llm", "https://host/proxy/llm/v1"),
        ("openai", "https://host/api/v3", "https://host/api/v3"),
        ("azure", "https://name.openai.azure.com", "https://name.openai.azure.com/openai/v1"),
        ("azure", "https://name.openai.azure.com/openai/", "https://name.openai.azure.com/openai/v1"),
        ("azure", "https://name.openai.azure.com/openai/v1", "https://name.openai.azure.com/openai/v1"),
        (
            "azure",
            "https://name.openai.azure.com/openai/v1/?api-version=preview",
            "https://name.openai.azure.com/openai/v1?api-version=preview",
        ),
        (
            "azure",
            "https://name.openai.azure.com?api-version=2024-10-21",
            "https://name.openai.azure.com/openai/deployments/m?api-version=2024-10-21",
        ),
        (
            "azure",
            "https://name.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
            "https://name.openai.azure.com/openai/deployments/d?api-version=2024-10-21",
        ),
        ("gemini", None, GEMINI),
        ("gemini", "https://generativelanguage.googleapis.com", GEMINI),
        ("gemini", "https://generativelanguage.googleapis.com/v1beta/", GEMINI),
        ("openai", f"{GEMINI}/", GEMINI),
        ("anthropic", None, "https://api.anthropic.com/v1"),
        ("anthropic", "https://host/v1/messages", "https://host/v1"),
        ("vllm", "http://[::1]:8000", "http://[::1]:8000/v1"),
    ],
)
def test_a_base_url_leads_to_the_versioned_api(provider, given_, address) -> None:
    assert address_of(endpoint(provider, given_)) == address


@pytest.mark.promise("providers.addresses")
@pytest.mark.parametrize(
    ("provider", "given_"),
    [
        ("azure", None),
        ("azure", "https://name.openai.azure.com/openai/deployments/d"),
        ("azure", f"https://name.openai.azure.com/?api-key={KEY}"),
        ("azure", f"https://name.openai.azure.com/?api-version=1&api-key={KEY}"),
        ("openai", "https://host/v1?api-version=2024-10-21"),
        ("lmstudio", "localhost:1234"),
        ("lmstudio", "ftp://host/v1"),
        ("lmstudio", "http://"),
        ("lmstudio", "http://host:port"),
        ("lmstudio", "http://[::1"),
        ("lmstudio", f"http://user:{KEY}@host/v1"),
        ("lmstudio", f"http://host/v1?key={KEY}"),
        ("lmstudio", "http://host/v1#x"),
    ],
)
def test_a_base_url_that_cannot_be_used_is_said_without_repeating_it(provider, given_) -> None:
    found = address_of(endpoint(provider, given_))
    assert isinstance(found, ModelError)
    assert found.code == "endpoint_unreachable"
    assert KEY not in found.message


@pytest.mark.promise("providers.addresses")
@given(st.text(max_size=40))
def test_any_text_as_base_url_gives_an_address_or_a_reason(text: str) -> None:
    found = address_of(endpoint("lmstudio", text))
    assert isinstance(found, ModelError) or found.startswith(("http://", "https://"))


@pytest.mark.parametrize("provider", [name for name, url in USUAL_ADDRESSES.items() if url])
def test_an_address_that_was_found_is_found_again(provider) -> None:
    address = address_of(endpoint(provider))
    assert isinstance(address, str)
    assert address_of(endpoint(provider, address)) == address


def test_this_machine_is_known_by_its_names() -> None:
    assert all(map(is_loopback, ["http://localhost:1/v1", "http://127.0.0.9/v1", "http://[::1]:1/v1"]))
    assert not any(map(is_loopback, ["http://10.0.0.1/v1", "https://localhost.example.org/v1"]))


@pytest.mark.promise("providers.keys")
def test_a_key_comes_from_the_variable_that_is_named_or_the_usual_one(monkeypatch) -> None:
    monkeypatch.setenv("MY_KEY", f" {KEY}\n")
    monkeypatch.setenv("OPENAI_API_KEY", "usual")
    assert key_of(endpoint("openai", api_key_env="MY_KEY")) == KEY
    assert key_of(endpoint("openai")) == "usual"
    assert key_of(endpoint("lmstudio")) == NO_KEY


@pytest.mark.promise("providers.keys")
@pytest.mark.parametrize("value", [None, "", "  ", "two words", "lin\nes", "schlüssel"])
def test_a_variable_without_a_usable_key_is_named_and_its_value_is_not(monkeypatch, value) -> None:
    monkeypatch.delenv("MY_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("MY_KEY", value)
    found = key_of(endpoint("openai", api_key_env="MY_KEY"))
    assert isinstance(found, ModelError)
    assert found.code == "key_missing"
    assert "MY_KEY" in found.message
    assert not (value or "").strip() or (value or "") not in found.message


@pytest.mark.promise("providers.keys")
def test_a_key_file_counts_only_outside_the_workspace(tmp_path) -> None:
    inside, outside = tmp_path / "workspace" / "key", tmp_path / "key"
    inside.parent.mkdir()
    for file in (inside, outside):
        file.write_text(f"{KEY}\n", encoding="utf-8")
    (tmp_path / "link").symlink_to(inside)
    assert key_of(endpoint(api_key_file=str(outside)), workspace=inside.parent) == KEY
    for name in (str(inside), str(tmp_path / "link"), str(tmp_path / "gone"), str(tmp_path)):
        found = key_of(endpoint(api_key_file=name), workspace=inside.parent)
        assert isinstance(found, ModelError)
        assert found.code == "key_missing"
        assert KEY not in found.message


@pytest.mark.promise("providers.keys")
def test_what_is_missing_is_said_before_anything_is_sent(monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    for wrong, expected in ((endpoint("openai"), "key_missing"), (endpoint("azure"), "endpoint_unreachable")):
        assert code(asyncio.run(OpenAiCompatible(wrong, memory=CapabilityBook()).ask(asking()))) == expected


@pytest.mark.promise("providers.not-installed")
def test_a_provider_whose_package_is_missing_says_how_to_get_it(monkeypatch) -> None:
    monkeypatch.delitem(sys.modules, "tallystick.providers.chat.client", raising=False)
    monkeypatch.setitem(sys.modules, "openai", None)
    answer = asyncio.run(OpenAiCompatible(endpoint(), memory=CapabilityBook()).ask(asking()))
    assert isinstance(answer, ModelError)
    assert answer.code == "provider_not_installed"
    assert "tallystick[models]" in answer.message
