"""Retrieval on documents and questions by other hands: how often the gold passage is among the first.

TALLY_DATA=… python -m benchmarks.retrieval
"""

import html
import json
import os
import re
import time
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tallystick.providers.embeddings.selection import Embeddings
from tallystick.providers.models.store import ModelStore
from tallystick.reading import retriever as module
from tallystick.reading.fts import FtsIndex
from tallystick.reading.index import IndexedDocument
from tallystick.reading.passages import cut_passages
from tallystick.reading.retriever import Retriever
from tallystick.reading.vectors import VectorFile
from tallystick.settings import Settings

DATA = Path(os.environ.get("TALLY_DATA", "shared/data"))
PLACES = (1, 3, 5, 10)
Gold = list[tuple[str, str | None]]
"""Documents, each with the quote that a passage must hold; None: any passage."""


def main() -> None:
    models = Embeddings(ModelStore(Settings().models_dir()))
    for name, documents, questions in (("halvern", *halvern()), ("tau2", *tau2())):
        for backend in (None, "builtin", "minilm"):
            for weight in (0.0,) if backend is None else (0.0, 2.0, 50.0):
                model = None if backend is None else models.embedder(backend)
                print(name, backend, weight, measure(documents, questions, model, weight), flush=True)


def measure(documents: dict[str, tuple[str, str]], questions: list[tuple[str, Gold]], model: Any, weight: float) -> str:
    module.WEIGHT = weight
    made = {name: _document(name, *document) for name, document in documents.items()}
    with TemporaryDirectory() as folder:
        retriever = Retriever(
            FtsIndex(Path(folder) / "words.db"),
            read=made.get,
            vectors=VectorFile(Path(folder) / "vectors.db"),
            choose_embedder=lambda: model,
            rerank=weight > 0,
        )
        retriever.update({name: document.version for name, document in made.items()}, seconds=3600)
        began = time.perf_counter()
        ranks = [rank_of(retriever, *question) for question in questions]
        took = (time.perf_counter() - began) / len(questions)
        retriever.close()
    found = " / ".join(str(sum(rank is not None and rank <= place for rank in ranks)) for place in PLACES)
    mrr = sum(1 / rank for rank in ranks if rank is not None) / len(ranks)
    return f"{found} of {len(ranks)}, MRR {mrr:.3f}, {took * 1000:.0f} ms a search"


def rank_of(retriever: Retriever, query: str, gold: Gold) -> int | None:
    for rank, found in enumerate(retriever.search(query, PLACES[-1]), 1):
        text = _folded(found.text)
        if any(found.name == name and (quote is None or quote in text or text in quote) for name, quote in gold):
            return rank
    return None


def halvern() -> tuple[dict[str, tuple[str, str]], list[tuple[str, Gold]]]:
    folder = DATA / "outside" / "desk-halvern"
    documents = {path.name: (path.stem.replace("-", " "), _text_of(path)) for path in (folder / "kb").iterdir()}
    questions = [
        (each["text"], [(gold["doc"], _folded(gold["quote"])) for gold in each["gold"]])
        for each in map(json.loads, (folder / "questions.jsonl").read_text().splitlines())
        if each["category"] == "answerable"
    ]
    return documents, questions


def tau2() -> tuple[dict[str, tuple[str, str]], list[tuple[str, Gold]]]:
    read = [json.loads(path.read_text()) for path in _tau2_documents()]
    documents = {each["id"]: (each["title"], each["content"]) for each in read}
    tasks = json.loads((DATA / "tau2" / "dev" / "banking_knowledge" / "tasks.json").read_text())
    questions: list[tuple[str, Gold]] = [
        (each["user_scenario"]["instructions"][:600], [(name, None) for name in each["required_documents"]])
        for each in tasks
        if each.get("required_documents") and isinstance(each["user_scenario"]["instructions"], str)
    ]
    return documents, questions


def _tau2_documents() -> Iterator[Path]:
    return (DATA / "tau2" / "shared" / "banking_knowledge" / "documents").iterdir()


def _text_of(path: Path) -> str:
    text = path.read_text()
    if path.suffix != ".html":
        return text
    text = re.sub(r"(?s)<!--.*?-->|<title>.*?</title>", " ", text)
    text = re.sub(r"<h(\d)[^>]*>(.*?)</h\d>", lambda found: f"\n\n{'#' * int(found[1])} {found[2]}\n\n", text)
    text = re.sub(r"</?(?:p|li|tr|div)[^>]*>", "\n\n", text)
    return html.unescape(re.sub(r"<[^>]+>", " ", text))


def _document(name: str, title: str, text: str) -> IndexedDocument:
    version = sha256(text.encode()).hexdigest()
    return IndexedDocument(name=name, version=version, title=title, text=text, passages=cut_passages(text))


def _folded(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    main()
