"""The ports of one round, on the agents, the gate and the files.

tool phase   the Chief's turn with tools and nothing else: no role, no rules, no history
interpret    a turn without tools: role, rules, the prompt, and what was retrieved
close        minutes → issue, receipts linked, record and transcript written; in one go, also when cancelled
"""

import asyncio
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from tallystick.agents.answers import Unanswered
from tallystick.agents.conversation import Conversation
from tallystick.agents.crew import Recipient
from tallystick.agents.turn_records import new_id, now
from tallystick.app.gate import Gate
from tallystick.errors import TallyError
from tallystick.gate.reply.findings import Findings
from tallystick.gate.session import Caller, Session
from tallystick.records import record
from tallystick.rooms.studio.conference.model import AgentReply, Attendee, Conference, NearestLine, Retrieved, Round
from tallystick.rooms.studio.conference.results import RoundResult
from tallystick.rooms.studio.conference.store import ConferenceFiles, StartedRound
from tallystick.rooms.studio.flows.round import NOTHING, EndedRound
from tallystick.rooms.studio.issues.model import Issue, Link, NewIssue
from tallystick.rooms.studio.issues.store import Issues
from tallystick.rooms.studio.services.traffic_log import ObservedModel, TrafficLog
from tallystick.storage.issue_links import link_issue
from tallystick.turns.agent import CHIEF
from tallystick.turns.loop import run_turn
from tallystick.turns.request import Progress, Request
from tallystick.turns.result import Injected, Step, TurnResult
from tallystick.turns.stop_hooks import Hook, stop_hook
from tallystick.turns.turn import Turn

_log = logging.getLogger(__name__)
Stepped = Callable[[Step | Progress], None]
Heard = Callable[[str, str], None]
"""(agent, piece): what somebody is saying, before it is checked. Only people may hear it, never the others."""
T = TypeVar("T")
_LINES = re.compile(r":L\d+(-L?\d+)?$")
"""The lines that a citation names after its file."""


@record
class RoundRequest:
    """The request of a round."""

    prompt: str
    caller: Caller
    offline: bool = False
    """Use the offline agent, whatever endpoints are configured."""


class GateRoundPorts:
    """Satisfies the flow's `RoundPorts` for one round."""

    def __init__(
        self,
        gate: Gate,
        conversation: Conversation,
        files: ConferenceFiles,
        *,
        begun: StartedRound,
        asked: RoundRequest,
        log: TrafficLog | None,
        stepped: Stepped,
        heard: Heard | None = None,
    ) -> None:
        self._gate = gate
        self._crew = conversation.crew
        self._recorder = conversation.recorder
        self._files = files
        self._begun = begun
        self._asked = asked
        self._log = log
        self._stepped = stepped
        self._heard = heard
        self._transcript = files.transcript(begun.conference.conference_id)
        self.ended = EndedRound(round=begun.round, retrieved=NOTHING, spoken=())
        """How the round ended, once it has."""

    # -- the flow's ports ----------------------------------------------------------------------------------------------

    async def tool_phase(self) -> Retrieved:
        """See `RoundPorts`."""
        to = await asyncio.to_thread(self._crew.recipient, CHIEF, offline=self._asked.offline)
        if isinstance(to, Unanswered):
            return Retrieved(stop_hook=stop_hook(Hook.MODEL_ERROR, to.code), advice=to.advice)
        model = self._model(to, "tools")
        request = Request(
            message=self._asked.prompt,
            agent=to.agent,
            conference=True,
            tool_phase=True,
            max_steps=self._crew.budget(to, conference=True).steps,
            max_tokens=to.tokens(),
            temperature=to.endpoint.temperature,
        )
        result = await self._turn(request, to, model, may_finish=True, tools=self._tools())
        return Retrieved(
            turn_id=result.turn_id,
            results=result.results,
            steps=result.steps,
            receipts=result.receipts,
            stop_hook=result.stop_hook,
            advice=None if result.model_error is None else result.model_error.message,
            approval_id=None if result.held is None else result.held.approval_id,
            prompt_sha256=model.prompts[0] if model.prompts else "",
        )

    async def interpret(self, attendee: Attendee, buffer: Sequence[Injected]) -> AgentReply:
        """See `RoundPorts`."""
        to = await asyncio.to_thread(self._crew.recipient, attendee.agent_id, offline=self._asked.offline)
        if isinstance(to, Unanswered):
            return AgentReply(
                agent_id=attendee.agent_id,
                name=attendee.agent_id,
                role="",
                status="unheard",
                code=to.code,
                reason=to.advice,
            )
        hear = None if self._heard is None else partial(self._heard, to.agent.agent_id)
        model = self._model(to, "interpretation", hear)
        request = Request(
            message=self._asked.prompt,
            agent=to.agent,
            conference=True,
            injected=tuple(buffer),
            cot=self._gate.settings.gate.cot,
            reply_retries=self._gate.settings.turns.reply_retries,
            max_tokens=to.tokens(),
            temperature=to.endpoint.temperature,
        )
        result = await self._turn(request, to, model)
        # An abstention has no findings, so it is worth nothing either way.
        await asyncio.to_thread(self._recorder.credit, to, result.findings)
        return _spoken(to, result, model.prompts[0] if model.prompts else "")

    async def say(self, spoken: AgentReply) -> None:
        """See `RoundPorts`."""
        await asyncio.to_thread(self._write, {"kind": "reply", **spoken.as_dict()})

    async def close(self, ended: EndedRound) -> Round:
        """See `RoundPorts`."""
        return await shielded(lambda: self._close(ended))

    # -- turns ---------------------------------------------------------------------------------------------------------

    def _tools(self) -> frozenset[str] | None:
        """Return the tools of the tool phase: those that the agents at the table need."""
        roster = self._crew.registry.load()
        found = (roster.get(each.agent_id) for each in self._begun.conference.attendees)
        seated = [agent for agent in found if agent is not None]
        return self._crew.tools_of(*([each for each in seated if each.agent_id != CHIEF] or seated))

    async def _turn(
        self,
        request: Request,
        to: Recipient,
        model: ObservedModel,
        *,
        may_finish: bool = False,
        tools: frozenset[str] | None = None,
    ) -> TurnResult:
        async with self._crew.place(to.endpoint, None):
            turn: Turn = self._gate.turn(
                session=self._session(to),
                agent=to.agent.agent_id,
                caller=self._asked.caller,
                allowed_tools=tools,
                may_finish=may_finish,
                limits=self._crew.budget(to, conference=True),
                user_texts=[self._asked.prompt],
            )
            check = self._crew.checker(turn.session, to.agent)
            watch = self._stepped if request.tool_phase else None
            result = await run_turn(request, model=model, turn=turn, check=check, watch=watch)
        await asyncio.to_thread(self._recorder.counter.count_turn, result, turn.session)
        return result

    def _session(self, to: Recipient) -> Session:
        conference_id = self._begun.conference.conference_id
        return Session(
            session_id=conference_id,
            conference_id=conference_id,
            round_id=self._begun.round.round_id,
            caller=self._asked.caller,
            agent_id=to.agent.agent_id,
        )

    def _model(self, to: Recipient, phase: str, hear: Callable[[str], None] | None = None) -> ObservedModel:
        held = self._begun.round
        heading = f"{now()} {self._begun.conference.conference_id} turn {held.number} {to.agent.agent_id} ({phase})"
        return ObservedModel(self._crew.model(to.endpoint), log=self._log, heading=heading, hear=hear)

    # -- the end -------------------------------------------------------------------------------------------------------

    def _close(self, ended: EndedRound) -> Round:
        conference = self._begun.conference
        done = replace(
            ended.round, ended_at=now(), muted=tuple(each.agent_id for each in conference.attendees if each.muted)
        )
        try:
            done = replace(done, issue_id=self._save_issue(conference, done, ended))
            self._write({"kind": "close", "cards": conference.with_round(done).cards(), **done.as_dict()})
        finally:
            self._files.end(self._begun, done)
            self.ended = replace(ended, round=done)
        return done

    def _save_issue(self, conference: Conference, done: Round, ended: EndedRound) -> str | None:
        result = RoundResult(
            conference=conference, round=done, prompt=self._asked.prompt, retrieved=ended.retrieved, spoken=ended.spoken
        )
        links = (Link(kind="conference", id=conference.conference_id), *map(Link.of, done.receipts))
        new = NewIssue(
            title=result.title,
            body=result.as_markdown(),
            opened_by=CHIEF,
            status="closed",
            tags=result.tags,
            links=links,
        )
        issue = Issues(self._gate.workspace, now=now, new_id=new_id).create(new)
        if not isinstance(issue, Issue):
            _log.warning("the round's issue was not saved: %s (%s)", issue.message, issue.code)
            return None
        link_issue(
            self._gate.workspace, self._gate.ledger, conference.conference_id, issue.issue_id, round_id=done.round_id
        )
        return issue.issue_id

    def _write(self, line: dict[str, Any]) -> None:
        """For the user's eyes. The reply stands and has its receipt; that it cannot be kept must not undo it."""
        try:
            self._transcript.append({"at": now(), "round": self._begun.round.number, **line})
        except TallyError as error:
            _log.warning("%s (%s)", error, error.code)


async def shielded(work: Callable[[], T]) -> T:
    """Do something in a thread and wait for its end, also when cancelled: half a close would be worse than none."""
    doing = asyncio.ensure_future(asyncio.to_thread(work))
    cancelled: asyncio.CancelledError | None = None
    while not doing.done():
        try:
            await asyncio.shield(doing)
        except asyncio.CancelledError as told:
            cancelled = told
    if cancelled is not None:
        raise cancelled
    return doing.result()


def _spoken(to: Recipient, result: TurnResult, prompt_sha256: str) -> AgentReply:
    agent = to.agent
    spoken = AgentReply(
        agent_id=agent.agent_id,
        name=agent.name,
        role=agent.role,
        status="abstained",
        turn_id=result.turn_id,
        prompt_sha256=prompt_sha256,
    )
    if result.abstained:
        return spoken
    findings = result.findings
    if result.reply is not None and findings is not None:
        return replace(
            spoken,
            status="accepted",
            text=result.reply,
            evidence=findings.line,
            receipts=findings.receipts,
            check_receipt=findings.receipt_id or None,
            unsure=tuple(item.source for item in findings.unsure),
        )
    if result.rejected is not None:
        return replace(
            spoken,
            status="rejected",
            refused_text=result.rejected.text,
            code=result.rejected.code,
            evidence=result.evidence,
            reason=None if findings is None else findings.reason,
            nearest=None if findings is None else _nearest(findings),
            check_receipt=None if findings is None else findings.receipt_id or None,
        )
    if result.model_error is not None:
        return replace(spoken, status="unheard", code=result.model_error.code, reason=result.model_error.message)
    # A native call although nothing was offered: the gate refused it, and there is no text to show.
    return replace(spoken, status="rejected", refused_text="", code="tool_syntax", reason=result.stop_hook)


def _nearest(findings: Findings) -> NearestLine | None:
    """The real line that the first misquotation came closest to."""
    for item in findings.items:
        if item.closest is not None:
            source = _LINES.sub("", item.source)
            return NearestLine(source=source, line=int(item.closest["line"]), text=str(item.closest["text"]))
    return None
