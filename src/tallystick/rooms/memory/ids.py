"""Ids are hashes of content; names and texts have one form in which they are compared.

A log written under one Python must give the same ids under the next, and a newer edition of Unicode assigns case and
compositions to characters that an older one does not know. So characters are composed by the edition that every Python
ships beside its own (`ucd_3_2_0`), and case is folded only in ranges that had it when this was written; no edition
changes those.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final
from unicodedata import ucd_3_2_0 as fixed

from tallystick.gate.record.canonical import canonical_plain
from tallystick.gate.record.secrets import mask
from tallystick.rooms.memory.times import seconds_or_none

_CASED: Final = (
    "0041-052E 0531-0556 0587-0587 10A0-10CD 13F8-13FD 1C80-1C88 1C90-1CBF 1E00-1FFC 2126-2183 24B6-24CF 2C00-2CF2 "
    "A640-A69A A722-A7CA A7D0-A7D0 A7D6-A7D8 A7F5-A7F5 AB70-ABBF FB00-FB17 FF21-FF3A 10400-10427 104B0-104D3 "
    "10570-10595 10C80-10CB2 118A0-118BF 16E40-16E5F 1E900-1E921"
)
"""Ranges of cased letters (Unicode 14)."""
_UNSEEN: Final = (
    "00AD-00AD 034F-034F 061C-061C 115F-1160 17B4-17B5 180B-180F 200B-200F 202A-202E 2060-206F 3164-3164 FE00-FE0F "
    "FEFF-FEFF FFA0-FFA0 FFF0-FFFB 1BCA0-1BCA3 1D173-1D17A E0000-E0FFF"
)
"""Ranges of invisible characters."""
_SHAPES = {
    ord(sign): letter
    for letter, signs in {
        "a": "\u0430\u03b1",
        "b": "\u0432",
        "c": "\u0441",
        "d": "\u0501",
        "e": "\u0435",
        "g": "\u0261",
        "h": "\u043d\u04bb",
        "i": "\u0456\u0131\u03b9",
        "j": "\u0458",
        "k": "\u03ba\u043a",
        "m": "\u043c",
        "n": "\u0578",
        "o": "\u043e\u03bf",
        "p": "\u0440\u03c1",
        "q": "\u051b",
        "r": "\u0433",
        "s": "\u0455",
        "t": "\u0442\u03c4",
        "u": "\u057d",
        "v": "\u03bd",
        "x": "\u0445",
        "y": "\u0443",
    }.items()
    for sign in signs
}
"""Common letters of other scripts that look like Latin ones."""


def _any_of(ranges: str) -> re.Pattern[str]:
    ends = (one.split("-") for one in ranges.split())
    return re.compile("[" + "".join(f"{chr(int(low, 16))}-{chr(int(high, 16))}" for low, high in ends) + "]+")


_cased, _unseen = _any_of(_CASED), _any_of(_UNSEEN)


def composed(text: str) -> str:
    """Return the text in NFC, by the fixed edition of Unicode."""
    return text if text.isascii() else fixed.normalize("NFC", text)


def folded(text: str) -> str:
    """Return the text without regard to case, by the fixed edition of Unicode."""
    return text.lower() if text.isascii() else _cased.sub(lambda found: found[0].casefold(), text)


class _Skeletons(dict[int, str]):
    """Character → its skeleton: a letter without case, accent and script; a space for what is no letter or digit."""

    def __missing__(self, code: int) -> str:
        parts = fixed.normalize("NFKD", folded(chr(code)))
        self[code] = look = "".join(map(_skeleton_of, parts)) if _unseen.match(chr(code)) is None else ""
        return look


def _skeleton_of(sign: str) -> str:
    if sign.isascii():
        return sign if sign.isalnum() else " "
    kind = fixed.category(sign)
    if kind == "Mn":
        return ""
    # Characters that this edition does not know stay as they are.
    return _SHAPES.get(ord(sign), sign) if kind[0] in "LN" or kind in {"Mc", "Cn", "Co", "Cs"} else " "


_skeletons = _Skeletons()


def skeleton(text: str) -> str:
    """Return the skeleton of a text: its words as a reader sees them, without punctuation and invisible characters."""
    return " ".join(text.translate(_skeletons).split())


_JUST_NAMED = 1_024
"""The rule, the tool and the fold each compute the ids of one proposal, shortly after each other."""

MOST_LOOKED_UP = 200
"""Characters of a name in an index: PostgreSQL has room for 2,704 bytes, and a character may take four."""


MOST_SUBJECT = 100
"""Characters of a caller's subject in the name of its group."""

_SIXTY_BITS = (1 << 60) - 1
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def content_id(prefix: str, *parts: Any) -> str:
    """Return the id of a record with this content."""
    return f"{prefix}_{sha256(canonical_plain(parts)).hexdigest()[:32]}"


def number_in(name: str) -> int:
    """Return sixty bits of the hash in an id; zero for any other text."""
    try:
        return int(name[-15:], 16) & _SIXTY_BITS
    except ValueError:
        return 0


def one_line(text: str) -> str:
    """Return the text in NFC, with every run of white space as one space."""
    # Names recur, whole texts do not.
    return _one_line(text) if len(text) <= MOST_LOOKED_UP else _on_one_line(text)


def _on_one_line(text: str) -> str:
    return " ".join((text if text.isascii() else composed(text)).split())


_one_line = lru_cache(maxsize=_JUST_NAMED)(_on_one_line)


def name_key(text: str) -> str:
    """Return a name as it is compared: one line, without regard to case."""
    return _name_key(text) if len(text) <= MOST_LOOKED_UP else folded(one_line(text))


@lru_cache(maxsize=1024)
def _name_key(text: str) -> str:
    return folded(one_line(text))


def lookup_key(key: str) -> str:
    """Return the key by which a name is looked up: a digest if it is too long or contains what no database stores."""
    if len(key) <= MOST_LOOKED_UP and _UNSTORABLE.search(key) is None:
        return key
    # No name contains this character, so none is mistaken for a digest.
    return f"\x1f{sha256(key.encode(errors='surrogatepass')).hexdigest()}"


def possessed(whose: str, thing: str) -> str:
    """Return the name of something that is known by its owner: `owner's dog`."""
    return f"{whose}'s {one_line(thing)}"


def predicate_key(text: str) -> str:
    """Return a predicate as it is compared: `Lives in` and `lives-in` are `lives_in`."""
    return "_".join(name_key(text).replace("-", " ").replace("_", " ").split())


@lru_cache(maxsize=_JUST_NAMED)
def group_key(group: str) -> str:
    """Return a stated independence group as it is compared: however it is spelt, in whatever script."""
    return skeleton(group) or name_key(group)


def agent_group(agent: str) -> str:
    """Return the independence group of everything that one agent reports, however many sources it names."""
    return f"agent:{name_key(agent)}"


@lru_cache(maxsize=_JUST_NAMED)
def caller_group(subject: str) -> str:
    """Return the independence group of everything that one authenticated caller reports: one token, one person."""
    key = name_key(subject)
    if len(key) > MOST_SUBJECT or mask(key) != key:
        # A subject that looks like a key or a token is not stored.
        key = sha256(key.encode(errors="surrogatepass")).hexdigest()[:16]
    return f"caller:{key}"


@lru_cache(maxsize=_JUST_NAMED)
def text_key(text: str) -> str:
    """Return the key that copies of one text share: its words, however they are formatted."""
    return sha256((skeleton(text) or name_key(text)).encode(errors="surrogatepass")).hexdigest()[:32]


def observation_id(
    text: str, source_id: str, claimed: str, group: str, seen: int, parents: Iterable[str], *more: str
) -> str:
    """Return the id of an observation, from everything but its place in the log: the same again is a duplicate.

    Args:
        text: The words.
        source_id: Who said them.
        claimed: The class of source that is claimed.
        group: The independence group that is claimed.
        seen: When they were observed.
        parents: What it was derived from.
        more: What else decides its weight: who reports it (`Speaker.mark`), and the result of a test.
    """
    return _observation_id(text, source_id, claimed, group, seen, tuple(sorted(parents)), *filter(None, more))


@lru_cache(maxsize=_JUST_NAMED)
def _observation_id(*parts: Any) -> str:
    return content_id("obs", *parts)


def proposition_id(args: Mapping[str, Any]) -> str:
    """Return the id of a proposition, by subject, predicate, object, kind, volatility and valid time, ignoring case."""
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
    """Return the id of an entity, by name and kind, ignoring case."""
    return content_id("ent", name_key(name), name_key(kind))


def trial_id(of_proposition: str, method: str, expectation: str) -> str:
    """Return the id of a test."""
    return content_id("test", of_proposition, name_key(method), one_line(expectation))
