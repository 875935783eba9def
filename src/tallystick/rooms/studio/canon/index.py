"""Builds the canon index: extract card by card, then compile once.

Progress is reported after every card. If a model's extract cannot be used, the card is extracted by rules and the index
says so; if the model does not answer at all, the remaining cards are extracted by rules without asking again.
"""

from collections.abc import Callable, Mapping
from typing import Any

from tallystick.rooms.studio.book.model import Book, CanonCard
from tallystick.rooms.studio.book.reader import BookReader
from tallystick.rooms.studio.canon.extraction import extract_by_rules, prompt_for, read_answer, readable
from tallystick.rooms.studio.canon.index_file import CanonFiles, render
from tallystick.rooms.studio.canon.model import Indexed
from tallystick.rooms.studio.model_answers import AskModel, ModelUnavailable

_CARD_COMPLAINTS = frozenset({"card_without_name", "alias_taken", "name_taken", "front_matter_invalid"})


ReportProgress = Callable[[dict[str, Any]], None]


class CanonIndex:
    """The canon index of one workspace."""

    def __init__(self, books: BookReader, files: CanonFiles, *, now: Callable[[], str]) -> None:
        self._books = books
        self._files = files
        self._now = now
        self._building = False

    def build_first(self) -> dict[str, Any] | None:
        """Build the index by rules where cards have none yet, and return its status; None if there is nothing to do."""
        if not self.cards() or self.status()["state"] != "absent":
            return None
        self._building = True
        try:
            return self.compile()
        finally:
            self._building = False

    def status(self) -> dict[str, Any]:
        """Whether there is an index (`absent`, `building`, `current`, `stale`), and what changed since it was made."""
        meta = self._files.meta()
        cards = {card.path: card.source.sha256 for card in self._books.book().cards}
        known = {one["path"]: one["sha256"] for one in meta.get("cards", [])}
        changed = sorted(path for path in cards.keys() | known.keys() if cards.get(path) != known.get(path))
        return {
            "state": self._state(meta, changed),
            "cards": len(cards),
            "indexed": len(known),
            "changed": changed,
            "compiled_at": meta.get("compiled_at"),
            "by": meta.get("by"),
            "agent": meta.get("agent"),
            "index_sha256": meta.get("index_sha256"),
            "path": "Canon.md",
            "problems": _problems(meta),
        }

    def build(
        self,
        *,
        agent: str | None = None,
        ask: AskModel | None = None,
        fresh: bool = False,
        tell: ReportProgress | None = None,
    ) -> dict[str, Any]:
        """Build the index and return its status.

        Args:
            agent: Whose model is asked; None: by rules.
            ask: Asks it.
            fresh: Ask also for cards whose extraction is kept.
            tell: Is told after every card: `path`, `by`, `problem`, `done`, `total`.
        """
        paths = self.cards()
        problems: dict[str, str] = {}
        silent = False
        for done, path in enumerate(paths, start=1):
            told = self.take(path, agent=agent, ask=None if silent else ask, fresh=fresh)
            silent = silent or told["silent"]
            if told["problem"]:
                problems[path] = told["problem"]
            if tell is not None:
                tell({"path": path, "by": told["by"], "problem": told["problem"], "done": done, "total": len(paths)})
        return self.compile(agent=agent, problems=problems)

    def cards(self) -> list[str]:
        """The cards that will be in the index."""
        return [card.path for card in self._books.book().cards]

    def take(self, path: str, *, agent: str | None, ask: AskModel | None, fresh: bool = False) -> dict[str, Any]:
        """Extract one card by the model and store a valid result; without a model, do nothing.

        Returns:
            `by` and `problem`; `silent`: the model is not to be asked again.
        """
        card = next((card for card in self._books.book().cards if card.path == path), None)
        if card is None or agent is None:
            return _taken(None if card else "card_gone")
        if not fresh and self._kept(card, agent, self._files.meta()) is not None:
            return {"by": "model", "problem": None, "silent": False}
        if ask is None:
            return _taken("model_silent")
        answer = ask(prompt_for(card))
        if isinstance(answer, ModelUnavailable):
            return _taken(answer.code) | {"silent": True}
        made = read_answer(answer, card)
        if isinstance(made, str):
            return _taken(made)
        self._files.keep(card.source.sha256, agent, made)
        return {"by": "model", "problem": None, "silent": False}

    def compile(self, *, agent: str | None = None, problems: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Compile the index from the stored extracts and return its status.

        Args:
            agent: Use the extractions kept of this agent; None: rules alone.
            problems: What went wrong with which card.
        """
        book = self._books.book()
        meta = self._files.meta()
        indexed = [self._indexed(card, agent, meta, problems or {}) for card in book.cards]
        told = {
            "compiled_at": self._now(),
            "by": "model" if any(one.by == "model" for one in indexed) else "rules",
            "agent": agent,
            "complaints": _complaints(book),
        }
        self._files.write(render(indexed), indexed, told)
        self._building = False
        return self.status()

    def _indexed(
        self, card: CanonCard, agent: str | None, meta: Mapping[str, Any], problems: Mapping[str, str]
    ) -> Indexed:
        kept = None if agent is None else self._kept(card, agent, meta)
        if kept is not None:
            return kept
        problem = None if agent is None else problems.get(card.path, "extraction_missing")
        return Indexed(card=card, extract=extract_by_rules(card), by="rules", problem=problem)

    def _kept(self, card: CanonCard, agent: str, meta: Mapping[str, Any]) -> Indexed | None:
        held = meta.get("extracts", {}).get(card.source.sha256)
        if not isinstance(held, dict) or held.get("agent") != agent:
            return None
        extract = readable(held.get("extract"), card)
        return None if extract is None else Indexed(card=card, extract=extract, by="model", problem=None)

    def _state(self, meta: Mapping[str, Any], changed: list[str]) -> str:
        if self._building:
            return "building"
        lying = self._files.index_sha256()
        if lying is None or "index_sha256" not in meta:
            return "absent"
        return "stale" if changed or lying != meta["index_sha256"] else "current"


def _taken(problem: str | None) -> dict[str, Any]:
    return {"by": "rules", "problem": problem, "silent": False}


def _complaints(book: Book) -> list[dict[str, Any]]:
    return [
        {"path": one.path, "line": one.line, "code": one.code, "message": one.message}
        for one in book.complaints
        if one.code in _CARD_COMPLAINTS or "compendium" in one.path.casefold()
    ]


def _problems(meta: Mapping[str, Any]) -> list[dict[str, Any]]:
    cards = [
        {"path": one["path"], "line": 1, "code": one["problem"], "message": _WORDS.get(one["problem"], _UNHEARD)}
        for one in meta.get("cards", [])
        if one.get("problem")
    ]
    return [*meta.get("complaints", []), *cards]


_UNHEARD = "The model could not be asked; the card was extracted by rules. Check the agent's endpoint and index again."
_WORDS = {
    "extraction_not_json": "The model did not answer with one JSON object; the card was extracted by rules.",
    "extraction_does_not_fit": "The model's answer has unexpected fields; the card was extracted by rules.",
    "extraction_missing": "The model returned nothing for this card; it was extracted by rules.",
    "model_silent": _UNHEARD,
}
