"""The dead who act: each death against what its subject does afterwards."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tallystick.rooms.studio.continuity.alive import alive_again
from tallystick.rooms.studio.continuity.binding import Binder
from tallystick.rooms.studio.continuity.comparing import Conflict
from tallystick.rooms.studio.continuity.deeds import deeds
from tallystick.rooms.studio.continuity.facts import Fact
from tallystick.rooms.studio.continuity.narration import Narration

_TURNS_OUT = 3_000
"""Characters after the deed within which the text may say that the dead lives after all."""
_HARDLY = 3
"""Deeds after which a death that is only told by what it leaves behind is taken to be another's."""
Telling = tuple[Narration, Binder]


def after_death(deaths: Sequence[Fact], tellings: Sequence[Telling]) -> Iterator[Conflict]:
    """Everyone who acts after dying: once against the text, once a file against a card."""
    return _Afterwards(deaths, tellings).conflicts()


def borne_out(deaths: Sequence[Fact], tellings: Sequence[Telling]) -> list[Fact]:
    """The deaths after which their subject hardly acts any more: `the late Mr. Darcy` is the father of one who does."""
    return _Afterwards(deaths, tellings).borne_out()


class _Afterwards:
    def __init__(self, deaths: Sequence[Fact], tellings: Sequence[Telling]) -> None:
        self._deaths = sorted(deaths, key=lambda fact: (not fact.from_card, fact.place, fact.details))
        self._proses = {narration.prose.path: narration.prose for narration, _ in tellings}
        self._back = [
            (key, (narration.prose.order, at))
            for narration, binder in tellings
            for key, at in alive_again(narration, binder)
        ]
        subjects = {death.subject for death in deaths}
        self._acting: dict[str, list[Fact]] = defaultdict(list)
        for deed in sorted((deed for telling in tellings for deed in deeds(*telling, subjects)), key=_place):
            self._acting[deed.subject].append(deed)

    def borne_out(self) -> list[Fact]:
        return [death for death in self._deaths if not self._acts_on(death)]

    def _acts_on(self, death: Fact) -> bool:
        start = self._start(death)
        return sum(deed.place > start for deed in self._acting[death.subject]) > _HARDLY

    def conflicts(self) -> Iterator[Conflict]:
        told: set[tuple[str, str]] = set()
        for death in self._deaths:
            start = self._start(death)
            if death.details and self._acts_on(death):
                continue
            for deed in self._acting[death.subject]:
                key = (death.subject, deed.path if death.from_card else "")
                if key not in told and self._is_after(death, start, deed):
                    told.add(key)
                    message = f"{deed.name} is dead ('{death.words}') and later acts ('{deed.words}')."
                    yield Conflict(first=death, second=deed, message=message)

    def _start(self, death: Fact) -> tuple[int, int]:
        """Where the death happens. A card that names no scene means the scene that tells of it, or long before."""
        if not death.from_card:
            return death.place
        if death.valid_from:
            # The scene of the death itself may show both.
            return (death.valid_from + 1, -1)
        shown = [fact for fact in self._deaths if fact.subject == death.subject and not fact.from_card]
        return shown[0].place if shown else (0, -1)

    def _is_after(self, death: Fact, start: tuple[int, int], deed: Fact) -> bool:
        if deed.place <= start or (
            deed.order == start[0] and self._paragraph(deed.path, deed.offset) <= self._dying(start)
        ):
            return False
        until = (deed.order, deed.offset + _TURNS_OUT)
        return not any(key == death.subject and start <= place <= until for key, place in self._back)

    def _dying(self, start: tuple[int, int]) -> int:
        """The paragraph in which somebody dies: what stands in it may be told in any order."""
        path = next((path for path, prose in self._proses.items() if prose.order == start[0]), None)
        return self._paragraph(path, start[1]) if path is not None and start[1] >= 0 else -1

    def _paragraph(self, path: str, offset: int) -> int:
        prose = self._proses[path]
        number = prose.sentence_at(offset)
        return prose.sentences[number].paragraph if number is not None else -1


def _place(fact: Fact) -> tuple[int, int]:
    return fact.place
