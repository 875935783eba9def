"""What stands around a name and says what it is the name of: a title, an `another`, a preposition."""

import re

ADDRESSES = frozenset(
    {"gardens", "row", "terrace", "alley", "crescent", "place", "mews", "yard", "buildings", "parade"}
)
NO_NAME = ("ly", "less", "ful", "ness", "ing", "ous", "dust", "ed", "ward", "wards")
PLAIN_TITLES = frozenset({"mr", "mrs", "miss", "ms", "dr", "madame", "mme", "monsieur", "mademoiselle", "mlle"})
ANOTHER = re.compile(r"\b(?:[Oo]ther|[Aa]nother|[Ee]lder|[Yy]ounger)\s+\Z")
TITLED_SO = re.compile(r"(?<![\w-])(?:[Aa]|[Tt]he|[Yy]oung|[Aa] certain)\s+\Z")
"""`A Mr. Marsh whom nobody knew`, `the Mr. Marsh of the bank`: not the one who needs no such word."""
THE_OTHER = re.compile(r"(?:,?\s+the\s+(?:elder|younger)|,?\s+(?:senior|junior|Senior|Junior))\b")
AT_A_PLACE = re.compile(r"\b(?:[Ii]n|[Aa]t|[Ff]rom|[Nn]ear|[Tt]o|[Ff]or|[Ii]nto|[Oo]f|[Tt]owards?)\s+\Z")
HANGS_ON = re.compile(r"\b(?:in|at|from|near|to|for|of|through|towards?)\s+\Z")
INSIDE = re.compile(r"\b(?:in|near|into|through|reached|outside|throughout|across)\s+\Z")
