"""Groups of tickets against what people say they are about: NMI, ARI and ACC, with the number of groups given and not.

Each corpus goes through the room's own way: tickets and vectors in SQLite, grouped by `tool.cluster.run`'s own code, and
once more with its rows shuffled. BERTopic's chain gets the same vectors in the same run.
"""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score  # type: ignore[import-untyped]

from benchmarks.insight.corpora import Labelled, there
from benchmarks.insight.models import LEFT_OUT, MINILM, elsewhere, models, run_there, vectors_of
from tallystick.providers.embeddings.builtin import MODEL as BUILTIN
from tallystick.rooms.insight.cluster.service import ClusterService
from tallystick.rooms.insight.model import NewTicket
from tallystick.rooms.insight.store import Store
from tallystick.rooms.insight.store.dataset_writer import ImportTotals
from tallystick.settings import Settings
from tallystick.storage.database import migrate, open_engine

PROMISES = ("insight.cluster-good", "insight.cluster-order")
GOALS = (
    "on the 10,003 messages of banking77, NMI/ARI/ACC: builtin with ward ≥ 74/42/53, MiniLM with ward ≥ 80/54/64; with the "
    "number of groups not given NMI ≥ 78 with MiniLM; the same labels whatever the order of the rows"
)
PUBLISHED = (
    "Published for BANKING77: USNID 75.30/43.33/54.82 without labels, 81.94/56.53/65.85 with a quarter of them (both "
    "train a model on the corpus; nothing is trained here)."
)
EVERY = 6
"""By default every sixth intent of the first two corpora; all of all corpora with --full."""
RUNS = (("ward", True), ("ward", False), ("kmeans", True), ("hdbscan", False))
"""Algorithm, and whether it is told how many groups there are; k-means finds out as ward does."""
CHAIN = ("bertopic", "umap", "hdbscan")


def run(folder: Path, *, full: bool) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    for corpus, (texts, intents) in _corpora(full=full):
        for model in models():
            vectors = vectors_of(model, texts)
            rows += _ours(folder, corpus, model, texts, intents, vectors)
        rows += _theirs(folder, corpus, models()[-1], texts, intents)
    notes = [] if MINILM in models() else [LEFT_OUT]
    if elsewhere(*CHAIN) is None:
        notes.append("BERTopic: left out, it is in no environment that TALLY_PEERS_PYTHON names.")
    if not rows:
        notes = ["Left out: the corpora are not there (TALLY_DATA)."]
    return {"goal": GOALS, "markdown": "\n\n".join([_table(rows), *notes, PUBLISHED]), "groups": rows}


def _corpora(*, full: bool) -> Iterator[tuple[str, Labelled]]:
    for place, (name, (texts, intents)) in enumerate(there().items()):
        if full:
            yield name, (texts, intents)
        elif place < 2:
            chosen = set(sorted(set(intents))[::EVERY])
            kept = [at for at, intent in enumerate(intents) if intent in chosen]
            yield name, ([texts[at] for at in kept], [intents[at] for at in kept])


def _ours(
    folder: Path, corpus: str, model: str, texts: Sequence[str], intents: Sequence[str], vectors: np.ndarray
) -> list[dict[str, Any]]:
    home = folder / f"{corpus}-{model}".replace(" ", "-")
    home.mkdir()
    engine = open_engine(Settings(), home)
    migrate(engine)
    store = Store(engine)
    shuffled = random.Random(11).sample(range(len(texts)), len(texts))
    datasets = {name: _taken(store, name, model, texts, vectors, order)
                for name, order in (("as given", range(len(texts))), ("shuffled", shuffled))}  # fmt: skip
    clustering = ClusterService(lambda: store, lambda: 0)
    rows = []
    for algorithm, given in RUNS:
        params = {"n_clusters": len(set(intents))} if given else {}
        began = time.perf_counter()
        run = clustering.run(datasets["as given"], algorithm, params, model)
        seconds = time.perf_counter() - began
        labels = [label for _, label in store.assignments(run.run_id)]
        same = None
        if model == BUILTIN:
            # Rows are put in order before anything looks at them, so one model shows it for all.
            again = clustering.run(datasets["shuffled"], algorithm, params, model)
            same = [label for _, label in store.assignments(again.run_id)] == [labels[at] for at in shuffled]
        rows.append({
            "corpus": corpus, "model": model, "algorithm": algorithm, "given": given, "texts": len(texts),
            "intents": len(set(intents)), **scores(intents, labels), "stability": run.figures["stability"],
            "same_shuffled": same, "seconds": round(seconds, 1),
        })  # fmt: skip
        print(rows[-1], file=sys.stderr, flush=True)
    engine.dispose()
    return rows


def _taken(store: Store, name: str, model: str, texts: Sequence[str], vectors: np.ndarray, order: Sequence[int]) -> int:
    """A dataset with its vectors, its rows in some order."""
    tickets = [NewTicket(external_id=None, created_at=None, text=texts[at]) for at in order]
    with store.write_dataset(name, f"{name:_<64}", {"text": "text"}, 1) as adding:
        adding.add(tickets)
        adding.finish(ImportTotals(row_count=len(tickets), department_count=0, bad_row_count=0, bad_rows=()))
    ids = store.ticket_ids(adding.dataset_id)
    rows = zip(ids, order, strict=True)
    store.put_vectors(adding.dataset_id, model, [(one, vectors[at].astype("<f4").tobytes()) for one, at in rows])
    return adding.dataset_id


def _theirs(
    folder: Path, corpus: str, model: str, texts: Sequence[str], intents: Sequence[str]
) -> list[dict[str, Any]]:
    python = elsewhere(*CHAIN)
    if python is None:
        return []
    given, vectors, out = (folder / name for name in ("texts.json", "vectors.npy", "chain.json"))
    given.write_text(json.dumps(list(texts)), encoding="utf-8")
    np.save(vectors, vectors_of(model, texts))
    groups = len(set(intents))
    run_there(python, "benchmarks.insight.bertopic_chain", str(given), str(vectors), str(groups), str(out))
    found = json.loads(out.read_text(encoding="utf-8"))
    return [
        {
            "corpus": corpus, "model": model, "algorithm": one["algorithm"], "given": one["given"], "texts": len(texts),
            "intents": groups, **scores(intents, one["labels"]), "stability": None, "same_shuffled": None,
            "seconds": one["seconds"],
        }
        for one in found
    ]  # fmt: skip


def scores(intents: Sequence[str], labels: Sequence[int]) -> dict[str, Any]:
    """NMI, ARI and ACC in percent; what is in no group counts as one group of its own."""
    truth = np.unique(intents, return_inverse=True)[1]
    groups = np.unique(labels, return_inverse=True)[1]
    table = np.zeros((truth.max() + 1, groups.max() + 1))
    np.add.at(table, (truth, groups), 1)
    right = table[linear_sum_assignment(-table)].sum() / len(truth)
    return {
        "k": len(set(labels) - {-1}), "nmi": round(100 * float(normalized_mutual_info_score(truth, groups)), 2),
        "ari": round(100 * float(adjusted_rand_score(truth, groups)), 2), "acc": round(100 * float(right), 2),
        "noise": round(100 * float(np.mean(np.array(labels) == -1)), 1),
    }  # fmt: skip


def _table(rows: Sequence[dict[str, Any]]) -> str:
    lines = [
        "| corpus | vectors | algorithm | k given | k | NMI | ARI | ACC | in no group | stability | same when shuffled | s |",
        "|---|---|---|---|---:|---:|---:|---:|---:|---:|---|---:|",
    ]
    for row in rows:
        stability = "" if row["stability"] is None else f"{row['stability']:.2f}"
        same = {True: "yes", False: "**no**", None: ""}[row["same_shuffled"]]
        noise = f"{row['noise']:.1f} %" if row["noise"] else ""
        lines.append(
            f"| {row['corpus']} ({row['texts']:,} texts, {row['intents']}) | {row['model']} | {row['algorithm']} "
            f"| {'yes' if row['given'] else 'no'} | {row['k']} | {row['nmi']:.1f} | {row['ari']:.1f} | {row['acc']:.1f} "
            f"| {noise} | {stability} | {same} | {row['seconds']:.0f} |"
        )
    return "\n".join(lines) if rows else ""
