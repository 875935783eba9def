"""The MiniLM of this machine, for tests that read by meaning."""

import pytest

from tallystick.providers.embeddings.minilm import MODEL, MiniLm
from tallystick.providers.models.manifest import manifest
from tallystick.providers.models.store import ModelStore
from tallystick.settings import Settings

STORE = ModelStore(Settings().models_dir())
needs_minilm = pytest.mark.skipif(
    not STORE.is_complete(manifest()[MODEL]), reason=f"{MODEL} is not fetched: tally models fetch {MODEL}"
)


def minilm() -> MiniLm:
    return MiniLm(STORE.path(manifest()[MODEL]))
