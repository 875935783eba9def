"""English number words."""

_ONES = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
ONES, TENS = tuple(_ONES.split()), tuple(_TENS.split())
NUMBER_WORDS = {word: value for value, word in enumerate(ONES)} | {word: 10 * tens for tens, word in enumerate(TENS, 2)}
"""Word → value, from zero to ninety."""
