"""Words of a text, and what two texts share."""

from collections.abc import Iterable, Mapping

from tallystick.text.stems import stem
from tallystick.text.words import QUERY_STOP_WORDS, identifier_words

_DOING_WORDS = frozenset({"find", "list", "search", "show", "check", "locate", "look"})
"""Words that name what a tool does; elsewhere they only ask."""
STOP = QUERY_STOP_WORDS - _DOING_WORDS | {"use"}
HOW = frozenset({
    "answer", "call", "calls", "evidence", "exactly", "json", "needed", "nonce", "object", "question", "request",
    "return", "step", "task", "text", "tool", "tools", "use", "using",
})  # fmt: skip
"""Words that say how to go about a request, not what it is about: they choose no tool, and nothing is looked for."""
ASKING = frozenset({
    "according", "anywhere", "book", "called", "check", "cite", "color", "colour", "compare", "describe",
    "document", "documents", "draft", "ever", "explain", "fact", "file", "files", "find", "first", "give",
    "happen", "happened", "happens", "kind", "know", "known", "line", "lines", "list", "locate", "look", "many",
    "mean", "means", "mention", "mentioned", "mentions", "much", "name", "novel", "often", "one", "passage",
    "passages", "please", "project", "quote", "quotes", "read", "report", "said", "say", "says", "search",
    "sentence", "show", "speak", "speaks", "state", "states", "story", "summarise", "summarize", "tell", "then",
    "workspace", "write", "written",
})  # fmt: skip
"""Words by which people ask; they seldom stand in what is asked for."""
# What people say for the same doing; the first word of each row stands for all.
_DOINGS = (
    "search find locate look lookup discover mention occur contain query",
    "read open show display print quote cite excerpt view",
    "send email mail notify forward dispatch",
    "create add make new book schedule register",
    "delete remove erase drop cancel",
    "update change edit set modify rename move",
    "count number total sum many",
    "list enumerate every",
    "check verify validate audit inspect",
    "get fetch retrieve status detail info information",
    "compare difference versus differ",
    "route assign delegate handle triage",
)

# What people ask by, and the words an answer has for it.
_ASKED_BY = {
    "old": "age aged born birthday",
    "die": "died dies dying dead death",
    "dead": "died dies death",
    "death": "died dies dead",
    "live": "lives lived home house",
    "stand": "lies lay stands stood",
    "lie": "lies lay stands stood",
    "tall": "height",
    "job": "occupation trade profession works",
    "wear": "wears wore dressed",
    "kin": "father mother sister brother daughter son wife husband",
}


def content_words(text: str) -> list[str]:
    """The words that say what a text is about, each once, in order."""
    return [
        word for word in dict.fromkeys(identifier_words(text)) if word not in STOP and (len(word) > 1 or word.isdigit())
    ]


def stems_of(text: str) -> list[str]:
    """The stems of all words that count, with repeats."""
    return [stem(word) for word in identifier_words(text) if word not in STOP]


HOW_STEMS, ASKING_STEMS = frozenset(map(stem, HOW)), frozenset(map(stem, ASKING))
_DOING_OF: Mapping[str, str] = {stem(word): f"doing:{row.split()[0]}" for row in _DOINGS for word in row.split()}


def doing_of(stemmed: str) -> str | None:
    """What kind of doing a stem names, if any."""
    return _DOING_OF.get(stemmed)


def with_doings(stems: Iterable[str]) -> list[str]:
    """The stems, and the kinds of doing among them."""
    given = list(stems)
    return given + [doing for one in given if (doing := doing_of(one)) is not None]


_ANSWERS: Mapping[str, frozenset[str]] = {
    stem(word): frozenset(stem(other) for other in others.split()) for word, others in _ASKED_BY.items()
}


def answered_stems(wanted: Iterable[str], held: frozenset[str]) -> frozenset[str]:
    """The stems of a request that a text holds, or has another word for: `how old` is told by `Age`."""
    return frozenset(one for one in wanted if one in held or not held.isdisjoint(_ANSWERS.get(one, ())))
