"""A model wrapper that records prompt digests for the round's record.

If `[rooms.studio] conference_log = true`, the whole traffic goes into `private/conference_log.md` as well. It is for
looking into how a model behaves, so it holds everything as it was, but for secrets. No tool reads it: whoever could,
would read what the others replied.
"""

import asyncio
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

import orjson

from tallystick.gate.record.secrets import Redactor
from tallystick.settings import Settings
from tallystick.storage.journal import disk
from tallystick.storage.paths import CONFERENCE_LOG
from tallystick.turns.model import Ask, Message, Model, ModelError, Said, Speech
from tallystick.turns.transcript import fenced

_log = logging.getLogger(__name__)


class ObservedModel:
    """Wraps a model and records its prompts."""

    def __init__(
        self, model: Model, *, log: "TrafficLog | None", heading: str, hear: Callable[[str], None] | None = None
    ) -> None:
        """Wrap a model.

        Args:
            model: Who answers.
            log: Where the traffic is written down; None: nowhere.
            heading: What stands over it there.
            hear: Is told each piece of what it says as it comes, not checked yet; None: nobody listens.
        """
        self._model = model
        self._traffic = log
        self._heading = heading
        self._hear = hear
        self.prompts: list[str] = []
        """The digest of every prompt, in order."""

    @property
    def speech(self) -> Speech:
        """The model's own."""
        return self._model.speech

    @property
    def provider(self) -> str:
        """The model's own."""
        return self._model.provider

    @property
    def name(self) -> str:
        """The model's own."""
        return self._model.name

    async def ask(self, ask: Ask, *, hear: Callable[[str], None] | None = None) -> Said | ModelError:
        """Ask the model, and record the prompt's digest."""
        self.prompts.append(prompt_digest(ask.messages))
        said = await self._model.ask(ask, hear=hear or self._hear)
        if self._traffic is not None:
            await asyncio.to_thread(self._traffic.add, self._heading, ask.messages, said)
        return said


class TrafficLog:
    """Appends to `private/conference_log.md`; a failed write is logged and ignored."""

    def __init__(self, workspace: Path, settings: Settings) -> None:
        self._path = workspace.joinpath(*CONFERENCE_LOG)
        # Masking takes no key: nothing here commits to a value.
        self._redactor = Redactor(key=b"", names=settings.redact.keys)

    def add(self, heading: str, messages: Iterable[Message], said: Said | ModelError) -> None:
        """Write one exchange down."""
        parts = [f"## {heading}", *(f"### {each.role}\n\n{fenced(_told(each))}" for each in messages)]
        answer = said.text if isinstance(said, Said) else f"{said.code}: {said.message}"
        parts.append(f"### answer\n\n{fenced(answer)}")
        text = self._redactor.mask("\n\n".join(parts)) + "\n\n"
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            disk.make_folder(self._path.parent)
            fd = disk.open_file(self._path, flags, disk.FILE_MODE)
            try:
                disk.lock(fd)
                disk.write_all(fd, text.encode("utf-8", "replace"))
            finally:
                os.close(fd)
        except OSError as error:
            _log.warning("the conference log cannot be written: %s", error.strerror)


def prompt_digest(messages: Iterable[Message]) -> str:
    """SHA-256 of a prompt: its messages as JSON, keys sorted, nothing left out."""
    plain = [{name: value for name, value in asdict(each).items() if value} for each in messages]
    try:
        return sha256(orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)).hexdigest()
    except orjson.JSONEncodeError:
        # Half a character somewhere: no JSON can hold it, but the digest must still say which one it was.
        return sha256(repr(plain).encode("utf-8", "surrogatepass")).hexdigest()


def _told(message: Message) -> str:
    calls = [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join([message.content, *calls])
