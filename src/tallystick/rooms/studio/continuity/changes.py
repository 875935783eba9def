"""What the narration lets change: dyed hair, a move to another town. After that, the old fact says nothing."""

import re
from collections.abc import Sequence

from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact

_COLOUR = (
    r"(?:quite\s+|all\s+|a\s+\w+\s+)?(?:grey|gray|white|silver|blue|green|brown|black|red|gold\w*|dark|pale|"
    r"fair|yellow)"
)
_LOOKS = re.compile(
    r"\b(?:dyed|dyeing|dye|bleached|bleaching|wig|(?:tinted|coloured|colored|contact)\s+lenses|(?:eyes|hair|"
    r"beard)\s+(?:had\s+|have\s+|was\s+|were\s+)?(?:changed|darkened|lightened|faded|enchanted|transformed)|"
    rf"(?:eyes|hair|beard)\s+(?:had\s+)?(?:turned|gone|went|grew|grown)\s+{_COLOUR}|(?:turned|changed|made)\s+(?:his|"
    rf"her|the)\s+(?:eyes|hair|beard)\s+(?:to\s+)?{_COLOUR}|(?:eyes|hair|beard)\W+(?:which\s+|that\s+)?(?:once|"
    rf"formerly|(?:had\s+)?(?:once\s+)?been)\s+{_COLOUR}|(?:eyes|hair|beard)\s+(?:had|"
    rf"have)\s+(?:once\s+)?been\s+(?!always){_COLOUR}|"
    r"(?:bandaged|blinded|restored)\s+(?:his|her)\s+eyes|(?:potion|spell|enchantment|curse)\b[^.;]{0,60}?\b(?:eyes|"
    r"hair|beard)|shaved)\b"
)
_SOMEWHERE = (
    r"\s+(?:the\s+|an?\s+|new\s+|his\s+|her\s+|another\s+)*(?:[A-Z]|house|home|lodgings|rooms|town|village|cottage|"
    r"country|city|street|farm)"
)
_LIVED = r"(?:lived|lodged|dwelt|resided|living|lodging|settled|domiciled)"
_MOVES = re.compile(
    rf"\b(?:moved\s+(?:to|into|from|away\s+from){_SOMEWHERE}|removed\s+(?:to|from){_SOMEWHERE}|settled\s+(?:in|at|near|"
    rf"down\s+in){_SOMEWHERE}|"
    rf"now\s+(?:\w+ly\s+)?(?:{_LIVED}|to\s+be\s+found|kept\s+house|had\s+(?:an?|his|her)\b)|{_LIVED}\s+now\b|"
    rf"[Ss]ince\s+"
    rf"(?:the|his|her|that|their)\b[^.;]{{0,40}}?\b{_LIVED}\b|[Aa]fter\s+(?:the|his|her|that)\s+(?:fire|funeral|death|"
    r"quarrel|sale|war|flood|burial|crash|failure|ruin)\b|given\s+up\s+(?:the|his|her)\s+(?:\w+\s+)?(?:house|rooms|"
    r"lodgings|cottage|flat)|lease\s+(?:ran|had\s+run)\s+out|from\s+(?:then|that\s+(?:day|time|hour)|now)\s+on\b|"
    r"thenceforth|shifted\s+(?:his|her)\s+\w+\s+to\b|new\s+(?:address|quarters|"
    r"abode|residence|roof|street)\b|(?:house|home|cottage|roof)\b[^.;]{0,30}\b(?:pulled|burnt|burned|come)\s+down\b|"
    r"emigrated\b|went\s+to\s+live\b|exiled\b|new\s+(?:home|lodgings|house|rooms|cottage)\b|(?:took|taken)\s+(?:an?\s+|"
    r"another\s+|new\s+)*(?:house|lodgings|rooms)\b|[Aa]fter\s+(?:the|his|her)\s+(?:wedding|marriage)\b|sold\s+(?:the|"
    r"his|her)\s+(?:\w+\s+)?(?:house|cottage|farm)\b|bought\s+a\s+house\b|"
    rf"took\s+up\s+(?:his|her)\s+(?:residence|abode)\b|established\s+(?:himself|herself)\s+(?:in|at){_SOMEWHERE}|"
    rf"had\s+moved\b|gave\s+up\s+(?:his|"
    r"her)\s+(?:house|rooms|lodgings)\b|changed\s+(?:his|her)\s+lodgings\b)"
)


class Changes:
    """Where somebody's looks or home change."""

    def __init__(self, binders: Sequence[Binder]) -> None:
        self._places: dict[tuple[str, str], list[tuple[int, int]]] = {}
        for binder in binders:
            for pattern in (_LOOKS, _MOVES):
                for found in pattern.finditer(binder.prose.flat):
                    for kind in _kinds(pattern, found.group()):
                        self._note(binder, kind, found.start())

    def between(self, first: Fact, second: Fact) -> bool:
        """Whether such a change stands between two facts."""
        places = self._places.get((first.attribute, second.subject), [])
        start = (-1, 0) if first.from_card else first.place
        return any(start <= place <= second.place for place in places)

    def _note(self, binder: Binder, kind: str, at: int) -> None:
        """The change concerns whoever the sentence names, or else the paragraph."""
        number = binder.prose.sentence_at(at)
        if number is None:
            return
        sentence = binder.prose.sentences[number]
        named = binder.cast.named_in(binder.prose, sentence.start, sentence.end, spoken=True)
        if not named:
            start, end = binder.prose.paragraphs[sentence.paragraph]
            named = binder.cast.named_in(binder.prose, start, end, spoken=True)
        for mention in named:
            self._places.setdefault((kind, mention.key), []).append((binder.prose.order, sentence.start))


def _kinds(pattern: re.Pattern[str], words: str) -> tuple[str, ...]:
    """What changes: eyes, or hair and beard, or a home."""
    if pattern is _MOVES:
        return ("home",)
    return ("eyes",) if "eyes" in words or "lenses" in words else ("hair", "beard")
