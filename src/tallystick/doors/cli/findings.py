"""The result of a check of `tally doctor`."""

from dataclasses import dataclass
from typing import Literal

Health = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the output of `tally doctor`."""

    what: str
    """What was checked."""
    health: Health
    says: str
    """Its state and, unless it is ok, what to do."""
