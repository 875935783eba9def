"""What every reader of documents returns, and how it refuses one."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from tallystick.errors import TallyError
from tallystick.text.headings import Heading


class DocumentRefused(TallyError):  # noqa: N818 - the name states the condition
    """A document that cannot be read; the message says what to do."""

    code = "document_refused"


@dataclass(frozen=True, kw_only=True)
class ParsedDocument:
    """A document as its reader parsed it."""

    text: str
    """What a person who opens the document sees. Of Markdown: the file itself, so that its lines are the file's."""
    headings: tuple[Heading, ...] = ()
    title: str = ""
    about: Mapping[str, str] = field(default_factory=dict[str, str])
    """What the document says about itself, names in small letters: `status`, `superseded_by`."""
    left_out: tuple[str, ...] = ()
    """Parts of the file that were left out: `script`, `hidden text`, `comment`."""
