"""A process that stays, such as a server: garbage is looked for less often.

Python looks through everything it holds once a quarter as much again has been made. What a server holds (cards,
schemas, facts at hand) is no garbage, and to look through it costs callers more than a tenth of their time.
"""

import gc

YOUNG, MIDDLE, OLD = 50_000, 10, 10
"""Objects more than before until the youngest are looked through, and rounds of that until the next older are. What is
garbage after all, and old, comes to five million objects at the most before it is found."""


def stay() -> None:
    """Say that this process has loaded what it needs, and goes on for long."""
    # What is loaded now stays, and is not looked through at all.
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
