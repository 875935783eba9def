"""Modules whose names are from before the rule about names: each goes when its module is renamed; none is added."""

EARLIER_NAMES = frozenset(
    [
        "providers/offline/answering",
        "providers/offline/choosing",
        "providers/offline/citing",
        "providers/offline/filling",
        "providers/offline/looking",
        "providers/offline/planning",
        "providers/offline/reporting",
        "providers/offline/summarising",
    ]
)
"""Paths from the package, without `.py`."""
