"""Triage without a model: whether a message is answered, and what must be known first.

The whole message is the need: what is asked is understood from the story around it, so only courtesies are left out.
"""

import re
from collections.abc import Sequence
from typing import Any

from tallystick.gate.reply.courtesy import is_courtesy
from tallystick.rooms.desk.triage.categories import PERSON, MessageClassifier
from tallystick.text.sentences import sentences
from tallystick.text.words import content_words

LONGEST = 2_000
"""Characters of a need: as many as a search takes."""
EARLIER = 600
"""Of those, characters of earlier messages of the conversation."""
_SPAM = re.compile(
    r"\b(?:unsubscribe me|seo services|guest post|crypto investment|click here to claim|you have won|lottery|"
    r"cheap (?:loans?|viagra)|backlinks?)\b",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:hello|hi|hey|dear|good (?:morning|day|afternoon|evening))\b[^,.!?:\n]{0,40}(?:[,.!?:]\s*|\n+|$)",
    re.IGNORECASE,
)


def triage(content: str, classifier: MessageClassifier, earlier: Sequence[str] = ()) -> dict[str, Any]:
    """Decide.

    Args:
        content: The customer's words.
        classifier: Finds the categories.
        earlier: Earlier messages of the conversation, oldest first.
    """
    asked = essence(content)
    if not content_words(asked) and "?" not in asked:
        return _decided("REJECT", "There is nothing to answer.")
    if _SPAM.search(asked):
        return _decided("REJECT", "Advertising.")
    found = classifier.categories(content)
    more = {"category": found[0]} if found else {}
    need = {"question": in_conversation(asked, earlier), "purpose": "Answer the customer from the documents."}
    if PERSON in found:
        # The person who answers begins with what the documents say.
        return _decided("DEFER", "The customer asks for a person.", information_needs=[need], **more)
    return _decided("APPROVE", "A message that documents may answer.", information_needs=[need], **more)


def essence(content: str) -> str:
    """Return a message without greeting and courtesies; empty if it is nothing else."""
    said = [one for one in sentences(_GREETING.sub("", content.strip()), wrapped=False) if not is_courtesy(one)]
    return _shortened(" ".join(" ".join(said).split()))


def in_conversation(asked: str, earlier: Sequence[str]) -> str:
    """Return a message below the latest of what was written before it."""
    before = " ".join(essence(one) for one in earlier)[-EARLIER:].strip()
    return _shortened(f"{before}\n{asked}") if before else asked


def _shortened(text: str) -> str:
    """Keep the beginning and the end of a long message: there people say what it is about, and what they want."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} {text[-(LONGEST // 2 - 1) :]}"


def _decided(decision: str, reason: str, **more: Any) -> dict[str, Any]:
    strategy = "Answer from the documents, each sentence with its source." if decision == "APPROVE" else "None."
    return {"decision": decision, "information_needs": [], "reply_strategy": strategy, "short_reason": reason, **more}
