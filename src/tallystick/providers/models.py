"""From an endpoint's entry to a model that can be asked."""

from pathlib import Path

from tallystick.providers.chat.address import USUAL
from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.providers.local.model import LocalModel
from tallystick.providers.offline.model import OfflineModel
from tallystick.settings import Settings
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, Model, ModelError, Said, Speech

PROVIDERS = ("offline", "local", *USUAL)
"""Every provider there is."""


def model_for(
    endpoint: Endpoint, *, settings: Settings, memory: CapabilityBook, workspace: Path | None = None
) -> Model:
    """The model behind an endpoint; whatever is wrong with it is said when it is asked.

    Args:
        endpoint: Where the model is.
        settings: Of the workspace.
        memory: What endpoints have refused before.
        workspace: Where key files must not lie.
    """
    if endpoint.provider == "offline":
        return OfflineModel()
    if endpoint.provider == "local":
        return LocalModel(endpoint, memory=memory, answer_bytes=settings.models.answer_bytes)
    if endpoint.provider in USUAL:
        return OpenAiCompatible(endpoint, memory=memory, workspace=workspace, answer_bytes=settings.models.answer_bytes)
    return _NoSuchProvider(endpoint)


class _NoSuchProvider:
    """Stands where an entry names a provider that does not exist, so that whoever asks is told so."""

    speech: Speech = "envelope"

    def __init__(self, endpoint: Endpoint) -> None:
        self.provider = endpoint.provider
        self.name = endpoint.model

    async def ask(self, ask: Ask, *, hear: object = None) -> Said | ModelError:  # noqa: ARG002 - the port's arguments
        """Say what can be written instead."""
        message = f"There is no provider '{self.provider:.50}'. Use one of: {', '.join(PROVIDERS)}."
        return ModelError(code="provider_not_installed", message=message)
