"""A local model as support scorer: whether a source says all of a sentence, from the probability of its answer."""

from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import Any

import orjson

from tallystick.gate.reply.support.scorer import Judged, Verdict
from tallystick.http_port import HttpRequest, HttpResponse, parse_address
from tallystick.providers.local.server import server_for
from tallystick.providers.local.weights import weights_of
from tallystick.providers.models.store import ModelStore
from tallystick.providers.net.client import PinnedHttpClient
from tallystick.turns.model import ModelError

REFUSED_BELOW = -500
SUPPORTED_FROM = 0
"""Margins, in thousandths; between them the verdict is `unsure`. Measured in `benchmarks/RESULTS.md`."""
_WITHIN_S = 60.0
_MOST_BYTES = 65_536
_CLAIM = 400
_CHOICES = 12
_NEVER = -20.0
"""The logarithm of an answer that is not among the likeliest ones."""
_SYSTEM = "You check facts strictly. Answer with one letter."
_ASKED = "Source: {source}\nStatement: {claim}\nA = the source says all of this, B = it does not."
_SHOWN = (
    ("Anna gave the key to Bruno.", "Bruno gave Anna the key.", "B"),
    ("[kitchen stock] Flour: 12 kg. Sugar: 4 kg.", "There are twelve kilos of flour.", "A"),
    ("[kitchen stock] Flour: 12 kg. Sugar: 4 kg.", "There is more sugar than flour.", "B"),
    (
        "The gate is locked at dusk and opened again by the porter.",
        "The porter opens the gate, which is shut in the evening.",
        "A",
    ),
    ("If it rains, the fair moves to the hall.", "The fair moved to the hall.", "B"),
    ("Ticket 88 closed by M. Ito, no refund paid.", "M. Ito closed ticket 88 and no money was returned.", "A"),
)
"""Examples with their answers."""


class LocalJudge:
    """Asks a local model for one letter; satisfies `SupportScorer`. The first question starts the server."""

    def __init__(self, model: str, store: ModelStore) -> None:
        self._model = model
        self._store = store
        # The client needs a thread without an event loop, and the model answers one question at a time.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="judge")

    def judge(self, claim: str, source: str) -> Judged:
        """See `SupportScorer`."""
        margin = self._thread.submit(self._margin, claim[:_CLAIM], source).result()
        return Judged(claim=claim, source=source, verdict=_verdict(margin), model=self._model, margin=margin)

    def _margin(self, claim: str, source: str) -> int | None:
        weights = weights_of(self._model, self._store)
        if isinstance(weights, ModelError):
            return None
        served = server_for(weights, self._model).ready()
        if isinstance(served, ModelError):
            return None
        address = parse_address(f"{served.address}/v1/chat/completions", private=False)
        if address is None:
            return None
        answer = PinnedHttpClient().send_sync(
            HttpRequest(
                method="POST",
                address=address,
                headers={"content-type": "application/json", "authorization": f"Bearer {served.key}"},
                body=orjson.dumps(_question(claim, source)),
                within_s=_WITHIN_S,
                most_bytes=_MOST_BYTES,
            )
        )
        if not isinstance(answer, HttpResponse) or answer.status != HTTPStatus.OK:
            return None
        return margin_of(answer.body)


def _question(claim: str, source: str) -> dict[str, Any]:
    messages = [{"role": "system", "content": _SYSTEM}]
    for shown_source, shown_claim, letter in _SHOWN:
        asked = _ASKED.format(source=shown_source, claim=shown_claim)
        messages += [{"role": "user", "content": asked}, {"role": "assistant", "content": letter}]
    messages.append({"role": "user", "content": _ASKED.format(source=source, claim=claim)})
    return {"messages": messages, "max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": _CHOICES}


def margin_of(body: bytes) -> int | None:
    """Return how much likelier A is than B, in thousandths of a natural logarithm; None if neither is likely."""
    try:
        likely = orjson.loads(body)["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        found = {str(each["token"]).strip(): float(each["logprob"]) for each in reversed(likely)}
    except (ValueError, LookupError, TypeError):
        return None
    if not {"A", "B"} & found.keys():
        return None
    return round(1000 * (found.get("A", _NEVER) - found.get("B", _NEVER)))


def _verdict(margin: int | None) -> Verdict:
    if margin is None or REFUSED_BELOW <= margin < SUPPORTED_FROM:
        return "unsure"
    return "contradicted" if margin < REFUSED_BELOW else "supported"
