"""Asks a local model to choose between the letters A and B, and returns the margin between them."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import orjson

from tallystick.http_port import HttpRequest, HttpResponse, parse_address
from tallystick.providers.local.server import server_for
from tallystick.providers.local.weights import weights_of
from tallystick.providers.models.store import ModelStore
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.records import record
from tallystick.turns.model import ModelError

_WITHIN_S = 120.0
_MOST_BYTES = 65_536
_CHOICES = 12
_NEVER = -20.0
"""The log probability of a letter that is not among the most likely tokens."""


@record
class LetterQuestion:
    """A prompt for questions that are answered by A or B."""

    system: str
    shown: Sequence[tuple[str, str]]
    """Few-shot examples: question and letter. They come first in every prompt, so that the server can cache them."""


def margin_for(asked: str, form: LetterQuestion, model: str, store: ModelStore) -> int | ModelError | None:
    """Return the log probability of A minus that of B, in thousandths; None if neither is likely. Blocks.

    Args:
        asked: The question.
        form: The prompt.
        model: The local model; its server is started if necessary.
        store: Where its weights are.
    """
    weights = weights_of(model, store)
    if isinstance(weights, ModelError):
        return weights
    served = server_for(weights, model).ready()
    if isinstance(served, ModelError):
        return served
    address = parse_address(f"{served.address}/v1/chat/completions", private=False)
    if address is None:
        return _failed()
    answer = PinnedHttpClient().send_sync(
        HttpRequest(
            method="POST",
            address=address,
            headers={"content-type": "application/json", "authorization": f"Bearer {served.key}"},
            body=orjson.dumps(_request(asked, form)),
            within_s=_WITHIN_S,
            most_bytes=_MOST_BYTES,
        )
    )
    if not isinstance(answer, HttpResponse) or answer.status != HTTPStatus.OK:
        return _failed()
    return margin_of(answer.body)


def _failed() -> ModelError:
    return ModelError(code="endpoint_failed", message="The local model gave no answer. Try again, or free memory.")


def _request(asked: str, form: LetterQuestion) -> dict[str, Any]:
    messages = [{"role": "system", "content": form.system}]
    for question, letter in form.shown:
        messages += [{"role": "user", "content": question}, {"role": "assistant", "content": letter}]
    messages.append({"role": "user", "content": asked})
    return {"messages": messages, "max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": _CHOICES}


def margin_of(body: bytes) -> int | None:
    """Return the log probability of A minus that of B, in thousandths; None if neither is likely."""
    try:
        likely = orjson.loads(body)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        found = {str(each["token"]).strip(): float(each["logprob"]) for each in reversed(likely)}
    except (ValueError, LookupError, TypeError):
        return None
    if not {"A", "B"} & found.keys():
        return None
    return round(1000 * (found.get("A", _NEVER) - found.get("B", _NEVER)))
