"""File names and folders of a project: slugs, titles, kinds of cards, where each kind is stored."""

import re

from tallystick.rooms.studio.book.model import CardKind
from tallystick.text.folding import fold_case, straighten_apostrophes, without_accents

KINDS: dict[str, CardKind] = {
    "character": "character",
    "characters": "character",
    "char": "character",
    "person": "character",
    "people": "character",
    "cast": "character",
    "location": "location",
    "locations": "location",
    "loc": "location",
    "place": "location",
    "places": "location",
    "setting": "location",
    "settings": "location",
    "lore": "lore",
    "history": "lore",
    "magic": "lore",
    "religion": "lore",
    "faction": "faction",
    "factions": "faction",
    "fac": "faction",
    "organisation": "faction",
    "organisations": "faction",
    "organization": "faction",
    "organizations": "faction",
    "group": "faction",
    "technology": "technology",
    "tech": "technology",
    "item": "technology",
    "items": "technology",
    "object": "technology",
    "objects": "technology",
    "culture": "culture",
    "cultures": "culture",
    "cul": "culture",
    "event": "event",
    "events": "event",
    "evt": "event",
    "theme": "theme",
    "themes": "theme",
    "thm": "theme",
    "glossary": "glossary",
    "term": "glossary",
    "terms": "glossary",
    "gls": "glossary",
    "misc": "misc",
    "miscellaneous": "misc",
    "other": "misc",
}
"""Names of card kinds in folders, front matter and file name prefixes."""

_MARKUP = (".md", ".markdown", ".txt")


def is_prose_file(path: str) -> bool:
    """Whether a file is text that an author writes."""
    return path.lower().endswith(_MARKUP)


def stem_of(path: str) -> str:
    """The file's name without folder and ending."""
    name = path.rpartition("/")[2]
    lowered = name.lower()
    return next((name[: -len(ending)] for ending in _MARKUP if lowered.endswith(ending)), name)


def slug_of(path: str) -> str:
    """The slug of a scene: its file's name without `SCN-`."""
    stem = stem_of(path)
    return stem[4:] if stem.upper().startswith("SCN-") else stem


def slugged(text: str) -> str:
    """A title as a slug: `The Harbour!` is `the-harbour`."""
    plain = fold_case(without_accents(straighten_apostrophes(text).replace("'", "")))
    return re.sub(r"[\W_]+", "-", plain).strip("-")


def without_number(slug: str) -> str:
    """A slug without the number an author put before it: `03-the-harbour`, `scene-3-the-harbour`, `ch03-sc2-x`."""
    return re.sub(r"\A(?:(?:scene|sc|ch|chapter|part|act)?-?[0-9]{1,4}-)+(?=[^\W\d])", "", slug)


def spoken(slug: str) -> str:
    """A slug as a title."""
    return " ".join(word[:1].upper() + word[1:] for word in re.split(r"[-_\s]+", slug) if word)


def kind_of_folder(path: str) -> CardKind | None:
    """The kind named by a folder of the path: the folder below `Compendium`, or any folder named after a kind."""
    folders = [part.casefold() for part in path.split("/")[:-1]]
    if "compendium" in folders:
        folders = folders[folders.index("compendium") + 1 :]
    return next((KINDS[folder] for folder in folders if folder in KINDS), None)


def kind_of_prefix(path: str) -> CardKind | None:
    """The kind named by a file name prefix, as in `CHAR-mara.md`."""
    prefix, dash, _ = stem_of(path).partition("-")
    return KINDS.get(prefix.casefold()) if dash and prefix.isupper() else None


SCENES = "Story/Scenes"
FOLDERS: dict[CardKind, str] = {
    "character": "Characters",
    "location": "Locations",
    "lore": "Lore",
    "faction": "Factions",
    "technology": "Technology",
    "culture": "Culture",
    "event": "Events",
    "theme": "Themes",
    "glossary": "Glossary",
    "misc": "Misc",
}
"""Below `Compendium`."""
