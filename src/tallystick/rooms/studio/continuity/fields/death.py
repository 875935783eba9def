"""Who is said to be dead, and who acts."""

from collections.abc import Iterator

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.studio.continuity.certainty import is_denied, is_past_perfect
from tallystick.rooms.studio.continuity.fields.found import Found, found_at
from tallystick.rooms.studio.continuity.mentions import Mention, ParsedPassage, subject_of
from tallystick.rooms.studio.continuity.words import ACTS, NO_ACTS

_ENDS = {"die", "expire", "perish"}
_DONE_TO = {"kill", "murder", "bury", "behead", "hang", "slay", "drown"}
_EARLIER = {"before", "earlier", "ago", "once", "formerly", "used"}
_REACH = 12
"""Words behind `with` somebody within which their doing stands."""
_PAST = {"VBD", "VBN", "VBG", "VBZ", "VBP"}


def read_death(passage: ParsedPassage, default: Mention | None) -> Iterator[Found]:
    """Yield the deaths that a passage states."""
    for word in passage.parsed.words:
        if (
            word.lemma in _ENDS
            and word.pos == "VERB"
            and word.tag != "VBG"
            and word.child("dobj") is None
            and not is_denied(word)
        ):
            who = passage.mention_of(word.child("nsubj"))
            if who is None and word.child("nsubj") is None and word.relation in {"ROOT", "conj"}:
                who = passage.mention_of(subject_of(word)) or default
        elif word.lemma in _DONE_TO and word.child("auxpass") is not None and word.child("nsubjpass") is not None:
            who = passage.mention_of(word.child("nsubjpass"))
        elif (
            word.lower == "dead"
            and word.relation in {"acomp", "oprd", "ROOT"}
            and word.head.lemma in {"be", "find", "lie", "dead", "fall"}
        ):
            verb = word.head
            who = passage.mention_of(verb.child("nsubj", "nsubjpass"))
            if who is None and word.relation == "ROOT":
                who = default
        else:
            continue
        if who is not None and who.person.is_person and not is_denied(word):
            yield found_at(who, "dead", ("dead",), word.text, word)


def read_acts(passage: ParsedPassage) -> Iterator[Found]:
    """Yield what somebody named does before the reader's eyes."""
    for mention in passage.mentions:
        verb = _verb_of(passage, mention) if mention.is_name and mention.person.is_person else None
        if (
            verb is None
            or (verb.tag == "VBN" and verb.child("aux") is None)
            or verb.pos != "VERB"
            or verb.tag not in _PAST
        ):
            continue
        sentence = passage.parsed.sentences[verb.sentence]
        if verb.lemma in NO_ACTS - ACTS or any(one.lower in _EARLIER for one in sentence):
            continue
        if not (is_past_perfect(verb) or is_denied(verb) or is_past_perfect(verb.head)):
            yield found_at(mention, "acts", (verb.lemma,), verb.text, verb)


def _verb_of(passage: ParsedPassage, mention: Mention) -> ParsedWord | None:
    """What somebody does: the verb they are the subject of, or `with old Mr. Hale beside us, grumbling`."""
    word = mention.word
    if word.relation == "nsubj":
        return word.head
    if word.relation == "conj" and word.head.relation == "nsubj":
        return word.head.head
    if word.relation != "pobj" or word.head.lower != "with":
        return None
    following = passage.parsed.words[word.index + 1 : word.index + _REACH]
    return next(
        (
            one
            for one in following
            if one.tag == "VBG" and one.sentence == word.sentence and one.relation in {"acl", "advcl", "pcomp"}
        ),
        None,
    )
