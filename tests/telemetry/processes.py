"""Python programs of their own that find the package."""

import os
from pathlib import Path

import tallystick

ENVIRONMENT = os.environ | {"PYTHONPATH": str(Path(tallystick.__file__).parents[1])}
