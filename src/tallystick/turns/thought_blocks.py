"""Strip thinking blocks before an answer, so that the reply check sees only the answer.

These are the same blocks that the gate strips before an envelope. The check refuses any thinking tags that remain.
"""

_CLOSES = {"<think>": "</think>", "<thinking>": "</thinking>", "[thinking]": "[/thinking]"}


def put_aside(text: str) -> tuple[str, str]:
    """Split a text into the answer and the thinking before it."""
    # Fast path: most answers contain no tag, so skip lower-casing and searching.
    if "<" not in text and "[" not in text:
        return text, ""
    at = _end_of_thinking(text)
    return (text, "") if at == 0 else (text[at:].lstrip(), text[:at].strip())


def _end_of_thinking(text: str) -> int:
    lowered = text.lower()
    # A letter whose lower case is longer would shift every later offset.
    if len(lowered) != len(text):
        return 0
    at = 0
    while True:
        start = at + len(text) - at - len(text[at:].lstrip())
        opening = next((tag for tag in _CLOSES if lowered.startswith(tag, start)), None)
        # A closing tag without an opening one ends a block that the chat template opened.
        if opening is not None:
            end = lowered.find(_CLOSES[opening], start)
            closing = _CLOSES[opening]
        else:
            end, closing = _orphan(lowered, start)
        if end < 0:
            return at
        at = end + len(closing)


def _orphan(lowered: str, start: int) -> tuple[int, str]:
    """Return the position and text of the first closing tag with no opening tag before it; (-1, "") if none."""
    found = [(place, tag) for tag in _CLOSES.values() if (place := lowered.find(tag, start)) >= 0]
    if not found:
        return -1, ""
    end, closing = min(found)
    opened = any(0 <= lowered.find(tag, start) < end for tag in _CLOSES)
    return (-1, "") if opened else (end, closing)
