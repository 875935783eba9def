"""Where the files of a project lie."""

from tallystick.rooms.studio.book.nouns import CardKind

SCENES = "Story/Scenes"
FOLDERS: dict[CardKind, str] = {
    "character": "Characters", "location": "Locations", "lore": "Lore", "faction": "Factions",
    "technology": "Technology", "culture": "Culture", "event": "Events", "theme": "Themes", "glossary": "Glossary",
    "misc": "Misc",
}  # fmt: skip
"""Below `Compendium`."""
