"""A model on a scripted server, asked in one word."""

import asyncio
from collections.abc import Callable
from typing import Any

from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, Message, ModelError, Said
from tests.scripted_server import ScriptedServer

KEY = "sk-test-4f9a1c77e0b2d6"
SCHEMA = {
    "type": "object",
    "anyOf": [
        {
            "type": "object",
            "properties": {
                "tool": {"const": "reader"},
                "args": {
                    "type": "object",
                    "properties": {"path": {"type": "string"}, "start": {"type": "integer"}},
                    "required": ["path"],
                    "additionalProperties": False,
                },
                "nonce": {"const": "n1"},
            },
            "required": ["tool", "args", "nonce"],
            "additionalProperties": False,
        },
        {
            "type": "object",
            "properties": {"action": {"const": "final"}, "nonce": {"const": "n1"}},
            "required": ["action", "nonce"],
            "additionalProperties": False,
        },
    ],
}


def asking(text: str = "hello", **fields: Any) -> Ask:
    return Ask(messages=(Message(role="user", content=text),), **fields)


class Waits:
    """Takes the place of waiting: notes how long it would have been."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)


def model_at(server: ScriptedServer, **fields: Any) -> OpenAiCompatible:
    fields = {"provider": "lmstudio", "model": "m", "base_url": server.base_url, "timeout_s": 20.0, **fields}
    memory, waits = fields.pop("memory", None), fields.pop("waits", None)
    answer_bytes = fields.pop("answer_bytes", 1024 * 1024)
    return OpenAiCompatible(
        Endpoint(agent_id="writer", **fields),
        memory=memory or CapabilityBook(),
        answer_bytes=answer_bytes,
        key=KEY,
        chance=lambda: 0.5,
        pause=waits or Waits(),
    )


def ask_at(
    server: ScriptedServer, ask: Ask | None = None, *, hear: Callable[[str], None] | None = None, **fields: Any
) -> Said | ModelError:
    return asyncio.run(model_at(server, **fields).ask(ask or asking(), hear=hear))


def said(answer: Said | ModelError) -> Said:
    assert isinstance(answer, Said), answer
    return answer


def code(answer: Said | ModelError) -> str:
    assert isinstance(answer, ModelError), answer
    return answer.code
