"""Agents' proposals for prompts, which a person accepts or rejects.

`.control-room/prompts/proposals.json`. A proposal waits, and then is accepted or rejected, once:

    pending → accepted | rejected

One that was made over a wording which has changed since is not accepted: the person would agree to something else than
is shown.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path
from typing import Any, Literal

from tallystick.agents.problem import Problem, text
from tallystick.gate.admit.schema import CompiledSchema, compile_schema
from tallystick.records import record
from tallystick.rooms.studio.prompts.model import FIELDS, ID
from tallystick.rooms.studio.prompts.registry import PromptRegistry
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.json_file import JsonFile

CODE = "proposals_damaged"
MOST_PENDING = 100
MOST = 500
"""Stored proposals; the oldest decided ones are removed first."""

State = Literal["pending", "accepted", "rejected"]
UNKNOWN = Problem(code="proposal_unknown", message="There is no such proposal.")
DECIDED = Problem(code="proposal_decided", message="The proposal has been decided already.")
CHANGED = Problem(
    code="changed_meanwhile",
    message="The prompt was changed after this was proposed. Propose it again if it still applies.",
)
TOO_MANY = Problem(code="proposals_too_many", message="Too many proposals wait. A person must decide some first.")


@record
class Proposal:
    """One wish of an agent."""

    proposal_id: str
    prompt_id: str
    said: Mapping[str, Any]
    """The proposed fields of the prompt."""
    by: str
    """The agent."""
    reason: str
    created: str
    base: str | None
    """The digest of the prompt when this was proposed; None: there was none."""
    state: State = "pending"
    decided_by: str | None = None
    decided_at: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """The JSON form."""
        return {**asdict(self), "said": dict(self.said)}


class Proposals:
    """The proposals of one workspace."""

    def __init__(
        self, workspace: Path, registry: PromptRegistry, *, now: Callable[[], str], new_id: Callable[[str], str]
    ) -> None:
        self._file = JsonFile(workspace / CONTROL_ROOM / "prompts" / "proposals.json", code=CODE)
        self._registry = registry
        self._now = now
        self._new_id = new_id

    def list(self, *, state: State | None = None) -> tuple[Proposal, ...]:
        """The newest first."""
        return tuple(each for each in reversed(self._load()) if state in {None, each.state})

    def get(self, proposal_id: str) -> Proposal | None:
        """One of them."""
        return next((each for each in self._load() if each.proposal_id == proposal_id), None)

    def propose(self, prompt_id: str, said: Mapping[str, Any], *, by: str, reason: str) -> Proposal | Problem:
        """Propose a change; it takes effect when a person accepts it."""
        problem = self._registry.problem({"id": prompt_id, **said})
        if problem is not None:
            return problem
        made = Proposal(
            proposal_id=self._new_id("prop"),
            prompt_id=prompt_id,
            said=dict(said),
            by=by,
            reason=reason,
            created=self._now(),
            base=self._digest(prompt_id),
        )
        with self._file.locked():
            listed = self._load()
            if sum(each.state == "pending" for each in listed) >= MOST_PENDING:
                return TOO_MANY
            self._write((*listed, made))
        return made

    def accept(self, proposal_id: str, *, person: str) -> Proposal | Problem:
        """Accept a proposal and apply it to the project's layer."""

        def apply(proposal: Proposal) -> Problem | None:
            if self._digest(proposal.prompt_id) != proposal.base:
                return CHANGED
            done = self._registry.set(proposal.prompt_id, proposal.said)
            return done if isinstance(done, Problem) else None

        return self._decide(proposal_id, "accepted", person, apply)

    def reject(self, proposal_id: str, *, person: str) -> Proposal | Problem:
        """Leave it as it is."""
        return self._decide(proposal_id, "rejected", person, lambda _: None)

    def _decide(
        self, proposal_id: str, state: State, person: str, apply: Callable[[Proposal], Problem | None]
    ) -> Proposal | Problem:
        with self._file.locked():
            listed = self._load()
            found = next((each for each in listed if each.proposal_id == proposal_id), None)
            if found is None:
                return UNKNOWN
            if found.state != "pending":
                return DECIDED
            problem = apply(found)
            if problem is not None:
                return problem
            decided = replace(found, state=state, decided_by=person, decided_at=self._now())
            self._write(tuple(decided if each is found else each for each in listed))
            return decided

    def _digest(self, prompt_id: str) -> str | None:
        prompt = self._registry.load().prompts.get(prompt_id)
        return None if prompt is None else prompt.digest

    def _load(self) -> tuple[Proposal, ...]:
        found = self._file.read()
        listed = [] if found is None else found.get("proposals")
        if not isinstance(listed, list):
            raise self._file.damaged("it holds 'version' and the list 'proposals'")
        for place, value in enumerate(listed):
            if not _schema().accepts(value):
                pointer, rule = _schema().explain(value)
                raise self._file.damaged(f"/proposals/{place}{pointer} breaks the rule '{rule}'")
        return tuple(Proposal(**value) for value in listed)

    def _write(self, listed: tuple[Proposal, ...]) -> None:
        surplus = len(listed) - MOST
        dropped = [each for each in listed if each.state != "pending"][: max(0, surplus)]
        kept = [each for each in listed if not any(each is gone for gone in dropped)]
        self._file.write({"proposals": [each.as_dict() for each in kept]})


@cache
def _schema() -> CompiledSchema:
    line = text(2_000)
    named = {"anyOf": [{"type": "null"}, line]}
    properties: dict[str, Any] = {
        "proposal_id": line,
        "prompt_id": ID,
        "said": {"type": "object", "properties": FIELDS, "additionalProperties": False},
        "by": line,
        "reason": line,
        "created": line,
        "base": named,
        "state": {"enum": ["pending", "accepted", "rejected"]},
        "decided_by": named,
        "decided_at": named,
    }
    schema = {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}
    return compile_schema(schema, closed=True)
