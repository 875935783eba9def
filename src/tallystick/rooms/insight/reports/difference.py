"""What a recheck found, and how it is told."""

from typing import Any

from tallystick.records import record

_PLACES = {"text": "in the text", "markup": "in the page's markup", "figures": "in the list of figures"}


@record
class Difference:
    """One thing that is not as the report says."""

    note_id: str
    """`f12`, `q3`; `report` where it concerns the whole."""
    label: str
    kind: str
    """`figure` and `quote`: the tickets say otherwise. `text`: the report was changed after it was made.

    `dataset`: its tickets are not here. `unreadable`: it is no report of ours.
    """
    said: str
    now: str | None
    """What is right; None: it cannot be computed any more, or nobody knows."""
    place: str = ""
    """Of a change by hand: `text`, `figures` (their list), `markup` (what a page's markup says of a number)."""
    query: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        return {
            "id": self.note_id, "label": self.label, "kind": self.kind, "said": self.said, "now": self.now,
            "place": self.place, "query": self.query,
        }  # fmt: skip

    def sentence(self) -> str:
        """What is wrong and what would be right, on one line."""
        if self.note_id == "report":
            return self._of_the_whole()
        return f"{self.note_id}  {self.label}: {self._of_one()}"

    def _of_one(self) -> str:
        if self.kind == "text":
            right = "and no figure stands behind it" if self.now is None else f"right is {self.now}"
            return f"changed by hand {_PLACES.get(self.place, '')}: it says {self.said}, {right}"
        if self.kind == "quote":
            now = "and that ticket is not there any more" if self.now is None else f"the ticket says {self.now}"
            return f"the report quotes {self.said}, {now}"
        now = "and it cannot be computed from the tickets any more" if self.now is None else f"now it is {self.now}"
        return f"the report says {self.said}, {now}  {self.query}".rstrip()

    def _of_the_whole(self) -> str:
        if self.kind != "dataset":
            return self.said
        here = "which is not in this workspace" if self.now is None else f"and here that is {self.now}"
        return f"The report is of {self.said}, {here}. Recheck it in the workspace in which it was made."
