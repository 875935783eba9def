"""What a clause is made of: tense, prepositions, when it happens, and the value that an attribute takes from it."""

from tallystick.reading.parser import ParsedWord
from tallystick.rooms.memory.ontology.attributes import Attribute
from tallystick.rooms.memory.propose.phrases import (
    NOBODY,
    is_determined,
    is_named,
    is_time,
    name_text,
    object_text,
    phrase_words,
    whole_name,
    written,
)


def may_state(attribute: Attribute | None, what: ParsedWord | None, *, past: bool) -> bool:
    """Return whether «is» may state an attribute: of the present, except for births, and of a name only a name."""
    if attribute is None:
        return True
    if past and not attribute.name.startswith("born"):
        return False
    return attribute.value != "name" or (what is not None and is_named(what))


def is_past(verb: ParsedWord) -> bool:
    """Return whether a verb is in a past tense that says nothing of the present."""
    helpers = [child for child in verb.children if child.relation in {"aux", "auxpass"}]
    if any(helper.lemma == "have" and helper.tag in {"VBP", "VBZ"} for helper in helpers):
        return False
    return (verb.tag == "VBD" and not helpers) or any(helper.tag == "VBD" for helper in helpers)


def is_passive(verb: ParsedWord) -> bool:
    """Return whether a verb is in the passive."""
    return verb.child("auxpass") is not None or verb.child("nsubjpass") is not None


def prepositions(verb: ParsedWord) -> list[ParsedWord]:
    """Return the prepositions of a verb, and those after «as NOUN»: «works as a nurse at a hospital»."""
    found = [child for child in verb.children if child.relation in {"prep", "agent"}]
    middle = verb.child("acomp")
    if middle is not None and verb.lemma in {"get", "become"}:
        found += [child for child in middle.children if child.relation == "prep"]
    for each in list(found):
        thing = each.child("pobj")
        if each.lower == "as" and thing is not None:
            found += [
                child
                for child in thing.children
                if child.relation == "prep" and child.lower in {"at", "for", "in", "with"}
            ]
    return found


def preposition(word: ParsedWord) -> ParsedWord | None:
    """Return the first preposition of a word that has an object."""
    return next((each for each in prepositions(word) if each.child("pobj") is not None), None)


def time_words(verb: ParsedWord) -> str:
    """Return the words of a clause that tell when."""
    found: list[ParsedWord] = []
    waiting = [
        child for child in verb.children if child.relation in {"prep", "npadvmod", "advmod", "dobj", "attr", "acomp"}
    ]
    for child in waiting:
        if (
            child.relation in {"prep", "npadvmod", "attr"}
            and is_time(child)
            and not any(each.relation == "prep" and is_time(each) for each in child.children)
        ):
            found += list(all_below(child))
        else:
            waiting += [each for each in child.children if each.relation in {"prep", "npadvmod", "pobj"}]
    return written(found)


def all_below(word: ParsedWord) -> list[ParsedWord]:
    """Return a word and what depends on it, without clauses."""
    return [each for each in word.subtree() if each.relation not in {"relcl", "advcl"}]


def fits_value(attribute: Attribute, thing: ParsedWord) -> bool:
    """Return whether a word may be what an attribute has to be."""
    if is_time(thing) and attribute.value != "date":
        return False
    if attribute.value == "place":
        return is_named(thing)
    return attribute.value != "organisation" or is_determined(thing)


def names_something(item: ParsedWord) -> bool:
    """Return whether an object names anything: no pronoun, not «nothing», not «no sugar»."""
    denied = any(child.lower == "no" for child in item.children)
    return item.pos != "PRON" and item.lemma.lower() not in NOBODY and not denied


def value_of(item: ParsedWord, attribute: Attribute) -> str:
    """Return an object as its attribute has it."""
    if attribute.value in {"date", "event"}:
        return written(word for word in all_below(item) if not (word.head is item and word.relation == "det"))
    if attribute.relation or attribute.value == "name":
        return name_text(item)
    if attribute.value == "organisation":
        return whole_name(item)
    if attribute.value == "age":
        return written(phrase_words(item))
    if item.pos == "NUM" or item.text[:1] in "+0123456789":
        return written(all_below(item))
    return object_text(item, with_prepositions=attribute.value != "role")
