"""A model behind an OpenAI-compatible endpoint, or one that a connection translates to that API.

ask ─► best known form ─► request ──refused──► next form, or without the field; remembered
                             │ 429, 5xx, lost ─► wait ─► retry, while attempts and time last
                             └──► Said | ModelError
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from tallystick.providers.chat.answer import ANSWER_BYTES, ChatAnswer, bad_answer
from tallystick.providers.chat.capabilities import CapabilityBook, Learnt
from tallystick.providers.chat.endpoint import address_of, key_of
from tallystick.providers.chat.failures import (
    ProviderFailure,
    model_error,
    passes,
    refused_fields,
    refuses_form,
    refuses_this_schema,
)
from tallystick.providers.chat.forms import Shaped, ladder, shaped
from tallystick.providers.chat.patience import pause_s
from tallystick.providers.chat.request import request_body
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, ModelError, Said, Speech

INSTALL = "pip install 'tallystick[models]'"
_SDK = "tallystick.providers.chat.client"
_LINES = {"anthropic": "tallystick.providers.chat.anthropic"}
"""Provider → the module that connects to it, if it has an API of its own."""
Hear = Callable[[str], None] | None


class OpenAiCompatible:
    """One model behind one endpoint; satisfies `Model`."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        memory: CapabilityBook,
        workspace: Path | None = None,
        answer_bytes: int = ANSWER_BYTES,
        key: str | None = None,
        known_as: str | None = None,
        chance: Callable[[], float] = random.random,
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Create the model; nothing is sent or loaded before the first request.

        Args:
            endpoint: The endpoint.
            memory: What endpoints refused before.
            workspace: The folder that must not contain key files.
            answer_bytes: Maximum size of a response; larger ones are discarded.
            key: The key, if it comes neither from a variable nor from a file.
            known_as: The id for its learnt capabilities, if it is not the endpoint's key.
            chance: Random numbers from 0 up to 1 that spread the retries.
            pause: Waits for some seconds.
        """
        self._endpoint = endpoint
        self._memory = memory
        self._workspace = workspace
        self._answer_bytes = answer_bytes
        self._key = key
        self._known_as = known_as or endpoint.key
        self._chance = chance
        self._pause = pause

    @property
    def speech(self) -> Speech:
        """The protocol of the endpoint's entry."""
        return self._endpoint.protocol

    @property
    def provider(self) -> str:
        """The provider of the endpoint's entry."""
        return self._endpoint.provider

    @property
    def name(self) -> str:
        """The model's name."""
        return self._endpoint.model

    async def ask(self, ask: Ask, *, hear: Hear = None) -> Said | ModelError:
        """Send one request; a single deadline covers all retries and waits."""
        line = await self._line()
        if isinstance(line, ModelError):
            return line
        try:
            async with asyncio.timeout(self._endpoint.timeout_s) as deadline:
                return await _Question(self._endpoint, ask, hear, line, self._memory, self._known_as).answered(
                    self._answer_bytes, self._waiting(deadline)
                )
        except TimeoutError:
            message = (
                f"'{self.provider}' at {line.address} gave no answer within {self._endpoint.timeout_s:g} s."
                " Look whether it is busy, or set a longer timeout_s for this agent."
            )
            return ModelError(code="endpoint_timeout", message=message)

    async def _line(self) -> Any:
        """Return the connection (address, key and SDK), or an error for the first that is missing."""
        address = address_of(self._endpoint)
        if isinstance(address, ModelError):
            return address
        key = self._key or key_of(self._endpoint, workspace=self._workspace)
        if isinstance(key, ModelError):
            return key
        try:
            # In a thread: loading the SDK would block the event loop too long.
            module = await asyncio.to_thread(import_module, _LINES.get(self.provider, _SDK))
        except ModuleNotFoundError:
            message = f"The provider '{self.provider}' needs a package that is not installed: {INSTALL}"
            return ModelError(code="provider_not_installed", message=message)
        return module.line_for(self._endpoint, address, key, self._answer_bytes)

    def _waiting(self, deadline: asyncio.Timeout) -> Callable[[int, float | None], Awaitable[bool]]:
        """Return a function that waits before a retry, or returns False if a retry is not worthwhile."""

        async def wait(attempt: int, asked_s: float | None) -> bool:
            seconds = pause_s(attempt, asked_s, self._chance)
            end = deadline.when()
            left = None if end is None else end - asyncio.get_running_loop().time()
            if attempt >= self._endpoint.retries or seconds is None or (left is not None and seconds >= left):
                return False
            await self._pause(seconds)
            return True

        return wait


class _Question:
    """One request with its retries and fallbacks."""

    def __init__(
        self, endpoint: Endpoint, ask: Ask, hear: Hear, line: Any, memory: CapabilityBook, known_as: str
    ) -> None:
        self._endpoint = endpoint
        self._ask = ask
        self._hear = hear
        self._line = line
        self._memory = memory
        self._known_as = known_as
        known = memory.of(known_as)
        self._without = known.without
        self._shapes = _shapes(ask, endpoint.provider, known)
        self._lesson: str | None = None

    async def answered(self, limit: int, wait: Callable[[int, float | None], Awaitable[bool]]) -> Said | ModelError:
        """Retry until there is a response, or a reason to stop."""
        attempt = 0
        while True:
            shape, answer = self._shapes[0], ChatAnswer(limit=limit)
            body = self._body(shape)
            trouble = await self._line.ask(body, answer, self._hear)
            if trouble is None:
                return self._said(answer, shape)
            if isinstance(trouble, ModelError):
                return trouble
            if answer.begun:
                # Text that was already streamed cannot be taken back, so do not retry.
                return bad_answer("broke off in the middle")
            if isinstance(trouble, ProviderFailure) and self._yields(trouble, body):
                continue
            if not self._may_pass(trouble) or not await wait(attempt, getattr(trouble, "retry_after_s", None)):
                return self._given_up(trouble)
            attempt += 1

    def _body(self, shape: Shaped) -> dict[str, Any]:
        return request_body(self._ask, self._endpoint, shape, stream=self._hear is not None, without=self._without)

    def _yields(self, failure: ProviderFailure, body: dict[str, Any]) -> bool:
        """React to a refusal: leave out the field, or use the next form. Return False if neither applies."""
        fields = refused_fields(failure, body)
        if fields:
            self._without |= fields
            self._memory.refuses(self._known_as, fields)
            return True
        if len(self._shapes) == 1 or not refuses_form(failure):
            return False
        del self._shapes[0]
        # Remembered only after the lesser form has worked: the refusal may have had another reason.
        self._lesson = None if refuses_this_schema(failure) else self._shapes[0].form
        return True

    def _said(self, answer: ChatAnswer, shape: Shaped) -> Said | ModelError:
        asked = sum(len(message.content) for message in self._ask.messages)
        said = answer.done(self._endpoint, asked=asked, streamed=self._hear is not None)
        if isinstance(said, ModelError):
            return said
        if self._lesson is not None:
            self._memory.takes(self._known_as, self._lesson)
        text = said.text if said.calls else shape.restored(said.text)
        return Said(text=text, calls=said.calls, usage=said.usage, finish=said.finish, model=said.model)

    def _may_pass(self, trouble: Any) -> bool:
        return passes(trouble) if isinstance(trouble, ProviderFailure) else True

    def _given_up(self, trouble: Any) -> ModelError:
        where = f"'{self._endpoint.provider}' at {self._line.address}"
        if isinstance(trouble, ProviderFailure):
            return model_error(trouble, self._endpoint, address=self._line.address, key=self._line.key)
        if trouble.how == "never":
            message = f"Nothing answers for {where}. Start the server, or change base_url of this agent."
            return ModelError(code="endpoint_unreachable", message=message)
        return ModelError(
            code="endpoint_failed", message=f"{where} broke the connection off. Look at its log, then ask again."
        )


def _shapes(ask: Ask, provider: str, known: Learnt) -> list[Shaped]:
    """Return the response forms to try, best first, starting with the best one the endpoint is known to accept."""
    # Native tool calls have their schemas in the tools.
    schema = None if ask.offers else ask.schema
    forms = ladder(provider) if schema is not None else ("plain",)
    if known.form in forms:
        forms = forms[forms.index(known.form) :]
    return [shape for form in forms if (shape := shaped(schema, form)) is not None]
