"""Whether narration states something as so: no speech, dream, rumour, memory, simile, condition, question or denial."""

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.mentions import ParsedPassage
from tallystick.rooms.studio.continuity.words import DOUBT_MARKS, DOUBT_NOUNS, DOUBT_VERBS

_NEVER = {"not", "n't", "never", "no", "neither", "nor", "hardly", "scarcely", "almost", "nearly"}
_REPORTED = {"ccomp", "xcomp", "acl", "pcomp", "parataxis"}


def is_told(passage: ParsedPassage, word: ParsedWord) -> bool:
    """Whether the narration asserts the clause that a word stands in."""
    if passage.passage.is_spoken(word.start):
        return False
    sentence = passage.parsed.sentences[word.sentence]
    if sentence and passage.parsed.sentence_text(word.sentence).rstrip("\"'”’)").endswith("?"):  # noqa: RUF001
        return False
    chain = [word, *word.ancestors()]
    inside = is_presupposed(word)
    if any(one.lemma in DOUBT_NOUNS for one in sentence):
        return False
    for under, one in zip([None, *chain], chain, strict=False):
        # What is denied of somebody is not denied of the clause that only says who they are.
        inside = inside or (under is not None and under.relation in {"relcl", "appos"})
        if _doubts(one, under, inside=inside):
            return False
    return True


def is_presupposed(word: ParsedWord) -> bool:
    """Whether a noun phrase takes something for granted: `her grey eyes did not move` says that they are grey."""
    if word.pos not in {"NOUN", "PROPN"} or word.relation in {"attr", "acomp", "ROOT"}:
        return False
    owned = word.child("poss") is not None or any(
        child.lower == "of" and (named := child.child("pobj")) is not None and named.pos == "PROPN"
        for child in word.children
    )
    predicated = word.relation == "nsubj" and word.head.lemma == "be" and word.child("amod") is None
    return owned and not predicated and not any(child.lower in _NEVER for child in word.children)


def is_denied(word: ParsedWord) -> bool:
    """Whether the word, or the verb it hangs on, is negated."""
    if is_presupposed(word):
        return False
    verb = next((one for one in (word, *word.ancestors()) if one.pos in {"VERB", "AUX"}), None)
    near = [*word.children, *(verb.children if verb is not None else [])]
    return any(one.lower in _NEVER for one in near)


def is_remembered(word: ParsedWord) -> bool:
    """Whether the clause of a word tells what was before: `had had fair hair`."""
    verb = next((one for one in (word, *word.ancestors()) if one.pos in {"VERB", "AUX"}), None)
    return verb is not None and is_past_perfect(verb)


def is_past_perfect(verb: ParsedWord) -> bool:
    """Whether something happened before what is being told: `had said`, `used to say`."""
    helpers = {one.lower for one in verb.children if one.relation in {"aux", "auxpass"}}
    return bool({"had", "'d"} & helpers) or (verb.head.lower == "used" and verb.relation == "xcomp")


def _doubts(word: ParsedWord, under: ParsedWord | None, *, inside: bool) -> bool:
    """Whether a word makes what hangs on it less than told; `under` is the word below it on the way up."""
    if word.relation in {"pobj", "pcomp"} and word.head.lower in {"like", "as", "than", "without"}:
        return True
    if word.pos not in {"VERB", "AUX"}:
        return False
    if not inside and any(_casts_doubt(child) for child in word.children if child is not under):
        return True
    return under is not None and word.lemma in DOUBT_VERBS and under.relation in _REPORTED


def _casts_doubt(child: ParsedWord) -> bool:
    if child.relation == "mark":
        return child.lower in DOUBT_MARKS
    if child.relation == "advmod":
        return child.lower in {"as", "when"}
    return child.relation == "neg" or (child.relation == "aux" and child.lower in DOUBT_MARKS)
