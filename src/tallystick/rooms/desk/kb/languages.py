"""The language of a text, by the library langdetect; None where a text is too short to tell."""

from functools import lru_cache

from tallystick.text.words import STOP_WORDS, words

SURE = 0.9
FEWEST = 4
"""Words from which on a language is told."""
ENGLISH = 0.15
"""From this share of English function words on a text is English, whatever the letters look like."""
SAMPLE = 4_000
"""Characters of a document that are looked at."""


@lru_cache(maxsize=4096)
def language_of(text: str) -> str | None:
    """Return the two-letter code of a text's language."""
    said = words(text)
    if len(said) < FEWEST:
        return None
    if sum(word in STOP_WORDS for word in said) >= ENGLISH * len(said):
        return "en"
    # The library reads its profiles of 55 languages when it is first used.
    from langdetect import DetectorFactory, LangDetectException, detect_langs  # type: ignore[import-untyped] # noqa: PLC0415

    DetectorFactory.seed = 0
    try:
        (best, *_) = detect_langs(text[:SAMPLE])
    except LangDetectException:
        return None
    return str(best.lang)[:2] if best.prob >= SURE else None
