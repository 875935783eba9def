"""Ready replies that the owner wrote: `desk/replies.toml`, a name and a text each. They are the owner's own words."""

import tomllib
from collections.abc import Iterable
from pathlib import Path

from tallystick.errors import ConfigError
from tallystick.gate.quotes import fold
from tallystick.gate.reply.sentences import written_sentences
from tallystick.rooms.desk.language.sentences import RECORD

FILE = "desk/replies.toml"
"""Relative to the workspace."""
MOST, LONGEST = 200, 5_000


def read_replies(path: Path) -> dict[str, str]:
    """Return the replies by name; none without the file.

    Raises:
        ConfigError: The file is not one text for each name, or has too many or too long ones.
    """
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"{path.name} cannot be read: {type(error).__name__}. Write TOML.", code="config_bad_value"
        ) from None
    if len(given) > MOST or not all(isinstance(text, str) and 0 < len(text) <= LONGEST for text in given.values()):
        message = f"{path.name}: give each name one text of at most {LONGEST} characters, and at most {MOST} names."
        raise ConfigError(message, code="config_bad_value")
    return given


def sentences_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the sentences of all texts, folded."""
    return frozenset(fold(sentence) for text in texts for sentence in written_sentences(text, kind=RECORD))
