"""What a request names: the things that a tool's arguments can be filled from."""

import re
from collections.abc import Container, Iterable
from datetime import datetime

from tallystick.providers.offline.words import content_words
from tallystick.records import record
from tallystick.text.stems import stem
from tallystick.text.words import QUERY_STOP_WORDS

MAX_READ = 12_000
"""Characters of a request that are looked at: half from its beginning, half from its end."""
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»\n]{1,300})[\"”“»]|(?<![\w'])'([^'\n]{2,200})'(?![\w'])|`([^`\n]{1,300})`")
_NAME = re.compile(
    r"\b[^\W\d_a-z][^\W\d_]*(?:['’-][^\W\d_]+)*(?: (?:of |the |de |van |von )?[^\W\d_a-z][^\W\d_]+){0,4}"  # noqa: RUF001
)
_PATH = re.compile(
    r"(?:[\w.@~+-]{1,100}/){0,16}[\w@~+-][\w.@~+-]{0,100}\.[A-Za-z][A-Za-z0-9]{0,7}|(?:[\w.@~+-]{1,100}/){1,16}"
)
_GLOB = re.compile(r"[\w./@~+*?-]{0,200}[*?][\w./@~+*?-]{0,200}")
_ID = re.compile(r"#\d{1,20}|(?=[\w-]{0,40}\d)[A-Za-z]{1,12}[-_]?[A-Za-z0-9]{1,40}(?:[-_][A-Za-z0-9]{1,40}){0,6}")
_HEX = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,64}", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.,/-])[-+]?\d{1,15}(?:,\d{3}){0,4}(?:\.\d{1,9})?(?![\w/-])")
_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}")
_URL = re.compile(r"https?://[^\s\"'<>]{1,500}")
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:\d{2})?)?\b")
_LONG_DATE = re.compile(
    r"\b(?:\d{1,2} [A-Z][a-z]{2,8} \d{4}|[A-Z][a-z]{2,8} \d{1,2},? \d{4}|\d{1,2}\.\d{1,2}\.\d{4})\b"
)
_DATE_FORMS = ("%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%d.%m.%Y")
_LINES = re.compile(r"\b(?:lines?|L)\s?(\d{1,7})(?:\s?(?:-|–|to|through|and)\s?(?:line |L)?(\d{1,7}))?", re.IGNORECASE)  # noqa: RUF001
_FIRST_LINES = re.compile(r"\bfirst (\d{1,5}) lines\b", re.IGNORECASE)
_APOSTROPHE = re.compile("['’]")  # noqa: RUF001
_ORDERS = re.compile(
    r"(?:^|[.!?;:\n]\s{0,4}|\b(?:please|kindly|you|then|to|and|must|should)\s)\s{0,4}(?:(?:please|kindly|just)\s{1,4})?([^\W\d_]{2,20})",
    re.IGNORECASE,
)
_LABEL = re.compile(r"(?:^|[.!?;:\n])\s{0,4}(?:the )?(?:task|question|request)[ ]?:(?=\s)", re.IGNORECASE)
_NOT_PATHS = frozenset({"e.g", "i.e", "a.m", "p.m", "and/or", "he/she", "his/her", "n/a"})
_SITES = (".com", ".org", ".net", ".edu", ".gov")
_OPENS_A_REQUEST = QUERY_STOP_WORDS | {"compare", "read", "summarize", "use", "write", "yes"}


@record
class Wish:
    """A request, taken apart."""

    text: str
    matter: str
    """What is asked: behind `Task:`, where somebody says before it how to go about it."""
    terms: tuple[str, ...]
    """The words that count."""
    names: tuple[str, ...] = ()
    quoted: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    emails: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    lines: tuple[int, int] | None = None
    dry_run: bool = False

    orders: frozenset[str] = frozenset()
    """The words that may be what is to be done: first in a sentence, or after `please`, `you`, `to`, `and`.

    A question begins with another word, so nothing in `What is a refund?` is an order; neither is the name of a file.
    """

    @property
    def says_something(self) -> bool:
        """Whether there is anything to look for."""
        return bool(self.terms or self.quoted or self.paths or self.ids)


def read_wish(text: str, earlier: tuple[str, ...] = (), tools: Iterable[str] = (), does: Container[str] = ()) -> Wish:
    """Take a request apart.

    Args:
        text: The user's words.
        earlier: What the user said before: a follow-up (`and her eyes?`) is about the same things.
        tools: Names of tools; they say how to look, not what for.
        does: Stems of what the agent does; ordered to (`critique …`), it is not asked about that.
    """
    if len(text) > MAX_READ:
        text = f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"
    emails, urls = _all(_EMAIL, text), _all(_URL, text)
    rest = _EMAIL.sub(" ", _URL.sub(" ", text))
    quoted = tuple(dict.fromkeys(a or b or c for a, b, c in _QUOTED.findall(rest)))
    paths = _paths(rest, quoted)
    matter = _matter(rest)
    plain = _without(matter, paths)
    orders = frozenset(word.lower() for word in _ORDERS.findall(plain))
    words = content_words(_without(matter, tools))
    terms = [word for word in words if not (word in orders and stem(word) in does)]
    if len(terms) < 2 and earlier:  # noqa: PLR2004 - one word alone does not say what it is about
        terms += [word for word in content_words(earlier[-1][:MAX_READ]) if word not in terms]
    dates = _dates(rest)
    return Wish(
        text=text,
        matter=matter,
        orders=orders,
        terms=tuple(terms),
        names=_names(plain),
        quoted=quoted,
        paths=paths,
        globs=tuple(glob for glob in _all(_GLOB, rest) if "." in glob or "/" in glob),
        ids=tuple(one for one in _ids(rest) if not any(one in path for path in paths)),
        numbers=_numbers(rest, dates),
        dates=dates,
        emails=emails,
        urls=tuple(url.rstrip(".,;:!?)") for url in urls),
        lines=_lines(text),
        dry_run=bool(re.search(r"\bdry[ _-]?run\b", text, re.IGNORECASE)),
    )


def _matter(text: str) -> str:
    """The text behind the last label that something follows."""
    behind = [text[found.end() :] for found in _LABEL.finditer(text)]
    return next((part for part in reversed(behind) if content_words(part)), text)


def _without(text: str, names: Iterable[str]) -> str:
    for name in names:
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.IGNORECASE)
    return text


def _all(pattern: re.Pattern[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(pattern.findall(text)))


def _paths(text: str, quoted: tuple[str, ...]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for token in [*quoted, *text.split()]:
        bare = token.strip("\"'`“”„«»()[]{}<>,;:!?").rstrip(".")
        bare = re.sub(r":L?\d{1,7}(?:-L?\d{1,7})?$", "", bare)
        spaced = " " in bare and token in quoted and re.fullmatch(r"[\w ./@~+,'()-]{1,200}\.[A-Za-z]\w{1,7}", bare)
        if (spaced or _PATH.fullmatch(bare)) and bare.lower() not in _NOT_PATHS and not _is_site(bare):
            found[bare] = None
    return tuple(found)


def _is_site(token: str) -> bool:
    return "/" not in token and token.lower().endswith(_SITES)


def _names(text: str) -> tuple[str, ...]:
    """Words with a capital; one that may have it only because it begins a sentence comes last."""
    found: dict[str, None] = {}
    doubtful: dict[str, None] = {}
    for match in _NAME.finditer(text):
        words = match.group().split()
        begins = not text[: match.start()].strip() or text[: match.start()].rstrip()[-1] in ".!?:\n"
        while words and _APOSTROPHE.split(words[0].lower())[0] in _OPENS_A_REQUEST:
            words.pop(0)
            begins = False
        if words and len(words[0]) > 1:
            (doubtful if begins and len(words) == 1 else found)[" ".join(words)] = None
    return (*found, *(name for name in doubtful if name not in found))


def _ids(text: str) -> list[str]:
    found: dict[str, None] = {}
    for token in text.split():
        bare = token.strip("\"'`“”„«»()[]{}<>,;:!?.")
        if _HEX.fullmatch(bare) or (_ID.fullmatch(bare) and not _ISO.fullmatch(bare) and any(map(str.isdigit, bare))):
            found[bare] = None
    return list(found)


def _numbers(text: str, dates: tuple[str, ...]) -> tuple[str, ...]:
    plain = _LONG_DATE.sub(" ", _ISO.sub(" ", text)) if dates else text
    found = [number.replace(",", "") for number in _NUMBER.findall(plain)]
    return tuple(dict.fromkeys(found))


def _dates(text: str) -> tuple[str, ...]:
    found = list(_ISO.findall(text))
    for written in _LONG_DATE.findall(text):
        for form in _DATE_FORMS:
            try:
                # Only the calendar day counts, which has no zone.
                found.append(datetime.strptime(written.replace(",", ""), form).date().isoformat())  # noqa: DTZ007
                break
            except ValueError:
                continue
    return tuple(dict.fromkeys(found))


def _lines(text: str) -> tuple[int, int] | None:
    if first := _FIRST_LINES.search(text):
        return 1, max(1, int(first.group(1)))
    found = _LINES.search(text)
    if found is None:
        return None
    start = int(found.group(1))
    end = int(found.group(2) or start)
    return (start, end) if 1 <= start <= end else None
