"""A question → the typed query that it means, or why it cannot be read."""

from datetime import UTC, datetime

from tallystick.records import record
from tallystick.rooms.insight.query.columns import Columns
from tallystick.rooms.insight.query.model import TypedQuery
from tallystick.rooms.insight.question.conditions import CREATED, Count, Unclear
from tallystick.rooms.insight.question.interpretation import interpret
from tallystick.rooms.insight.question.periods import DataSpan
from tallystick.rooms.insight.question.scan import Scanner
from tallystick.rooms.insight.question.sense import Sense
from tallystick.rooms.insight.question.sides import Question
from tallystick.rooms.insight.question.vocabulary import Vocabulary


@record
class QuestionReading:
    """How a question was read."""

    query: TypedQuery | None
    trouble: str = ""
    """Why it was not."""
    idle: tuple[str, ...] = ()
    """Words that were taken to ask for nothing."""
    proposed: bool = False
    """Whether a model proposed the query."""


def read_question(
    text: str,
    columns: Columns,
    dataset_id: int,
    compare_dataset_id: int | None = None,
    *,
    sense: Sense | None = None,
    count: Count | None = None,
) -> QuestionReading:
    """Read a question by the words of its dataset and the closed grammar.

    Args:
        text: The question.
        columns: Of the dataset.
        dataset_id: Which dataset.
        compare_dataset_id: The one that it is compared with.
        sense: Says what unknown words mean; None: a question with an unknown word is refused.
        count: Counts tickets, to tell which of two columns with one value is the broader; None: both are named.
    """
    span = span_of(columns)
    vocabulary = Vocabulary(columns)
    asked = Question(
        scan=Scanner(vocabulary, span, sense).scan(text),
        columns=columns,
        dataset_id=dataset_id,
        span=span,
        compare_dataset_id=compare_dataset_id,
        agents=tuple(vocabulary.column_by_part("agent")),
        count=count,
    )
    try:
        query = interpret(asked)
    except Unclear as unclear:
        return QuestionReading(query=None, trouble=str(unclear))
    return QuestionReading(query=query, idle=asked.scan.idle)


def span_of(columns: Columns) -> DataSpan | None:
    """The days from the first to the last ticket."""
    created = columns.find(CREATED)
    if created is None or created.low is None or created.high is None:
        return None
    first, last = (datetime.fromtimestamp(moment, UTC).date() for moment in (created.low, created.high))
    return DataSpan(first=first, last=last)
