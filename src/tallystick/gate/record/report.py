"""What an audit finds."""

from dataclasses import asdict, dataclass
from typing import Any

MAX_PROBLEMS = 100
"""More do not tell more; the first one is what matters."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """Something that should not be."""

    code: str
    """A fixed word, e.g. `signature_invalid`."""
    reason: str
    seq: int | None = None
    receipt_id: str | None = None
    session_id: str | None = None
    loss: str | None = None
    """What is lost, by the name under which the owner can accept that it is."""

    def as_dict(self) -> dict[str, Any]:
        """Without what is not known."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Warrant:
    """Up to where the log is proved, and by what."""

    by: str
    """head, mirror, checkpoint, mirrored checkpoint, witness, or the name of a copy given from outside."""
    size: int

    @property
    def outside(self) -> bool:
        """Whether it lies where somebody who changes the workspace cannot reach it as well."""
        return self.by not in {"head", "checkpoint"}


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditReport:
    """The result of an audit."""

    size: int
    """Records that were looked at."""
    problems: tuple[Problem, ...]
    """The first bad record comes first."""
    notes: tuple[Problem, ...]
    """Nothing wrong, but worth knowing: erased payloads, torn tails, clock jumps, recoveries."""
    warrants: tuple[Warrant, ...]
    root: str
    """Hex of the Merkle root over them."""

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    @property
    def losses(self) -> tuple[str, ...]:
        """What is lost and not accepted as lost."""
        return tuple(problem.loss for problem in self.problems if problem.loss is not None)

    @property
    def proved_up_to(self) -> int:
        """Records that could not be taken away without its showing: the furthest warrant, outside ones first."""
        outside = [warrant.size for warrant in self.warrants if warrant.outside]
        return max(outside or [warrant.size for warrant in self.warrants], default=0)

    @property
    def proved_by(self) -> tuple[str, ...]:
        """What proves it."""
        return tuple(warrant.by for warrant in self.warrants if warrant.size >= self.proved_up_to)

    def as_dict(self) -> dict[str, Any]:
        """Plain JSON, for machines."""
        return {
            "ok": self.ok,
            "size": self.size,
            "root": self.root,
            "proved_up_to": self.proved_up_to,
            "proved_by": list(self.proved_by),
            "warrants": [asdict(warrant) for warrant in self.warrants],
            "problems": [problem.as_dict() for problem in self.problems],
            "notes": [note.as_dict() for note in self.notes],
        }
