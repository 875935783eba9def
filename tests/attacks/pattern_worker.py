"""Drives the regular expressions of the package with pathological texts, in a process that can be killed.

`python -m tests.attacks.pattern_worker PART OF [MODULE …]` drives every OF-th pattern, and all of some modules. It prints
one JSON line for each that is too slow, and at the end how many there are.
"""

import json
import re
import signal
import sys
import time
from typing import Any

from tests.attacks.pathological import text, units
from tests.attacks.patterns import SEARCH, Found, collect
from tests.sizes import size

FIRST, LAST = 512, size(4_096, 16_384)
"""Characters: a quadratic pattern is seen within these, and a linear one takes a millisecond."""
SEEN_S = 0.005
"""Shorter times are noise."""
MOST_GROWTH = 3.2
"""Twice the text may take a little more than twice the time; a square takes four times."""
GIVEN_UP_S = 0.5
WITHIN = {"doors/mcp/jsonrpc.py": 512}
"""Module → characters of a text that its patterns are ever applied to, where it cuts the text first."""


class _Slow(Exception):  # noqa: N818 - ends a try, and is no error
    """It takes too long."""


def _stop(*_: Any) -> None:
    raise _Slow


def seconds(pattern: re.Pattern[str], mode: str, given: str) -> float:
    """What a pattern takes over a text; infinite if it does not end."""
    signal.setitimer(signal.ITIMER_VIRTUAL, GIVEN_UP_S)
    try:
        before = time.thread_time()
        if mode == SEARCH:
            for _ in pattern.finditer(given):
                pass
        else:
            getattr(pattern, mode)(given)
        return time.thread_time() - before
    except _Slow:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


def verdict(found: Found) -> str | None:
    """On which text a pattern is too slow; None: on none."""
    pattern, module = re.compile(found.pattern, found.flags), found.where.partition(":")[0]
    for mode in sorted(found.modes):
        for unit in units(found.pattern, found.flags):
            slow = _grows(pattern, mode, unit, WITHIN.get(module, LAST))
            if slow:
                return f"{mode} on {unit!r:.120}: {slow}"
    return None


def _grows(pattern: re.Pattern[str], mode: str, unit: tuple[str, str, str], last: int) -> str:
    length = FIRST
    while length <= last:
        once = seconds(pattern, mode, text(unit, length))
        if once == float("inf"):
            return f"{length} characters take for ever"
        if once > SEEN_S:
            # The best of several: a machine that does other things makes times longer, never shorter.
            once = min(once, *(seconds(pattern, mode, text(unit, length)) for _ in range(2)))
            twice = min(seconds(pattern, mode, text(unit, 2 * length)) for _ in range(3))
            if twice > SEEN_S and twice > MOST_GROWTH * once:
                return f"{length} characters take {once * 1000:.0f} ms, twice as many {twice * 1000:.0f} ms"
            if twice > 10 * SEEN_S:
                return ""
        length *= 2
    return ""


def main(part: int, of: int, modules: list[str]) -> None:
    """Print what is too slow."""
    signal.signal(signal.SIGVTALRM, _stop)
    found, dynamic = collect()
    driven = [one for place, one in enumerate(found) if place % of == part or one.where.partition(":")[0] in modules]
    for one in driven:
        slow = verdict(one)
        if slow:
            told = {"where": one.where, "name": one.name, "slow": slow, "pattern": one.pattern[:200]}
            sys.stdout.write(f"{json.dumps(told)}\n")
            sys.stdout.flush()
    places = [f"{source.path}:{source.line}" for source in dynamic]
    sys.stdout.write(json.dumps({"patterns": len(found), "driven": len(driven), "dynamic": places}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
