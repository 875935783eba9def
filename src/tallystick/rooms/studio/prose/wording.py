"""Words that carry little by themselves, and those that name people."""

from collections.abc import Iterable

PLAIN = frozenset({
    "a", "about", "above", "after", "again", "against", "all", "almost", "along", "already", "also", "although",
    "always", "am", "an", "and", "another", "any", "anyone", "anything", "are", "around", "as", "at", "away",
    "back", "be", "became", "because", "been", "before", "began", "behind", "being", "below", "beneath", "beside",
    "between", "both", "but", "by", "came", "can", "can't", "cannot", "come", "could", "couldn't", "did",
    "didn't", "do", "does", "doesn't", "don't", "done", "down", "during", "each", "either", "else", "enough",
    "even", "ever", "every", "everything", "few", "first", "for", "from", "gave", "get", "go", "going", "gone",
    "got", "had", "hadn't", "half", "has", "hasn't", "have", "haven't", "having", "he", "he'd", "he'll", "he's",
    "her", "here", "hers", "herself", "him", "himself", "his", "how", "however", "i", "i'd", "i'll", "i'm",
    "i've", "if", "in", "inside", "into", "is", "isn't", "it", "it'd", "it'll", "it's", "its", "itself", "just",
    "keep", "kept", "knew", "know", "last", "left", "less", "let", "like", "little", "long", "look", "looked",
    "made", "make", "many", "may", "me", "might", "mine", "more", "most", "much", "must", "my", "myself", "near",
    "need", "never", "next", "no", "nor", "not", "nothing", "now", "of", "off", "on", "once", "one", "only",
    "onto", "or", "other", "our", "ours", "out", "over", "own", "perhaps", "put", "quite", "rather", "really",
    "right", "said", "same", "saw", "say", "says", "see", "seemed", "seen", "shall", "she", "she'd", "she'll",
    "she's", "should", "shouldn't", "side", "since", "so", "some", "someone", "something", "soon", "still",
    "such", "take", "than", "that", "that's", "the", "their", "theirs", "them", "themselves", "then", "there",
    "there's", "these", "they", "they'd", "they'll", "they're", "they've", "thing", "things", "think", "this",
    "those", "though", "thought", "three", "through", "time", "to", "together", "told", "too", "took", "toward",
    "towards", "turned", "two", "under", "until", "up", "upon", "us", "very", "want", "wanted", "was", "wasn't",
    "way", "we", "we'd", "we'll", "we're", "we've", "well", "went", "were", "weren't", "what", "when", "where",
    "whether", "which", "while", "who", "whom", "whose", "why", "will", "with", "within", "without", "won't",
    "would", "wouldn't", "yes", "yet", "you", "you'd", "you'll", "you're", "you've", "your", "yours", "yourself",
})  # fmt: skip
"""Words of every text: that they come again says nothing. Verbs of every scene (`said`, `looked`) are among them."""


def plain_form(word: str) -> str:
    """A word as it is counted."""
    lowered = word.lower().replace("’", "'")  # noqa: RUF001
    return lowered.removesuffix("'s")


def named_words(names: Iterable[str]) -> frozenset[str]:
    """The words of names, which come again because their bearers do."""
    return frozenset(plain_form(word) for name in names for word in name.split())
