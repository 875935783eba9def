"""What ties one person to one place: born there, at home there, on the way there, come there to live, there on a night.

A sentence that names one person and one place, and has a word for the tie in it, is taken to tie the two, however
English puts it; unless the tie is another's (`Mara's mother was born at Yarrow`), is denied, is of another time or
comes about every week.
"""

import re
from collections.abc import Callable, Iterator

from tallystick.rooms.studio.continuity import tie_cues as cues
from tallystick.rooms.studio.continuity.alone import named_people
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.claims import is_claimed
from tallystick.rooms.studio.continuity.doers import doer
from tallystick.rooms.studio.continuity.facts import Fact, fact_at
from tallystick.rooms.studio.continuity.focus import about, bearer, clause_at
from tallystick.rooms.studio.continuity.journeys import Tie, coming, is_towards, leaving, length, says
from tallystick.rooms.studio.continuity.narration import Narration
from tallystick.rooms.studio.continuity.owners import possessor
from tallystick.rooms.studio.continuity.people import Mention
from tallystick.rooms.studio.continuity.place_names import ADDRESS, LET_OUT, NEVER_THERE, Place, only_place, places_in
from tallystick.rooms.studio.continuity.subjects import is_anothers_doing
from tallystick.rooms.studio.continuity.travellers import traveller


def ties(narration: Narration, binder: Binder) -> Iterator[Fact]:
    """Every such tie that the file tells."""
    prose = narration.prose
    for number in prose.with_words(cues.WORDS):
        sentence = prose.sentences[number]
        for pattern, read in _READERS:
            for found in pattern.finditer(prose.told, sentence.start, sentence.end):
                fact = _tied(narration, binder, number, found, read)
                if fact is not None:
                    yield fact
                    break


def _tied(narration: Narration, binder: Binder, number: int, found: re.Match[str], read: "Reader") -> Fact | None:
    if read is _house_in:
        owner = _owner_of_house(binder, number, found)
    else:
        verbs = _GOES.get(read)
        owner = _whose(binder, number, found) if verbs is None else traveller(binder, number, found, verbs)
    if owner is None or not binder.cast.is_person(owner.key):
        return None
    beside = _beside(binder, number, owner, found) if read is _house_in else None
    place = beside if read is _house_in else _place(binder, number, owner, found.start())
    tie = read(binder, number, found, owner, place) if place is not None else None
    elsewhen = (
        tie is not None
        and tie.attribute.startswith(("left", "days", "came"))
        and cues.OTHER_TIME.search(narration.prose.sentences[number].text)
    )
    if (
        tie is None
        or elsewhen
        or not is_claimed(narration, number, tie.span, granted=True, memory=tie.attribute != "home")
    ):
        return None
    hard = tie.attribute != "home"
    return fact_at(
        narration.prose, number, tie.span, owner, tie.attribute, tie.value, tie.words, hard=hard, details=tie.details
    )


def _named(binder: Binder, number: int) -> list[int]:
    start = binder.prose.sentences[number].start
    return [one.start - start for one in named_people(binder, number)]


def _whose(binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    """Who is born or at home, and is not somebody else's mother or landlady."""
    sentence = binder.prose.sentences[number]
    if cues.HIS_OWN.search(found.string[max(0, found.start() - cues.NEAR) : found.end()]):
        return about(binder, number)
    if cues.DELIVERED.match(found.group()) or (
        cues.DWELLING.match(found.group()) and cues.HIS_HOME.search(found.string, sentence.start, found.start())
    ):
        return about(binder, number)
    if cues.AS_HE_WAS.search(sentence.text) or _opens_with_birth(binder, number, found):
        return about(binder, number)
    if found.group().startswith("'s"):
        return next((one for one in named_people(binder, number) if one.end == found.start()), None)
    own = re.match(r"\W*(?:his|her)\b", found.group())
    at = found.start() - sentence.start
    if not own and is_anothers_doing(sentence.text, at, _named(binder, number)):
        return None
    owner = bearer(binder, number, found.start(), leads=True) or doer(binder, number, found.start())
    he = cues.HE_WAS.search(sentence.text, 0, at) if owner is None and not _named(binder, number) else None
    return binder.pronoun(number, sentence.start + he.start(1), he.group(1)) if he else owner


def _opens_with_birth(binder: Binder, number: int, found: re.Match[str]) -> bool:
    """`Born at Yarrow, and bred up by an aunt, Mara …`: said of whoever is the subject after it."""
    sentence = binder.prose.sentences[number]
    if not cues.OPENING.fullmatch(sentence.text, 0, found.start() - sentence.start):
        return False
    return any(
        cues.BESIDE_NAME.search(sentence.text, 0, one.start - sentence.start) and not one.is_possessive
        for one in named_people(binder, number)
    )


def _place(binder: Binder, number: int, owner: Mention, at: int) -> Place | None:
    """The one place of the sentence, or of the clause in which the tie stands; `there` is that of the one before."""
    only = only_place(binder, number, owner)
    if only is not None:
        return only
    sentence = binder.prose.sentences[number]
    if not places_in(binder, number, owner):
        return _place_before(binder, number, owner, at)
    start, end = clause_at(sentence.text, at - sentence.start)
    places = places_in(binder, number, owner)
    here = [one for one in places if start <= one.start - sentence.start < end]
    # `It was Monday when Mara set out for Leeds, and all Main Street came to see`.
    here = here or [one for one in places if is_towards(binder, one)]
    return here[0] if len({one.value for one in here}) == 1 else None


def _place_before(binder: Binder, number: int, owner: Mention, at: int) -> Place | None:
    """The place of the sentence before, for `there`; the street that opens it, for a door that is somebody's own."""
    sentence = binder.prose.sentences[number]
    before = binder.prose.sentences[number - 1] if number > 0 else sentence
    if before is sentence or before.paragraph != sentence.paragraph:
        return None
    place = only_place(binder, number - 1, owner)
    if cues.THERE.match(sentence.text, at - sentence.start) or place is None:
        return place if place is None or cues.THERE.match(sentence.text, at - sentence.start) else None
    own = cues.HIS_OWN_HOUSE.match(sentence.text, at - sentence.start)
    return place if own and place.start == before.start and ADDRESS.search(place.value) else None


def _born(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    sentence = binder.prose.sentences[number]
    denied = _is_denied(sentence.text, found.start() - sentence.start) and not cues.AS_HE_WAS.search(sentence.text)
    anothers = cues.NOT_BORN.search(sentence.text)
    at = found.start() - sentence.start
    # `Her parents came from the north, but she herself was born at Leeds`.
    turned = (
        anothers and cues.HE_WAS.search(sentence.text, 0, at) and cues.TURNS.search(sentence.text, anothers.end(), at)
    )
    if denied or (anothers and not turned):
        return None
    span = (min(found.start(), place.start), max(found.end(), place.end))
    return Tie(span=span, attribute="birthplace", value=(place.value,), words=place.name)


def _grew(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    sentence = binder.prose.sentences[number]
    if _is_denied(sentence.text, found.start() - sentence.start):
        return None
    return Tie(span=(found.start(), place.end), attribute="raised", value=(place.value,), words=place.name)


def _home(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    sentence = binder.prose.sentences[number]
    if (
        not ADDRESS.search(place.value)
        or NEVER_THERE.match(binder.prose.told, place.end)
        or LET_OUT.search(sentence.text)
        or (found.group() == "home" and says(cues.WORKS, sentence, found, place))
        or says(cues.VISITS, sentence, found, place)
        or (_is_denied(sentence.text, found.start() - sentence.start) and not cues.AS_HE_WAS.search(sentence.text))
    ):
        return None
    span = (min(found.start(), place.start), max(found.end(), place.end))
    return Tie(span=span, attribute="home", value=(place.value,), words=place.name)


def _house_in(binder: Binder, number: int, found: re.Match[str], _owner: Mention, place: Place) -> Tie | None:
    """A house that is somebody's, as part of whatever else happens."""
    sentence = binder.prose.sentences[number]
    # `to wish to see him in Fish Street, where he lived`: what stands before the relative is not said of it.
    related = None if found.re is cues.WHERE_HE else place
    if not ADDRESS.search(place.value) or says(cues.NO_LONGER, sentence, found, related):
        return None
    span = (min(found.start(), place.start), max(found.end(), place.end))
    return Tie(span=span, attribute="home", value=(place.value,), words=place.name)


def _owner_of_house(binder: Binder, number: int, found: re.Match[str]) -> Mention | None:
    groups = found.groupdict()
    if groups.get("own"):
        return possessor(binder, number, found.end("own"))
    if groups.get("name") or groups.get("named"):
        return binder.named_from(number, found.start("name" if groups.get("name") else "named"))
    return about(binder, number)


def _beside(binder: Binder, number: int, owner: Mention, found: re.Match[str]) -> Place | None:
    """The street that stands directly before or after the words."""
    near = (one for one in places_in(binder, number, owner) if one.start == found.end() or one.end == found.start())
    return next(near, None)


def _is_denied(text: str, at: int) -> bool:
    before = re.split(r"[;:,—]|\b(?:that|where|and|but|since|because|who|for)\b", text[:at])[-1]
    return re.search(rf"{cues.NO.pattern}|\b(?:might|would|could|should|may|perhaps)\b", before) is not None


Reader = Callable[[Binder, int, re.Match[str], Mention, Place], Tie | None]
_READERS = (
    (cues.BORN, _born), (cues.GREW, _grew), (cues.HOUSE_IN, _house_in), (cues.WHERE_HE, _house_in), (cues.HOME, _home),
    (cues.WEEKDAYS, leaving), (cues.DAYS, length), (cues.YEARS, coming),
)  # fmt: skip
_GOES: dict[Reader, re.Pattern[str]] = {leaving: cues.LEAVES, length: cues.TRAVELS, coming: cues.COMES}
"""What each kind of going is done by."""
