"""Which stars and underscores are emphasis: the delimiter rules of CommonMark, in bounded time."""

import unicodedata

from tallystick.records import record

MAX_MARKS = 2_000
"""Marks of one paragraph. Beyond that it is a pattern, and stays as it is written."""
_STRONG = 2


@record
class Mark:
    """A run of stars or underscores."""

    sign: str
    count: int
    opens: bool
    closes: bool

    @classmethod
    def of(cls, text: str, start: int, end: int) -> "Mark":
        """What a run can be, by what stands on both sides of it."""
        before, after = text[start - 1] if start else " ", text[end] if end < len(text) else " "
        left = not after.isspace() and (not _is_sign(after) or before.isspace() or _is_sign(before))
        right = not before.isspace() and (not _is_sign(before) or after.isspace() or _is_sign(after))
        if text[start] == "_":
            # Inside a word an underscore is a letter.
            left, right = left and (not right or _is_sign(before)), right and (not left or _is_sign(after))
        return cls(sign=text[start], count=end - start, opens=left, closes=right)


def resolve(texts: list[str], marks: "list[Mark | None]") -> list[tuple[bool, bool]]:
    """(italic, bold) of every text; marks that are emphasis are taken out of `texts`.

    Args:
        texts: All pieces in order; a mark's piece is the mark itself.
        marks: For each piece its mark, or None.
    """
    italic, bold = [0] * len(texts), [0] * len(texts)
    left = [0 if mark is None else mark.count for mark in marks]
    places = [place for place, mark in enumerate(marks) if mark is not None]
    if len(places) <= MAX_MARKS:
        _pair(places, marks, left, italic, bold)
        for place in places:
            texts[place] = texts[place][: left[place]]
    return [(bool(one), bool(other)) for one, other in zip(italic, bold, strict=True)]


def _pair(places: list[int], marks: "list[Mark | None]", left: list[int], italic: list[int], bold: list[int]) -> None:
    open_at: list[int] = []
    for place in places:
        closer = marks[place]
        assert closer is not None  # noqa: S101 - these are the places of marks
        while closer.closes and left[place]:
            at = _opener(open_at, marks, left, place)
            if at is None:
                break
            opener = open_at[at]
            # What was opened inside and never closed is text.
            del open_at[at + 1 :]
            used = _STRONG if min(left[opener], left[place]) >= _STRONG else 1
            for inside in range(opener + 1, place):
                (bold if used == _STRONG else italic)[inside] += 1
            left[opener] -= used
            left[place] -= used
            if not left[opener]:
                open_at.pop()
        if closer.opens and left[place]:
            open_at.append(place)


def _opener(open_at: list[int], marks: "list[Mark | None]", left: list[int], place: int) -> int | None:
    closer = marks[place]
    for at in range(len(open_at) - 1, -1, -1):
        opener = marks[open_at[at]]
        if opener is None or closer is None or opener.sign != closer.sign or not left[open_at[at]]:
            continue
        # The rule of three: a run that may do both does not pair with one that would make a multiple of three.
        both = opener.closes or closer.opens
        if both and (opener.count + closer.count) % 3 == 0 and (opener.count % 3 or closer.count % 3):
            continue
        return at
    return None


def _is_sign(letter: str) -> bool:
    return unicodedata.category(letter)[0] in {"P", "S"}
