"""The OpenAI chat wire format: responses.

The standard fields are those that any client understands. The field `tallystick` adds the Evidence line, the receipts,
the findings of the check, and why a turn ended.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from starlette.responses import Response

from tallystick.agents.answers import Answered, Unanswered
from tallystick.doors.http.answers import CHALLENGE, JSON
from tallystick.doors.http.openai_wire import ChatRequest, Unfit, call_id_of
from tallystick.gate.codes import NO_TOKEN
from tallystick.records import record
from tallystick.turns.model import Usage
from tallystick.turns.result import TurnResult

PIECE_CHARS = 240
"""Characters per stream chunk. The text is already complete; chunks let clients render it progressively."""
DONE = b"data: [DONE]\n\n"

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
"""Status → `error.type`; any other status is an error of the server or the model endpoint."""


@record
class Completion:
    """The data of one response."""

    completion_id: str
    created: int
    """Unix time in whole seconds."""
    asked: ChatRequest
    answered: Answered

    @property
    def content(self) -> str | None:
        """The text for the client to show; None for tool calls."""
        result = self.answered.result
        if result.handed_back:
            return None
        if result.rejected is not None:
            return "" if self.asked.evidence == "enforce" else result.rejected.text
        if result.reply is not None:
            return result.reply
        return "ABSTAIN" if result.abstained else _instead(result)

    @property
    def finish(self) -> str:
        """The `finish_reason`."""
        result = self.answered.result
        if result.handed_back:
            return "tool_calls"
        return "content_filter" if result.rejected is not None and self.asked.evidence == "enforce" else "stop"

    def tool_calls(self) -> list[dict[str, Any]]:
        """Return the calls of the client's own tools: decided and recorded, for the client to run."""
        return [
            {
                "id": call_id_of(call.receipt_id),
                "type": "function",
                "function": {"name": call.tool, "arguments": orjson.dumps(call.args).decode()},
            }
            for call in self.answered.result.handed_back
        ]

    def extension(self) -> dict[str, Any]:
        """Build the field `tallystick`."""
        answered, result = self.answered, self.answered.result
        findings = None if result.findings is None else result.findings.as_dict()
        if findings is None and result.rejected is not None and result.rejected.findings is not None:
            findings = result.rejected.findings.as_dict()
        wire: dict[str, Any] = {
            "session": answered.session_id,
            "agent": answered.agent.agent_id,
            "turn_id": result.turn_id,
            # The Evidence line is part of a rejected reply, so it is withheld too.
            "evidence": None if self.finish == "content_filter" else result.evidence,
            "receipts": list(dict.fromkeys([*answered.reported, *result.receipts])),
            "findings": findings,
        }
        if result.rejected is not None:
            wire["code"] = result.rejected.code
        if result.stop_hook is not None:
            wire["stop_hook"] = result.stop_hook
        if result.held is not None:
            wire["held"] = {"approval_id": result.held.approval_id, "expires_at": result.held.expires_at}
        return wire


def completion(made: Completion) -> dict[str, Any]:
    """Build the complete response."""
    message: dict[str, Any] = {"role": "assistant", "content": made.content, "refusal": None}
    calls = made.tool_calls()
    if calls:
        message["tool_calls"] = calls
    return {
        **_head(made, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": made.finish, "logprobs": None}],
        "usage": usage(made.answered.result.usage),
        "tallystick": made.extension(),
    }


def chunks(made: Completion) -> Iterator[dict[str, Any]]:
    """Yield the response as stream chunks."""
    head = _head(made, "chat.completion.chunk")

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": dict(delta), "finish_reason": finish, "logprobs": None}]}

    yield chunk({"role": "assistant", "content": None if made.content is None else ""})
    for place, call in enumerate(made.tool_calls()):
        yield chunk({"tool_calls": [{"index": place, **call}]})
    text = made.content or ""
    for start in range(0, len(text), PIECE_CHARS):
        yield chunk({"content": text[start : start + PIECE_CHARS]})
    yield {**chunk({}, made.finish), "tallystick": made.extension()}
    if made.asked.include_usage:
        yield {**head, "choices": [], "usage": usage(made.answered.result.usage)}


def usage(spent: Usage) -> dict[str, int]:
    """Build the field `usage`."""
    return {
        "prompt_tokens": spent.input_tokens,
        "completion_tokens": spent.output_tokens,
        "total_tokens": spent.input_tokens + spent.output_tokens,
    }


def model_entry(model_id: str, owner: str) -> dict[str, Any]:
    """Build one entry of `GET /v1/models`."""
    return {"id": model_id, "object": "model", "created": 0, "owned_by": owner}


def error_body(status: int, code: str, message: str, param: str | None = None) -> dict[str, Any]:
    """Build an error body in the OpenAI format."""
    kind = _KINDS.get(status, "api_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def error_answer(status: int, code: str, message: str, param: str | None = None) -> Response:
    """Build an error response in the OpenAI format."""
    answer = Response(orjson.dumps(error_body(status, code, message, param)), status_code=status, media_type=JSON)
    # Client libraries retry by default. The server already retried the endpoint where that helps, and a turn whose
    # tools ran must not run twice.
    answer.headers["x-should-retry"] = "false"
    if status == NO_TOKEN.http:
        answer.raw_headers.append(CHALLENGE)
    return answer


def unfit_answer(unfit: Unfit) -> Response:
    """Build the response to a request that cannot be served."""
    return error_answer(unfit.status, unfit.code, unfit.message, unfit.param)


def unanswered_answer(why: Unanswered) -> Response:
    """Build the response for a turn without an answer."""
    answer = error_answer(why.status, why.code, why.advice, why.field)
    if why.retry_after_s is not None:
        answer.headers["retry-after"] = str(max(1, round(why.retry_after_s)))
    return answer


def _head(made: Completion, kind: str) -> dict[str, Any]:
    # Return the model name that the client requested.
    return {"id": made.completion_id, "object": kind, "created": made.created, "model": made.asked.model}


def _instead(result: TurnResult) -> str:
    """Return a text in place of a missing reply, so that a text-only client does not show an empty message."""
    if result.held is not None:
        return (
            f"{result.stop_hook or 'STOP_HOOK: approval_required'}\n"
            f"A call waits for a person: tally approvals approve {result.held.approval_id}"
        )
    return result.stop_hook or ""
