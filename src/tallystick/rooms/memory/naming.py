"""Ids are hashes of content; names and texts have one form in which they are compared."""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any

from tallystick.gate.record.canonical import canonical_plain
from tallystick.gate.record.secrets import mask
from tallystick.rooms.memory.letters import composed, folded, looks_like
from tallystick.rooms.memory.times import seconds_or_none

_JUST_NAMED = 1_024
"""The rule, the tool and the fold each ask for the names of one proposal, one soon after the other."""

MOST_LOOKED_UP = 200
"""Letters of a name that stand in an index: PostgreSQL has room for 2,704 bytes, of which a letter may take four."""


MOST_SUBJECT = 100
"""Letters of a caller that stand in the name of a group."""

_SIXTY_BITS = (1 << 60) - 1
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def content_id(prefix: str, *parts: Any) -> str:
    """The id of a thing with this content."""
    return f"{prefix}_{sha256(canonical_plain(parts)).hexdigest()[:32]}"


def number_in(name: str) -> int:
    """Sixty bits of the hash in an id; zero for what is none, anybody's text may come as an id."""
    try:
        return int(name[-15:], 16) & _SIXTY_BITS
    except ValueError:
        return 0


def one_line(text: str) -> str:
    """NFC, and every run of white space one space."""
    # Names come again and again, whole texts do not.
    return _one_line(text) if len(text) <= MOST_LOOKED_UP else _on_one_line(text)


def _on_one_line(text: str) -> str:
    return " ".join((text if text.isascii() else composed(text)).split())


_one_line = lru_cache(maxsize=_JUST_NAMED)(_on_one_line)


def name_key(text: str) -> str:
    """A name as it is compared: one line, without regard to case."""
    return _name_key(text) if len(text) <= MOST_LOOKED_UP else folded(one_line(text))


@lru_cache(maxsize=1024)
def _name_key(text: str) -> str:
    return folded(one_line(text))


def lookup_key(key: str) -> str:
    """What a name is looked up by: its key, or a digest of one that is too long or that no database takes."""
    if len(key) <= MOST_LOOKED_UP and _UNSTORABLE.search(key) is None:
        return key
    # No name has this sign in it, so none is taken for a digest.
    return f"\x1f{sha256(key.encode(errors='surrogatepass')).hexdigest()}"


def possessed(whose: str, thing: str) -> str:
    """The name of what is somebody's and has no other name: `owner's dog`."""
    return f"{whose}'s {one_line(thing)}"


def predicate_key(text: str) -> str:
    """A predicate as it is compared: `Lives in` and `lives-in` are `lives_in`."""
    return "_".join(name_key(text).replace("-", " ").replace("_", " ").split())


def agent_group(agent: str) -> str:
    """The independence group of all that one agent reports: however many sources it names, the word is its own."""
    return f"agent:{name_key(agent)}"


@lru_cache(maxsize=_JUST_NAMED)
def caller_group(subject: str) -> str:
    """The independence group of all that one authenticated caller reports: one token is not two people."""
    key = name_key(subject)
    if len(key) > MOST_SUBJECT or mask(key) != key:
        # What looks like a key or a token is stored by nobody.
        key = sha256(key.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"caller:{key}"


@lru_cache(maxsize=_JUST_NAMED)
def text_key(text: str) -> str:
    """What two copies of one text have in common: the words, however they are set."""
    return sha256((looks_like(text) or name_key(text)).encode(errors="surrogatepass")).hexdigest()[:32]


def observation_id(
    text: str, source_id: str, claimed: str, group: str, seen: int, parents: Iterable[str], *more: str
) -> str:
    """Everything but where it was recorded: the same again is a duplicate.

    Args:
        text: The words.
        source_id: Who said them.
        claimed: The class of source that is claimed.
        group: The independence group that is claimed.
        seen: When they were observed.
        parents: What it was derived from.
        more: What else it weighs by: whose word it is (`Speaker.mark`), and of a test its result.
    """
    return _observation_id(text, source_id, claimed, group, seen, tuple(sorted(parents)), *filter(None, more))


@lru_cache(maxsize=_JUST_NAMED)
def _observation_id(*parts: Any) -> str:
    return content_id("obs", *parts)


def proposition_id(args: Mapping[str, Any]) -> str:
    """By subject, predicate, object, kind, volatility and valid time; the letters' case means nothing."""
    return _proposition_id(
        args["subject"],
        args["predicate"],
        args["object"],
        args.get("class", "descriptive"),
        args.get("volatility", "medium"),
        seconds_or_none(args.get("valid_from")),
        seconds_or_none(args.get("valid_to")),
    )


@lru_cache(maxsize=_JUST_NAMED)
def _proposition_id(subject: str, predicate: str, about: str, *rest: Any) -> str:
    return content_id("prop", name_key(subject), predicate_key(predicate), name_key(about), *rest)


def entity_id(name: str, kind: str) -> str:
    """By name and kind, the letters' case aside."""
    return content_id("ent", name_key(name), name_key(kind))


def check_id(of_proposition: str, method: str, expectation: str) -> str:
    """The id of a test."""
    return content_id("test", of_proposition, name_key(method), one_line(expectation))
