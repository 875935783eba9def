"""TRIAGE by rules: whether an event is answered at all, and what must be known first.

A model may decide instead (`flows/triage.py` asks it); where its answer is none, these rules stand in and say so.
"""

import re
from typing import Any

from tallystick.rooms.desk.judging.matching import sentences, stems_of
from tallystick.rooms.desk.judging.signs import asks_for_person, categories_of

MOST_NEEDS = 4
"""Questions of one message that are looked into; whoever asks more writes to a person."""
_QUESTION = re.compile(r"\?\s*$")
_ASKS = re.compile(
    r"^\W*(?:who|what|when|where|why|how|which|can|could|do|does|did|is|are|will|would|may|should|am|has|have)\b|"
    r"\b(?:i(?:'d| would) like to know|tell me|explain|i want to|i need to|help me|how to|looking for|wondering|"
    r"not sure (?:how|what|if|whether|where)|problem with|issue with|trouble|doesn't work|does not work|not working|"
    r"can't|cannot|unable to|still waiting|have not received|haven't received)\b",
    re.IGNORECASE,
)
_COURTESY = re.compile(
    r"^(?:hello|hi|hey|dear|good (?:morning|day|evening)|thanks|thank you|regards|best|cheers)\b", re.IGNORECASE
)
_GREETING = re.compile(
    r"^(?:hello|hi|hey|dear|good (?:morning|day|afternoon|evening))\b[^,.!?:]{0,40}[,.!?:]\s*", re.IGNORECASE
)
_SPAM = re.compile(
    r"\b(?:unsubscribe me|seo services|guest post|crypto investment|click here to claim|you have won|lottery|"
    r"cheap (?:loans?|viagra)|backlinks?)\b",
    re.IGNORECASE,
)
_ENOUGH = 2
"""Words that say something, in a message that can be answered."""


def triage(content: str) -> dict[str, Any]:
    """Decide by rules."""
    said = " ".join(content.split())
    if len(stems_of(said)) < _ENOUGH and not _QUESTION.search(said):
        return _decided("REJECT", "There is nothing to answer.")
    if _SPAM.search(said):
        return _decided("REJECT", "Advertising.")
    found = categories_of(said)
    more = {"category": found[0]} if found else {}
    if asks_for_person(said):
        return _decided("DEFER", "The customer asks for a person.", **more)
    needs = [
        {"question": question, "purpose": "Answer the customer from the documents."} for question in _needs(content)
    ]
    return _decided("APPROVE", "A question that documents may answer.", information_needs=needs, **more)


def _decided(decision: str, reason: str, **more: Any) -> dict[str, Any]:
    strategy = "Answer from the documents, each sentence with its source." if decision == "APPROVE" else "None."
    return {"decision": decision, "information_needs": [], "reply_strategy": strategy, "short_reason": reason, **more}


def _needs(content: str) -> list[str]:
    """The questions of a message; without any, the whole of it is one."""
    greeted = (_GREETING.sub("", one) for one in sentences(content))
    told = [one for one in greeted if not _COURTESY.match(one) and stems_of(one)]
    asked = [one for one in told if _QUESTION.search(one) or _ASKS.search(one)]
    chosen = asked or told or [content]
    # What two questions share is one need.
    kept: list[str] = []
    for one in chosen:
        if not any(stems_of(one) <= stems_of(other) for other in kept):
            kept.append(one[:500])
    return kept[:MOST_NEEDS]
