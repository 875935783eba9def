"""These ask a real model, so they run only where it was fetched on purpose: `make test-model`."""

import os

import pytest

FIGURES: list[str] = []
"""Lines for the end of the run; they are copied into benchmarks/RESULTS.md."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TALLY_LOCAL_MODEL") != "1":
        for item in items:
            if item.get_closest_marker("local_model"):
                item.add_marker(pytest.mark.skip(reason="only in make test-model"))


@pytest.fixture(scope="session")
def figures() -> list[str]:
    return FIGURES


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in FIGURES:
        terminalreporter.write_line(line)
