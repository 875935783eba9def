"""Held calls for clients of revisions without a session: `input_required`, and the retry that continues the call.

    call ──► held ──► input_required: a form for the user, and the request state
    the same call, the form's answer and the request state ──► wait for the approval, run the call once

The request state names the approval request. It is encrypted and bound to the call, and the key is kept in the
workspace, so a call that is held survives a restart of every process. It does not approve anything: an approval needs a
terminal or the start-up token, or the answer in the form where the configuration accepts that.
"""

import base64
import binascii
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from tallystick.doors.mcp.jsonrpc import Message
from tallystick.gate.execute.outcome import Held
from tallystick.records import record
from tallystick.settings import CONTROL_ROOM
from tallystick.storage.keys import own_secret

STATE, RESPONSES = "requestState", "inputResponses"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
QUESTION = "tallystick/approval"
"""The key of the form among the requests of an `input_required` result."""
PREFIX = "tallystick.1."
"""Distinguishes this request state from a wrapped server's own."""
INVALID_STATE = "the request state does not belong to this call"
KEY_FILE = "mcp/request-state.key"
_NONCE = 12
Call = tuple[str, Any, Any]
"""Caller, name of the tool and arguments, to which a request state is bound."""


@record
class HeldCall:
    """What a request state says."""

    approval_id: str
    expires_at: str
    carried: Message
    """The `requestState` and `inputResponses` of a wrapped server that the held request had itself."""


class RequestStates:
    """Encrypts and decrypts request states with the workspace's own key."""

    def __init__(self, workspace: Path) -> None:
        """Read the key, which is created on first use.

        Raises:
            ConfigError: The key file cannot be used.
        """
        self._cipher = AESGCM(own_secret(workspace / CONTROL_ROOM / KEY_FILE, os.urandom))

    def seal(self, held: Held, call: Call, carried: Message) -> str:
        """Return the request state of a held call."""
        said = orjson.dumps({"approval_id": held.approval_id, "expires_at": held.expires_at, "carried": carried})
        nonce = os.urandom(_NONCE)
        sealed = nonce + self._cipher.encrypt(nonce, said, _bound(call))
        return PREFIX + base64.urlsafe_b64encode(sealed).decode()

    def read(self, state: str, call: Call) -> HeldCall | None:
        """Return what the request state of this call says; None if it is not genuine or belongs to another call."""
        try:
            sealed = base64.b64decode(state.removeprefix(PREFIX), altchars=b"-_", validate=True)
            said = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], _bound(call))
        except (binascii.Error, ValueError, TypeError, InvalidTag):
            return None
        return HeldCall(**orjson.loads(said))


def own_state(params: Mapping[str, Any]) -> str | None:
    """Return the request state of a call if it is one of ours."""
    state = params.get(STATE)
    return state if isinstance(state, str) and state.startswith(PREFIX) else None


def without_state(params: Message, carried: Message) -> Message:
    """Return the parameters as a wrapped server gets them: without our request state and answers."""
    return {key: value for key, value in params.items() if key not in {STATE, RESPONSES}} | carried


def carried_in(params: Message) -> Message:
    """Return what a wrapped server's own `input_required` result has added to a request."""
    return {key: params[key] for key in (STATE, RESPONSES) if key in params}


def asks_forms(meta: Mapping[str, Any]) -> bool:
    """Return whether the client of a request without a session can show its user a form."""
    can = meta.get(CAPABILITIES)
    elicits = can.get("elicitation") if isinstance(can, Mapping) else None
    # An empty object stands for forms, as in the revisions that had no other kind.
    return isinstance(elicits, Mapping) and ("form" in elicits or not elicits)


def input_required(form: Message, state: str) -> Message:
    """Return the result that asks the client to show a form and to make the call again."""
    request = {"method": "elicitation/create", "params": {"mode": "form", **form}}
    return {"resultType": "input_required", "inputRequests": {QUESTION: request}, STATE: state}


def waiting_form(tool: str, command: str) -> Message:
    """Return the form where the answer in the client does not count: it says how to approve elsewhere."""
    return {
        "message": f"Tallystick: '{tool}' waits for approval. To let it through, run in a terminal:\n{command}\n"
        "Then continue here.",
        "requestedSchema": {"type": "object", "properties": {}},
    }


def answer_in(params: Mapping[str, Any]) -> Message:
    """Return the user's answer to the form; empty if there is none."""
    responses = params.get(RESPONSES)
    answer = responses.get(QUESTION) if isinstance(responses, Mapping) else None
    return answer if isinstance(answer, dict) else {}


def _bound(call: Call) -> bytes:
    return sha256(orjson.dumps(call, option=orjson.OPT_SORT_KEYS)).digest()
