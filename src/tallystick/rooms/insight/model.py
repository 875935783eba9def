"""Records of insight. Personal data of customers is replaced by placeholders everywhere."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tallystick.errors import ToolError
from tallystick.records import record

ALGORITHMS = ("kmeans", "hdbscan", "ward")
"""Ways to group tickets."""
TAKES = {
    "ward": ("n_clusters",),
    "kmeans": ("n_clusters",),
    "hdbscan": ("min_cluster_size", "min_samples"),
}
"""Which parameters each of them takes."""
EMBED_BACKENDS = ("sentence-transformers", "builtin")
ANALYZER_BACKENDS = ("openai", "offline")


@record
class BadRow:
    """A row that could not be taken."""

    line: int
    """In the file, from 1; of a spreadsheet or a JSON array, the row or item."""
    reason: str
    """A fixed word, e.g. `no_text`, `too_many_columns`, `not_an_object`, `not_text`."""
    detail: str = ""


@record
class Dataset:
    """One file of tickets, as it was taken."""

    dataset_id: int
    name: str
    file_hash: str
    """SHA-256 of the file's bytes: the same file again is the same dataset."""
    row_count: int
    """Tickets that were taken."""
    department_count: int
    created_at: int
    """Epoch seconds."""
    mapping: Mapping[str, str]
    """Our field → the file's column."""
    bad_row_count: int
    bad_rows: tuple[BadRow, ...]
    """The first of them."""


@record
class NewTicket:
    """A ticket that was read, personal data replaced, not stored yet."""

    external_id: str | None
    created_at: int | None
    """Epoch seconds; None: the file does not say."""
    text: str
    """What the customer wrote."""
    summary: str | None = None
    department: str | None = None
    product: str | None = None
    category: str | None = None
    priority: str | None = None
    status: str | None = None
    customer: str | None = None
    """A placeholder that is the same wherever the same customer writes."""
    resolution: str | None = None
    resolved_at: int | None = None
    reassignments: int | None = None
    extra: Mapping[str, str] | None = None
    """The columns that mean nothing to us."""


@record
class Ticket:
    """A stored ticket."""

    ticket_id: int
    """Unique over all datasets."""
    dataset_id: int
    said: NewTicket


@record
class ClusterRun:
    """One clustering of a dataset's tickets."""

    run_id: int
    dataset_id: int
    algorithm: str
    model_name: str
    created_at: int
    figures: Mapping[str, Any]
    """Silhouette, stability, noise, labels, medoids, parameters: JSON."""


@record
class Analysis:
    """One answered question."""

    analysis_id: int
    dataset_id: int
    prompt_version: str
    question: str
    ticket_count: int
    created_at: int
    answer: Mapping[str, Any]
    """Sentences with their evidence, figures with their queries, backend, truncated: JSON."""


@record
class Prompt:
    """One version of the analyst's instructions."""

    version: str
    template: str
    metadata: Mapping[str, Any]
    revision: int
    saved_at: int


@record
class Where:
    """Which tickets of a dataset are meant."""

    department: tuple[str, ...] = ()
    product: tuple[str, ...] = ()
    category: tuple[str, ...] = ()
    since: int | None = None
    """Epoch seconds, inclusive."""
    until: int | None = None
    """Epoch seconds, exclusive."""
    ids: tuple[int, ...] = ()
    """Only these; empty: all."""


EVERYWHERE = Where()


def rfc3339(epoch: int) -> str:
    """Epoch seconds as a date-time."""
    return datetime.fromtimestamp(epoch, UTC).isoformat().replace("+00:00", "Z")


def epoch_of(text: str) -> int:
    """A date-time as epoch seconds; one without an offset is UTC.

    Raises:
        ToolError: It is not a valid time.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        hint = "Write it as 2024-03-01T00:00:00Z."
        raise ToolError("A date-time cannot be read.", status=400, hint=hint) from None
    return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
