"""Write the weights of the second look anew, and say what they come to: `python -m benchmarks.continuity.weights`.

Needs the novels that `TALLY_DATA` names, scikit-learn, and two minutes.
"""

from __future__ import annotations

import json
from itertools import chain

from benchmarks.continuity import DATA
from benchmarks.continuity.bounding import bounds
from benchmarks.continuity.learning import evened, learned, novel_rows, own_rows, told_rows
from benchmarks.continuity.wordings import seen_hands
from tallystick.rooms.studio.continuity.likelihood import WEIGHTS


def main() -> None:
    hands, read = seen_hands(), novel_rows(DATA)
    rows = evened([*told_rows(hands), *own_rows(), *chain(*read)])
    held = learned(rows)
    held["bounds"], lines = bounds(hands, read, held)
    WEIGHTS.write_text(json.dumps(held, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")
    print(f"{len(rows)} candidates, {sum(row[2] for row in rows)} of them told\n{lines}")


if __name__ == "__main__":
    main()
