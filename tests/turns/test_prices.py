"""Prices of models."""

import asyncio

import pytest

from tallystick.errors import ConfigError
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.endpoints import model_for
from tallystick.settings import Settings, load_settings
from tallystick.turns.agent import Endpoint
from tallystick.turns.prices import price_of
from tests.providers.chat.asking import asking, said
from tests.scripted_server import Says, ScriptedServer


def endpoint(provider: str, model: str, **fields) -> Endpoint:
    return Endpoint(agent_id="a", provider=provider, model=model, **fields)


@pytest.mark.promise("providers.usage")
def test_the_first_known_price_applies() -> None:
    shipped = price_of(endpoint("openai", "gpt-4o"), {})
    assert shipped is not None
    assert price_of(endpoint("openai", "gpt-4o-2024-08-06"), {}) == shipped
    assert price_of(endpoint("azure", "gpt-4o"), {}) == shipped
    assert price_of(endpoint("ollama", "gpt-4o"), {}) is None
    configured = {"gpt-4o": (1.0, 2.0), "azure/gpt-4o": (3.0, 4.0)}
    assert price_of(endpoint("openai", "gpt-4o"), configured) == (1.0, 2.0)
    assert price_of(endpoint("azure", "gpt-4o"), configured) == (3.0, 4.0)
    assert price_of(endpoint("openai", "gpt-4o", price_out_microusd=500_000), configured) == (0.0, 0.5)
    assert price_of(endpoint("openai", "unknown"), configured) is None


@pytest.mark.promise("providers.usage")
@pytest.mark.parametrize(("model", "cost"), [("m", 11 + 14), ("another", 0)])
def test_the_cost_of_an_answer_follows_the_configured_price(tmp_path, model: str, cost: int) -> None:
    (tmp_path / "tallystick.toml").write_text("[models.prices]\nm = [1, 2.0]\n", encoding="utf-8")
    with ScriptedServer(Says("hello")) as server:
        entry = endpoint("lmstudio", model, base_url=server.base_url)
        made = model_for(entry, settings=load_settings(tmp_path, {}), memory=CapabilityBook())
        assert said(asyncio.run(made.ask(asking()))).usage.cost_microusd == cost


@pytest.mark.parametrize("price", ["[1]", "[1, -2]", "3", "[1, nan]"])
def test_a_wrong_price_is_an_error_that_names_it(tmp_path, price: str) -> None:
    (tmp_path / "tallystick.toml").write_text(f"[models.prices]\nm = {price}\n", encoding="utf-8")
    with pytest.raises(ConfigError, match=r"models\.prices"):
        load_settings(tmp_path, {})
    assert Settings().models.prices == {}
