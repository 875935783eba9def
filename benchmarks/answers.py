"""Learn and measure which sentence answers a question, on XQuAD (English).

python -m benchmarks.answers SQUAD.json [--write]

Trained on two thirds of its articles and measured on the others. A question is asked of four articles, of which the eight
nearest paragraphs are read; a quarter of the questions is asked of other articles. Needs scikit-learn.
"""

import argparse
import json
import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from tallystick.providers.embeddings.selection import Embeddings
from tallystick.providers.models.store import ModelStore
from tallystick.reading import answers
from tallystick.reading.passages import IndexedPassage
from tallystick.reading.retriever import FoundPassage
from tallystick.settings import Settings
from tallystick.text.bm25 import Bm25
from tallystick.text.stems import stem_all, stems
from tallystick.text.words import content_words

PASSAGES = 8
VECTORS: dict[tuple[str, str], Any] = {}
WEIGHTS = Path(answers.__file__).with_name("answer_weights.json")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("squad", type=Path, help="a file in the form of SQuAD: xquad.en.json")
    parser.add_argument("--questions", type=int, default=1200)
    parser.add_argument("--grades", default="words,wordllama,minilm")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    models = Embeddings(ModelStore(Settings().models_dir()))
    articles = joined(json.loads(options.squad.read_text())["data"])
    learnt = json.loads(WEIGHTS.read_text())
    for grade in options.grades.split(","):
        model = None if grade == "words" else models.embedder("builtin" if grade == "wordllama" else grade)
        (features, labels, _) = rows_of(articles[::3] + articles[1::3], options.questions, model)
        held = rows_of(articles[2::3], options.questions // 2, model)
        model_of = LogisticRegression(max_iter=2000).fit(features, labels)
        learnt[grade] = [round(float(each), 4) for each in (model_of.intercept_[0], *model_of.coef_[0])]
        print(grade, learnt[grade], report(model_of, *held), flush=True)
    if options.write:
        WEIGHTS.write_text(json.dumps(learnt, indent=1) + "\n")


def joined(articles: list[Any]) -> list[Any]:
    """Join four articles into one, so that a question has twenty paragraphs to choose from."""
    return [
        {"title": str(at), "paragraphs": [each for article in articles[at : at + 4] for each in article["paragraphs"]]}
        for at in range(0, len(articles), 4)
    ]


def rows_of(articles: list[Any], wanted: int, model: Any) -> tuple[Any, Any, list[slice]]:
    chance = random.Random(7)
    features: list[list[float]] = []
    labels: list[int] = []
    groups: list[slice] = []
    for _ in range(wanted):
        article = chance.choice(articles)
        paragraph = chance.choice(article["paragraphs"])
        if not paragraph["qas"]:
            continue
        question = chance.choice(paragraph["qas"])
        # A quarter of the questions is asked of another article: about something that is not there at all.
        if chance.random() < 0.25:
            article, paragraph, question = chance.choice(articles), None, {**question, "answers": []}
        passages = nearest(question["question"], article, model)
        found = answers._sentences(passages)
        if not found:
            continue
        rows = answers.features(
            question["question"], [(each.text, passages.index(each.passage)) for each in found], passages, model
        )
        golds = [each["answer_start"] for each in question["answers"]] if paragraph else []
        truth = [
            int(
                any(
                    paragraph and each.passage.name == _name(paragraph["context"]) and each.start <= gold < each.end
                    for gold in golds
                )
            )
            for each in found
        ]
        # The best by plain overlap: as many wrong ones as a reader would have to choose among.
        order = sorted(range(len(found)), key=lambda at: (-truth[at], -rows[at][0] - (rows[at][8] if model else 0)))[
            :40
        ]
        groups.append(slice(len(features), len(features) + len(order)))
        features += [rows[at] for at in order]
        labels += [truth[at] for at in order]
    return np.array(features), np.array(labels), groups


def nearest(question: str, article: dict[str, Any], model: Any) -> list[FoundPassage]:
    """Return the nearest paragraphs of an article, by words and, with a model, by meaning."""
    texts = [each["context"] for each in article["paragraphs"]]
    by_words = Bm25([stems(text) for text in texts], b=0.4).scores(stem_all(content_words(question, query=True)))
    scores = [by_words.get(at, 0.0) for at in range(len(texts))]
    if model is not None:
        vectors = VECTORS.setdefault((model.name, article["title"]), model.embed(texts) if texts else None)
        meaning = vectors @ model.embed([question])[0]
        ranks = [np.argsort(np.argsort(-np.array(each))) for each in (scores, meaning)]
        scores = [1 / (60 + ranks[0][at]) + 1 / (60 + ranks[1][at]) for at in range(len(texts))]
    order = sorted(range(len(texts)), key=lambda at: -scores[at])[:PASSAGES]
    title = ""
    return [_passage(title, texts[at], scores[at]) for at in order]


def _passage(title: str, text: str, score: float) -> FoundPassage:
    place = IndexedPassage(
        number=0, section=0, start=0, end=len(text), first_line=1, last_line=1 + text.count("\n"), headings=()
    )
    return FoundPassage(
        name=_name(text), version="", text=text, in_context=f"{title}\n{text}", passage=place, score=score
    )


def _name(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def report(fitted: Any, features: Any, labels: Any, groups: list[slice]) -> str:
    chances = fitted.predict_proba(features)[:, 1]
    best = [(chances[group].max(), labels[group][chances[group].argmax()], labels[group].any()) for group in groups]
    lines = [f"best sentence right {sum(b[1] for b in best)} of {sum(b[2] for b in best)} with an answer"]
    for threshold in (0.2, 0.3, 0.4, 0.5):
        said = [each for each in best if each[0] >= threshold]
        lines.append(f"{threshold}: said {len(said)} of {len(best)}, right {sum(each[1] for each in said)}")
    return "; ".join(lines)


if __name__ == "__main__":
    main()
