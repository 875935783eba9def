"""`tool.cluster.run`: group a dataset's tickets by what they say."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tallystick.gate.role_names import ANALYST_ROLES
from tallystick.gate.tool import Card, Tool
from tallystick.rooms.insight.model import ALGORITHMS

if TYPE_CHECKING:
    from tallystick.rooms.insight.model import ClusterRun

TIMEOUT_S = 1_800.0
"""A million tickets on two busy cores."""
_CARD = Card(
    name="tool.cluster.run",
    description=(
        "Group the tickets of an embedded dataset by what they say. ward and kmeans take n_clusters, or find it out by "
        "stability; hdbscan takes min_cluster_size and min_samples and leaves out noise. Names, quotes, stability and "
        "noise of the groups are read at /cluster/{run_id}."
    ),
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.cluster.run.input",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "algorithm": {"type": "string", "enum": list(ALGORITHMS)},
            "params": {
                "type": "object",
                "additionalProperties": False,
                "properties": {
                    "n_clusters": {"type": "integer", "minimum": 2},
                    "min_cluster_size": {"type": "integer", "minimum": 2},
                    "min_samples": {"type": "integer", "minimum": 1},
                },
            },
            "model_name": {"type": "string"},
        },
        "required": ["dataset_id", "algorithm"],
    },
    output_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "tool.cluster.run.output",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "dataset_id": {"type": "integer", "minimum": 1},
            "algorithm": {"type": "string", "enum": list(ALGORITHMS)},
            "model_name": {"type": "string"},
            "run_id": {"type": "integer", "minimum": 1},
            "silhouette": {"type": ["number", "null"]},
            "cluster_counts": {"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}},
        },
        "required": ["dataset_id", "algorithm", "model_name", "run_id", "cluster_counts"],
    },
    effect="write",
    roles=ANALYST_ROLES,
    audited=True,
    resource="dataset:{dataset_id}",
    audit_keys=("run_id", "algorithm", "model_name", "dataset_id"),
    timeout_s=TIMEOUT_S,
)


def cluster_run(run: "Callable[..., ClusterRun]") -> Tool:
    """The tool over one workspace.

    Args:
        run: Groups a dataset; see `cluster.running.Clustering.run`.
    """

    def handler(**order: Any) -> dict[str, Any]:
        made = run(**order)
        return {
            "dataset_id": made.dataset_id,
            "algorithm": made.algorithm,
            "model_name": made.model_name,
            "run_id": made.run_id,
            "silhouette": made.figures["silhouette"],
            "cluster_counts": _counts(made),
        }

    return Tool(card=_CARD, handler=handler)


def _counts(made: "ClusterRun") -> dict[str, int]:
    """Group → how many tickets; `-1` is noise, and there only where there is some."""
    counts = {str(one["cluster_id"]): int(one["size"]) for one in made.figures["clusters"]}
    noise = int(made.figures["noise_count"])
    return {**counts, "-1": noise} if noise else counts
