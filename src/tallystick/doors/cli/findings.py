"""What a check of `tally doctor` found."""

from dataclasses import dataclass
from typing import Literal

Health = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the answer of `tally doctor`."""

    what: str
    """What was examined."""
    health: Health
    says: str
    """Its state and, for anything but ok, what to do."""
