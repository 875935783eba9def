"""Time spent by this thread alone: other programs share the machine, and coverage would be measured with it."""

import sys
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object]) -> float:
    """Processor time of one run, with tracing paused."""
    tracer = sys.gettrace()
    sys.settrace(None)
    try:
        began = time.thread_time()
        work()
        return time.thread_time() - began
    finally:
        sys.settrace(tracer)
