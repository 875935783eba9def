"""A local model judges whether a text states the answer to a question."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from tallystick.providers.local.letters import LetterQuestion, margin_for
from tallystick.providers.models.store import ModelStore
from tallystick.turns.model import ModelError

_TEXT = 800
_ASKED = "Text: {text}\nQuestion: {question}\nA = the text states the answer, B = it does not."
_FORM = LetterQuestion(
    system="You check whether a text states the answer to a question. Answer with one letter.",
    shown=tuple(
        (_ASKED.format(text=text, question=question), letter)
        for text, question, letter in (
            (
                "[The mill] The miller's daughter is called Vera and she is nine.",
                "How old is the miller's daughter?",
                "A",
            ),
            ("[The mill] Vera went to the fair with her uncle.", "How old is Vera?", "B"),
            ("[Opening hours] On Fridays the shop closes at four.", "When does the shop close on Mondays?", "B"),
            ("[Peter Lund] born: 1931 in Aarhus", "Where was Peter born?", "A"),
        )
    ),
)


class LocalAnswerJudge:
    """Asks for one letter per text; the first question starts the model server."""

    def __init__(self, model: str, store: ModelStore) -> None:
        self._model = model
        self._store = store
        # The model serves one request at a time.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="answers")

    async def margins(self, question: str, texts: Sequence[str]) -> list[int] | ModelError:
        """See `AnswerJudge`."""
        found: list[int] = []
        for text in texts:
            asked = _ASKED.format(text=text[:_TEXT], question=question)
            margin = await asyncio.get_running_loop().run_in_executor(
                self._thread, margin_for, asked, _FORM, self._model, self._store
            )
            if isinstance(margin, ModelError):
                return margin
            found.append(margin or 0)
        return found
