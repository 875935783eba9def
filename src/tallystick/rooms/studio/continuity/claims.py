"""Whether a sentence claims something for a fact: what may stand around a value and take it back.

What is dreamt, painted, forged or false taints its whole sentence. What somebody says, believes or remembers taints
only what comes after it: `he swore that her hair was red` tells nothing of the hair, `he tore his hair and swore` does.
"""

import re

from tallystick.rooms.studio.continuity.focus import OTHERS, clause_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.taken_back import is_taken_back
from tallystick.rooms.studio.continuity.unreal import CONFIRMED, DREAMT, FALSE, PICTURED, PLAYED

_UNREAL = re.compile(rf"\b(?:{DREAMT}|{PICTURED}|{PLAYED}|passport(?! gave)|for all the world)\b")
_FALSE = re.compile(
    rf"\b(?:{FALSE}|false papers|[Aa]ccording to(?! (?:age|size|height|rank|colou?r|custom)\b| (?:an?|the|his|her|"
    rf"their|that) (?:\w+ )?(?:custom|register|records?|Bible|certificate|rule|habit|law|"
    rf"usage|age|agreement|sky|weather|season)\b)|so the story|(?<=, )or so|"
    rf"(?<!¤ )(?:people|they|some|folk|many|everyone|men|gossip|"
    r"rumour|report|the \w+) (?:said|say|says|had it)(?! (?:it|so|grace|nothing|good|no|to|many)\b)|it was said)\b|"
    r", (?:he|she|they) (?:had )?told (?:[A-Z]|him\b|her\b|the\b)|, (?:he|she|they|it|one|"
    r"(?:[A-Z][a-z.]+ ){0,2}[A-Z][a-z]+) (?:said|claimed|declared|swore|thought|believed|supposed|explained|remembered|"
    r"recalled|fancied|had heard|heard|insisted|was told)(?=\s*[,.;—]|\Z)|"
    r"\b(?:[Hh]e|[Ss]he|[A-Z]\w+)(?: \w+ly)? (?:had )?(?:gave|given|put down|set down|stated|named) (?:[^,;]{2,60}? as "
    r"(?:his|her|the (?:date|place|day|year|town))\b|(?:[\w.]+ ){0,3}an address\b)"
)
"""What is untrue, or only what somebody gives out for the truth."""
_CONFIRMED = re.compile(CONFIRMED)
_NEAR = 20
"""Characters in which a noun stands after its article."""
_TO_ANOTHER = re.compile(r"\W*To\s+(?:the|an?|his|her|their|every|most|some)\s+")
_WAKES = re.compile(
    r"(?:[;:—]|\b(?:when|until|till|before|and|but|then|as))\s[^;]*?"
    r"\b(?:woke|awoke|(?<!newly )(?<!just )(?<!lately )(?<!be )(?:waked|awakened))\b"
)
"""Of a dream: `at forty Mara woke in a ditch` is none, `she was forty, and woke` is."""
_FIGURE = re.compile(
    r"\b(?:ma[dk](?:e|ing) an? (?:\w+ )?\w+ of (?=him\b|her\b|it\b|[A-Z])|(?:like|as \w+ as|(?:in)?to) an? (?:\w+ )?"
    r"(?:statue|ghost|mask|picture|vision|waxwork|portrait|effigy|saint in stained glass)|"
    r"(?:was|were|face) an? (?:\w+ )?mask|"
    r"(?:was|were|look\w*|sat|stood|made) (?:the|a) (?:very |perfect )?(?:picture|portrait|image) of (?=[a-z]+\b))"
)
"""`the dust had made a statue of her`: a way of speaking."""
_ASIDE = re.compile(r",\s+as\s+(?:if|though)\b[^,;:—]{2,60},")
"""`gave her, as if in jest, green eyes`: what is likened ends with its comma."""
_MEANT = re.compile(
    r"\b(?:planned|meant|intended|hoped|promised|wanted|longed|vowed)\s+to\s+[^,;]{2,40},(?=\s+(?:and|then)\s+"
    r"(?:[a-z]+ed|went|left|took|set|came|drove|rode|ran)\b)"
)
"""`promised to write, and started`: what is only meant ends where the next thing is done."""
_BESIDE_NAME = re.compile(r"[A-Z][\w.]*,\s+(?:who\s+(?:was|is|had)|aged|being)\s+(?:[a-z-]+\s+){0,3}\Z")
"""`It seemed to Mara, who was forty, that …`: what stands beside the name is the narrator's own."""
_UNDENIED = re.compile(
    r"\b(?:(?:could|can|did|does|would) not|cannot|couldn't|never) (?:\w+ ){0,2}?(?:hide|conceal|disguise|miss|"
    r"overlook|help (?:noticing|seeing|observing|remarking)|fail to (?:see|notice|observe|remark)|mistake)\b|"
    r"\b(?:(?:could|can|did|does) not|cannot|couldn't|[Nn]obody|[Nn]o one) [^,;]{2,50} "
    r"without (?:noticing|seeing|remarking|observing|being struck)\b"
)
"""`could not hide that her hair was red`, `nobody met her without noticing that …`: it is so."""
_OF_HIMSELF = re.compile(
    r"(?:(?:[A-Z][\w.]*\s+){0,4}[A-Z]\w+|\b[Ss]?[Hh]e)(?:\s+(?!who\b|whom\b|that\b|the\b)[^,;:—]{1,40})??(?:,\s+and|"
    r"\s+and)?\s+(?:thought|reflected|"
    r"considered|realis\w+|realiz\w+|told\s+(?:himself|herself)|reminded\s+(?:himself|herself))\s+that\s+"
    r"(?=(?:he|she)\s+was\s+(?:\w+\s+)?(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|\d\d)\b)"
)
"""`sat on the wall and thought that he was forty`: how old one is oneself one knows."""
_READER = re.compile(
    r"\b(?:[Ll]et (?:the reader|us|him who reads)|(?:the reader|you|he who reads) (?:may|must|will|should|is to))"
    r" (?:now |then )?(?:imagine|picture|fancy|suppose|conceive|figure)(?: to (?:himself|yourself|ourselves))?\b|"
    r"\b[Ii]magine (?=an? )|\b(?:[Ll]et it (?:only |here )?be|[Bb]e it|[Ii]t (?:must|may|should|need only) be|"
    r"I (?:must|may|should)|we (?:must|may)) (?:said?|told|stated|recorded|set down|known|owned|admitted|confessed?|"
    r"mention(?:ed)?|add(?:ed)?|own)\b(?! by\b)"
)
"""`Let the reader imagine a man of forty`: the narrator's own way of telling."""
_KNOWN_BY = re.compile(
    r"\b(?:[Pp]eople|[Tt]hey|[Ee]very(?:body|one)|[Nn]obody|[Nn]o one|[Oo]ne|who|[Ss]trangers|[Vv]isitors|[Aa]ll)"
    r"(?: (?:who \w+ \w+ |had |always |ever |never |chiefly |only |mostly |generally |afterwards |\w+ly ){0,2}| )"
    r"(?:remember(?:ed|s)?|recall(?:ed|s)?) (?=the |those |his |her |about |in |of |[A-Z])(?![^,;.]{0,40} as\b)|"
    r"\bremembered (?:for|by) |"
    r"\bremember(?:ed|s)? (?:best |most |chiefly |longest |first |afterwards )?(?:about|of|in) (?=[A-Z])"
)
"""What all the world knows somebody by is so still."""
UNTOLD = re.compile(
    r"\b(?:[Nn]ever|not|n't|[Nn]obody|[Nn]o one) (?:\w+ ){0,2}?(?:told|tell|mention\w*|knew|know|known|guess\w*|"
    r"suspect\w*|confess\w*|admit\w*|learn\w*|forg[eo]t\w*|hid|hidden)\b(?: [^,;]{1,40}?)? (?=(?:that|where|how) )"
)
"""`never told the aunts that she had been at Leeds`: she had."""
_TURN = re.compile(r"\bbut\b(?! for\b)|[;—]")
"""After which nothing is only said, meant or hoped any more."""
_REMEMBERED = re.compile(
    r"\b(?:remember\w*|recall\w*|recollect\w*|memor(?:y|ies)|remind\w*|reminiscen\w*|used to|long ago|"
    r"in those days|years? (?:ago|back)|formerly|thought of|think of|in (?:his|her) (?:youth|childhood)|"
    r"as an? (?:\w+ )?(?:child|girl|boy|infant|baby)|in (?:the|his|her) cradle|like (?:most|many|all|other) (?:babies|"
    r"infants|children)|at (?:his|her) birth|when (?:he|she|they|(?-i:[A-Z]\w+)) (?:was|were|"
    r"had been) (?:an? |still |only |but |just )*(?:young|child|boy|girl|small|little|baby|infant))\b",
    re.IGNORECASE,
)
"""What was so once: of a birth or a journey it is still so, of looks and ages it is not."""
_AHEAD = re.compile(
    r"\b(?:imagin\w+|fanc(?:y|ied|ies)|pretend\w*|claim(?:ed|ing|s)?|(?:swore|sworn|swear)(?! (?:in|at|softly|aloud|"
    r"under|roundly|loudly|like)\b)|allege\w*|suppos(?:ed?|edly|ing|"
    r"es)|reputed\w*|insist(?:ed|ing|s)?|wish(?:ed|es|ing)?(?! (?:to (?:find|see|consult|visit|speak|know|call)|(?:him|"
    r"her|them|himself|herself|the \w+|(?-i:(?:[A-Z][\w.]+ )*[A-Z]\w+)) (?:a |an |all )?(?:many|"
    r"good|joy|well|merry|happy|luck))\b)|hoped|hoping|longed|"
    r"(?:believed|thought|imagined|fancied) (?:himself|herself) (?:to be )?(?:in|at|back|already|still)|"
    r"as if|as though|described as|descriptions?|(?<!our )(?<!this )stor(?:y|ies)|"
    r"(?<!our )(?<!this )tales?|rumou?r\w*|gossip\w*|reported|(?<!to )reports?|ha[ds] it (?:\w+ )*that|in (?:his|her|"
    r"the|this|that|(?-i:[A-Z]\w+)'s) (?:letters?|diary|journal|account(?!-)|version|verses|poems?)|saw (?:himself|"
    r"herself)|professed|maintained|asserted|bragged|gave (?:it )?out|would have it|led (?:\w+ ){1,3}to (?:believe|"
    r"think)|(?:sure|(?<!known for )certain|convinced|positive|satisfied|under the impression) that|"
    r"thought of \w+ing|put (?:it|"
    r"that) off|the belief that|(?<! over )in (?:his|her|the|this|that) (?:letters?|opinion|view|mind|imagination|"
    r"fancy|play|film|movie|comic|video|heart)|"
    r"(?:planned|meant|intended|hoped|promised|wanted|longed|vowed) (?:to(?! know\b| hear\b| be told\b)|that)|"
    r"describ(?:ed|es|ing) (?:him|her)self|mistaken for|(?:took|taken|take|mistook) (?:him|her|(?-i:[A-Z][\w.]*)(?: "
    r"(?-i:[A-Z])\w+)?) for|"
    r"in (?:his|her|the|an?) (?:\w+ )?(?:advertisement|application|affidavit|petition|prospectus)|seem\w* to (?:him|"
    r"her|them|(?-i:[A-Z]\w+))|(?:ask\w*|wonder\w*|inquir\w*|doubt\w*|disput\w*|argu\w+|debat\w*|quarrel\w*)"
    r"(?: \w+){0,4} (?:whether|if|as to))\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:(?:said|says|(?:been|was|were) told|told (?:[\w'.-]+ ){0,6}[\w'-]+|thought|believed|heard|"
    r"assured (?:[\w.]+ )?\w+|wrote|read|declared|announced|guessed|reckoned|boasted|joked|felt) that|"
    r"(?:thought|believed|guessed|reckoned|assumed|expected|feared|suspected|doubted) "
    r"(?:(?-i:(?:[A-Z][\w.]* )*[A-Z]\w+(?![\w.]* [A-Z]))|he|she|his|"
    r"her|him|it)(?! (?:an?|the|of|to)\b)|(?:said|told \w+|told the \w+) (?:(?-i:[A-Z]\w+)|he|she|it|they|his|her|"
    r"their)(?: \w+)? (?:was|were|had|has|is|would|could|came|lived)|(?:wrote|written)\b[^;,]{0,40} that|(?:said|told|"
    r"assured|informed|declared|persuaded|"
    r"convinced|replied|answered)\b[^;]{0,120}, that (?:he|she|it|they|his|her|the|(?-i:[A-Z])))\b",
    re.IGNORECASE,
)
"""What may be so or not; `said that her green eyes …` takes the green for granted."""
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|might|[Pp]erhaps|[Mm]aybe|would(?! not\b| see\b| hear\b)|should|could have|suppos\w+|"
    r"seem\w*|(?:was|were) (?:one day )?to (?:be(?! (?:seen|found|had|heard|known|met|observed))|become|turn|go)|"
    r"appear(?:ed)? (?:to|almost)|looked (?:like|as|almost)|(?:look\w*|were|was) \w+ for (?:a|"
    r"one) (?:moment|minute)|passed for|taken for|instead of|as good as|"
    r"[Hh]ad (?:he|she|it|(?:[A-Z][a-z.]+ ){0,2}[A-Z][a-z]+) (?:been|only|but)|[Ww]ere (?:he|she|it) to)\b"
)
_HYPOTHESIS = re.compile(
    r"\W*(?:If(?! (?:the )?truth\b| anything\b|[^;]{3,160}?, (?:it|that) was\b(?![^;]*\bwould\b))|Unless|Suppos\w+|"
    r"Were|Had\s+(?:he|she|it|his|her|the|there|[A-Z]\w*)|To\s+(?!the|an?|his|her|[A-Z])\w+\b[^;]{3,110}\bwould|"
    r"With\b(?:[^,;]{3,60}\b(?:might|would|"
    r"could)|[^;]{3,90}?\b(?:might|would|could) have))\b|.*\b(?:might|would|could)\s+have\b.*,?\s+(?:if\b|had\s+(?:he|"
    r"she|[A-Z]))|.*\binstead of\b",
    re.DOTALL,
)
_LIKENED = re.compile(
    r"\b(?:like (?:an?|the|some\w*|those|one|any\w*|many)|as if|as though|(?<!no less )(?<!no more )(?<!nor less )"
    r"(?<!nor more )than|(?:as|so) \w+ as an?|as an? \w+ \w+ looks?|the look of an?)\b(?! ever)[^,;:]*\Z"
)
DENIED = re.compile(
    r"\b(?:not|never|no longer|neither|nor|(?<!need )hardly|(?<!need )scarcely|no|none|nobody|without|far from|"
    r"anything but|by no means)\b|n't\b"
)
_IN_TRUTH = re.compile(
    r"\b(?:was|were|is|had|being) (?:in (?:truth|fact|reality|plain truth)|really|actually)\b[^,;:]{0,40}\Z"
)
"""`whatever the passport said, she was in truth forty`."""
_BY_MISTAKE = re.compile(r"\b(?:by mistake|in error|through (?:an|some) error)\b")


def is_claimed(
    narration: Narration,
    number: int,
    span: tuple[int, int],
    *,
    granted: bool = False,
    likened: bool = True,
    memory: bool = False,
    owned: bool = False,
) -> bool:
    """Whether what stands between two offsets is told as so.

    Args:
        narration: The file's.
        number: The sentence.
        span: The value and what it is said of.
        granted: Whether it stands as an attribute that no `not` or `might` in its clause can take back: `her green eyes
            did not move`.
        likened: Whether a `like` or `than` before it says that it is another's; not so in `older than her forty years`.
        memory: Whether what is remembered is still so.
        owned: Whether a possessive before it takes it for granted even in what somebody says.
    """
    sentence = narration.prose.sentences[number]
    text, first, last = sentence.text, span[0] - sentence.start, max(span[1] - sentence.start, 0)
    elsewhere = narration.is_dreamt(number) if memory else narration.in_dream(number) or _WAKES.search(text, last)
    if elsewhere or sentence.is_question or _is_only_thought(text, first) or is_taken_back(text, first, last):
        return False
    text = _blanked(text, _READER, _KNOWN_BY, _FIGURE, _UNDENIED, UNTOLD)
    confirmed = _CONFIRMED.search(text) is not None
    start, end = clause_at(text, first)
    if _is_in_truth(text, (max(first, 0), max(last, 0)), start):
        return True
    if (_UNREAL.search(text) and not confirmed) or (not memory and _REMEMBERED.search(text, 0, last)):
        return False
    if not confirmed and _is_only_said(text, (first, last), (start, max(end, last)), owned=owned):
        return False
    if _BY_MISTAKE.search(text, start, max(end, last)) or (likened and _LIKENED.search(text, 0, first)):
        return False
    return granted or not _is_doubted(text, (first, last), (start, end))


def _is_in_truth(text: str, span: tuple[int, int], start: int) -> bool:
    """`whatever was said, she was in truth forty`; not `said that she was really forty`."""
    first, last = span
    said = _REPORTED.search(text, max(text.rfind(",", 0, first), 0), first)
    return said is None and _IN_TRUTH.search(text[:last], start) is not None


def _is_doubted(text: str, span: tuple[int, int], clause: tuple[int, int]) -> bool:
    """Whether the clause denies it, or its own piece of the clause only supposes it."""
    (first, last), (start, end) = span, clause
    comma = text.find(",", last)
    stop = max(min(end, comma) if comma >= 0 else end, last)
    piece = text[max(start, text.rfind(",", 0, max(first, 0))) : stop]
    return bool(_SUPPOSED.search(piece) or DENIED.search(text, start, stop))


def _blanked(text: str, *patterns: re.Pattern[str]) -> str:
    """The text with some of its words made commas, so that every offset stays."""
    for pattern in patterns:
        text = pattern.sub(lambda one: "," * len(one.group()), text)
    return text


def _is_only_thought(text: str, first: int) -> bool:
    """`To the curate her eyes were blue`: to others they need not be; nor in a hypothesis."""
    if _HYPOTHESIS.match(text):
        return True
    seen = _TO_ANOTHER.match(text)
    return seen is not None and OTHERS.search(text, seen.end(), max(min(first, seen.end() + _NEAR), 0)) is not None


def is_only_talk(text: str, at: int) -> bool:
    """Whether a place stands in what is supposed, said or hoped, whatever else the sentence speaks of."""
    turned = max((one.end() for one in _TURN.finditer(text, 0, max(at, 0))), default=0)
    return _HYPOTHESIS.match(text) is not None or any(each.search(text, turned, at) for each in (_AHEAD, _REPORTED))


def _is_only_said(text: str, span: tuple[int, int], clause: tuple[int, int], *, owned: bool) -> bool:
    """Whether it is untrue, or stands in what somebody says, means or hopes, and nothing since has turned it."""
    turned = max((one.end() for one in _TURN.finditer(text, 0, max(span[0], 0))), default=0)
    text = _blanked(text, _ASIDE, _MEANT, _OF_HIMSELF)
    if _BESIDE_NAME.search(text[: max(span[0], 0)]):
        return _FALSE.search(text, *clause) is not None
    said, scope = ((_AHEAD,), clause) if owned else ((_AHEAD, _REPORTED), (0, len(text)))
    return _FALSE.search(text, *scope) is not None or any(each.search(text, turned, span[1]) for each in said)
