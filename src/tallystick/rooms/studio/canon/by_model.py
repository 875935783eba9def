"""An extraction by a model: what it is asked, and what of its answer can be used.

A model may sum up as it likes. But what it says the card defines or demands must stand in the card, word for word:
an invented rule in the canon would be worse than none.
"""

import re
from collections.abc import Sequence

import orjson

from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.admit.strictjson import parse_json_object
from tallystick.gate.quotes import find_quote
from tallystick.rooms.studio.book.nouns import CanonCard
from tallystick.rooms.studio.canon.nouns import SCHEMA, Extract, extract_of
from tallystick.turns.thinking import put_aside

MAX_CARD = 24_000
"""Characters of a card that a model is shown."""
MAX_ANSWER = 64_000
_FENCE = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*)\n```\s*\Z", re.DOTALL)
_COMPILED = compile_schema(dict(SCHEMA), closed=True)


def prompt_for(card: CanonCard) -> str:
    """What the model is asked about one card."""
    text = card.source.text[:MAX_CARD]
    return (
        "Read this card of a novel's compendium and answer with one JSON object and nothing else:\n"
        '{"type": the kind of card, "scope": [where it holds: "book", scenes, acts], "hardness": "hard" if it is '
        'settled or "soft" if it may still change, "topics": [what it is about], "defines": [names and attributes it '
        'settles, as the card writes them], "constraints": [sentences of the card that say what must or must never '
        'be, word for word], "summary": one sentence}\n'
        "Invent nothing. Lists may be empty. Every entry is one line.\n\n"
        f"The card, {card.path}, a card of type {card.kind}:\n\n{text}\n"
    )


def read_answer(text: str, card: CanonCard) -> Extract | str:
    """The extraction; or a fixed code that says why it is none."""
    answer, _ = put_aside(text)
    fenced = _FENCE.match(answer)
    body = (fenced.group(1) if fenced else answer.strip()).encode(errors="replace")
    found = parse_json_object(body, MAX_ANSWER)
    if isinstance(found, Rejection):
        return "extraction_not_json"
    if not _COMPILED.accepts(found):
        return "extraction_does_not_fit"
    names = (card.name, *card.aliases)
    kept = found | {
        "constraints": _standing(found["constraints"], card),
        "defines": list(dict.fromkeys([*names, *_standing(found["defines"], card)])),
        "scope": found["scope"] or ["book"],
    }
    return extract_of(kept, card.kind)


def readable(kept: object, card: CanonCard) -> Extract | None:
    """An extraction that was kept, if it still is one."""
    if not isinstance(kept, dict) or not _COMPILED.accepts(orjson.loads(orjson.dumps(kept))):
        return None
    return extract_of(kept, card.kind)


def _standing(texts: Sequence[str], card: CanonCard) -> list[str]:
    folded = card.source.folded
    return [text for text in texts if find_quote(text, folded) is not None]
