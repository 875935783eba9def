"""What was written down about a proposition up to a place of the log: its history, its record, its tests.

It is taken from the whole log, not from a part of it: consolidation looks at all propositions together.
"""

from dataclasses import replace

from tallystick.rooms.memory.consolidation import CAP_EXCEEDED
from tallystick.rooms.memory.nouns import Canonical, Proposition, Trial
from tallystick.rooms.memory.state import State

_PUT_ASIDE = "archive"
_BY_ITSELF = frozenset({"age", "rival"})
"""Causes of a change that do not take a proposition out of the archive."""


class Recorded:
    """One proposition's records."""

    def __init__(self, state: State, one: Proposition, upto: int | None = None) -> None:
        """Say of what.

        Args:
            state: Memory at the end of the log.
            one: The proposition.
            upto: Only what was recorded up to this place; None: all.
        """
        self._state = state
        self._one = one
        self._upto = upto
        self.history = [change for change in state.transitions_of(one.id) if self._there(change.seq)]

    def canonical(self) -> Canonical | None:
        """The record it stood for then, as it was then."""
        for held in self._state.canonicals_of(self._one.id):
            retired = held.retired_seq is not None and self._there(held.retired_seq)
            if self._there(held.promoted_seq) and not retired:
                return replace(
                    held, retired_at=None, retired_seq=None, retired_why=None, supersedes=self._replaced(held)
                )
        return None

    def archived(self) -> str | None:
        """Why it was put aside then; None: it was not."""
        causes = [change.cause for change in self.history if change.cause not in _BY_ITSELF]
        return CAP_EXCEEDED if causes and causes[-1] == _PUT_ASIDE else None

    def trials(self) -> list[Trial]:
        """Its tests, by id; what came of them may have been told later."""
        held = self._state.dossier(self._one.id).trials
        return [self._then(trial) for _, trial in sorted(held.items()) if self._there(trial.seq)]

    def _then(self, trial: Trial) -> Trial:
        """As it had been proposed by then."""
        raised = trial.raised_seq is not None and not self._there(trial.raised_seq)
        return replace(trial, discriminating=False) if raised else trial

    def classes_of(self, source_id: str) -> list[str]:
        """What was claimed of a source by then, on whatever occasion."""
        source = self._state.sources.get(source_id)
        claimed = () if source is None else zip(source.classes, source.since, strict=True)
        return [name for name, since in claimed if self._there(since)]

    def _replaced(self, held: Canonical) -> tuple[str, ...]:
        """The records it had taken the place of."""
        found = ((name, self._state.canonicals.get(name)) for name in held.supersedes)
        return tuple(
            name
            for name, other in found
            if other is not None and other.retired_seq is not None and self._there(other.retired_seq)
        )

    def _there(self, seq: int) -> bool:
        return self._upto is None or seq <= self._upto
