"""Words for the colour of eyes and hair, and which of them go together."""

import re
from collections.abc import Iterable

EYES = {
    **dict.fromkeys(("blue", "azure", "sapphire", "cornflower", "cobalt", "turquoise"), "blue"),
    **dict.fromkeys(("green", "emerald", "jade", "greenish"), "green"),
    **dict.fromkeys(
        ("grey", "gray", "slate", "greyish", "grayish", "pewter", "flint", "steel", "steely", "smoky"), "grey"
    ),
    **dict.fromkeys(("brown", "chestnut", "chocolate", "brownish", "mahogany"), "brown"),
    "bluish": "blue",
    "hazel": "hazel",
    **dict.fromkeys(("black", "jet", "ebony", "onyx", "jet-black", "coal-black"), "black"),
    **dict.fromkeys(("amber", "golden", "topaz", "tawny", "honey-coloured", "honey-colored"), "amber"),
    **dict.fromkeys(("violet", "lavender", "amethyst"), "violet"),
    "dark": "dark",
    "pale": "light",
    "light": "light",
}
HAIR = {
    **dict.fromkeys(("blond", "blonde", "golden", "gold", "flaxen", "yellow", "fair", "straw-coloured", "straw-colored",
                     "towheaded", "tow", "honey-coloured", "honey-colored", "platinum"), "fair"),
    **dict.fromkeys(("red", "ginger", "copper", "coppery", "carroty", "reddish", "russet", "titian", "scarlet",
                     "flame-coloured"), "red"),
    "auburn": "auburn",
    **dict.fromkeys(("brown", "chestnut", "brownish", "brunette", "mousy", "chocolate", "nut-brown"), "brown"),
    **dict.fromkeys(("black", "raven", "jet", "jet-black", "ebony", "coal-black", "raven-black"), "black"),
    **dict.fromkeys(("grey", "gray", "silver", "silvery", "white", "hoary", "snow-white", "snowy", "greying",
                     "grizzled", "iron-grey", "iron-gray", "grayish", "greyish"), "grey"),
    "sandy": "sandy",
    "dark": "dark",
    "light": "light",
}  # fmt: skip
_LIKENED = {
    **dict.fromkeys(("sky", "sapphires", "sapphire", "cornflowers", "forget-me-nots", "bluebells", "delft"), "blue"),
    **dict.fromkeys(("emeralds", "jade", "moss", "grass", "leaves", "ivy", "holly", "bottle-glass"), "green"),
    **dict.fromkeys(("slate", "steel", "ash", "ashes", "rain", "clouds", "pewter", "smoke", "lead", "flint", "iron",
                     "fog", "mist", "granite", "pebbles"), "grey"),
    **dict.fromkeys(("coal", "jet", "ink", "soot", "pitch", "tar", "midnight", "sloes", "ebony", "raven",
                     "ravens"), "black"),
    **dict.fromkeys(("coffee", "chocolate", "earth", "chestnuts", "chestnut", "peat", "bark", "tea", "walnut",
                     "walnuts", "mahogany", "toffee", "nutmeg", "cocoa", "tobacco"), "brown"),
}  # fmt: skip
LIKENED_EYES = _LIKENED | {
    **dict.fromkeys(("honey", "amber", "gold", "whisky", "sherry", "topaz"), "amber"),
    **dict.fromkeys(("violets", "amethyst", "heather"), "violet"),
}
"""`eyes the colour of slate`."""
LIKENED_HAIR = _LIKENED | {
    **dict.fromkeys(("honey", "gold", "straw", "corn", "wheat", "butter", "barley", "flax", "hay", "oats"), "fair"),
    **dict.fromkeys(("copper", "rust", "flame", "fire", "carrots", "foxes", "fox", "brick", "bricks"), "red"),
    **dict.fromkeys(("snow", "milk", "silver", "chalk", "ash", "ashes", "iron", "steel"), "grey"),
}
_SHADES = {"dark", "light"}
_EYES_TOGETHER = {
    frozenset({"dark", other}) for other in ("black", "brown", "hazel", "blue", "grey", "green", "violet")
} | {frozenset({"light", other}) for other in ("blue", "grey", "green", "amber", "hazel", "brown", "violet")}
_HAIR_TOGETHER = {
    frozenset({"dark", "brown"}), frozenset({"dark", "black"}), frozenset({"dark", "auburn"}),
    frozenset({"dark", "grey"}), frozenset({"light", "fair"}), frozenset({"light", "brown"}),
    frozenset({"light", "sandy"}), frozenset({"light", "grey"}), frozenset({"light", "red"}),
    frozenset({"auburn", "red"}), frozenset({"auburn", "brown"}), frozenset({"sandy", "fair"}),
    frozenset({"sandy", "red"}), frozenset({"sandy", "brown"}), frozenset({"light", "auburn"}),
}  # fmt: skip


def colours_in(words: Iterable[str], lexicon: dict[str, str]) -> tuple[str, ...]:
    """The colours that some words name: `pale blue-grey` is blue and grey. Shades count only alone."""
    found: list[str] = []
    for word in words:
        plain = word.lower().strip(",.;:").removesuffix("ness")
        if plain in lexicon:
            found.append(lexicon[plain])
            continue
        if made := re.fullmatch(r"([a-z]+)-colou?red", plain):
            likened = LIKENED_HAIR if lexicon is HAIR else LIKENED_EYES
            found.extend(likened[part] for part in (made.group(1), f"{made.group(1)}s") if part in likened)
            continue
        found.extend(lexicon[part] for part in re.split(r"-", plain) if part in lexicon)
    colours = [colour for colour in found if colour not in _SHADES]
    return tuple(dict.fromkeys(colours or found))


def go_together(attribute: str, first: Iterable[str], second: Iterable[str]) -> bool:
    """Whether both can be true of the same eyes or hair."""
    ones, others = set(first), set(second)
    if ones & others:
        return True
    together = _EYES_TOGETHER if attribute == "eyes" else _HAIR_TOGETHER
    return any(frozenset({one, other}) in together for one in ones for other in others)
