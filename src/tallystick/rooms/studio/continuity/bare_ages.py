"""Ages that are a number and nothing else: `made Mr. Marsh out to be fifty-four`, `ran well for fifty-four`.

A bare number may count anything. So this reads only sentences about one person in which nothing else is counted.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.alone import alone
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.vocabulary import COUNTED, NUMBER, number_of

_BARE = re.compile(
    rf"\b(?:to\s+be|got\s+to|lived\s+to|well\s+for|enough\s+for|old\s+for|young\s+for|hale\s+for|strong\s+for|"
    rf"that\s+is\s+to\s+say|"
    rf"reckoned,|(?:years|age),?\s+which\s+(?:were|was)|widower\s+and|widow\s+and|bachelor\s+and|spinster\s+and|"
    rf"made\s+(?:[\w.]+\s+){{1,3}}?)\s*"
    rf"(?P<a>{NUMBER})(?=\s*[.,;]|\s+(?:without|and\s+(?!a\s+half)|with|come|years\s+(?:old|of\s+age))\b)"
    rf"|\b(?P<b>{NUMBER})\s+is\s+no\s+(?:\w+\s+)?age\b|,\s+(?P<c>{NUMBER})\s+and\s+(?:an?|still|un\w+|single|"
    rf"married)\b|"
    rf"\b[Aa]t\s+(?P<d>{NUMBER})\s+an?\s+(?:man|woman)\b|\b(?P<e>{NUMBER})\s+birthdays\b|"
    rf"\bnever\s+again\s+be\s+(?P<f>{NUMBER})\b|"
    rf"\bbe\s+(?P<g>{NUMBER})\s+years\s+old\b|\bbeen\s+(?P<h>{NUMBER})\s+years\s+in\s+th(?:e|is)\s+world\b|"
    rf"\bhad\s+(?P<i>{NUMBER})\s+years\s+of\s+\w+\s+behind\b|\b(?:was|is)\s+an?\s+(?:[a-z-]+\s+){{1,2}}(?P<j>{NUMBER})(?=\s*[.,;])|"
    rf"\byears,?\s+and\s+(?:they\s+were|found\s+them|made\s+(?:them|it))\s+(?P<k>{NUMBER})\b|\bbeen\s+(?P<l>{NUMBER})\s+for\s+[\w-]+\s+(?:hour|day|week|month)s?\b|"
    rf"\b(?:down|entered|registered|figured|written|recorded)\s+(?:[\w\s]{{1,24}})?\bas\s+(?P<m>{NUMBER})(?=\s*[.,;])|\b(?P<n>{NUMBER})\s+was\s+the\s+age\s+of\b|"
    rf"\b(?:age|years)\s+of\s+[\w.\s]{{2,24}}?\s+(?:was|were)\s+(?P<o>{NUMBER})\b|\b(?P<p>{NUMBER})\s+in\s+(?:his|her)?\s*years(?=\s*[.,;])|"
    rf"\b(?P<q>{NUMBER})\s+(?:years|winters|summers|springs)\s+(?:on|upon|in)\s+(?:his|her)\s+(?:back|bones|shoulders|head|limbs|legs)\b|"
    rf"\bhad\s+(?P<r>{NUMBER})\s+years\s+to\s+(?:look\s+back|answer\s+for|regret|account\s+for)\b|"
    rf"\bage\s+of\s+[\w.\s]{{2,24}}?\s+as\s+(?P<s>{NUMBER})\b|\bbirth,?\s+(?P<t>{NUMBER})\s+years\s+(?:earlier|before|ago)\b|"
    rf"\b(?:got|come|gone|lived|passed)\s+(?:safely\s+)?through\s+(?P<u>{NUMBER})\s+years\b|\b(?:confessed|owned|admitted|bore|wore|carried)\s+(?:to\s+)?(?:his|her)\s+(?P<v>{NUMBER})\s+years\b|"
    rf"\b(?:was|is)\s+at\s+(?P<w>{NUMBER})\s+(?:an?|the|still)\b|\bage,\s+(?P<x>{NUMBER}),|\b(?:old|young)\s+at\s+(?P<y>{NUMBER})(?=\s*[.,;])|"
    rf"\A\W*An?\s+(?:[a-z-]+\s+){{1,2}}(?P<z>{NUMBER}),\s|\bcounted\s+(?P<ba>{NUMBER})\s+years\b|\bbeing\s+(?P<bb>{NUMBER})(?=\s*[.,;])",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    rf"\b(?:nearer\s+(?P<to>{NUMBER})\s+than\s+(?P<off>{NUMBER})|half-?\s?way\s+between\s+(?P<low>{NUMBER})\s+and\s+(?P<high>{NUMBER}))\b"
)
_COUNTED_OTHERWISE = re.compile(
    r"\b(?:pounds?|guineas?|shillings?|pence|francs?|dollars?|miles?|yards?|feet|inches|acres?|pages?|votes?|o'clock|"
    r"minutes?|hours?|degrees|"
    r"tons?|sheep|horses|soldiers|page|number|train|points?|runs?|marks?|sold|bought|paid|bid|worth|price|cost)\b"
)
_SUPPOSED = re.compile(
    r"\b(?:if|might|could|looked|seemed|felt|thought|taken|passed|pretend\w*|claim\w*|gave\s+out|said|told|guess\w*|"
    r"suppos\w*|when|until|till|"
    r"like|as\s+if|hope[ds]?|meant|expected|wanted|not\s+lived)\b"
)
_YOUNGEST = 13
"""Smaller numbers count too many other things."""


def bare_ages(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every age of this kind that the file gives somebody."""
    for number, found in narration.prose.matches(_BARE, COUNTED):
        value = number_of(next(part for part in found.groups() if part))
        if value is not None:
            yield from _aged(narration, binder, number, found, (value, value))
    for number, found in narration.prose.matches(_BETWEEN, COUNTED):
        first, second = (
            number_of(found.group("to") or found.group("low")),
            number_of(found.group("off") or found.group("high")),
        )
        if first is not None and second is not None:
            middle = (first + second) // 2
            span = (min(middle, first), max(middle, first)) if found.group("to") else (middle - 2, middle + 2)
            yield from _aged(narration, binder, number, found, span)


def _aged(
    narration: Narration, binder: Binder, number: int, found: re.Match[str], years: tuple[int, int]
) -> Iterator[Fact]:
    text = narration.prose.sentences[number].text
    owner = alone(binder, number) if years[0] >= _YOUNGEST and narration.is_real(number) else None
    if owner is not None and not _COUNTED_OTHERWISE.search(text) and not _SUPPOSED.search(text):
        yield fact_at(narration.prose, number, found.span(), owner, "age", years, found.group())
