"""What a reader of one field gives back: a statement that is not yet tied to a file."""

from tallystick.reading.parser import ParsedWord
from tallystick.records import record
from tallystick.rooms.studio.continuity.cast import Person
from tallystick.rooms.studio.continuity.mentions import Mention
from tallystick.rooms.studio.continuity.statements import Value


@record
class Found:
    """Somebody's field, as a passage states it."""

    person: Person
    field: str
    value: Value
    words: str
    word: ParsedWord
    sure: bool = True
    """Whether a pronoun, if there is one, can mean nobody else."""
    hard: bool = True
    by_pronoun: bool = False


def found_at(mention: Mention, field: str, value: Value, words: str, word: ParsedWord, *, hard: bool = True) -> Found:
    """A statement about whoever is mentioned."""
    return Found(
        person=mention.person,
        field=field,
        value=value,
        words=" ".join(words.split()),
        word=word,
        sure=mention.sure,
        hard=hard,
        by_pronoun=not mention.is_name,
    )
