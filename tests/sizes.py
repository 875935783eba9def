"""How large the tests are: small and fixed for `make test`, as promised for `make test-full`."""

import os

FULL = os.environ.get("TALLY_TEST_SIZE") == "full"


def size(small: int, full: int) -> int:
    """The number of rounds, cases or records at this size."""
    return full if FULL else small
