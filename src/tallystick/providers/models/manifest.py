"""The manifest of model files: what `tally models fetch` can bring."""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from tallystick.records import record

Purpose = Literal["chat", "embedding", "parser"]


@record
class PackagePart:
    """A piece of a model file: one member of a wheel."""

    package: str
    """Name and version, e.g. `name==1.0`."""
    member: str
    size: int


@record
class ModelFile:
    """One file of a model."""

    path: str
    """Relative to the model's folder."""
    size: int
    sha256: str
    parts: tuple[PackagePart, ...]
    """Joined in this order they are the file."""
    hub: str | None = None
    """`owner/name:file` on the Hugging Face hub; None: the file is not there."""


@record
class ModelEntry:
    """A model that can be fetched."""

    name: str
    purpose: Purpose
    description: str
    licence: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.size for file in self.files)


@cache
def manifest() -> Mapping[str, ModelEntry]:
    """Return every known model by name."""
    text = files("tallystick.providers.models").joinpath("manifest.toml").read_text(encoding="utf-8")
    return {name: _entry(name, raw) for name, raw in tomllib.loads(text).items()}


def _entry(name: str, raw: dict[str, Any]) -> ModelEntry:
    return ModelEntry(**(raw | {"name": name, "files": tuple(_file(each) for each in raw["files"])}))


def _file(raw: dict[str, Any]) -> ModelFile:
    return ModelFile(**(raw | {"parts": tuple(PackagePart(**part) for part in raw["parts"])}))
