"""Logs one line per event to stderr, as JSON or for a console, with secrets masked.

Masking happens twice: in each value before the line is formatted (names of secrets, `name=value` in text, tokens) and
in the formatted line (tokens and the workspace's own secrets), so that neither a stack trace nor another library's
message leaks one.
"""

import logging
import re
import sys
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any, Literal, TextIO

import structlog

from tallystick.gate.record.secrets import TOKEN
from tallystick.settings import Settings

MASK = "[redacted]"
MIN_SECRET_CHARS = 8
"""A shorter value would match ordinary words."""
MAX_TEXT_CHARS = 8_000
"""Longer text is cut to its two ends: nobody reads more, and searching for secrets takes time."""

_PRIVATE_KEY = re.compile(
    r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----.*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|\Z)", re.DOTALL
)
_URL_LOGIN = re.compile(r"(?<=://)[^\s/@:]{0,256}:[^\s/@]{1,256}(?=@)")


_EVENT: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
]
"""Processors for every event, from any library."""


class Masker:
    """Masks secrets in log events."""

    def __init__(self, *, names: Iterable[str], values: Iterable[str] = ()) -> None:
        """Set the known secrets.

        Args:
            names: Names whose values are secret (`redact.keys`).
            values: The workspace's own secrets.
        """
        known = sorted((re.escape(name.lower()) for name in names), key=len, reverse=True)
        self._name = re.compile(rf"(?:.*[_.-])?(?:{'|'.join(known)})", re.IGNORECASE) if known else None
        self._assignment = (
            re.compile(
                rf"((?:{'|'.join(known)})[\"']?\s{{0,8}}[:=]\s{{0,8}}(?:(?:bearer|basic|token|digest)\s+)?)"
                r"(\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'|[^\s,;&)}\]]+)",
                re.IGNORECASE,
            )
            if known
            else None
        )
        self._values: list[str] = []
        for value in values:
            self.add(value)

    def add(self, value: str) -> None:
        """Add a secret, such as the start-up token once it is created."""
        if len(value) >= MIN_SECRET_CHARS:
            self._values.append(value)

    def text(self, text: str) -> str:
        """Mask original, unformatted text."""
        text = _PRIVATE_KEY.sub(MASK, TOKEN.sub(MASK, _shortened(self._without_known(text))))
        if self._assignment is not None:
            text = self._assignment.sub(rf"\1{MASK}", text)
        return _URL_LOGIN.sub(MASK, text)

    def line(self, line: str) -> str:
        """Mask a formatted line without changing its quoting."""
        return TOKEN.sub(MASK, self._without_known(line))

    def _without_known(self, text: str) -> str:
        for value in self._values:
            if value in text:
                text = text.replace(value, MASK)
        return text

    def value(self, value: Any) -> Any:
        """Mask a value of any type."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {key: MASK if self._is_secret(key) else self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [self.value(item) for item in value]
        if value is None or isinstance(value, bool | int | float):
            return value
        return self.text(repr(value))

    def __call__(self, _logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        """Mask an event (structlog processor interface)."""
        masked: dict[str, Any] = self.value(event)
        return masked

    def _is_secret(self, name: object) -> bool:
        return self._name is not None and isinstance(name, str) and self._name.fullmatch(name) is not None


def _shortened(text: str) -> str:
    """Return both ends of long text, cut between words: a cut token would not be recognised."""
    if len(text) <= MAX_TEXT_CHARS:
        return text
    half = MAX_TEXT_CHARS // 2
    begin = re.sub(r"\S+\Z", "", text[:half])
    end = re.sub(r"\A\S+", "", text[-half:])
    return f"{begin}[… {len(text) - len(begin) - len(end)} characters …]{end}"


def secrets_of(settings: Settings) -> list[str]:
    """Return the plain-text secrets in the settings."""
    secret = settings.auth.jwt_secret
    login = re.search(r"://[^/@:]*:([^/@]+)@", settings.storage.database_url or "")
    return [*([secret.get_secret_value()] if secret else []), *([login[1]] if login else [])]


def set_up_logs(
    settings: Settings,
    *,
    masker: Masker | None = None,
    form: Literal["json", "console"] | None = None,
    level: int | str = logging.INFO,
    stream: TextIO | None = None,
) -> None:
    """Send all logs of this process, ours and the libraries', to stderr through the masker.

    Args:
        settings: Their secrets are always masked.
        masker: A masker with further secrets; the settings' secrets are added to it.
        form: `console` or `json`; by default `console` at a terminal and `json` elsewhere.
        level: The minimum level.
        stream: Used instead of stderr.
    """
    masker = masker or Masker(names=settings.redact.keys)
    for value in secrets_of(settings):
        masker.add(value)
    stream = stream or sys.stderr
    for_the_eye = stream.isatty() if form is None else form == "console"
    renderer: Any = structlog.dev.ConsoleRenderer(colors=False) if for_the_eye else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[*_EVENT, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(_MaskedFormatter(masker, renderer))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel(level)


class _MaskedFormatter(structlog.stdlib.ProcessorFormatter):
    """Formatter that masks every finished line."""

    def __init__(self, masker: Masker, renderer: Any) -> None:
        super().__init__(
            foreign_pre_chain=_EVENT,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, masker, renderer],
        )
        self._masker = masker

    def format(self, record: logging.LogRecord) -> str:
        return self._masker.line(super().format(record))
