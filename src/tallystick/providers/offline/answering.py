"""The answer: what the results say to the request, in a few lines, and the Evidence line.

What was read is quoted, not interpreted: there is no model behind this agent, and the answer does not pretend one. An
answer is put together from paragraphs; those that the reply check would not take are dropped. What is left when
nothing holds is an honest refusal: ABSTAIN where that is an answer, else a request for what is missing.
"""

import re

from tallystick.gate.quotes import fold_text
from tallystick.providers.offline.cited import cited_in
from tallystick.providers.offline.citing import evidence, fits_role, would_pass
from tallystick.providers.offline.paragraphs import agents_named, paragraphs
from tallystick.providers.offline.planning import CHIEFS, Lacking, lacking
from tallystick.providers.offline.reporting import Paragraph
from tallystick.providers.offline.situation import Situation

ABSTAIN = "ABSTAIN"
_COMPOSES = re.compile(
    r"\b(?:write|draft|compose|rewrite|rephrase|translate|brainstorm|invent|imagine|continue|polish)\b", re.IGNORECASE
)
_NO_MODEL = "I have no model behind me: I quote what stands in the files and compose nothing."
_PLAIN_PATH = re.compile(r"(?:[\w-]{1,100}/){0,16}[\w-]{1,100}\.[A-Za-z]\w{0,7}")
_PLAIN_ROLE = re.compile(r"[\w -]{1,40}")


def answer(now: Situation) -> str:
    """Answer the request from the results."""
    if not now.reading.grounded and not now.results:
        return _why_not(now, lacking(now))
    if _is_for_others(now):
        return ABSTAIN
    seen = [fold_text(one.excerpt.text) for one in now.results if one.excerpt is not None]
    seen += [fold_text(place.text) for one in now.results for each in cited_in(one) for place in each.places]
    names = [tool.name for tool in now.reading.tools]
    kept = [part for part in paragraphs(now) if part.is_bare or would_pass(_reply(now, [part]), seen, names)]
    proved = [part for part in kept if not part.is_bare]
    # All that holds; else without what only comments on it; else the first thing alone.
    for parts in (kept, proved, proved[:1]):
        if _concerns_role(now, parts) and would_pass(reply := _reply(now, parts), seen, names):
            return reply
    return _nothing(now)


def _reply(now: Situation, parts: list[Paragraph]) -> str:
    said = list(dict.fromkeys(part.text for part in parts))
    if _COMPOSES.search(now.wish.text):
        said.insert(0, _NO_MODEL)
    role = now.reading.persona.role
    speaker = f"As {role}: " if _PLAIN_ROLE.fullmatch(role) else ""
    line = evidence(
        [quote for part in parts for quote in part.quotes],
        [receipt for part in parts for receipt in part.receipts],
        [item for part in parts for item in part.items],
    )
    body = "\n\n".join(said)
    return f"{speaker}{body}\n\n{line}"


def _is_for_others(now: Situation) -> bool:
    """Whether, in a conference, a router has said whose matter this is, and it is not this agent's."""
    reading = now.reading
    if reading.tools or not reading.may_abstain or reading.persona.role in CHIEFS:
        return False
    named = [agent_id for result in now.results for agent_id in agents_named(result)]
    return bool(named) and reading.persona.agent_id not in named


def _concerns_role(now: Situation, parts: list[Paragraph]) -> bool:
    """Whether an answer shows something from where the role has to look."""
    if not any(not part.is_bare for part in parts):
        return False
    if not now.wanted or "anything" in now.wanted:
        return True
    if "receipt" in now.wanted and any(part.receipts for part in parts):
        return True
    if any(part.concerns_role for part in parts):
        return True
    return any(fits_role(quote.path, now.wanted) for part in parts for quote in part.quotes)


def _nothing(now: Situation) -> str:
    """Nothing that could be shown: abstain where that is an answer, else say what would be needed."""
    wants = lacking(now)
    if wants is None and now.reading.may_abstain and now.results:
        return ABSTAIN
    named = [path for path in now.wish.paths if _PLAIN_PATH.fullmatch(path)]
    return f"{_why_not(now, wants)}\n\nEvidence: ACCESS_REQUEST {named[0] if named else '**'}"


def _why_not(now: Situation, wants: Lacking | None) -> str:
    if wants is not None:
        needed = ", ".join(wants.arguments)
        return f"I cannot do this yet: {wants.tool} needs {needed}, and the request does not name it."
    if not now.wish.says_something:
        return "The message names nothing that I could look up. Name a file, a person, a place or a word to search for."
    return f"I cannot answer this from what I can see. {_NO_MODEL}"
