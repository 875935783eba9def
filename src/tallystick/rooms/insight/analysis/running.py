"""One analysis, from the question to the stored answer.

1. Dataset and instructions exist; personal data in the question becomes placeholders.
2. The question is understood and tickets are drawn, within the token budget.
3. The numbers answer; where a model is asked, it is told what they say.
4. Every sentence is held against its evidence.
5. The answer is stored with figures, tickets and receipts.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError
from tallystick.gate.decide.budgets import limits_from
from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.gate.session import Session
from tallystick.records import record
from tallystick.rooms.insight import prompts
from tallystick.rooms.insight.analysis.about import Find
from tallystick.rooms.insight.analysis.checked import Refused, bear_out
from tallystick.rooms.insight.analysis.desk import Desk, span_of
from tallystick.rooms.insight.analysis.governed import Brief, ask_model
from tallystick.rooms.insight.analysis.offline import Answer, answer
from tallystick.rooms.insight.analysis.question import understand
from tallystick.rooms.insight.analysis.sampling import OVERHEAD, Sample, draw
from tallystick.rooms.insight.analysis.sentence import Sentence
from tallystick.rooms.insight.analysis.tickets_shown import shown_tickets
from tallystick.rooms.insight.figures.book import Figures
from tallystick.rooms.insight.figures.selecting import select
from tallystick.rooms.insight.figures.themes import themes_of
from tallystick.rooms.insight.nouns import Analysis, Dataset
from tallystick.settings import LimitSettings
from tallystick.turns.agent import Endpoint
from tallystick.turns.flow_context import FlowContext

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

MAX_QUESTION = 4_000
"""Characters of a question; a longer one is a document."""


@record
class Order:
    """What is to be analysed."""

    dataset_id: int
    question: str
    prompt_version: str = prompts.FIRST
    backend: str = "offline"
    max_tickets: int = 50
    token_budget: int = 2_000
    compare_dataset_id: int | None = None


@record
class Asking:
    """What asking a model needs."""

    hands: FlowContext
    session: Session
    endpoint: Endpoint
    limits: Limits = UNLIMITED


@record
class Means:
    """What an analysis works with."""

    store: "Store"
    clean: Callable[[str], str]
    """Replaces personal data."""
    random: Callable[[int], bytes]
    now: int
    find: Callable[[int], Find | None] = lambda _: None
    """Dataset → what finds its tickets by meaning, where they are embedded."""
    asking: Callable[[], Asking] | None = None
    """None: no model can be asked here."""


def analyse(order: Order, means: Means) -> Analysis:
    """Answer a question and keep the answer.

    Raises:
        ToolError: Something that was named is not there, or a budget does not suffice. Nothing is stored.
    """
    store = means.store
    dataset, other = _dataset(store, order.dataset_id), _other(store, order)
    template = prompts.load(store, order.prompt_version).template
    question = _question(order, means.clean)
    work = _Work(order, means, dataset, question)
    said = answer(work.desk, other=other, find=means.find(order.dataset_id))
    numbers, unsound = bear_out(said.sentences, work.book)
    if order.backend == "openai":
        body = _asked_of_model(work, template, numbers)
    else:
        body = _body(numbers, unsound, answered=said.answered, truncated=work.sample.truncated)
    body |= _frame(order, work.sample, said)
    count = len(work.sample.tickets)
    made = store.add_analysis(order.dataset_id, order.prompt_version, question, count, body, means.now)
    return Analysis(
        analysis_id=made, dataset_id=order.dataset_id, prompt_version=order.prompt_version, question=question,
        ticket_count=count, created_at=means.now, answer=body,
    )  # fmt: skip


class _Work:
    """A question on a dataset, read and drawn from."""

    def __init__(self, order: Order, means: Means, dataset: Dataset, question: str) -> None:
        self.order, self.means, self.dataset, self.question = order, means, dataset, question
        self.book = Figures(means.store)
        facts = self.book.facts(dataset.dataset_id)
        if facts is None:
            raise _no_dataset(dataset.dataset_id)
        themes = themes_of(means.store, facts)
        asked = understand(question, facts, span_of(facts))
        mask = select(facts, Desk(self.book, dataset, asked, facts, themes).base)
        self.sample = draw(
            self.book, facts, mask if mask.any() else facts.all, themes, most=order.max_tickets,
            token_budget=order.token_budget, seed=dataset.file_hash,
        )  # fmt: skip
        if self.sample.truncated and not self.sample.tickets:
            message = "The token budget holds not a single ticket."
            raise ToolError(message, status=429, hint=f"A short ticket has {OVERHEAD * 5} tokens; raise token_budget.")
        self.desk = Desk(self.book, dataset, asked, facts, themes, [one.ticket_id for one in self.sample.tickets])


def _asked_of_model(work: _Work, template: str, numbers: tuple[Sentence, ...]) -> dict[str, Any]:
    if work.means.asking is None:
        raise ToolError("No model can be asked here.", unavailable=True, hint="Use analyzer_backend offline.")
    asking = work.means.asking()
    slots = {
        "question": work.question,
        "dataset": f"Dataset {work.dataset.dataset_id} holds {work.dataset.row_count} support tickets.",
        "figures": "\n".join(f"- {sentence.with_references()}" for sentence in numbers),
        "tickets": shown_tickets(work.sample.tickets, work.means.random),
    }
    # Templates are people's own texts: whatever they hold, a model sees placeholders.
    message = work.means.clean(prompts.filled(template, slots))
    told = ask_model(
        asking.hands,
        Brief(
            message=message, question=f"{work.question} (dataset {work.dataset.dataset_id})", session=asking.session,
            endpoint=asking.endpoint, limits=asking.limits,
        ),
    )  # fmt: skip
    truncated = told.truncated or work.sample.truncated
    return _body(told.sentences, told.refused, answered=True, truncated=truncated) | dict(told.more)


def _body(
    sentences: tuple[Sentence, ...], refused: tuple[Refused, ...], *, answered: bool, truncated: bool
) -> dict[str, Any]:
    return {
        "text": " ".join(sentence.text for sentence in sentences),
        "sentences": [sentence.as_dict() for sentence in sentences],
        "refused": [{"text": one.text, "code": one.code} for one in refused],
        "answered": answered,
        "truncated": truncated,
    }


def _frame(order: Order, sample: Sample, said: Answer) -> dict[str, Any]:
    return {
        "backend": order.backend,
        "sample": [ticket.ticket_id for ticket in sample.tickets],
        "sample_tokens": sample.tokens,
        "sample_truncated": sample.truncated,
        "compare_dataset_id": order.compare_dataset_id,
        "from_numbers": [sentence.as_dict() for sentence in said.sentences] if order.backend == "openai" else [],
    }


def _question(order: Order, clean: Callable[[str], str]) -> str:
    if len(order.question) > MAX_QUESTION:
        raise ToolError("The question is too long.", status=400, hint=f"Keep it under {MAX_QUESTION:,} characters.")
    question = clean(" ".join(order.question.split()))
    if not question:
        raise ToolError("The question is empty.", status=400, hint="Ask something.")
    return question


def _dataset(store: "Store", dataset_id: int) -> Dataset:
    found = store.dataset(dataset_id)
    if found is None:
        raise _no_dataset(dataset_id)
    return found


def _no_dataset(dataset_id: int) -> ToolError:
    return ToolError(f"There is no dataset {dataset_id}.", status=404, hint="Take a file first: tool.ingest.upload.")


def _other(store: "Store", order: Order) -> tuple[int, str] | None:
    if order.compare_dataset_id is None:
        return None
    if order.compare_dataset_id == order.dataset_id:
        raise ToolError("A dataset cannot be compared with itself.", status=400, hint="Name another dataset.")
    found = _dataset(store, order.compare_dataset_id)
    return found.dataset_id, found.name


def limits_for(settings: LimitSettings) -> Limits:
    """What the configuration lets an analysis spend; steps and bytes only where somebody chose them."""
    chosen, given = settings.model_fields_set, limits_from(settings)
    return replace(
        given,
        steps=given.steps if "steps" in chosen else None,
        bytes=given.bytes if "bytes_per_turn" in chosen else None,
    )
