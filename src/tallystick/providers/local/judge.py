"""A local model as support scorer: whether a source says all of a sentence, from the probability of its answer."""

from concurrent.futures import ThreadPoolExecutor

from tallystick.gate.reply.support.scorer import Judged, Verdict
from tallystick.providers.local.letters import LetterQuestion, margin_for
from tallystick.providers.models.store import ModelStore
from tallystick.turns.model import ModelError

REFUSED_BELOW = -500
SUPPORTED_FROM = 0
"""Margins, in thousandths; between them the verdict is `unsure`. Measured in `benchmarks/RESULTS.md`."""
_CLAIM = 400
_ASKED = "Source: {source}\nStatement: {claim}\nA = the source says all of this, B = it does not."
_FORM = LetterQuestion(
    system="You check facts strictly. Answer with one letter.",
    shown=tuple(
        (_ASKED.format(source=source, claim=claim), letter)
        for source, claim, letter in (
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
    ),
)


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
        margin = margin_for(_ASKED.format(source=source, claim=claim), _FORM, self._model, self._store)
        return None if isinstance(margin, ModelError) else margin


def _verdict(margin: int | None) -> Verdict:
    if margin is None or REFUSED_BELOW <= margin < SUPPORTED_FROM:
        return "unsure"
    return "contradicted" if margin < REFUSED_BELOW else "supported"
