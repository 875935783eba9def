"""The prompt registry of an open workspace: people change prompts, agents propose changes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tallystick.agents.credits import CreditEvent, Merit
from tallystick.agents.problem import Problem
from tallystick.agents.turn_records import new_id, now
from tallystick.app.audit_notes import demand_ledger, note_change
from tallystick.app.gate import Gate
from tallystick.gate.session import Caller
from tallystick.rooms.studio.prompts.model import Prompt
from tallystick.rooms.studio.prompts.proposals import Proposal, Proposals
from tallystick.rooms.studio.prompts.registry import PromptRegistry
from tallystick.storage.agents import Registry as AgentRegistry
from tallystick.storage.credits import Credits
from tallystick.storage.notifications import Notifications, place_of

SESSION = "prompts"
"""The session of the audit records."""


class PromptService:
    """The registry joined with the ledger and the tools of a workspace."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        user_file = Path(gate.settings.storage.user_dir).expanduser() / "prompts.json"
        self.registry = PromptRegistry(gate.workspace, user_file=user_file, cards=gate.tools)
        self.proposals = Proposals(gate.workspace, self.registry, now=now, new_id=new_id)
        self._credits = Credits(gate.workspace)
        self._notifications = Notifications(gate.workspace)

    def shown(self, prompt: Prompt) -> dict[str, Any]:
        """A prompt with what a model is really told: where the registry is silent, the tool's card speaks."""
        card = next((card for card in self._gate.tools() if card.name == prompt.tool), None)
        description = prompt.description or (None if card is None else card.description)
        return {**prompt.as_dict(), "description": description, "installed": card is not None}

    def set(self, prompt_id: str, said: Mapping[str, Any], *, caller: Caller) -> Prompt | Problem:
        """Word a prompt for this project, for a person."""
        demand_ledger(self._gate)
        done = self.registry.set(prompt_id, said)
        if isinstance(done, Prompt):
            self._note(caller, "prompt.set", f"prompts/{prompt_id}", {"digest": done.digest})
        return done

    def clear(self, prompt_id: str, *, caller: Caller) -> Problem | None:
        """Let the layers below the project's speak again, for a person."""
        demand_ledger(self._gate)
        problem = self.registry.clear(prompt_id)
        if problem is None:
            self._note(caller, "prompt.clear", f"prompts/{prompt_id}", {})
        return problem

    def propose(self, prompt_id: str, said: Mapping[str, Any], *, agent: str, reason: str) -> Proposal | Problem:
        """Store an agent's proposal, and notify a person."""
        problem = AgentRegistry(self._gate.workspace).load().check_agent(agent)
        if problem is not None:
            return problem
        made = self.proposals.propose(prompt_id, said, by=agent, reason=reason)
        if isinstance(made, Proposal):
            text = f"{agent} proposes another wording of {prompt_id}."
            self._notifications.add(level="info", source="prompts", text=text, link=_link(made))
        return made

    def decide(self, proposal_id: str, *, accept: bool, caller: Caller) -> Proposal | Problem:
        """Accept or reject a wish, for a person; an accepted one is to the agent's credit."""
        demand_ledger(self._gate)
        how = self.proposals.accept if accept else self.proposals.reject
        decided = how(proposal_id, person=caller.subject)
        if isinstance(decided, Proposal):
            resource = f"prompts/{decided.prompt_id}"
            receipt_id = self._note(
                caller, f"prompt.proposal_{decided.state}", resource, {"proposal_id": decided.proposal_id}
            )
            self._notifications.settle(_link(decided))
            if accept:
                self._credit(decided, receipt_id, caller)
        return decided

    def _credit(self, proposal: Proposal, receipt_id: str, caller: Caller) -> None:
        self._credits.record(
            CreditEvent(
                event_id=new_id("crd"),
                agent_id=proposal.by,
                merit=Merit.PROPOSAL_ACCEPTED,
                receipt_id=receipt_id,
                given_by=caller.subject,
                timestamp=now(),
            )
        )

    def _note(self, caller: Caller, action: str, resource: str, metadata: Mapping[str, Any]) -> str:
        return note_change(self._gate, caller, action, resource, metadata, session=SESSION)


def _link(proposal: Proposal) -> str:
    return place_of("proposal", proposal.proposal_id)
