"""Who speaks or acts in the narration's present: a deed is what only the living do.

The ways of telling a deed are few, whatever the verb: the name leads a verb (`At supper Tobias ate nothing`), follows
one (`In came Tobias`), is seen or spoken to (`Helen handed Tobias the cup`), or lends it a voice, a hand or a step.
"""

import re
from collections.abc import Iterator, Set

from tallystick.rooms.studio.continuity import deed_phrases as phrases
from tallystick.rooms.studio.continuity import deed_vetoes as vetoes
from tallystick.rooms.studio.continuity.alone import alone
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import clause_at
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.prose import Prose, Sentence


def deeds(narration: Narration, binder: Binder, subjects: Set[str]) -> Iterator[Fact]:
    """Where any of some people speaks or acts in the narration's present."""
    prose = narration.prose
    for mention in binder.cast.named_in(prose, 0, len(prose.told)):
        if mention.key not in subjects:
            continue
        number = prose.sentence_at(mention.start)
        end = None if number is None else _acts(narration, number, mention) or _then_he(binder, number, mention)
        if number is None or end is None or narration.in_dream(number):
            continue
        sentence = prose.sentences[number]
        last = max(mention.end, end)
        that = phrases.THAT.match(prose.told, last)
        done = (min(mention.start, end), that.end() if that else last)
        if and_says := phrases.AND_SAYS.search(prose.told, last, sentence.end):
            done = (done[0], and_says.end())
        if (
            _is_of_another(prose, number, done)
            or vetoes.GHOSTLY.search(sentence.text)
            or not _is_told(narration, number, done)
        ):
            continue
        first, _ = clause_at(sentence.text, max(mention.end, end) - sentence.start)
        first = min(first, mention.start - sentence.start) if not _who(sentence.text, first) else first
        # `When the plates had been cleared, Tobias rose`: what is done before a comma is done by others.
        comma, goes_on = _comma_before(sentence.text, min(mention.start, end) - sentence.start)
        first = comma if goes_on else max(first, comma)
        before = phrases.WHO_HAD.sub(",", sentence.text[first : max(mention.end, end) - sentence.start])
        for over in (phrases.HAD_JUST, phrases.HAD_AND, *_meanwhile(sentence, mention)):
            before = over.sub("", before)
        if vetoes.EARLIER.search(_within_speech(before)):
            continue
        start = min(mention.start, end)
        words = prose.told[start : max(end, mention.end)].strip(" ¤,.!?")
        yield fact_at(prose, number, (start, max(end, mention.end)), mention, "acts", (), words)


_WROTE = re.compile(r"\bwrote\b")
_NAMED_AFTER = re.compile(r"\b(?:nam|call|christen)\w*\b[^.;]{0,40}\bafter\b|\bnamesake\b")


def _is_of_another(prose: Prose, number: int, done: tuple[int, int]) -> bool:
    """Whether it is a letter that speaks, or the next sentence says that somebody was named after the dead."""
    sentence = prose.sentences[number]
    if vetoes.WRITES.search(sentence.text, 0, done[0] - sentence.start) or (
        _WROTE.search(prose.told, *done) and "¤" in sentence.text
    ):
        return True
    following = prose.sentences[number + 1] if number + 1 < len(prose.sentences) else sentence
    return following.paragraph == sentence.paragraph and _NAMED_AFTER.search(following.text) is not None


def _comma_before(text: str, at: int) -> tuple[int, bool]:
    """The comma at which whoever does something begins to, and whether more than one of their deeds lies between.

    `She had gone down, and asked Tobias` is all hers, and all of it is long ago.
    """
    last = comma = text.rfind(",", 0, at)
    while comma > 0 and phrases.GOES_ON.match(text, comma):
        comma = text.rfind(",", 0, comma)
    return max(comma, 0), comma != last


def _then_he(binder: Binder, number: int, mention: Mention) -> int | None:
    """Where the deed ends that a pronoun does after the one name of its sentence."""
    if mention.is_possessive or alone(binder, number) is None:
        return None
    then = phrases.THEN_HE.match(binder.prose.told, mention.end, binder.prose.sentences[number].end)
    return then.end() if then else None


def _who(text: str, at: int) -> bool:
    return re.match(r"\W*who\b", text[at:]) is not None


def _is_told(narration: Narration, number: int, done: tuple[int, int]) -> bool:
    """Whether the deed is the story's own: the sentence is, or the clause is and nothing before it takes it back."""
    sentence = narration.prose.sentences[number]
    if vetoes.ONLY_IF.match(sentence.text):
        return False
    if narration.is_real(number, until=done[1], apart=done):
        return True
    first, last = clause_at(sentence.text, done[0] - sentence.start)
    comma = sentence.text.rfind(",", 0, max(done[0] - sentence.start, 0))
    if comma > first and not sentence.text[comma + 1 : done[0] - sentence.start].strip():
        # `Having waited until nothing could be heard, Tobias sat down`: his own clause begins with his name.
        first = comma
    clause = (sentence.start + first, sentence.start + max(last, done[1] - sentence.start))
    return narration.is_real(number, apart=done, within=clause) and is_claimed(
        narration, number, (done[0], done[0]), granted=True
    )


def _acts(narration: Narration, number: int, mention: Mention) -> int | None:
    """Where the verb of a deed ends or, before the name, begins."""
    told = narration.prose.told
    before = max(narration.prose.sentences[number].start, mention.start - 60)
    if vetoes.OTHER_ONE.search(told, before, mention.start) or vetoes.ANOTHER.match(told, mention.end):
        return None
    if mention.is_possessive:
        return _by_his_own(narration, number, mention, before)
    for pattern in (phrases.SAYS_BEFORE, phrases.COMES_BEFORE, phrases.INVERTED):
        far = max(narration.prose.sentences[number].start, mention.start - 140)
        if said := pattern.search(told, far if pattern is phrases.COMES_BEFORE else before, mention.start):
            return said.start(1)
    dealt_with = _dealt_with(told, before, mention)
    if dealt_with is None and _is_leading(narration, number, mention):
        does = _does(narration, number, mention)
        if does is not None:
            return does
    who = phrases.WHO_DOES.match(told, mention.end, narration.prose.sentences[number].end)
    return dealt_with if dealt_with is not None or who is None else who.end()


def _by_his_own(narration: Narration, number: int, mention: Mention, before: int) -> int | None:
    """Where it ends that a voice, an answer, a hand or a step of somebody's does something."""
    told = narration.prose.told
    found = phrases.OF_BODY.match(told, mention.end)
    if phrases.COMES.search(told, before, mention.start):
        found = phrases.VOICE_OF.match(told, mention.end) or found
    elif phrases.WAS.search(told, before, mention.start):
        found = phrases.ANSWER.match(told, mention.end)
    elif phrases.HIS_FACE.search(told, before, mention.start):
        found = found or phrases.FACE.match(told, mention.end)
    elif phrases.HIS_ARM.search(told, before, mention.start):
        found = found or phrases.ARM.match(told, mention.end)
    elif phrases.IS_HIS.search(told, before, mention.start) and (own := phrases.HIS_OWN.match(told, mention.end)):
        near = narration.prose.sentences[max(0, number - 1)].text + narration.prose.sentences[number].text
        found = own if phrases.SOUNDS.search(near) else None
    return found.end() if found else None


def _dealt_with(told: str, before: int, mention: Mention) -> int | None:
    """Where it ends that others see somebody do, or do with him."""
    if phrases.IS_DEALT_WITH.search(told, before, mention.start) and not phrases.IN_VAIN.match(told, mention.end):
        return mention.end
    for pattern, then in (
        (phrases.SERVED, phrases.SERVED_WITH),
        (phrases.MOVED, phrases.MOVED_TO),
        (phrases.SHAKEN, phrases.BY_THE_HAND),
        (phrases.LED, phrases.LED_TO),
        (phrases.IT_WAS, phrases.WHO_IT_WAS),
        (phrases.IT_IS_FOR, phrases.FOR_HIM_TO),
        (phrases.THAT_WAS, phrases.AND_NO_MORE),
    ):
        if pattern.search(told, before, mention.start) and (served := then.match(told, mention.end)):
            return served.end()
    seen = phrases.SEEN_DOING.match(told, mention.end) if phrases.IS_SEEN.search(told, before, mention.start) else None
    busy = phrases.BUSY.match(told, mention.end) if phrases.THERE_WAS.search(told, before, mention.start) else None
    heard = phrases.HEARD.match(told, mention.end) if phrases.HIS_VOICE.search(told, before, mention.start) else None
    beside = seen or busy or heard or phrases.BESIDE_HIM.match(told, mention.end)
    return beside.end() if beside else None


def _does(narration: Narration, number: int, mention: Mention) -> int | None:
    """Where the verb ends that a name leads, whatever is put in between."""
    told = narration.prose.told
    between = (pattern.match(told, mention.end) for pattern in (phrases.ASIDE, phrases.TOGETHER))
    for start in (mention.end, *(found.end() for found in between if found)):
        for pattern in (
            phrases.DOES,
            phrases.IS_DOING,
            phrases.IS_PRESENT,
            phrases.REFUSES,
            phrases.AND_DOES,
            phrases.HAD_JUST,
            phrases.HAD_AND,
            phrases.BEING,
            *_meanwhile(narration.prose.sentences[number], mention),
        ):
            does = pattern.match(told, start, narration.prose.sentences[number].end)
            if does:
                return does.end()
    return None


def _meanwhile(sentence: Sentence, mention: Mention) -> tuple[re.Pattern[str], ...]:
    """What somebody had done while others were still at something is of the same hour."""
    meanwhile = phrases.MEANWHILE.fullmatch(sentence.text, 0, max(mention.start - sentence.start, 0))
    return (phrases.HAD_THEN,) if meanwhile else ()


def _is_leading(narration: Narration, number: int, owner: Mention) -> bool:
    sentence = narration.prose.sentences[number]
    before = sentence.text[: owner.start - sentence.start]
    return phrases.LEADS.search(before) is not None or not phrases.BOUND.search(before)


def _within_speech(text: str) -> str:
    """The narration since the last words that somebody says."""
    return text.rpartition("¤")[2]
