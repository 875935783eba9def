"""`tally insight`: what support tickets say."""

from pathlib import Path
from typing import Annotated, Any

import typer

from tallystick.doors.cli.kit import Here, Refused, UsageMistake, command, counted, group
from tallystick.rooms.insight.cli import report as insight_report
from tallystick.rooms.insight.cli.calls import call, ingest, insight_in, one_of

Dataset = Annotated[
    int, typer.Argument(metavar="DATASET", min=1, help="The dataset's number; `tally insight datasets` lists them.")
]
Map = Annotated[
    str | None,
    typer.Option("--map", metavar="FIELD=COLUMN,…", help="Column mapping, where the header is not recognised."),
]
Many = Annotated[list[str] | None, typer.Option(metavar="NAME")]
Other = Annotated[
    int | None, typer.Option("--compare", metavar="DATASET", min=1, help="Another dataset to compare with.")
]
PromptVersion = Annotated[str | None, typer.Option("--prompt", metavar="VERSION", help="The version of the prompt.")]
Proposer = Annotated[
    str | None,
    typer.Option(
        "--model", metavar="AGENT", help="Have this agent's model propose the query, if words do not suffice."
    ),
]
WIDTH = 100
"""Characters of a ticket that a line shows."""


def add_to(app: typer.Typer) -> None:
    """Add these commands."""
    insight = group(app, "insight", "Say what support tickets are about, and recheck it.")
    insight_report.add_report(insight)
    command(insight, "ingest")(take)
    command(insight, "datasets")(datasets)
    command(insight, "embed")(embed)
    command(insight, "search")(search)
    command(insight, "cluster")(cluster)
    command(insight, "ask")(ask)
    command(insight, "history")(history)


def take(
    here: Here,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="CSV, XLSX, JSON or JSON Lines.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="The dataset's name. Default: the file's name.")
    ] = None,
    columns: Map = None,
) -> None:
    """Import a file of tickets. Personal data is replaced before anything is stored."""
    with here.gate(plugins=True, make=True) as gate:
        taken = ingest(gate, here.screen, file, name=name, columns=columns)
        dataset = insight_in(gate).store.dataset(taken["dataset_id"])
    mapping = {} if dataset is None else dict(dataset.mapping)
    bad = () if dataset is None else dataset.bad_rows
    rows = [{"line": row.line, "reason": row.reason, "detail": row.detail} for row in bad]
    here.screen.data({**taken, "mapping": mapping, "bad_rows": rows})
    here.screen.line(
        f"dataset {taken['dataset_id']}: {counted(taken['row_count'], 'ticket')}, "
        f"{counted(taken['department_count'], 'department')}"
        f"{'' if taken['inserted_tickets'] else ' (taken before)'}"
    )
    here.screen.line("columns: " + ", ".join(f"{field}={column}" for field, column in mapping.items()))


def datasets(here: Here) -> None:
    """List the datasets."""
    with here.gate(plugins=True) as gate:
        found = insight_in(gate).store.datasets()
    items = [
        {
            "dataset_id": one.dataset_id,
            "name": one.name,
            "row_count": one.row_count,
            "file_hash": one.file_hash,
            "department_count": one.department_count,
            "bad_row_count": one.bad_row_count,
        }
        for one in found
    ]
    here.screen.data({"items": items, "total": len(items)})
    if not items:
        here.screen.note("No datasets. `tally insight ingest FILE` takes one.")
        return
    shown = [(item["dataset_id"], item["name"], item["row_count"], item["bad_row_count"]) for item in items]
    here.screen.table(["dataset", "name", "tickets", "bad rows"], shown)


def embed(
    here: Here,
    dataset: Dataset,
    backend: Annotated[
        str | None, typer.Option("--backend", metavar="NAME", help="builtin or sentence-transformers.")
    ] = None,
    model: Annotated[str | None, typer.Option("--model", metavar="NAME", help="The backend's model.")] = None,
) -> None:
    """Compute vectors of the tickets that have none."""
    from tallystick.rooms.insight.model import EMBED_BACKENDS

    one_of("--backend", backend, EMBED_BACKENDS)
    if model == "":
        raise UsageMistake("--model: name one, or leave it out.")
    if backend == "sentence-transformers" and model is None:
        raise UsageMistake("--backend sentence-transformers needs --model NAME, for example --model all-MiniLM-L6-v2.")
    args = {"dataset_id": dataset, "backend": backend, "model_name": model}
    with here.gate(plugins=True) as gate:
        made = call(gate, here.screen, "tool.embed.run", args, doing="Embedding")
    here.screen.data(made)
    here.screen.line(
        f"{counted(made['embedded_count'], 'ticket')}, {made['backend']} {made['model_name']}, "
        f"{made['vector_dim']} numbers each"
    )


def search(
    here: Here,
    dataset: Dataset,
    query: Annotated[str, typer.Argument(metavar="WORDS")],
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=1000, help="Number of results.")] = 10,
    department: Many = None,
    product: Many = None,
    rerank: Annotated[bool, typer.Option("--rerank", help="Rerank the results by their words.")] = False,
) -> None:
    """Find the tickets nearest to some words."""
    if not query.strip():
        raise UsageMistake("WORDS: give some words to look for.")
    filters = {name: values for name, values in (("department", department), ("product", product)) if values}
    args = {"dataset_id": dataset, "query_text": query, "k": k, "filters": filters or None, "rerank": rerank or None}
    with here.gate(plugins=True) as gate:
        found = call(gate, here.screen, "tool.search.nn", args)
    here.screen.data(found)
    for hit in found["results"]:
        about = ", ".join(filter(None, (hit.get("department"), hit.get("product"))))
        here.screen.line(
            f"ticket:{hit['ticket_id']}  {hit['score']:.3f}  {_short(hit.get('summary') or '')}  ({about})"
        )
    if not found["results"]:
        here.screen.note("Nothing fits these filters.")


def cluster(
    here: Here,
    dataset: Dataset,
    algorithm: Annotated[str, typer.Option("--algorithm", metavar="NAME", help="ward, kmeans or hdbscan.")] = "ward",
    clusters: Annotated[
        int | None,
        typer.Option("--clusters", metavar="N", min=2, help="Number of clusters. Default: chosen automatically."),
    ] = None,
    least: Annotated[
        int | None, typer.Option("--min-size", metavar="N", min=2, help="hdbscan: least tickets of a cluster.")
    ] = None,
    samples: Annotated[
        int | None, typer.Option("--min-samples", metavar="N", min=1, help="hdbscan: more makes more noise.")
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", metavar="NAME", help="The model whose vectors are used.")
    ] = None,
) -> None:
    """Cluster the tickets by what they say."""
    from tallystick.rooms.insight.model import ALGORITHMS

    one_of("--algorithm", algorithm, ALGORITHMS)
    params = _params(algorithm, n_clusters=clusters, min_cluster_size=least, min_samples=samples)
    args = {"dataset_id": dataset, "algorithm": algorithm, "params": params, "model_name": model}
    with here.gate(plugins=True) as gate:
        made = call(gate, here.screen, "tool.cluster.run", args, doing="Grouping")
        run = insight_in(gate).store.run(made["run_id"])
    # The picture of it has a place for every ticket: that is for pages.
    figures = {} if run is None else {name: value for name, value in run.figures.items() if name != "map"}
    here.screen.data({**made, "figures": figures})
    silhouette = "none" if made["silhouette"] is None else f"{made['silhouette']:.3f}"
    here.screen.line(f"run {made['run_id']}: {len(made['cluster_counts'])} groups, silhouette {silhouette}")
    insight_report.say_clusters(here.screen, made["cluster_counts"], figures)


def ask(
    here: Here,
    dataset: Dataset,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Words, or a typed query: `query?…`.")],
    compare: Other = None,
    backend: Annotated[str | None, typer.Option("--backend", metavar="NAME", help="offline or openai.")] = None,
    prompt: PromptVersion = None,
    model: Proposer = None,
) -> None:
    """Ask a question; the answer says first how it was read, as a query that can be corrected and run again."""
    if not question.strip():
        raise UsageMistake("Ask something.")
    if question.startswith("query?"):
        _run_query(here, dataset, question)
        return
    from tallystick.rooms.insight.model import ANALYZER_BACKENDS

    one_of("--backend", backend, ANALYZER_BACKENDS)
    if prompt == "":
        raise UsageMistake("--prompt: name a version, or leave it out.")
    if model is not None:
        if compare or backend or prompt:
            raise UsageMistake("--model takes no --compare, --backend or --prompt: the model only proposes a query.")
        _run_proposal(here, dataset, question, model)
        return
    args = {
        "dataset_id": dataset,
        "question": question,
        "compare_dataset_id": compare,
        "analyzer_backend": backend,
        "prompt_version": prompt,
    }
    with here.gate(plugins=True) as gate:
        made = call(gate, here.screen, "tool.analysis.run", args, doing="Thinking")
        found = insight_in(gate).store.analysis(made["analysis_id"])
    answer: dict[str, Any] = dict(found.answer) if found else {}
    here.screen.data({**made, "answer": answer})
    insight_report.say_answer(here.screen, answer)
    here.screen.note(f"analysis {made['analysis_id']}, {counted(made['ticket_count'], 'ticket')} looked at")


def _run_proposal(here: Here, dataset: int, question: str, agent: str) -> None:
    with here.gate(plugins=True) as gate:
        read = insight_in(gate).analyses.read(dataset, question, agent)
        if read.query is None:
            raise Refused(f"This question was not read. {read.trouble}", code="question_unread")
        found = call(gate, here.screen, "tool.analysis.query", read.query.as_dict())
    here.screen.data({**found, "proposed": read.proposed, "left_out": list(read.idle)})
    here.screen.note(f"read by {f'the model of {agent}' if read.proposed else 'its words'}: {read.query.line()}")
    insight_report.say_result(here.screen, found)


def _run_query(here: Here, dataset: int, line: str) -> None:
    from tallystick.rooms.insight.query.model import NotAQuery, query_from_line

    try:
        query, _ = query_from_line(line)
    except NotAQuery:
        raise UsageMistake("This is no query; copy one from an answer and change it.") from None
    if query.dataset_id != dataset:
        raise UsageMistake(f"The query is of dataset {query.dataset_id}, not {dataset}.")
    with here.gate(plugins=True) as gate:
        found = call(gate, here.screen, "tool.analysis.query", query.as_dict())
    here.screen.data(found)
    insight_report.say_result(here.screen, found)


def history(
    here: Here,
    dataset: Annotated[int | None, typer.Option("--dataset", metavar="DATASET", min=1)] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=500)] = 20,
    offset: Annotated[int, typer.Option("--offset", metavar="N", min=0)] = 0,
) -> None:
    """List past questions, newest first."""
    with here.gate(plugins=True) as gate:
        found = call(gate, here.screen, "tool.history.list", {"limit": limit, "offset": offset, "dataset_id": dataset})
    here.screen.data(found)
    if not found["items"]:
        here.screen.note("Nothing was asked yet.")
    for item in found["items"]:
        here.screen.line(
            f"{item['id']}  {item['created_at']}  dataset {item['dataset_id']}  {_short(item['question'])}"
        )


def _params(algorithm: str, **given: int | None) -> dict[str, int] | None:
    """What the algorithm takes of what was given.

    Raises:
        UsageMistake: Something was given that it does not take: it would change nothing, and look as if it had.
    """
    from tallystick.rooms.insight.model import TAKES

    params = {name: value for name, value in given.items() if value is not None}
    foreign = sorted(set(params) - set(TAKES[algorithm]))
    if foreign:
        raise UsageMistake(f"{algorithm} takes no {foreign[0]}; it takes {' and '.join(TAKES[algorithm])}.")
    return params or None


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDTH else f"{flat[:WIDTH]}…"
