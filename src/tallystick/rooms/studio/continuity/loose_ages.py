"""Ages that hang on nobody in particular, in sentences that are about one person only.

`For a man of fifty, Mr. Marsh slept well`, `Nothing in Mara's thirty years had …`, `There was a forty-year-old man in
the carriage, and that was Mr. Marsh`.
"""

import re
from collections.abc import Iterator

from tallystick.rooms.studio.continuity.ages import OLDEST
from tallystick.rooms.studio.continuity.alone import alone, alone_before
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.vocabulary import COUNTED, COUNTED_OFF, NUMBER, ORDINAL, number_of, ordinal_of

_PERSON = r"(?:man|woman|person|gentleman|lady|girl|boy|fellow|creature|bachelor|spinster|widow|widower|lad|lass|youth)"
_AGE = re.compile(
    rf"\b(?P<k>{NUMBER})\s+(?:years|summers|winters|springs)\s+(?:had\s+|have\s+)?(?:passed|gone|lay|sat|weighed|hung|"
    rf"rested|were|"
    rf"rolled)\s+(?:\w+\s+)?(?:over|on|upon|behind)\b"
    rf"|\b(?:lived|seen|carried|bore|wore|counted|numbered|completed|known)\s+(?:for\s+|but\s+|only\s+|"
    rf"all\s+)?(?:(?:his|her)\s+)?"
    rf"(?P<l>{NUMBER})\s+(?:years|summers|winters|springs)\b(?!\s+(?:in|at|with|there|together|under|among|"
    rf"of\s+(?:marriage|service)))"
    rf"|\b(?:turned|turning|rising|touching|entering\s+upon)\s+(?P<m>{NUMBER})\b(?!\s+\w+s\b|\s+o'clock)"
    rf"|\b(?P<n>{NUMBER})\s+years\s+of\s+(?:his|her|[^,;]{{2,24}}'s)\s+(?:life|age|existence)\b|"
    rf"\b(?:at|reached|attained|of|to|arrived\s+at)\s+the\s+(?:\w+\s+)?age\s+of\s+(?P<a>{NUMBER})\b"
    rf"|(?:\b(?:for|in|was|is|being|remained|now|still|only|but|already)|"
    rf",)\s+an?\s+(?:[\w-]+,?\s+){{0,2}}{_PERSON}\s+of\s+"
    rf"(?P<b>{NUMBER})\b(?!\s+(?:pounds|thousand|again))"
    rf"|\b(?:been|was)\s+(?:alive|in\s+th(?:e|is)\s+world|(?:up)?on\s+(?:this\s+|"
    rf"the\s+)?earth)\s+(?:for\s+)?(?P<o>{NUMBER})\s+years\b"
    rf"|\bborn\s+(?:some\s+)?(?P<p>{NUMBER})\s+(?:years|summers|winters)\s+(?:ago|before|earlier|back|since)\b"
    rf"|\b(?P<q>{NUMBER})\s+(?:years|springs|summers|winters)\s+(?:(?:had|"
    rf"have)\s+)?(?:\w+\s+){{0,5}}?since\s+(?:[\w.]+\s+){{1,3}}"
    rf"(?:(?:was|had\s+been)\s+(?:born|christened)|(?:had\s+)?c[ao]me\s+into\s+the\s+world|drew\s+(?:his|her)\s+first\s+breath)\b"
    rf"|\b(?P<t>{NUMBER})\s+(?:years|winters|summers)\s+(?:had|have)\s+(?:not\s+)?(?:taught|whitened|bowed|thinned|"
    rf"bent|done|stiffened|"
    rf"silvered|cured|broken|improved|spoiled|robbed|browned|weathered|seasoned|dried|lined|wrinkled|tanned|toughened|mellowed|worn|made|put|given|left|rounded|thickened|softened|hardened)\b"
    rf"|\b(?:were|was)\s+(?P<u>{NUMBER})\s+years\s+(?:up)?on\b|\bage,?\s+(?:which\s+was|was\s+told|being|"
    rf"and\s+was\s+told)\s+(?P<v>{NUMBER})\b"
    rf"|\b(?P<w>{NUMBER})\s+and\s+(?:never|still|not\s+yet)\s[^;]{{2,40}}:\s+(?:that|such|this)\s+was\b"
    rf"|\b(?:man|woman|person)\s+of\s+(?P<x>{NUMBER})(?=\s+(?:does|should|may|has|is|cannot|ought)\b)"
    rf"|\b(?:knees|back|face|hands|legs|lungs|heart|figure)\s+of\s+a\s+(?:man|"
    rf"woman)\s+of\s+(?P<y>{NUMBER}),\s+which\s+(?:he|she)\s+was\b"
    rf"|\byears\s+and\s+made\s+them\s+(?P<z>{NUMBER})\b|\bday\s+(?:that|when)\s+(?:he|she)\s+was\s+(?P<aa>{NUMBER})\b"
    rf"|\bmorning\s+(?:that|when)\s+(?:he|she)\s+was\s+(?P<ab>{NUMBER})\b|\bseen\s+(?P<ac>{NUMBER})\s+harvests\b"
    rf"|\b(?:look|looked|feel|seem)\s+(?P<ad>{NUMBER})(?=,?\s+but\s+(?:he|she)\s+was\b)"
    rf"|\bhad\s+(?P<r>{NUMBER})\s+years\s+to\s+(?:his|her)\s+name\b"
    rf"|\b(?:in|all|look(?:ed|ing)?|than|despite|bore|wore|carried|felt|showed|with|through|"
    rf"for)\s+(?:all\s+)?(?:of\s+)?(?:his|her)\s+"
    rf"(?:\w+\s+)?(?P<s>{NUMBER})\s+years\b(?!\s+(?:of\s+(?!(?:life|age))|as|at|in\s+(?!(?:the|this)\s+world)|with|"
    rf"on\s+(?!earth)|"
    rf"there|together|away|abroad))"
    rf"|(?:'s|\bhis|\bher)\s+(?:\w+\s+)?(?P<c>{NUMBER})\s+years(?=\s+(?:of\s+(?:life|age)|in\s+the\s+world|"
    rf"on\s+(?:this\s+)?earth|"
    rf"within|without|upon|sat|lay|weighed|had|were|lightly|well|like|showed|hung|rested|did|left)\b|\s*[.,;])"
    rf"|\bhad\s+(?:now\s+)?(?P<d>{NUMBER})\s+years\s+(?:behind|upon|on)\s+(?:him|her|his|the)\b"
    rf"|\b(?P<e>{NUMBER})[- ]years?[- ]old\b"
    rf"|\b(?P<f>{NUMBER})\s+years\s+of\s+age\b"
    rf"|\b(?:owned\s+to|confessed\s+to|admitted\s+to|put\s+(?:his|her)\s+age\s+at|gave\s+(?:his|her)\s+age\s+as|"
    rf"aged)\s+(?P<g>{NUMBER})\b"
    rf"|\b(?:came|come)\s+into\s+the\s+world\s+(?P<h>{NUMBER})\s+years\s+(?:before|ago|earlier)\b"
    rf"|\b(?:the\s+)?(?P<i>{NUMBER})\s+candles\b(?=[^;]*\b(?:cake|birthday)\b)|\b(?:cake|"
    rf"birthday)\b[^;]*\b(?P<j>{NUMBER})\s+candles\b",
    re.IGNORECASE,
)
_YEAR = re.compile(
    rf"\bthe\s+(?P<of_life>{ORDINAL})\s+year\s+of\s+[^,;]{{2,24}}(?:life|age)\b|"
    rf"\b(?:his|her|'s)\s+(?P<number>{ORDINAL})\s+year\b(?!\s+(?:of|as|at|in\s+the))|"
    rf"'s\s+(?P<own>{ORDINAL})\s+year\b(?!\s+(?:of|as|at))"
)
_PAST = re.compile(
    r"\b(?:when|since|until|till|before|after|ago|earlier|former\w*|ere|had\s+(?!reached|attained|spent|lived|passed|"
    r"seen|not|never|"
    r"no\b|already|now|prepared|taught|arrived|completed|lately|entered|just|come|been|begun)\w+(?:ed|en|t|n|ke|ne|"
    r"wn)?\s+(?:\w+\s+){0,6}?(?:at|in)\s+(?:the|his|her))\b",
    re.IGNORECASE,
)
_OF_ITSELF = frozenset({"s", "ad", "x"})
"""Readings that what stands before them cannot deny."""
_AT_AN_AGE = ("a", "b", "e", "f", "g", "m", "number", "own")
"""Readings that may speak of a time long ago."""
_COUNTED = frozenset({*COUNTED, "candles"})


def loose_ages(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every age in a sentence that can be about one person only."""
    for number, found in narration.prose.matches(_AGE, _COUNTED):
        said = next(part for part in found.groups() if part)
        value = number_of(said)
        if value is not None:
            yield from _age(narration, binder, number, found, value, value)
    for number, found in narration.prose.matches(_YEAR, COUNTED_OFF):
        value = ordinal_of(next(part for part in found.groups() if part))
        if value is not None:
            yield from _age(narration, binder, number, found, value - 1, value)


def _age(
    narration: Narration, binder: Binder, number: int, found: re.Match[str], low: int, high: int
) -> Iterator[Fact]:
    prose = narration.prose
    before = prose.told[prose.sentences[number].start : found.start()]
    dated = found.groupdict().get("p") is not None
    if not (narration.is_real(number) or dated) or not 1 < low <= high <= OLDEST or _PAST.search(before):
        return
    # `Nothing in her thirty years` and `had not yet` deny something else.
    if not _OF_ITSELF & {name for name, text in found.groupdict().items() if text} and re.search(
        r"\b(?:not|never|if|would|hardly|as|like|than)\s+(?:\w+\s+)?\Z", before
    ):
        return
    owner = alone(binder, number) or alone_before(binder, number)
    once = any(found.groupdict().get(name) for name in _AT_AN_AGE)
    if owner is not None and owner.is_possessive and (found.groupdict().get("e") or found.groupdict().get("f")):
        # `Mara's house was thirty years old.`
        return
    if owner is not None and not (once and _looks_back(prose.told, owner.end)):
        yield fact_at(prose, number, found.span(), owner, "age", (low, high), found.group())


def _looks_back(told: str, end: int) -> bool:
    """`At the age of nine Mara had already broken her arm` is a memory."""
    return (
        re.match(
            r"\s+had\s+(?!reached|attained|spent|not|never|no\b|been\s+(?:born|alive|in)|completed|lately|just|"
            r"entered|come|arrived|begun|"
            r"[\w-]+\s+years\b)(?:\w+\s+)?\w+",
            told[end : end + 40],
        )
        is not None
    )
