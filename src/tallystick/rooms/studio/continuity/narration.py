"""Which sentences of the narration tell a fact of the story.

A question, a dream, a memory, a portrait, a rumour, a lie or a story inside the story tells none. Nor does a clause
that is denied or only supposed; but what stands as an attribute (`her green eyes did not move`) is taken for granted
by any sentence, denied or not.
"""

import re
from dataclasses import replace
from functools import cached_property

from tallystick.rooms.studio.continuity.prose import Prose, Sentence
from tallystick.rooms.studio.continuity.taken_back import is_taken_back
from tallystick.rooms.studio.continuity.unreal import DREAMT, FALSE, PICTURED, PLAYED

_UNREAL = re.compile(
    rf"\b(?:{DREAMT}|{PICTURED}|{PLAYED}|{FALSE}|imagin\w+|fanc(?:y|ied|ies)|"
    r"(?<!\bwas )(?<!\bbe )remember\w*|recall\w*|recollect\w*|memor(?:y|ies)|remind\w*|reminiscen\w*|flashback|"
    r"mistaken for|by mistake|lens(?:es)?|"
    r"[Ii]n the play|played at being|[Ii]n (?:his|her) (?:heart|madness|raving)|read aloud|stor(?:y|ies)|"
    r"tales?|[Rr]umou?rs?|rumou?red|[Gg]ossip|descri(?:bed|ptions?)|passport|(?:was|be|were) (?:a )?lies?|liar|"
    r"saw (?:himself|herself|itself)|gave out|let it be|put (?:it )?about|ha[ds] it (?:\w+ )*that|would have it|"
    r"to hear \w+ (?:tell|talk)|professed|maintained|asserted|bragged|led (?:\w+ ){1,3}to (?:believe|think)|"
    r"(?:[Pp]eople|[Tt]hey|[Ss]ome|[Ff]olk|[Mm]any|[Ee]veryone|[Mm]en) said(?! to)|(?:sure|certain|convinced|positive|"
    r"satisfied|under the impression) that|[Ii]n (?:his|her|the|this|that|[A-Z]\w+'s) (?:letters?|diary|journal|"
    r"account|version|telling|verses|poems?|report|opinion|view|mind|imagination|fancy|play|film)|[Tt]o (?:his|her|"
    r"their|[A-Z]\w+'s) (?:mind|eyes?)|song|novel|pretend\w*|claim(?:ed|ing|s)?|swore|allege\w*|supposed(?:ly)?|"
    r"reputed\w*|seem\w* to (?:him|her|[A-Z]\w+)|according to|insist(?:ed|ing|s)?|suppos(?:e|ing|es)|wish(?:ed|"
    r"es)?(?! (?:them|him|her|us|me|everybody|"
    r"everyone|the \w+|[A-Z]\w+) (?:a |an |all )?(?:good|joy|well|merry|happy|luck))|hoped|as if|as though|would have|"
    r"could have|might have|used to|once upon|long ago|in those days|at that age|years? (?:ago|before|earlier|back)|"
    r"[Ff]ormerly|[Ii]n (?:his|her|their|my) (?:youth|childhood|boyhood|girlhood)|[Aa]s an? (?:\w+ )?(?:child|girl|boy|"
    r"young \w+|infant|baby)|when (?:he|she|they|I|[A-Z]\w+) (?:was|were|had been) (?:an? |still |only |but |"
    r"just )*(?:young|child|boy|girl|small|little|baby|infant|younger))\b|\b(?:said|told (?:[\w'.-]+ ){0,3}[\w'-]+|"
    r"thought|believed|heard|assured (?:[\w.]+ )?\w+|wrote|read|declared|announced|guessed|reported|felt sure|was told|"
    r"were told|had been told|persuaded (?:[\w.]+ )?\w+|convinced (?:[\w.]+ )?\w+|reckoned|boasted|joked) that\b|"
    r"\b(?:thought|believed|guessed|reckoned|assumed|expected|feared|suspected|doubted) (?:[A-Z]\w+|he|she|his|her|"
    r"him)\b|\bsa(?:id|ys?) (?:(?:Mr|Mrs|Ms|Dr)\. |Miss )?[A-Z]\w+(?:'s \w+)? (?:had|has|was|were|is)\b|\b(?:said|"
    r"told (?:\w+|the \w+|[A-Z]\w+ [A-Z]\w+)) (?:he|she|it|they|his|her|their) (?:\w+ )?(?:had|has|was|were|is)\b|"
    r"\b(?:said|told|assured|informed|declared)\b[^;.¤]{0,80}, that (?:he|she|it|they|his|her)\b|"
    r"\btold (?:\w+|the \w+) [A-Z]\w+ (?:had|was|were)\b|\A[^¤]*, (?:he|she|they|it) (?:said|claimed|declared|swore|"
    r"thought|believed|supposed|explained|told \w+|was told|had heard|heard|insisted)\b[^¤]*\Z"
)
_LIKENED = re.compile(r"\b(?:as (?:if|though)|would have|could have|might have|wished|hoped|said to go)\b")
"""What is not so from here on in a sentence, whatever stands before."""
_DREAMS = re.compile(
    r"\b(?:dream(?:ed|t)(?! of nothing)|began to dream|in (?:his|her|the|this|that|my) dreams?|"
    r"(?:\A\W*In|(?:came|appeared|spoke|shown|saw \w+) (?:to \w+ )?in) a dream|nightmare (?:came|"
    r"began|took)|a dream (?:came|of))\b"
)
_WAKES = re.compile(r"\b(?:woke|awoke|wakened|awakened|waked|awake|waking|wakes|wakened)\b")
_REMEMBERS = re.compile(
    r"\b(?:(?:(?<!\bwas )(?<!\bhad )(?<!\b[Tt]hey )(?<!\b[Pp]eople )(?<!body )(?<!one )"
    r"(?<!\bwho )(?<!body had )(?<!one had )(?<!never )"
    r"(?:remembered|recalled|recollected)(?= (?:how|when|the|an?|those|one|his|another|once|seeing|"
    r"being|[A-Z])\b|[:;])|thought back|cast (?:his|her|my) mind back|"
    r"(?<!fresh )(?<!exist )(?<!revived )(?<!lived )(?<!remained )(?<!graven )in (?:his|her|my) memory)\b|"
    r"\A(?!.*\bborn\b)(?:\w+ ){0,4}(?:years?|months?|summers?|winters?) (?:before|earlier|ago|back)\b|in those days\b|"
    r"when (?:he|she|they|I|[A-Z]\w+) (?:was|were|had been) (?:an? |still |only |but |just )*(?:young|child|boy|girl|"
    r"small|little)\b)"
)
_LONGEST_DREAM = 6
"""Paragraphs after which a dream that nobody wakes from is taken to be over."""
_LONGEST_MEMORY = 3
"""Sentences of a paragraph after which a memory is taken to be over."""
_DENIED = re.compile(
    r"\b(?:not|never|no longer|neither|nor|hardly|scarcely|no|none|nobody|no one|without|far from|instead of|"
    r"rather than|denied|anything but|nothing like|by no means)\b|n't\b"
)
_ONLY_SUPPOSED = re.compile(
    r"\b(?:if|would|could(?! (?:see|hear|feel|make out|smell)\b)|might|may|should|unless|whether|[Pp]erhaps|[Mm]aybe|"
    r"seem\w*|appear\w*|probably|possibly|apparently|meant to|intended|planned|promised|agreed to|was to|were to|"
    r"looked as|look like|looked like|said to be|like|almost|nearly|as good as|half|pretending|had been|had once|"
    r"were (?:he|she|it) to)\b|'d\b"
)
_CLAUSE_START = re.compile(r"[;:—]|,? (?:and|but|while|whereas|though|although|because|so that|for)\b|[,¤]")
_CLAUSE_END = re.compile(r"[;:—,.!?¤]| (?:and|but|while|though|although|because)\b")


class Narration:
    """What one file's prose tells as a fact."""

    def __init__(self, prose: Prose) -> None:
        self.prose = prose

    def is_real(
        self,
        number: int,
        *,
        until: int | None = None,
        apart: tuple[int, int] | None = None,
        within: tuple[int, int] | None = None,
    ) -> bool:
        """Whether a sentence speaks of the story's present and its own world.

        Args:
            number: The sentence.
            until: Where the words in question end: what is only likened or wished for after them does not touch them.
            apart: Words that are themselves what is told: in `Mara said that …`, that she says so.
            within: The only part of the sentence that is asked about.
        """
        sentence = self.prose.sentences[number]
        text = sentence.text
        if within is not None:
            text = (
                f"{' ' * (within[0] - sentence.start)}{text[within[0] - sentence.start : within[1] - sentence.start]}"
            )
        if apart is not None:
            first, last = max(apart[0] - sentence.start, 0), apart[1] - sentence.start
            text = f"{text[:first]} {text[last:]}"
        if until is not None:
            after = _LIKENED.search(text, max(until - sentence.start, 0))
            text = text[: after.start()] if after else text
        return not (sentence.is_question or number in self._elsewhere or _UNREAL.search(text))

    def asserts(self, number: int, start: int, end: int, *, apart: tuple[int, int] | None = None) -> bool:
        """Whether what stands between two offsets is said to be so: neither denied nor supposed.

        Args:
            number: The sentence.
            start: Where the words begin.
            end: Where they end.
            apart: Words that are part of the value, and so deny nothing: `not yet` in `not yet thirty`.
        """
        sentence = self.prose.sentences[number]
        if apart is not None:
            first, last = apart[0] - sentence.start, apart[1] - sentence.start
            text = f"{sentence.text[:first]}{' ' * (last - first)}{sentence.text[last:]}"
            sentence = replace(sentence, text=text)
        clause = clause_around(sentence, start, end)
        if is_taken_back(sentence.text, start - sentence.start, end - sentence.start):
            return False
        return not (_DENIED.search(clause) or _ONLY_SUPPOSED.search(clause) or _opens_condition(sentence, start))

    def asserts_date(self, number: int, start: int, end: int) -> bool:
        """Whether a date is given as that of something that was; `had been held on` gives one as well."""
        sentence = self.prose.sentences[number]
        clause = re.sub(r"\bhad (?:been|once)\b", "", clause_around(sentence, start, end))
        if is_taken_back(sentence.text, start - sentence.start, end - sentence.start):
            return False
        denied = _DENIED.search(clause) or _ONLY_SUPPOSED.search(clause)
        return not (denied or _opens_condition(sentence, start))

    def is_denied(self, number: int, start: int, end: int) -> bool:
        """Whether the clause says it is not so."""
        return _DENIED.search(clause_around(self.prose.sentences[number], start, end)) is not None

    def in_dream(self, number: int) -> bool:
        """Whether the sentence is part of a dream or a memory that began before it."""
        return number in self._elsewhere

    def is_dreamt(self, number: int) -> bool:
        """Whether the sentence is part of a dream; what is remembered was so."""
        return number in self._dreams

    @property
    def _elsewhere(self) -> frozenset[int]:
        return self._both[0]

    @property
    def _dreams(self) -> frozenset[int]:
        return self._both[1]

    @cached_property
    def _both(self) -> tuple[frozenset[int], frozenset[int]]:
        """Sentences of dreams and memories, and of dreams alone."""
        found: set[int] = set()
        dreams: set[int] = set()
        dream_until = -1
        memory_of = (-1, -1)
        for number, sentence in enumerate(self.prose.sentences):
            text = sentence.text
            if sentence.paragraph <= dream_until:
                dreams.add(number)
                if _WAKES.search(text):
                    dream_until = -1
            elif _DREAMS.search(text):
                dream_until = sentence.paragraph + _LONGEST_DREAM
                dreams.add(number)
            if _REMEMBERS.search(text):
                memory_of = (sentence.paragraph, number + _LONGEST_MEMORY)
                found.add(number)
            elif sentence.paragraph == memory_of[0] and number <= memory_of[1]:
                found.add(number)
        return frozenset(found | dreams), frozenset(dreams)


def clause_around(sentence: Sentence, start: int, end: int) -> str:
    """The part of a sentence that a place belongs to, from the sign or conjunction before it to the one after it."""
    text, first, last = sentence.text, start - sentence.start, end - sentence.start
    begin = 0
    for found in _CLAUSE_START.finditer(text, 0, max(first, 0)):
        begin = found.end()
    close = _CLAUSE_END.search(text, last)
    return text[begin : close.start() if close else len(text)]


def _opens_condition(sentence: Sentence, start: int) -> bool:
    """`If …, his eyes were green`: the whole sentence hangs on the first word."""
    return (
        re.match(r"\W*(?:if|unless|suppose|had (?:he|she|it|[A-Z]\w+)\b)", sentence.text, re.IGNORECASE) is not None
        and start > sentence.start
    )
