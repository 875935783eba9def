"""The grammar that tests read texts with; tests that need it are left out, by name, where its model is not there."""

import pytest

from tallystick.reading.parser import Parser, ParserMissingError, open_parser
from tallystick.settings import Settings


def parser() -> Parser:
    """Return the grammar."""
    try:
        return open_parser(Settings().models_dir())
    except ParserMissingError as missing:
        pytest.skip(f"left out: {missing}")
