"""Task service: the Chief of Staff turns a message into a packet, an agent executes it; both results are stored."""

import asyncio
from collections.abc import Mapping
from typing import Any

from tallystick.agents.answers import Unanswered, model_failure
from tallystick.agents.chat import fault_of
from tallystick.agents.conversation import Conversation, Watch
from tallystick.agents.crew import Recipient
from tallystick.agents.ports import AgentGate, TaskContext, TaskStore
from tallystick.agents.problem import Problem
from tallystick.agents.tasks.draft import addressee
from tallystick.agents.tasks.execution import Executed, execute, task_message
from tallystick.agents.tasks.packet import TaskPacket
from tallystick.agents.tasks.routing import Routed, RouteRequest, route
from tallystick.agents.turn_records import new_id, now
from tallystick.gate.codes import Category
from tallystick.gate.session import LOCAL_OWNER, Caller, Session, valid_session_id
from tallystick.records import record
from tallystick.turns.agent import CHIEF
from tallystick.turns.model import ModelError

ROUTER = "task_router"
"""The tool that classifies a request."""
_STATUS = {"task_exists": 409, "issue_unknown": 404}
_OTHER_ISSUE = Problem(code="issue_unknown", message="There is no issue of this id. Send the packet as it was routed.")


@record
class Routing:
    """A message to turn into a task."""

    message: str
    caller: Caller = LOCAL_OWNER
    issue_id: str | None = None
    """None: a new issue."""
    session_id: str | None = None
    parent_packet_id: str | None = None
    choice: str | None = None
    """The user's choice in answer to a clarifying question."""


class Tasks:
    """Routes and executes tasks with the agents, queues and recorder of a conversation."""

    def __init__(self, gate: AgentGate, conversation: Conversation, *, store: TaskStore, context: TaskContext) -> None:
        self._gate = gate
        self._crew = conversation.crew
        self._recorder = conversation.recorder
        self._store = store
        self._context = context

    async def route(self, asked: Routing) -> Routed | Unanswered:
        """Turn a message into one task packet, or into a clarifying question."""
        fault = fault_of(asked.message)
        if fault is not None:
            return fault
        chief = await asyncio.to_thread(self._crew.recipient, CHIEF)
        if isinstance(chief, Unanswered):
            return chief
        # Open a new issue only once there is a packet, so that an unroutable message leaves no empty issue.
        named = await asyncio.to_thread(self._context.issue_id, asked.issue_id) if asked.issue_id else new_id("issue")
        if isinstance(named, Problem):
            return _refused(named)
        session = Session(session_id=asked.session_id or named, caller=asked.caller, agent_id=CHIEF)
        request = RouteRequest(
            message=asked.message,
            issue_id=named,
            hint=await self._hint(asked.message, session),
            known=await asyncio.to_thread(self._context.known_files),
            parent_packet_id=asked.parent_packet_id,
            choice=asked.choice,
        )
        roster = await asyncio.to_thread(self._crew.registry.load)
        async with self._crew.place(chief.endpoint, None):
            routed = await route(
                request,
                roster=roster,
                model=self._crew.model(chief.endpoint),
                new_id=new_id,
                now=now,
                max_tokens=chief.tokens(),
            )
        if isinstance(routed, ModelError):
            return model_failure(routed)
        if isinstance(routed, Problem):
            return _refused(routed)
        problem = await asyncio.to_thread(self._keep, routed, asked, session)
        return routed if problem is None else _refused(problem)

    async def execute(
        self,
        packet: Mapping[str, Any],
        *,
        caller: Caller = LOCAL_OWNER,
        agent_id: str | None = None,
        session_id: str | None = None,
        watch: Watch | None = None,
    ) -> Executed | Unanswered:
        """Execute a packet; every execution produces a task receipt.

        Args:
            packet: The routed packet as JSON.
            caller: On whose behalf it runs.
            agent_id: The agent; None: the assigned agent, or the one for this kind of work.
            session_id: The session of its receipts; None: a session of its own.
            watch: Receives each finished step.
        """
        task = TaskPacket.from_dict(packet)
        if isinstance(task, Problem):
            return _refused(task)
        issue = await asyncio.to_thread(self._context.issue_id, task.parent_issue_id)
        if issue != task.parent_issue_id:
            return _refused(issue if isinstance(issue, Problem) else _OTHER_ISSUE)
        to = await asyncio.to_thread(self._doer, task, agent_id)
        if isinstance(to, Unanswered):
            return to
        problem = await asyncio.to_thread(self._store.keep_packet, task)
        if problem is not None:
            return _refused(problem)
        session = _session_for(task, to, caller, session_id)
        done = await self._execute(task, to, session, watch)
        await asyncio.to_thread(self._recorder.record_task, done.turn, to, session)
        problem = await asyncio.to_thread(self._store.keep_receipt, done.receipt, task, reply=done.turn.reply)
        return done if problem is None else _refused(problem)

    async def _execute(self, task: TaskPacket, to: Recipient, session: Session, watch: Watch | None) -> Executed:
        budget = self._crew.budget(to)
        async with self._crew.place(to.endpoint, None):
            turn = self._gate.turn(
                session=session,
                agent=to.agent.agent_id,
                caller=session.caller,
                limits=budget,
                allowed_tools=self._crew.tools_of(to.agent),
                user_texts=[task_message(task)],
            )
            return await execute(
                task,
                agent=to.agent,
                model=self._crew.model(to.endpoint),
                turn=turn,
                check=self._crew.checker(turn.session, to.agent),
                new_id=new_id,
                now=now,
                max_steps=budget.steps,
                max_tokens=to.tokens(),
                temperature=to.endpoint.temperature,
                reply_retries=self._gate.settings.turns.reply_retries,
                watch=watch,
            )

    def _keep(self, routed: Routed, asked: Routing, session: Session) -> Problem | None:
        """Store a routed packet, opening a new issue if the request names none."""
        problem = None
        if asked.issue_id is None:
            problem = self._context.open_issue(
                routed, asked.message, caller=asked.caller, session_id=session.session_id
            )
        return problem or self._store.assign(routed.packet, routed.agent_id)

    def _doer(self, task: TaskPacket, agent_id: str | None) -> Recipient | Unanswered:
        chosen = agent_id or self._store.assigned_to(task)
        return self._crew.recipient(chosen or addressee(task.intent, self._crew.registry.load()).agent_id)

    async def _hint(self, message: str, session: Session) -> Any:
        """Return the router tool's result, called through the gate; None if the tool is missing or the call fails."""
        if not any(card.name == ROUTER for card in self._gate.tools()):
            return None
        outcome = await self._gate.call(ROUTER, {"user_request": message}, session=session)
        return outcome.result if outcome.ok else None


def _session_for(task: TaskPacket, to: Recipient, caller: Caller, session_id: str | None) -> Session:
    return Session(
        session_id=session_id or _session_of(task),
        caller=caller,
        agent_id=to.agent.agent_id,
        task_id=task.packet_id,
        run_id=task.run_id,
    )


def _session_of(task: TaskPacket) -> str:
    """Return the id of the task's own session; the packet id alone, which is a valid file name, if that is too long."""
    name = f"task-{task.packet_id}"
    return name if valid_session_id(name) else task.packet_id


def _refused(problem: Problem) -> Unanswered:
    """Convert a problem of a packet or request, with its status."""
    where = f" See {problem.pointer}." if problem.pointer else ""
    status = _STATUS.get(problem.code, 400)
    category = Category.DOWNSTREAM_ERROR if problem.code == "task_exists" else Category.VALIDATION_ERROR
    return Unanswered(
        code=problem.code, advice=f"{problem.message}{where}", status=status, category=category, field=problem.pointer
    )
