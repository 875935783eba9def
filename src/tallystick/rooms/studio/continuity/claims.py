"""Whether a sentence claims something for a fact: what may stand around a value and take it back.

What is dreamt, painted, forged or false taints its whole sentence. What somebody says, believes or remembers taints
only what comes after it: `he swore that her hair was red` tells nothing of the hair, `he tore his hair and swore` does.
"""

import re

from tallystick.rooms.studio.continuity.focus import clause_at
from tallystick.rooms.studio.continuity.narration import Narration

_TAINTED = re.compile(
    r"\b(?:dream(?:s|ed|t|ing)?|nightmares?|visions?|hallucinat\w+|delirium|delirious|raving|portraits?|paintings?|"
    r"(?:the|a|this|that) painter|in oils|(?:up)?on (?:the )?canvas|"
    r"likeness|engraving|daguerreotype|photographs?|pictures?|statues?|miniature|sketch|effigy|waxwork|masks?|"
    r"masked|disguise\w*|wigs?|dye[ds]?|dyeing|"
    r"bleached|(?:of|in) a bottle|tinted|costumes?|management|actor|actress|[Oo]n (?:the )?stage|stage lights|"
    r"pantomime|the (?:part|role) of|handbills?|passport(?! gave)|false papers|"
    r"falsehoods?|(?:a|such|[Tt]he) lie|(?:tell\w*|told|no|of|all|such|but) lies|lied|lying (?:about|once)|untrue|"
    r"untruths?|false(?:ly)?|forged|fibs?|truth in it|nothing of the (?:kind|sort)|wrongly|"
    r"(?:was|were|be|been|is|it|quite|him|her) wrong|mistaken|"
    r"(?<!no )mistakes?|mistook|"
    r"deceiv\w+|invent(?:ed|ion)|[Aa]ccording to|colou?r-?blind|legends?|ballads?|fairy|ghosts?|apparition|"
    r"namesake|impostor|"
    r"for all the world|so the story|or so|(?:people|they|some|folk|many|everyone|men|gossip|rumour|report|"
    r"the \w+) (?:said|say|says|had it)(?! (?:it|so|grace|nothing|good|no|to)\b)|it was said)\b"
    r"|, (?:he|she|they) (?:had )?told (?:[A-Z]|him\b|her\b|the\b)|, (?:he|she|they|it|one) (?:said|claimed|"
    r"declared|swore|thought|believed|supposed|explained|remembered|recalled|fancied|had heard|heard|insisted|"
    r"was told)(?=\s*[,.;—]|\Z)"
)
_REMEMBERED = re.compile(
    r"\b(?:remember\w*|recall\w*|recollect\w*|memor(?:y|ies)|remind\w*|reminiscen\w*|used to|long ago|"
    r"in those days|years? (?:ago|back)|formerly|thought of|think of|in (?:his|her) (?:youth|childhood)|"
    r"as an? (?:\w+ )?(?:child|girl|boy|infant|baby)|when (?:he|she|they|(?-i:[A-Z]\w+)) (?:was|were|"
    r"had been) (?:an? |still |only |but |just )*(?:young|child|boy|girl|small|little|baby|infant))\b",
    re.IGNORECASE,
)
"""What was so once: of a birth or a journey it is still so, of looks and ages it is not."""
_AHEAD = re.compile(
    r"\b(?:imagin\w+|fanc(?:y|ied|ies)|pretend\w*|claim(?:ed|ing|s)?|swore|sworn|swear|allege\w*|suppos(?:ed?|edly|"
    r"ing|es)|"
    r"reputed\w*|insist(?:ed|ing|s)?|wish(?:ed|es|ing)?|hoped|hoping|longed|as if|as though|described as|"
    r"descriptions?|stor(?:y|ies)|tales?|"
    r"rumou?r\w*|gossip\w*|reported|(?<!to )reports?|ha[ds] it (?:\w+ )*that|in (?:his|her|the|this|that|"
    r"(?-i:[A-Z]\w+)'s) (?:letters?|diary|journal|account|version|verses|poems?)|saw (?:himself|herself)|professed|"
    r"maintained|asserted|bragged|gave (?:it )?out|would have it|led (?:\w+ ){1,3}to (?:believe|think)|"
    r"(?:sure|certain|convinced|positive|satisfied|under the impression) that|in (?:his|her|the|this|"
    r"that) (?:letters?|opinion|view|mind|imagination|fancy|play|heart)|"
    r"(?:planned|meant|intended|hoped|promised|wanted|longed|vowed) (?:to|that))\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:(?:said|says|told (?:[\w'.-]+ ){0,3}[\w'-]+|thought|believed|heard|assured (?:[\w.]+ )?\w+|wrote|read|"
    r"declared|announced|guessed|reckoned|boasted|joked|felt) that|"
    r"(?:thought|believed|guessed|reckoned|assumed|expected|feared|suspected|doubted) (?:(?-i:[A-Z]\w+)|he|she|his|"
    r"her|him|it)(?! (?:an?|the|of|to)\b)|(?:said|told \w+|told the \w+) (?:(?-i:[A-Z]\w+)|he|she|it|they|his|her|"
    r"their)(?: \w+)? (?:was|were|had|has|is|would|could|came|lived))\b",
    re.IGNORECASE,
)
"""What may be so or not; `said that her green eyes …` takes the green for granted."""
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|might|[Pp]erhaps|[Mm]aybe|would(?! not\b| see\b| hear\b)|should|could have|suppos\w+|"
    r"seem\w*|appear(?:ed)? (?:to|almost)|looked (?:like|as|almost)|(?:look\w*|were|was) \w+ for (?:a|"
    r"one) (?:moment|minute)|passed for|taken for|instead of|as good as|"
    r"[Hh]ad (?:he|she|it|(?:[A-Z][\w.]+ ?)+) (?:been|only|but)|[Ww]ere (?:he|she|it) to)\b"
)
_HYPOTHESIS = re.compile(
    r"\W*(?:If|Unless|Suppos\w+|Were|Had\s+(?:he|she|it|his|her|[A-Z]\w*)|With\b[^,;]{3,60}\b(?:might|would|"
    r"could))\b|.*\b(?:might|would|could)\s+have\b.*,?\s+(?:if\b|had\s+(?:he|she|[A-Z]))|.*\binstead of\b",
    re.DOTALL,
)
_LIKENED = re.compile(
    r"\b(?:like (?:an?|the|some\w*|those|one|any\w*|many)|as if|as though|than|(?:as|so) \w+ as an?|"
    r"as an? \w+ \w+ looks?|the look of an?)\b(?! ever)[^,;:]*\Z"
)
DENIED = re.compile(
    r"\b(?:not|never|no longer|neither|nor|hardly|scarcely|no|none|nobody|without|far from|anything but|"
    r"by no means)\b|n't\b"
)


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
    elsewhere = narration.is_dreamt(number) if memory else narration.in_dream(number)
    if sentence.is_question or elsewhere or _TAINTED.search(sentence.text):
        return False
    first, last = span[0] - sentence.start, span[1] - sentence.start
    before = (*(() if memory else (_REMEMBERED,)), *(() if owned else (_REPORTED,)), _AHEAD)
    if any(each.search(sentence.text, 0, max(last, 0)) for each in before) or _HYPOTHESIS.match(sentence.text):
        return False
    start, end = clause_at(sentence.text, first)
    clause = sentence.text[start : max(end, last)]
    if likened and _LIKENED.search(sentence.text, 0, first):
        return False
    comma = sentence.text.find(",", last)
    stop = max(min(end, comma) if comma >= 0 else end, last)
    piece = sentence.text[max(start, sentence.text.rfind(",", 0, max(first, 0))) : stop]
    return granted or not (_SUPPOSED.search(piece) or DENIED.search(clause))
