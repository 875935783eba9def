"""The report of an audit."""

from dataclasses import asdict, dataclass
from typing import Any

MAX_PROBLEMS = 100
"""Maximum number of problems reported; the first one matters most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditProblem:
    """A problem or note found by the audit."""

    code: str
    """A fixed code, e.g. `signature_invalid`."""
    reason: str
    seq: int | None = None
    receipt_id: str | None = None
    session_id: str | None = None
    loss: str | None = None
    """Name of a loss of records; the owner gives it to acknowledge the loss (`accept_loss`)."""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are not None."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True, slots=True)
class Warrant:
    """The number of records that one source, such as a signed checkpoint, confirms as unchanged."""

    by: str
    """head (file with the log's size and last leaf), mirror (copy of the head outside the workspace), checkpoint,
    mirrored checkpoint, witness, or the name of a copy supplied from outside."""
    size: int

    @property
    def outside(self) -> bool:
        """Whether it is stored outside the workspace, out of reach of an attacker who changes the workspace."""
        return self.by not in {"head", "checkpoint"}


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditReport:
    """The result of an audit."""

    size: int
    """Number of records examined."""
    problems: tuple[AuditProblem, ...]
    """In log order: the first bad record comes first."""
    notes: tuple[AuditProblem, ...]
    """Findings that are not errors: erased payloads, torn tails, clock jumps, recoveries."""
    warrants: tuple[Warrant, ...]
    root: str
    """Merkle root over the examined records, in hex."""

    @property
    def ok(self) -> bool:
        """Whether there are no problems."""
        return not self.problems

    @property
    def losses(self) -> tuple[str, ...]:
        """Names of losses that were not accepted."""
        return tuple(problem.loss for problem in self.problems if problem.loss is not None)

    @property
    def proved_up_to(self) -> int:
        """Number of records whose removal would be detected: the largest outside warrant, else the largest warrant."""
        outside = [warrant.size for warrant in self.warrants if warrant.outside]
        return max(outside or [warrant.size for warrant in self.warrants], default=0)

    @property
    def proved_by(self) -> tuple[str, ...]:
        """Sources of the warrants that reach `proved_up_to`."""
        return tuple(warrant.by for warrant in self.warrants if warrant.size >= self.proved_up_to)

    def as_dict(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
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
