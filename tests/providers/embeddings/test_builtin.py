import socket
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.providers.embeddings.builtin import MODEL, StaticWords

WORDS = StaticWords()
TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), min_size=1, max_size=12)


@pytest.mark.promise("insight.embed-builtin")
def test_the_built_in_model_loads_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(socket.socket, "connect", refuse)
    loaded = StaticWords()
    assert (loaded.name, loaded.dim, loaded.backend) == (MODEL, 256, "builtin")


@pytest.mark.promise("insight.embed-builtin")
@settings(max_examples=40, deadline=None)
@given(TEXTS)
def test_a_vector_has_length_one_and_does_not_depend_on_its_neighbours(texts: list[str]) -> None:
    together = WORDS.embed(texts)
    assert together.shape == (len(texts), 256)
    assert together.dtype == np.float32
    for text, row in zip(texts, together, strict=True):
        assert np.array_equal(WORDS.embed([text])[0], row)
        length = float(np.linalg.norm(row))
        assert length == 0 or abs(length - 1) < 1e-5


def test_loading_it_does_not_switch_on_the_logging_of_the_program() -> None:
    said = (
        "import logging; from tallystick.providers.embeddings.builtin import StaticWords; StaticWords();"
        "root = logging.getLogger(); print(root.handlers, root.level == logging.WARNING)"
    )
    ran = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True, timeout=300)
    assert ran.stdout.split() == ["[]", "True"]


def test_what_means_the_same_is_nearer_than_what_does_not() -> None:
    card, same, other = WORDS.embed(["my card has not arrived", "the new card never came", "where is my tax invoice"])
    assert card @ same > card @ other
