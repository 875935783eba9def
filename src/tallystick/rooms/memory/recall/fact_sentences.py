"""Facts of one attribute in plain words."""

from collections.abc import Collection, Sequence

from tallystick.rooms.memory.ids import name_key
from tallystick.rooms.memory.ontology.attributes import Attribute, Ontology
from tallystick.rooms.memory.recall.facts import Fact
from tallystick.rooms.memory.recall.inquiry import Wanted
from tallystick.rooms.memory.weigh.state import State

_TOLD_BY_VERB = frozenset({"name", "born_on", "born_in", "is_a", "event_time", "age"})
"""Attributes that are told by their verb even where a noun asks for them."""


class FactWording:
    """Words facts for the owner."""

    def __init__(self, state: State, ontology: Ontology, owners: Collection[str]) -> None:
        self._state, self._ontology, self._owners = state, ontology, owners

    def sentence(self, attribute: Attribute, facts: Sequence[Fact], wanted: Wanted) -> str:
        """Word facts of one attribute."""
        one = facts[0].one
        things = listed([self.thing(fact) for fact in facts])
        kind = one.predicate.partition(":")[2].replace("_", " ")
        noun = kind or (wanted.kind if attribute is wanted.attribute else "")
        if attribute.relation and len({fact.one.predicate for fact in facts}) > 1:
            noun = attribute.general[0] if attribute.general else noun
        if attribute.name == "event_time" and kind:
            return f"{self._subject(one.subject)} {kind}s {things}."
        if attribute.name == "favourite":
            noun = f"favourite {kind}".strip()
        elif attribute.one_a_kind and kind and not attribute.relation:
            noun = f"{kind} {attribute.name}" if attribute.name in wanted.kind else kind
        if (noun or not attribute.verbs) and attribute.nouns and attribute.name not in _TOLD_BY_VERB:
            noun = noun or attribute.nouns[0]
            what = f"{noun} is" if len(facts) == 1 else f"{_plural(noun)} are"
            return f"{self.possessive(one.subject)} {what} {things}."
        subject = self._subject(one.subject)
        verb = attribute.says
        if subject == "You":
            first, _, rest = verb.partition(" ")
            verb = attribute.said_of_you or f"{_YOUR_FORMS.get(first, first.removesuffix('s'))} {rest}".strip()
        return f"{subject} {verb} {things}."

    def thing(self, fact: Fact) -> str:
        """Return the object with the article that it has in its quote, and that it has died, if it has."""
        thing = fact.one.object
        quote = (
            next((edge.quote for edge in self._state.edges_of(fact.one.id) if edge.quote and thing in edge.quote), "")
            or ""
        )
        before = quote.partition(thing)[0].split()
        if before and before[-1].casefold() in {"a", "an", "the", "some"}:
            thing = f"{before[-1].casefold()} {thing}"
        attribute = self._ontology.get(fact.one.predicate)
        if attribute is not None and attribute.relation:
            died = next((one for one in self._state.about(name_key(fact.one.object), "died", upto=None, most=1)), None)
            if died is not None:
                thing += f" (died {died.object})"
        return thing

    def _subject(self, name: str) -> str:
        key = name_key(name)
        if key in self._owners:
            return "You"
        for owner in self._owners:
            if key.startswith(f"{owner}'s "):
                return f"Your {name[len(owner) + 3 :]}"
        return f"The {name}" if name[:1].islower() and "'" not in name else name

    def possessive(self, name: str) -> str:
        """Return whose something is: «Your», «Anna's»."""
        subject = self._subject(name)
        return "Your" if subject == "You" else f"{subject}'s"


def listed(things: Sequence[str]) -> str:
    """Return things in a row, each once: «tea, rice and figs»."""
    unique = list(dict.fromkeys(things))
    return unique[0] if len(unique) == 1 else f"{', '.join(unique[:-1])} and {unique[-1]}"


_YOUR_FORMS = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "goes": "go",
    "studies": "study",
    "died": "died",
}
_PLURALS = {"child": "children", "wife": "wives", "person": "people", "allergy": "allergies", "hobby": "hobbies"}


def _plural(noun: str) -> str:
    return _PLURALS.get(noun, noun if noun.endswith("s") else f"{noun}s")
