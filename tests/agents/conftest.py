"""The gate with a few tools over a workspace with a log, as the tests of turns use it."""

from tests.turns.conftest import desk, ran

__all__ = ["desk", "ran"]
