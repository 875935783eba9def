"""Execute a task packet: one turn of its agent, then one receipt.

    packet ──► turn (tools, evidence, check) ──reply──► report of the model, strict JSON ──► receipt
                 └─ stopped, refused, model error            └─ invalid: STOP_HOOK ────────► receipt that says so

Every execution produces a receipt. The server fills in actor, times, inputs and citations; the model only reports what
the server cannot know: decisions, assumptions, risks and next steps.
"""

from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

import orjson

from tallystick.agents.problem import Problem, misfit
from tallystick.agents.tasks.answer import read_object
from tallystick.agents.tasks.packet import LINE, LINES, Intent, TaskPacket, closed
from tallystick.agents.tasks.receipt import MAX_EXCERPT, SUMMARY, Actor, TaskReceipt
from tallystick.agents.wire import OFFLINE
from tallystick.gate.admit.schema import compile_schema
from tallystick.gate.reply.findings import Findings, Item
from tallystick.records import record
from tallystick.turns.agent import Agent
from tallystick.turns.loop import run_turn
from tallystick.turns.model import Ask, Message, Model, ModelError
from tallystick.turns.prompt.sections import role_section
from tallystick.turns.request import Checker, GateTurn, Request, Watch
from tallystick.turns.result import TurnResult
from tallystick.turns.stop_hooks import Hook, stop_hook

QUOTING_IS_ENOUGH = frozenset({Intent.OTHER})
"""Intents whose result can be quoted passages. A critique, a summary or a plan must be composed."""
INVALID = "task_receipt_invalid"
_MOST_INPUTS = 100
_MOST_WORDS = 1000


@record
class Executed:
    """The result of executing a packet."""

    receipt: TaskReceipt
    turn: TurnResult
    problem: Problem | None = None
    """What was wrong with the model's report."""

    @property
    def stop_hook(self) -> str | None:
        """Why there is no result."""
        return self.receipt.stop_hook

    def as_dict(self) -> dict[str, Any]:
        """The wire form."""
        wire: dict[str, Any] = {"receipt": self.receipt.as_dict(), "turn": self.turn.as_dict()}
        if self.stop_hook is not None:
            wire["stop_hook"] = self.stop_hook
        return wire if self.problem is None else {**wire, "problem": self.problem.as_dict()}


async def execute(  # noqa: PLR0913 - the inputs of a turn and of its receipt
    packet: TaskPacket,
    *,
    agent: Agent,
    model: Model,
    turn: GateTurn,
    check: Checker,
    new_id: Callable[[str], str],
    now: Callable[[], str],
    max_steps: int,
    max_tokens: int | None = None,
    temperature: float | None = None,
    reply_retries: int = 0,
    clock: Callable[[], float] = monotonic,
    watch: Watch | None = None,
) -> Executed:
    """Execute a packet in a gate turn that was started with the agent's limits.

    `max_steps` and `max_tokens` are the caps of the agent's tier, `reply_retries` is as in a `Request`; `new_id` and
    `now` (RFC 3339) come from the server.
    """
    started_at = now()
    request = Request(
        message=_request(packet),
        history=_brief(packet),
        agent=agent,
        max_steps=max_steps,
        max_tokens=max_tokens,
        temperature=temperature,
        reply_retries=reply_retries,
    )
    result = await run_turn(request, model=model, turn=turn, check=check, clock=clock, watch=watch)
    report = await _report(packet, agent, model, result, max_tokens)
    actor = _actor(agent, model, temperature, max_tokens)
    return _executed(packet, actor, result, report, receipt_id=new_id("trc"), times=(started_at, now()))


def _actor(agent: Agent, model: Model, temperature: float | None, max_tokens: int | None) -> Actor:
    return Actor(
        agent_id=agent.agent_id,
        provider=model.provider,
        model=model.name,
        temperature=temperature,
        max_tokens=max_tokens,
    )


def _executed(
    packet: TaskPacket,
    actor: Actor,
    result: TurnResult,
    report: dict[str, Any] | Problem,
    *,
    receipt_id: str,
    times: tuple[str, str],
) -> Executed:
    """Build the receipt from the server's data and, if it is valid, the model's report."""
    problem = report if isinstance(report, Problem) else None
    hook = _hook_of(result) if problem is None else _hook_of_report(problem)
    # Replace lone surrogates, which a model server may send and which cannot be encoded.
    excerpt = (result.reply or "")[:MAX_EXCERPT].encode("utf-8", "replace").decode()
    receipt = TaskReceipt(
        receipt_id=receipt_id,
        packet_id=packet.packet_id,
        issue_id=packet.parent_issue_id,
        actor=actor,
        started_at=times[0],
        finished_at=times[1],
        inputs_used=_inputs_used(result),
        stop_hook=hook,
        citations=_citations(result.findings),
        report_excerpt=excerpt,
        **({} if isinstance(report, Problem) else report),
    )
    return Executed(receipt=receipt, turn=result, problem=problem)


def task_message(packet: TaskPacket) -> str:
    """Return the task as text: the user's request first, then the terms of the packet."""
    return f"{_request(packet)}\n\n{_terms(packet)}"


def _request(packet: TaskPacket) -> str:
    """Return the user's request and the files it is about; the agent searches only for what is in this text."""
    context = packet.inputs.context.strip() or packet.intent.replace("_", " ")
    target = packet.target.canonical_path or packet.target.scene_ref
    about = [name for name in dict.fromkeys((target, *packet.inputs.files)) if name and name not in context]
    return "\n".join([context, *about])


def _brief(packet: TaskPacket) -> tuple[Message, ...]:
    """Return the packet's terms as earlier messages, so that its rules are not taken for the request."""
    told = Message(role="user", content=f"# Task Packet\n{_terms(packet)}")
    return told, Message(role="assistant", content="The task packet is noted.")


def _terms(packet: TaskPacket) -> str:
    constraints, contract = packet.constraints, packet.output_contract
    said = (
        ("Task", packet.intent.replace("_", " ")),
        ("Target", packet.target.canonical_path or packet.target.scene_ref),
        ("Files", ", ".join(packet.inputs.files)),
        ("Canon", packet.inputs.canon),
        ("Rules", "; ".join(constraints.rules)),
        ("Point of view", constraints.pov),
        ("Tense", constraints.tense),
        ("Style", constraints.style),
        ("Forbidden", "; ".join(constraints.forbidden)),
        ("Allowed", "; ".join(packet.scope.allowed)),
        ("Blocked", "; ".join(packet.scope.blocked)),
        ("Expected", ", ".join(contract.expected_artifacts)),
        ("Stop when", "; ".join(contract.stop_conditions)),
    )
    return "\n".join(f"{label}: {text}" for label, text in said if text)


async def _report(
    packet: TaskPacket, agent: Agent, model: Model, result: TurnResult, max_tokens: int | None
) -> dict[str, Any] | Problem:
    """Get the report on the work: from the model, or without it if there is no reply or it is offline."""
    if result.reply is None or result.model_error is not None or model.provider == OFFLINE:
        return _plain_report(packet, agent, result)
    said = await model.ask(_ask(packet, agent, result.reply, max_tokens))
    if isinstance(said, ModelError):
        return Problem(code=said.code, message=said.message)
    answer = read_object(said.text, code=INVALID)
    if isinstance(answer, Problem):
        return answer
    schema = compile_schema(report_schema(packet), closed=True)
    problem = misfit(schema, answer, code=INVALID, what="The report cannot be taken")
    return problem or {name: tuple(part) if isinstance(part, list) else part for name, part in answer.items()}


def report_schema(packet: TaskPacket) -> dict[str, Any]:
    """Return the schema of the model's report after its reply; it allows only outputs of the contract."""
    listed = list(packet.output_contract.expected_artifacts)
    outputs: dict[str, Any] = {"type": "array", "uniqueItems": True, "maxItems": len(listed)}
    if listed:
        outputs["items"] = {"enum": listed}
    return closed(
        {
            "outputs_produced": outputs,
            "reasoning_summary": SUMMARY,
            "decisions": LINES,
            "checks_performed": LINES,
            "assumptions": LINES,
            "risks": LINES,
            "next_recommended_action": LINE,
        }
    )


def _ask(packet: TaskPacket, agent: Agent, reply: str, max_tokens: int | None) -> Ask:
    schema = report_schema(packet)
    sections = (
        role_section(agent),
        f"# Task Packet\n{_json(packet.as_dict())}",
        f"# Task Receipt\n{_HOW}\nSchema: {_json(schema)}",
    )
    messages = (
        Message(role="system", content="\n\n".join(sections)),
        Message(role="user", content=task_message(packet)),
        Message(role="assistant", content=reply),
        Message(role="user", content="Report on this task now: one JSON object."),
    )
    return Ask(messages=messages, schema=schema, max_tokens=max_tokens, temperature=0.0)


def _plain_report(packet: TaskPacket, agent: Agent, result: TurnResult) -> dict[str, Any]:
    """Build a report without a model, from observed facts only."""
    calls = sum(step.kind == "call" for step in result.steps)
    offline = result.provider == OFFLINE
    verified = [item for item in _items(result.findings) if item.ok]
    checks = (f"the reply check held {len(verified)} citations against their sources",) if result.findings else ()
    done = result.reply is not None and _hook_of(result) is None
    # A reply that only requests access, or says that it cannot answer, passes the check but is not a result.
    answered = done and bool(verified) and packet.intent in QUOTING_IS_ENOUGH
    outputs = packet.output_contract.expected_artifacts[:1] if answered else ()
    decisions = ("abstained: nothing here concerns the role",) if result.abstained else ()
    return {
        "outputs_produced": outputs,
        "reasoning_summary": f"{agent.name} {'replied' if done else 'gave no reply'}; tool calls: {calls}.",
        "decisions": decisions,
        "checks_performed": checks,
        "risks": ("no model stands behind this agent: it quotes and composes nothing",) if offline else (),
        "next_recommended_action": _next(packet, result, produced=bool(outputs)),
    }


def _next(packet: TaskPacket, result: TurnResult, *, produced: bool) -> str:
    if result.held is not None:
        return f"a person answers {result.held.approval_id}, then the task is executed again"
    if result.model_error is not None:
        return result.model_error.message[:_MOST_WORDS]
    if result.abstained:
        return "give the packet to another agent"
    if result.reply is None:
        return "execute the packet again"
    return packet.handoff.required_next_step if produced else "have an agent with a model write what is expected"


def _hook_of(result: TurnResult) -> str | None:
    """Return why a turn has no reply; None if it has one. Abstaining counts as a reply."""
    if result.stop_hook is not None:
        return result.stop_hook
    if result.model_error is not None:
        return stop_hook(Hook.MODEL_ERROR, result.model_error.code)
    return None if result.rejected is None else stop_hook(Hook.REPLY_REJECTED, result.rejected.code)


def _hook_of_report(problem: Problem) -> str:
    """Return the stop hook for a valid reply whose report is invalid or missing."""
    if problem.code == INVALID:
        return stop_hook(Hook.TASK_RECEIPT_INVALID, problem.pointer or None)
    return stop_hook(Hook.MODEL_ERROR, problem.code)


def _inputs_used(result: TurnResult) -> tuple[str, ...]:
    """Return the receipts of the tools that ran and the files of the verified citations."""
    paths = (item.matched.path for item in _items(result.findings) if item.ok and item.matched is not None)
    return tuple(dict.fromkeys((*result.receipts, *paths)))[:_MOST_INPUTS]


def _citations(findings: Findings | None) -> tuple[Mapping[str, Any], ...]:
    return tuple(_citation(item) for item in _items(findings) if item.ok)[:_MOST_INPUTS]


def _citation(item: Item) -> dict[str, Any]:
    cited: dict[str, Any] = {"kind": item.kind, "source": item.source}
    if item.matched is not None:
        cited |= {"path": item.matched.path, "sha256": item.matched.sha256}
        if item.matched.first_line is not None:
            cited["lines"] = [item.matched.first_line, item.matched.last_line]
    return cited if item.receipt is None else {**cited, "receipt_id": item.receipt}


def _items(findings: Findings | None) -> tuple[Item, ...]:
    return () if findings is None else findings.items


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


_HOW = (
    "Answer with exactly one JSON object that fits the schema, and nothing else. outputs_produced names only what the "
    "contract lists and what you really produced in your reply. Say nothing that is not so."
)
