"""How search engines are asked, and what they answer, by kind."""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from typing import Any
from urllib.parse import urlencode, urlsplit

import orjson

from tallystick.providers.net.pinned import NoAnswer
from tallystick.records import record
from tallystick.rooms.desk.web_search.options import WebOptions

MAX_SNIPPET = 1_000
_TAG = re.compile(r"<[^<>]{0,500}>")


@record
class Found:
    """One page that an engine names."""

    url: str
    host: str
    title: str
    snippet: str


def query_of(options: WebOptions, words: str, k: int) -> str:
    """The query string; whatever the words hold, they stay one value in it."""
    if options.engine == "brave":
        return urlencode({"q": words, "count": k})
    return urlencode({"q": words, "format": "json"})


def headers_of(options: WebOptions, key: str | None) -> dict[str, str]:
    """What proves who asks."""
    if key is None:
        return {}
    return {"X-Subscription-Token": key} if options.engine == "brave" else {"Authorization": f"Bearer {key}"}


def pages_in(options: WebOptions, body: bytes) -> list[Found]:
    """The pages of an answer, in its order.

    Raises:
        NoAnswer: It is not what such an engine answers.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise NoAnswer("it answers with something else than JSON") from None
    listed = _listed(options, answer)
    if listed is None:
        raise NoAnswer(f"it does not answer as {options.engine} does")
    return list(_pages(listed, "description" if options.engine == "brave" else "content"))


def _listed(options: WebOptions, answer: Any) -> list[Any] | None:
    if options.engine == "brave":
        answer = answer.get("web", {"results": []}) if isinstance(answer, Mapping) else None
    found = answer.get("results") if isinstance(answer, Mapping) else None
    return found if isinstance(found, list) else None


def _pages(listed: list[Any], snippet: str) -> Iterator[Found]:
    for each in listed:
        url = each.get("url") if isinstance(each, Mapping) else None
        host = _host(url) if isinstance(url, str) else None
        if isinstance(url, str) and host is not None:
            yield Found(url=url, host=host, title=_words(each.get("title")), snippet=_words(each.get(snippet)))


def _host(url: str) -> str | None:
    """The host of a page; None for anything that is no plain address of one."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
        plain = parts.scheme in {"http", "https"} and parts.username is None and url.isprintable() and " " not in url
    except ValueError:
        return None
    return host if plain and host and len(url) <= 2_000 else None  # noqa: PLR2004 - longer ones are no addresses


def _words(value: Any) -> str:
    """Text without tags; engines mark the words that fit."""
    text = unescape(_TAG.sub("", value)) if isinstance(value, str) else ""
    return " ".join(text.split())[:MAX_SNIPPET]
