"""What tells a rare spelling from a slip: it is another's name, a beast's, a ship's, a place's, or itself the matter.

A slip stands where the usual spelling would stand, with its title or as somebody who does something. What only looks
like the name is introduced (`a mare called …`), stands behind an article or where a place stands, or is what something
is called, printed or taken for.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.prose import HIDDEN, Prose
from tallystick.rooms.studio.continuity.unreal import DREAMT
from tallystick.rooms.studio.continuity.verbs import IRREGULAR, SPEAKS
from tallystick.rooms.studio.continuity.vocabulary import FEMALE_NAMES, MALE_NAMES, NOT_NAMES, TITLES, words

_NAMED_SO = re.compile(
    r"\b(?:name(?:s|d)?(?:\s+(?:of|was|is|being|as))?|called|christened|another|certain|(?:spelt|spelled|wrote|written|"
    r"chalked|carved|painted|signed|cut|engraved|printed|stamped|read)(?:\s+(?:it|him|her|the\s+name))?(?:\s+as)?|"
    r"an?|some|one|every|no|two|Rue|Via|Calle|Saint|Mount|Port|Cape|Fort|Lake|(?:[Oo]ld\s+)?(?:Mother|Granny|Goody|"
    r"Gaffer))"
    r"\s+(?:[A-Z][a-z]+\.?\s+)?\W?\Z"
)
"""Before a name that is another's, or whose spelling is the matter."""
_THINGS = (
    r"(?:dog|pointer|setter|lapdog|cur|bitch|puppy|\w*hound|mastiff|spaniel|terrier|retriever|collie|poodle|cat|"
    r"kitten|horse|mare|colt|filly|pony|"
    r"cob|gelding|stallion|donkey|mule|cow|bull|calf|pig|goat|parrot|canary|magpie|raven|bird|monkey|hawk|tortoise|"
    r"elephant|camel|ship|schooner|brig|barque|sloop|cutter|yacht|steamer|boat|barge|ferry|frigate|vessel|whaler|"
    r"lugger|smack|engine|village|town|hamlet|parish|city|port|river|brook|stream|valley|isle|island|junction|"
    r"station|county|estate|farm|cottages|bay|cape|headland|mine|suburb|lake|inn|tavern|ale-?house|hotel|rose|apple|"
    r"wine|regiment|racehorse|railway|ticket|churches)"
)
_INTRODUCED = re.compile(
    rf"(?:\b(?:an?|his|her|their|whose|seven|six|five|four|three|two)|[a-z]'s)\s+(?:[\w-]+\s+){{0,2}}{_THINGS}s?\b|"
    rf"\b(?:the\s+(?:[\w-]+\s+){{0,2}}{_THINGS},?\s*\Z)",
    re.IGNORECASE,
)
_THING = re.compile(rf"\b{_THINGS}s?\b", re.IGNORECASE)
_PLACE = re.compile(
    r"\s+(?:Bridge|Arms|Street|Inn|Hall|PageContext|Lane|Mill|Farm|Head|Road|Park|Castle|Abbey|Hill|Green|Cross|Tavern|"
    r"Hotel|Church|Bay|Wood|Moor|Common|Water|Junction|Fair|Races)\b|"
    r"\s+(?:(?:was\s+)?(?:painted|written|chalked|carved|cut|printed|scratched)\s+(?:up)?on|by\s+name)\b|"
    rf",?\s+(?:was\s+|lay\s+|stood\s+)?an?\s+(?:[\w-]+\s+){{0,3}}{_THINGS}\b|\s+(?:is|are|lies|stands|boasts)\b|"
    r",?\s+which\s+(?:is|lies|lay|stands|stood|has)\b|\s+and\s+the\s+(?:sea|river|coast|hills|border|moor|forest|"
    r"lake)\b|\s+(?:and|&)\s+(?:Co\b|Company|Sons?|Brothers?)\b|"
    r"\s+was\s+(?:the\s+(?:nearest|closest|best|name|word)|(?:as\s+)?near|how|what)\b"
)
"""`Harriot Bridge` is nobody, nor is what is painted on a door, nor `Harriot, a grey village`."""
_WHERE = re.compile(
    r"\b(?:[Tt]hrough|[Ii]nto|[Oo]ff|[Oo]utside|[Bb]eyond|(?<!trust )(?<!believed )(?<!confidence )[Ii]n|"
    r"(?<!look )(?<!ing )(?<!ed )(?<!glance )[Aa]t|(?:stopp|halt|quarter|arriv|land|alight|call|chang|station|encamp|"
    r"winter|touch|din|lodg)ed\b[^,;.]{0,20}?\s[Aa]t|[Nn]ear|(?:road|way|path|lane|coach|train|mail|journey|carrier|"
    r"drove|rode|travelled|removed|sailed|miles)\b[^,;.]{0,20}?\s(?:to|from|for)|(?:\A|[,;]\s+)[Ff]rom|(?:village|"
    r"town|parish|"
    r"[Bb]ishop|[Dd]ean|[Dd]uke|[Ee]arl|[Mm]ayor|lord\s+of\s+the\s+manor|hamlet|river|valley|isle|city|port|word|"
    r"letters|lights|bells|spire|people|inhabitants|streets|church|harbour|walls|"
    r"roofs|outskirts|market|squire|vicar|battle|siege|fields|woods|marshes|coast|road)\s+of|(?:was|were|is|be|been|"
    r"became|become|made|made\s+(?:it|him|her)|into|or|as|(?<!¤ )said|say|read|put|out\s+of))\s+\Z"
)
"""Before a bare word that is where somebody is or goes, or what something is called or turned into."""
_IS_HE = re.compile(
    r"\b(?:look|star|gaz|glanc|smil|laugh|nod|wink|point|frown|peer|shout|scowl|glar|aim|jeer|sneer|bow|gap|wonder)"
    r"(?:ed|ing|es|e|s)?\b[^,;.]{0,40}\bat\s+\Z|"
    r"\b(?:[Ii]t|[Tt]hat|[Tt]his)\s+(?:would|must|could|might|will)\s+be\s+\Z|\b(?:[Ii]t|[Tt]here|[Hh]ere|last|first|"
    r"next|only|she|he)\s+(?:\w+\s+)?was\s+\Z|¤\W*\s*said\s+\Z"
)
_HIS = re.compile(r"'s\s|,?\s+who\b")
_ACTS = re.compile(
    rf"(?:,?\s+who)?\s+(?:\w+ly\s+|never\s+|always\s+|only\s+|had\s+(?:\w+ly\s+|already\s+)?)?"
    rf"(?:{'|'.join((*IRREGULAR, *SPEAKS))}|"
    r"could|would|did|[a-z]{2,}(?<!call)(?<!nam)(?<!christen)(?<!spell)(?<!paint)(?<!print)ed)\b"
)
_SITS = re.compile(r"\b(?:sat|stood|came|went|knelt|walked|entered|leaned|appeared|rode|followed\s+by)\s+\Z")
"""What a person does, whatever else the sentence speaks of."""
_SPELT = re.compile(
    r"\b(?:(?<!in the )name[ds]?|(?:mis)?spel\w+|called(?!\s+(?:the|to|for|on|upon|out|at|in|up|down|back|him|her|"
    r"it))|christened|printe[dr]\w*|misprint\w*|engrav\w+|carved|chalk\w+|scrawl\w+|"
    r"pronounc\w+|syllables|(?:first|second|third|last|each|every|middle)\s+syllable|label\w*|addressed|"
    r"by\s+mistake|misread|misheard|known\s+as|answered\s+to|say(?:ing)?\s+it|no\s+scholar)\b"
)
_WRITTEN = re.compile(
    r"\b(?:written|wrote|letters|envelope|register|ledger|signature|signed|stamped|inscri\w+|sign-?\w*|finger-?post|"
    r"(?:door-?|brass\s+)plate|tongues?|accent|word|telegram|trunk|foreign\w*|abroad|French\w*|Germans?|Italians?|"
    r"Spanish|Spaniards?|Dutch|Russians?|catalogue|programme|newspaper|list|parchment|slate|stone|clerk|mistakes?)\b"
)
_NO_KIN = re.compile(
    r"\bno\s+(?:relations?|relative|connections?|kin\w*|acquaintance)\b|\bnamesakes?\b|\bunrelated\b|"
    r"\b(?:not|nothing|nowise)\s+(?:\w+\s+)?(?:related|connected|akin|to\s+do\s+with)\b|\bconfus\w+|\bconfound\w+|"
    r"\b(?:an)?other\s+family\b|\bdifferent\s+(?:person|man|woman|family|people)\b"
)
_DREAMT = re.compile(rf"\b(?:{DREAMT})\b")
_MOSTLY = 0.7
_RANKS = frozenset(words("lord sir earl duke baron count bishop admiral general cardinal king queen duchess countess"))
_CALLINGS = frozenset(
    words(
        "farmer goodman goody squire parson dame deacon widow gaffer alderman mayor baron bishop mother "
        "granny cousin saint rue via calle"
    )
)
Index = Mapping[str, Sequence[tuple[Prose, int]]]


def is_apart(word: str, name: str, index: Index, titled: Mapping[str, frozenset[str]]) -> bool:
    """Whether the text itself tells a rare spelling apart from the usual one."""
    ours, theirs = titled.get(word, frozenset()), titled.get(name, frozenset())
    if ours and not ours & theirs and (theirs or ours & _RANKS):
        return True
    usual = index.get(name, ())
    bare = sum(not any(_company(*place, len(name))) and not _title(*place) for place in usual) / max(1, len(usual))
    known = {company for place in usual for company in _company(*place, len(name)) if company[0] != "the"}
    for prose, at in index[word]:
        given = ("given", prose.flat[max(0, at - 25) : at].rpartition(" ")[0].rpartition(" ")[2])
        alike = _title(prose, at) in theirs or bool(known & {given, *_company(prose, at, len(word))})
        if _is_another(prose, at, word, name) or (not alike and _is_no_person(prose, at, word, strict=bare < _MOSTLY)):
            return True
    return _other_company(word, name, index)


def _is_another(prose: Prose, at: int, word: str, name: str) -> bool:
    """Whether a sentence asks, dreams, says that there are two, or has both spellings."""
    number = prose.sentence_at(at)
    if _NAMED_SO.search(prose.flat, max(0, at - 24), at) or prose.told[at] == HIDDEN or number is None:
        return True
    sentence = prose.sentences[number]
    text = prose.flat[sentence.start : sentence.end]
    return (
        sentence.is_question
        or Narration(prose).is_dreamt(number)
        or _DREAMT.search(text) is not None
        or _NO_KIN.search(text) is not None
        or re.search(rf"\b{re.escape(name)}\b", text) is not None
        or _PLACE.match(prose.flat, at + len(word), at + len(word) + 12) is not None
    )


def _is_no_person(prose: Prose, at: int, word: str, *, strict: bool) -> bool:
    """Whether a bare word stands where a place, a beast or a spelling would stand.

    Args:
        prose: The file's.
        at: Where the word stands.
        word: The rare spelling.
        strict: Whether the usual name hardly ever stands bare, so that any other thing in the sentence may be meant.
    """
    number = prose.sentence_at(at)
    if number is None:
        return True
    sentence = prose.sentences[number]
    before, after = prose.told[sentence.start : at], prose.told[at + len(word) : sentence.end]
    if _PLACE.match(after) or (_WHERE.search(before) and not _IS_HE.search(before) and not _HIS.match(after)):
        return True
    acts = _ACTS.match(after) is not None or _SITS.search(before) is not None
    same = number > 0 and prose.sentences[number - 1].paragraph == sentence.paragraph
    near = (prose.sentences[number - 1].text if same else "") + sentence.text
    if _SPELT.search(near) or _INTRODUCED.search(before):
        return True
    return strict and not acts and (_WRITTEN.search(near) or _THING.search(sentence.text)) is not None


def _title(prose: Prose, at: int) -> str:
    found = re.search(r"\b([A-Z][a-z]+)\.?\s+\Z", prose.flat[max(0, at - 14) : at])
    return found.group(1).lower() if found and found.group(1).lower() in TITLES else ""


def _other_company(word: str, name: str, index: Index) -> bool:
    """A rare `Harriot Smith` beside a common `Harriet Jones` is somebody else; so is `the Marne` beside `Marnie`."""
    theirs = Counter(company for place in index.get(name, ()) for company in _company(*place, len(name)))
    ours = {company for place in index[word] for company in _company(*place, len(word))}
    families = {company for company in ours if company[0] in {"family", "given"}}
    known = {company for company in theirs if company[0] in {"family", "given"}}
    if families and not families & known and (known or any(_bears_another(*place) for place in index[word])):
        return True
    return ("the", "") in ours and theirs[("the", "")] * 3 < len(index.get(name, [1]))


def _bears_another(prose: Prose, at: int) -> bool:
    """`Old Silas Harriot`, `Farmer Harriot`: a given name or a calling, where the usual name bears none."""
    before = re.search(r"\b([A-Z][a-z]+)\s+\Z", prose.flat[max(0, at - 25) : at])
    word = before.group(1).lower() if before else ""
    return word in MALE_NAMES or word in FEMALE_NAMES or word in _CALLINGS


def _company(prose: Prose, at: int, length: int) -> Iterator[tuple[str, str]]:
    after = re.match(r"\s+([A-ZÀ-Þ][a-z]\w+)", prose.flat[at + length : at + length + 30])
    if after and after.group(1).lower() not in NOT_NAMES:
        yield "family", after.group(1)
    before = re.search(r"(?<![.!?\"])\s([A-ZÀ-Þ][a-z]\w*)\s+\Z", prose.flat[max(0, at - 25) : at])
    if before and before.group(1).lower() not in NOT_NAMES | TITLES:
        yield "given", before.group(1)
    if re.search(r"\b[Tt]he\s+\Z", prose.flat[max(0, at - 6) : at]):
        yield "the", ""
