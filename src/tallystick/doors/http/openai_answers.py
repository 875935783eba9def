"""The OpenAI chat wire format: what is sent back.

The standard fields say what any client understands. What only we have stands beside them under `tallystick`: the
Evidence line, the receipts, the findings of the check, and why a turn ended where it did.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from starlette.responses import Response

from tallystick.agents.answers import Answered, Unanswered
from tallystick.doors.http.answers import CHALLENGE, JSON
from tallystick.doors.http.openai_wire import Asked, Unfit, call_id_of
from tallystick.gate.codes import NO_TOKEN
from tallystick.records import record
from tallystick.turns.model import Usage
from tallystick.turns.result import TurnResult

PIECE_CHARS = 240
"""How much of a text one chunk of a stream carries. The text is whole by then; this is for clients that draw it."""
DONE = b"data: [DONE]\n\n"

_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "invalid_request_error",
    413: "invalid_request_error",
    429: "rate_limit_error",
}
"""Status → `error.type`; anything else is ours or the endpoint's."""


@record
class Completion:
    """What one answer is made of."""

    completion_id: str
    created: int
    """In whole seconds."""
    asked: Asked
    answered: Answered

    @property
    def content(self) -> str | None:
        """The text a client shows."""
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
        """Why it ended, in the format's words."""
        result = self.answered.result
        if result.handed_back:
            return "tool_calls"
        return "content_filter" if result.rejected is not None and self.asked.evidence == "enforce" else "stop"

    def tool_calls(self) -> list[dict[str, Any]]:
        """Calls of the client's own tools: decided and recorded, to be run by the client."""
        return [
            {
                "id": call_id_of(call.receipt_id),
                "type": "function",
                "function": {"name": call.tool, "arguments": orjson.dumps(call.args).decode()},
            }
            for call in self.answered.result.handed_back
        ]

    def extension(self) -> dict[str, Any]:
        """What stands under `tallystick`."""
        answered, result = self.answered, self.answered.result
        findings = None if result.findings is None else result.findings.as_dict()
        if findings is None and result.rejected is not None and result.rejected.findings is not None:
            findings = result.rejected.findings.as_dict()
        wire: dict[str, Any] = {
            "session": answered.session_id,
            "agent": answered.agent.agent_id,
            "turn_id": result.turn_id,
            # What is withheld is withheld: an Evidence line that does not hold is part of it.
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
    """The whole answer at once."""
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
    """The same answer in pieces, for a stream."""
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
    """What it cost, in the format's words."""
    return {
        "prompt_tokens": spent.input_tokens,
        "completion_tokens": spent.output_tokens,
        "total_tokens": spent.input_tokens + spent.output_tokens,
    }


def model_entry(model_id: str, owner: str) -> dict[str, Any]:
    """One entry of `GET /v1/models`."""
    return {"id": model_id, "object": "model", "created": 0, "owned_by": owner}


def error_body(status: int, code: str, message: str, param: str | None = None) -> dict[str, Any]:
    """An error in the format's words."""
    kind = _KINDS.get(status, "api_error")
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def error_answer(status: int, code: str, message: str, param: str | None = None) -> Response:
    """An error as an answer."""
    answer = Response(orjson.dumps(error_body(status, code, message, param)), status_code=status, media_type=JSON)
    # The client's library would try again by itself. The endpoint was already asked again where that helps, and a turn
    # whose tools ran is not to be run twice.
    answer.headers["x-should-retry"] = "false"
    if status == NO_TOKEN.http:
        answer.raw_headers.append(CHALLENGE)
    return answer


def unfit_answer(unfit: Unfit) -> Response:
    """A request that cannot be served."""
    return error_answer(unfit.status, unfit.code, unfit.message, unfit.param)


def unanswered_answer(why: Unanswered) -> Response:
    """A turn that gave no answer."""
    answer = error_answer(why.status, why.code, why.advice, why.field)
    if why.retry_after_s is not None:
        answer.headers["retry-after"] = str(max(1, round(why.retry_after_s)))
    return answer


def _head(made: Completion, kind: str) -> dict[str, Any]:
    # The client knows the answer by the name it asked for.
    return {"id": made.completion_id, "object": kind, "created": made.created, "model": made.asked.model}


def _instead(result: TurnResult) -> str:
    """What is said where there is no reply: a client that only shows text must not show nothing."""
    if result.held is not None:
        return (
            f"{result.stop_hook or 'STOP_HOOK: approval_required'}\n"
            f"A call waits for a person: tally approvals approve {result.held.approval_id}"
        )
    return result.stop_hook or ""
