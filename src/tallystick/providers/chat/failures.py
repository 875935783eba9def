"""A table that maps failed requests (status and error text) to fixed error codes.

The server's text is shown where it helps: shortened, on one line and without the key. For a refused key it is not shown
at all, because servers quote keys there.
"""

import re
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, Literal

from tallystick.records import record
from tallystick.turns.agent import Endpoint
from tallystick.turns.model import ModelError

_SHOWN = 200
_TOO_LONG = re.compile(
    r"context.{0,3}length|context.{0,3}(size|window)|maximum context|too many tokens|prompt is too long|exceed_context",
    re.IGNORECASE,
)
_NO_MODEL = re.compile(
    r"model.{0,80}(not.found|not exist|unknown|not loaded|no such)|no models? loaded|model_not_found", re.IGNORECASE
)
_BAD_KEY = re.compile(r"api key (not valid|not found|expired|invalid)|invalid api key", re.IGNORECASE)
_NO_QUOTA = re.compile(r"insufficient_quota|billing|exceeded your current quota", re.IGNORECASE)
_FORM = re.compile(r"response_format|json_schema|json_object|structured|grammar|schema", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"(un|not |n't )(supported|recognized|recognised|known|expected|permitted|allowed)|not support|deprecated"
    r"|extra (field|input)",
    re.IGNORECASE,
)
_THIS_SCHEMA = re.compile(r"invalid schema|failed to parse grammar|schema.{0,40}not supported by", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
OPTIONAL = ("max_tokens", "max_completion_tokens", "temperature", "stream_options", "tool_choice")
"""Optional fields that can be left out if a server refuses them."""
_BAD_REQUEST = frozenset({400, 404, 415, 422, 501})


@record
class ProviderFailure:
    """A response with a status other than 200."""

    status: int
    body: Any
    """The parsed JSON, else the text."""
    retry_after_s: float | None = None

    @property
    def said(self) -> str:
        """The server's error text, without control characters."""
        return _CONTROL.sub(" ", _words(self.body))


@record
class Lost:
    """A connection that could not be established, or that broke."""

    how: Literal["never", "broken"]


def model_error(failure: ProviderFailure, endpoint: Endpoint, *, address: str, key: str) -> ModelError:
    """Return the error code of a failure, with advice."""
    code, advice = next((code, advice) for fits, code, advice in _TABLE if fits(failure.status, failure.said))
    message = advice.format(
        where=f"'{endpoint.provider}' at {address}",
        model=endpoint.model,
        status=failure.status,
        place="api_key_file" if endpoint.api_key_file else endpoint.api_key_env or "api_key_env",
    )
    shown = "" if code == "key_refused" else _shown(failure.said, key)
    return ModelError(code=code, message=message + shown, retry_after_s=failure.retry_after_s)


def passes(failure: ProviderFailure) -> bool:
    """Return whether the same request may succeed a little later."""
    if failure.status == HTTPStatus.TOO_MANY_REQUESTS:
        return not _NO_QUOTA.search(failure.said)
    return failure.status in {408, 409, 425} or (
        failure.status >= HTTPStatus.INTERNAL_SERVER_ERROR and failure.status != HTTPStatus.NOT_IMPLEMENTED
    )


def refused_fields(failure: ProviderFailure, sent: Mapping[str, Any]) -> frozenset[str]:
    """Return the optional fields that the server does not support."""
    # A value that is too large is not an unknown field: leaving out a limit for that reason would lift it.
    if failure.status not in _BAD_REQUEST or not _UNKNOWN.search(failure.said) or _TOO_LONG.search(failure.said):
        return frozenset()
    # A message that names `max_completion_tokens` means: use it instead of the other.
    named = {name for name in OPTIONAL if name in sent and re.search(rf"\b{name}\b", failure.said)}
    return frozenset(named)


def refuses_form(failure: ProviderFailure) -> bool:
    """Return whether the response form may be what was refused."""
    if any(known.search(failure.said) for known in (_TOO_LONG, _NO_MODEL, _BAD_KEY)):
        return False
    # Many servers only say "bad request", so that counts too; there are only a few forms to try anyway.
    return failure.status in _BAD_REQUEST or (
        failure.status == HTTPStatus.INTERNAL_SERVER_ERROR and bool(_FORM.search(failure.said))
    )


def refuses_this_schema(failure: ProviderFailure) -> bool:
    """Return whether only this schema was refused, and another may be accepted."""
    return bool(_THIS_SCHEMA.search(failure.said))


def _words(body: Any) -> str:
    if isinstance(body, list) and body:
        # Gemini puts its error in a list.
        body = body[0]
    if isinstance(body, Mapping):
        error = body.get("error", body)
        if isinstance(error, Mapping):
            return " ".join(
                str(error[name]) for name in ("message", "detail", "type", "code", "param") if error.get(name)
            )
        return str(error)
    return body if isinstance(body, str) else ""


def _shown(said: str, key: str) -> str:
    clean = said.replace(key, "[key]") if key else said
    return f" It says: {clean[:_SHOWN].strip()}" if clean.strip() else ""


_TABLE: tuple[tuple[Callable[[int, str], Any], Any, str], ...] = (
    (lambda status, said: status in {401, 403} or (status in _BAD_REQUEST and _BAD_KEY.search(said)), "key_refused",
     "{where} refused the key (HTTP {status}). Check the key that {place} names."),
    (lambda status, said: status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE or _TOO_LONG.search(said), "prompt_too_large",
     "The prompt is too long for '{model}'. Shorten it or its history."),
    (lambda status, said: status in {400, 404} and _NO_MODEL.search(said), "model_unknown",
     "{where} has no model '{model}'. Load it there, or set another for this agent."),
    (lambda status, said: status == HTTPStatus.TOO_MANY_REQUESTS and _NO_QUOTA.search(said), "endpoint_rate_limited",
     "{where} takes no more requests: its quota is used up. Check the account."),
    (lambda status, _: status == HTTPStatus.TOO_MANY_REQUESTS, "endpoint_rate_limited",
     "{where} takes no more requests now. Wait, then ask again."),
    (lambda status, _: status in {404, 405}, "endpoint_failed",
     "There is no chat API for {where}. Check base_url."),
    (lambda status, _: status in range(300, 400), "endpoint_failed",
     "{where} sends elsewhere (HTTP {status}). Set base_url to where it sends."),
    (lambda status, _: status < HTTPStatus.INTERNAL_SERVER_ERROR, "endpoint_failed",
     "{where} refused the request (HTTP {status}). Check model and base_url of this agent."),
    (lambda *_: True, "endpoint_failed",
     "{where} failed (HTTP {status}). Look at its log, then ask again."),
)  # fmt: skip
"""The first matching row applies: condition, code, advice."""
