"""Recognise sentences that claim nothing (greeting, thanks, sign-off) and need no reference in the per-sentence form.

The list is fixed. Any sentence that is not on it counts as a claim.
"""

import re

from tallystick.text.calendar_names import WEEKDAYS

_SIGN_OFF: frozenset[str] = frozenset(
    {
        "best regards",
        "kind regards",
        "warm regards",
        "regards",
        "best wishes",
        "all the best",
        "best",
        "sincerely",
        "yours sincerely",
        "yours faithfully",
        "yours truly",
        "cheers",
        "take care",
        "thanks",
        "many thanks",
        "thank you",
    }
)
COURTESIES: frozenset[str] = _SIGN_OFF | frozenset(
    {
        "hello",
        "hi",
        "hey",
        "hi there",
        "hello there",
        "good morning",
        "good afternoon",
        "good evening",
        "dear customer",
        "dear sir or madam",
        "to whom it may concern",
        "thank you very much",
        "thanks a lot",
        "thank you for contacting us",
        "thanks for contacting us",
        "thank you for reaching out",
        "thanks for reaching out",
        "thank you for reaching out to us",
        "thanks for reaching out to us",
        "thank you for your message",
        "thanks for your message",
        "thank you for your email",
        "thanks for your email",
        "thank you for getting in touch",
        "thanks for getting in touch",
        "thank you for writing to us",
        "thank you for your question",
        "thanks for your question",
        "thank you for your patience",
        "thanks for your patience",
        "thank you for your understanding",
        "thank you for your time",
        "we appreciate your patience",
        "i hope this helps",
        "we hope this helps",
        "hope this helps",
        "i hope you are well",
        "we hope you are well",
        "i hope this message finds you well",
        "we are sorry for the inconvenience",
        "we apologize for the inconvenience",
        "we apologise for the inconvenience",
        "i am sorry for the inconvenience",
        "i apologize for the inconvenience",
        "i apologise for the inconvenience",
        "sorry for the inconvenience",
        "we are sorry to hear that",
        "i am sorry to hear that",
        "sorry to hear that",
        "please let us know if you have any other questions",
        "please let us know if you have any questions",
        "please let us know if you have any further questions",
        "please let me know if you have any other questions",
        "please let me know if you have any questions",
        "please let me know if you have any further questions",
        "let us know if you have any other questions",
        "let me know if you have any other questions",
        "let us know if you have any questions",
        "let me know if you have any questions",
        "please do not hesitate to contact us",
        "please feel free to contact us",
        "feel free to reach out",
    }
)

_WISH = re.compile(r"(?:good luck|best of luck|have an?|enjoy|happy|safe)\b[^\d\"“,;:]{0,40}")
"""A wish: `have a lovely weekend`, `good luck with the chapter`."""
_JOINED = re.compile(r",\s+(?:and\s+)?|(?<!\s)\s++and\s+")
_GREETING = re.compile(r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)) (.{1,60})")
_NAME = re.compile(r"[^\W\d_][^\W\d_'.-]{0,30}(?:['.-][^\W\d_]{0,30})?")
_PARTICLES = frozenset(
    {"the", "team", "from", "of", "at", "and", "de", "van", "von", "there", "all", "mr", "ms", "mrs"}
)
_MAX_NAMES = 4
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence is only a courtesy: a listed phrase, a wish, a greeting with a name, or several of them."""
    plain = _plain(sentence)
    if plain in COURTESIES or _is_wish(sentence):
        return True
    parts = _JOINED.split(sentence)
    if len(parts) > 1 and all(map(is_courtesy, parts)):
        return True
    greeting = _GREETING.fullmatch(sentence.strip(" ,.!:\n").replace("’", "'").lower())  # noqa: RUF001
    # Take the name from the original text, not the lower-cased one: a name must begin with a capital.
    return greeting is not None and _is_name(sentence.strip(" ,.!:\n")[-len(greeting.group(1)) :])


def _is_wish(sentence: str) -> bool:
    """Whether a sentence is a wish that names nobody; weekdays do not count as names."""
    bare = sentence.strip(" .!\n")
    if _WISH.fullmatch(bare.replace("’", "'").lower()) is None:  # noqa: RUF001
        return False
    return not any(word[:1].isupper() and word.lower() not in WEEKDAYS for word in bare.split()[1:])


def is_signature(sentence: str, before: str) -> bool:
    """Whether a line is a name that follows a sign-off."""
    return _plain(before) in _SIGN_OFF and _is_name(sentence.strip(" ,.!:\n-—"))


def _is_name(text: str) -> bool:
    words = text.replace(",", " ").split()
    return 0 < len(words) <= _MAX_NAMES and all(
        word.rstrip(".").lower() in _PARTICLES or (word[0].isupper() and _NAME.fullmatch(word)) for word in words
    )


def _plain(sentence: str) -> str:
    return " ".join(_WORD.findall(sentence.replace("’", "'").casefold()))  # noqa: RUF001
