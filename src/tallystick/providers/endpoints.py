"""Create a model from an endpoint's entry."""

from pathlib import Path

from tallystick.providers.chat.capabilities import CapabilityBook
from tallystick.providers.chat.compatible import OpenAiCompatible
from tallystick.providers.chat.endpoint import USUAL_ADDRESSES
from tallystick.providers.local.model import LocalModel
from tallystick.providers.models.store import ModelStore
from tallystick.providers.offline.model import OfflineModel
from tallystick.settings import Settings
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import Ask, Model, ModelError, Said, Speech
from tallystick.turns.prices import with_price

PROVIDERS = ("offline", "local", *USUAL_ADDRESSES)
"""All providers."""


def model_for(
    endpoint: Endpoint, *, settings: Settings, memory: CapabilityBook, workspace: Path | None = None
) -> Model:
    """Return the model of an endpoint; configuration errors are reported when it is first used.

    Args:
        endpoint: The endpoint.
        settings: The settings of the workspace.
        memory: What endpoints refused before.
        workspace: The folder that must not contain key files.
    """
    if endpoint.provider == "offline":
        return OfflineModel()
    endpoint = with_price(endpoint, settings.models.prices)
    if endpoint.provider == "local":
        store = ModelStore(settings.models_dir())
        return LocalModel(endpoint, memory=memory, store=store, answer_bytes=settings.models.answer_bytes)
    if endpoint.provider in USUAL_ADDRESSES:
        return OpenAiCompatible(endpoint, memory=memory, workspace=workspace, answer_bytes=settings.models.answer_bytes)
    return _NoSuchProvider(endpoint)


class _NoSuchProvider:
    """Replaces the model of an unknown provider, so that a request returns the error."""

    speech: Speech = "envelope"

    def __init__(self, endpoint: Endpoint) -> None:
        self.provider = endpoint.provider
        self.name = endpoint.model

    async def ask(self, ask: Ask, *, hear: object = None) -> Said | ModelError:  # noqa: ARG002 - required by the port
        """Return an error that lists the valid providers."""
        message = f"There is no provider '{self.provider:.50}'. Use one of: {', '.join(PROVIDERS)}."
        return ModelError(code="provider_not_installed", message=message)
