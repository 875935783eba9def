"""Thinking before an answer: put aside where it is a block of its own, so that the answer can be judged.

The same blocks as the gate puts aside before an envelope. What is left of tags after this is refused by the check.
"""

_CLOSES = {"<think>": "</think>", "<thinking>": "</thinking>", "[thinking]": "[/thinking]"}


def put_aside(text: str) -> tuple[str, str]:
    """The answer, and the thinking that stood before it."""
    # Most answers hold no tag, and then there is nothing to lower and to search.
    if "<" not in text and "[" not in text:
        return text, ""
    at = _end_of_thinking(text)
    return (text, "") if at == 0 else (text[at:].lstrip(), text[:at].strip())


def _end_of_thinking(text: str) -> int:
    lowered = text.lower()
    # A letter whose lower case is longer would shift every place after it.
    if len(lowered) != len(text):
        return 0
    at = 0
    while True:
        start = at + len(text) - at - len(text[at:].lstrip())
        opening = next((tag for tag in _CLOSES if lowered.startswith(tag, start)), None)
        # A closing tag alone ends a block that the chat template began.
        if opening is not None:
            end = lowered.find(_CLOSES[opening], start)
            closing = _CLOSES[opening]
        else:
            end, closing = _orphan(lowered, start)
        if end < 0:
            return at
        at = end + len(closing)


def _orphan(lowered: str, start: int) -> tuple[int, str]:
    """The first closing tag that no opening one stands before."""
    found = [(place, tag) for tag in _CLOSES.values() if (place := lowered.find(tag, start)) >= 0]
    if not found:
        return -1, ""
    end, closing = min(found)
    opened = any(0 <= lowered.find(tag, start) < end for tag in _CLOSES)
    return (-1, "") if opened else (end, closing)
