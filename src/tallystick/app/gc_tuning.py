"""GC settings for long-running processes such as a server.

Python runs a full collection whenever the number of new objects reaches a quarter of the old ones. A server's old
objects (cards, schemas, caches) are not garbage, and scanning them costs more than a tenth of the time of a call.
"""

import gc

YOUNG, MIDDLE, OLD = 50_000, 10, 10
"""GC thresholds: new objects before a collection of the youngest generation, then collections of each generation
before one of the next older. At most five million objects of old garbage accumulate before a full collection."""


def stay() -> None:
    """Tune the garbage collector; call it once a long-running process has loaded everything it needs."""
    # Loaded objects live as long as the process, so exclude them from every collection.
    gc.freeze()
    gc.set_threshold(YOUNG, MIDDLE, OLD)
