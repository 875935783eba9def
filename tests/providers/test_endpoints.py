"""From an endpoint's entry to a model."""

import asyncio
import subprocess
import sys

import pytest

from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.endpoints import PROVIDERS, model_for
from tallystick.settings import Settings
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, Message, Model, Said
from tests.providers.chat.asking import code

ASK = Ask(messages=(Message(role="user", content="hello"),))


def model(provider: str, name: str = "m") -> Model:
    entry = Endpoint(agent_id="a", provider=provider, model=name, base_url="http://127.0.0.1:9/v1", retries=0)
    return model_for(entry, settings=Settings(), memory=CapabilityBook())


@pytest.mark.promise("providers.chat")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_provider_gives_a_model_that_knows_itself(provider: str) -> None:
    made = model(provider)
    assert made.provider == provider
    assert made.speech == "envelope"
    assert provider == "offline" or made.name == "m"


@pytest.mark.promise("providers.chat")
def test_the_offline_model_always_answers() -> None:
    assert isinstance(asyncio.run(model("offline").ask(ASK)), Said)


@pytest.mark.promise("providers.failures")
def test_a_provider_that_does_not_exist_is_said_when_it_is_asked() -> None:
    made = model("carrier-pigeon")
    assert (made.provider, made.name, made.speech) == ("carrier-pigeon", "m", "envelope")
    assert code(asyncio.run(made.ask(ASK))) == "provider_not_installed"


@pytest.mark.promise("providers.lazy")
def test_no_sdk_is_loaded_before_a_model_is_asked() -> None:
    script = "import sys, tallystick.providers.endpoints; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"openai", "httpx2", "xllamacpp"} & set(done.stdout.split())
