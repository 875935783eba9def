"""The local model: the same API as any other, on a server that this process starts."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from tallystick.providers.chat.answer import ANSWER_BYTES
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.providers.local.server import server_for
from tallystick.providers.local.weights import weights_of
from tallystick.providers.models.store import ModelStore
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, ModelError, Said, Speech

ANSWER_TOKENS = 512
"""Default limit: a small model that loses the thread does not stop by itself."""


class LocalModel:
    """A model on this machine; satisfies `Model`."""

    provider = "local"

    def __init__(
        self, endpoint: Endpoint, *, memory: CapabilityBook, store: ModelStore, answer_bytes: int = ANSWER_BYTES
    ) -> None:
        self._endpoint = endpoint
        self._store = store
        self._memory = memory
        self._answer_bytes = answer_bytes

    @property
    def speech(self) -> Speech:
        """The protocol of the endpoint's entry."""
        return self._endpoint.protocol

    @property
    def name(self) -> str:
        """The model's name."""
        return self._endpoint.model

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        """Send one request; the first one starts the server."""
        weights = weights_of(self.name, self._store)
        if isinstance(weights, ModelError):
            return weights
        served = await asyncio.to_thread(server_for(weights, self.name).ready)
        if isinstance(served, ModelError):
            return served
        # The address changes with every start, but learnt capabilities must stay with the endpoint.
        endpoint = replace(self._endpoint, provider="llamacpp", base_url=served.address)
        model = OpenAiCompatible(
            endpoint, memory=self._memory, key=served.key, answer_bytes=self._answer_bytes, known_as=self._endpoint.key
        )
        return await model.ask(self._bounded(ask), hear=hear)

    def _bounded(self, ask: Ask) -> Ask:
        temperature = self._endpoint.temperature if ask.temperature is None else ask.temperature
        # Greedy decoding by default: the same prompt gives the same turn.
        return replace(ask, max_tokens=ask.max_tokens or ANSWER_TOKENS, temperature=temperature or 0.0)
