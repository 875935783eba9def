"""One analysis, from the question to the stored answer.

1. Dataset and instructions exist; personal data in the question becomes placeholders.
2. The question is read as a typed query, or comes as one; tickets are drawn, within the token budget.
3. The query's numbers answer; where a model is asked, it is told what they say.
4. Every sentence is held against its evidence.
5. The answer is stored with figures, tickets and receipts.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tallystick.errors import ToolError
from tallystick.gate.decide.budgets import limits_from
from tallystick.gate.decide.verdict import UNLIMITED, Limits
from tallystick.gate.session import Session
from tallystick.records import record
from tallystick.rooms.insight import prompts
from tallystick.rooms.insight.analyse.evidence_check import RejectedSentence, check_sentences
from tallystick.rooms.insight.analyse.model_answer import ModelRequest, ask_model
from tallystick.rooms.insight.analyse.query_answer import QueryAnswer
from tallystick.rooms.insight.analyse.sampling import OVERHEAD, Sample, draw, shown_tickets
from tallystick.rooms.insight.analyse.sentence import Sentence
from tallystick.rooms.insight.figures.calculator import Figures
from tallystick.rooms.insight.figures.themes import themes_of
from tallystick.rooms.insight.model import Analysis, Dataset
from tallystick.rooms.insight.query.columns import Columns
from tallystick.rooms.insight.query.description import described
from tallystick.rooms.insight.query.model import TypedQuery
from tallystick.rooms.insight.question.reader import QuestionReading, read_question
from tallystick.rooms.insight.question.sense import Sense
from tallystick.settings import LimitSettings
from tallystick.turns.agent import Endpoint
from tallystick.turns.flow_context import FlowContext

if TYPE_CHECKING:
    from tallystick.rooms.insight.store import Store

MAX_QUESTION = 4_000
"""Characters of a question; a longer one is a document."""


@record
class AnalysisRequest:
    """What to analyse."""

    dataset_id: int
    question: str
    prompt_version: str = prompts.FIRST
    backend: str = "offline"
    max_tickets: int = 50
    token_budget: int = 2_000
    compare_dataset_id: int | None = None
    query: TypedQuery | None = None
    """The query, where somebody has written or corrected it."""


@record
class ComputedAnswer:
    """What the numbers say."""

    sentences: tuple[Sentence, ...]
    reading: str
    """How the question was read; or why it was not."""
    query: TypedQuery | None


@record
class ModelAccess:
    """What a call to the model needs."""

    hands: FlowContext
    session: Session
    endpoint: Endpoint
    limits: Limits = UNLIMITED


@record
class AnalysisDependencies:
    """Everything that an analysis needs besides the request."""

    store: "Store"
    clean: Callable[[str], str]
    """Replaces personal data."""
    random: Callable[[int], bytes]
    now: int
    sense: Callable[[], Sense | None] = lambda: None
    """Says what words mean that neither the data nor the grammar know."""
    asking: Callable[[], ModelAccess] | None = None
    """None: no model can be asked here."""


def analyse(order: AnalysisRequest, means: AnalysisDependencies) -> Analysis:
    """Answer a question and keep the answer.

    Raises:
        ToolError: Something that was named is not there, or a budget does not suffice. Nothing is stored.
    """
    store = means.store
    dataset, other = _dataset(store, order.dataset_id), _other(store, order)
    template = prompts.load(store, order.prompt_version).template
    question = _question(order, means.clean)
    work = _Work(order, means, dataset, question)
    said = _computed(work, other)
    numbers, unsound = check_sentences(said.sentences, work.book)
    if order.backend == "openai":
        body = _asked_of_model(work, template, numbers)
    else:
        answered = said.query is not None
        body = _body(numbers, unsound, answered=answered, truncated=False, reading=said.reading)
    body |= _frame(order, work.sample, said)
    count = len(work.sample.tickets)
    made = store.add_analysis(order.dataset_id, order.prompt_version, question, count, body, means.now)
    return Analysis(
        analysis_id=made,
        dataset_id=order.dataset_id,
        prompt_version=order.prompt_version,
        question=question,
        ticket_count=count,
        created_at=means.now,
        answer=body,
    )


class _Work:
    """A parsed question on a dataset with its sample."""

    def __init__(self, order: AnalysisRequest, means: AnalysisDependencies, dataset: Dataset, question: str) -> None:
        self.order, self.means, self.dataset, self.question = order, means, dataset, question
        self.book = Figures(means.store)
        facts = self.book.facts(dataset.dataset_id)
        if facts is None:
            raise _no_dataset(dataset.dataset_id)
        self.sample = draw(
            self.book,
            facts,
            facts.all,
            themes_of(means.store, facts),
            most=order.max_tickets,
            token_budget=order.token_budget,
            seed=dataset.file_hash,
        )
        if self.sample.truncated and not self.sample.tickets:
            message = "The token budget holds not a single ticket."
            raise ToolError(message, status=429, hint=f"A short ticket has {OVERHEAD * 5} tokens; raise token_budget.")


def _computed(work: _Work, other: str | None) -> ComputedAnswer:
    """Read the question, run its query and tell the result."""
    order, book = work.order, work.book
    columns = book.columns(order.dataset_id)
    read = QuestionReading(query=order.query)
    if order.query is None:
        read = read_question(
            work.question,
            columns,
            order.dataset_id,
            order.compare_dataset_id,
            sense=work.means.sense(),
            count=partial(book.count, order.dataset_id),
        )
    query = read.query
    if query is None:
        return ComputedAnswer(sentences=(), reading=f"This question was not read. {read.trouble}", query=None)
    try:
        result = book.result(query)
    except ToolError as refused:
        if order.query is not None:
            raise
        return ComputedAnswer(sentences=(), reading=f"{refused} {refused.hint or ''}".strip(), query=None)
    told = QueryAnswer(book, result, other).sentences()
    return ComputedAnswer(sentences=told, reading=_told(read, result.query, columns, other), query=result.query)


def _told(read: QuestionReading, query: TypedQuery, columns: Columns, other: str | None) -> str:
    """How a question was read, with the words that were left out."""
    said = described(query, columns, other)
    if read.idle:
        said += f" (left out: {', '.join(f'“{word}”' for word in dict.fromkeys(read.idle))})"
    return f"{said}:"


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
        ModelRequest(
            message=message,
            question=f"{work.question} (dataset {work.dataset.dataset_id})",
            session=asking.session,
            endpoint=asking.endpoint,
            limits=asking.limits,
        ),
    )
    truncated = told.truncated or work.sample.truncated
    return _body(told.sentences, told.refused, answered=True, truncated=truncated) | dict(told.more)


def _body(
    sentences: tuple[Sentence, ...],
    refused: tuple[RejectedSentence, ...],
    *,
    answered: bool,
    truncated: bool,
    reading: str = "",
) -> dict[str, Any]:
    return {
        "text": " ".join(filter(None, (reading, *(sentence.text for sentence in sentences)))),
        "sentences": [sentence.as_dict() for sentence in sentences],
        "refused": [{"text": one.text, "code": one.code} for one in refused],
        "answered": answered,
        "truncated": truncated,
    }


def _frame(order: AnalysisRequest, sample: Sample, said: ComputedAnswer) -> dict[str, Any]:
    return {
        "backend": order.backend,
        "reading": said.reading,
        "query": None if said.query is None else said.query.as_dict(),
        "query_line": None if said.query is None else said.query.line(),
        "sample": [ticket.ticket_id for ticket in sample.tickets],
        "sample_tokens": sample.tokens,
        "sample_truncated": sample.truncated,
        "compare_dataset_id": order.compare_dataset_id,
        "from_numbers": [sentence.as_dict() for sentence in said.sentences] if order.backend == "openai" else [],
    }


def _question(order: AnalysisRequest, clean: Callable[[str], str]) -> str:
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


def _other(store: "Store", order: AnalysisRequest) -> str | None:
    """The name of the dataset that is compared with."""
    if order.compare_dataset_id is None:
        return None
    if order.compare_dataset_id == order.dataset_id:
        raise ToolError("A dataset cannot be compared with itself.", status=400, hint="Name another dataset.")
    return _dataset(store, order.compare_dataset_id).name


def limits_for(settings: LimitSettings) -> Limits:
    """The configured limits of an analysis; steps and bytes only where they are set."""
    chosen, given = settings.model_fields_set, limits_from(settings)
    return replace(
        given,
        steps=given.steps if "steps" in chosen else None,
        bytes=given.bytes if "bytes_per_turn" in chosen else None,
    )
