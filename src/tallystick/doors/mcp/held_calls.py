"""Held calls for clients without a session: `input_required`, and the retry that continues the call.

    call ──► held ──► input_required: a form for the user and the request state
    retry with the form's response and the request state ──► wait for the approval, run the call once

The request state names the approval request. It is encrypted and bound to the call. Its key is stored in the workspace,
so a held call survives a restart. The request state approves nothing: an approval needs a terminal, the start-up token,
or, where the configuration accepts it, the form's response.
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
"""Distinguishes our request states from those of a wrapped server."""
INVALID_STATE = "the request state does not belong to this call"
KEY_FILE = "mcp/request-state.key"
_NONCE = 12
Call = tuple[str, Any, Any]
"""What a request state is bound to: caller, tool name and arguments."""


@record
class HeldCall:
    """The content of a request state."""

    approval_id: str
    expires_at: str
    carried: Message
    """The wrapped server's own `requestState` and `inputResponses` in the held request."""


class RequestStates:
    """Encrypts and decrypts request states with the workspace's key."""

    def __init__(self, workspace: Path) -> None:
        """Read the key; create it on first use.

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
        """Decrypt the request state of this call; None if it is forged or belongs to another call."""
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
    """Return the parameters for the wrapped server, without our request state and responses."""
    return {key: value for key, value in params.items() if key not in {STATE, RESPONSES}} | carried


def carried_in(params: Message) -> Message:
    """Return the members that a retry after the wrapped server's own `input_required` adds to a request."""
    return {key: params[key] for key in (STATE, RESPONSES) if key in params}


def asks_forms(meta: Mapping[str, Any]) -> bool:
    """Return whether the client of a request without a session can show its user a form."""
    can = meta.get(CAPABILITIES)
    elicits = can.get("elicitation") if isinstance(can, Mapping) else None
    # An empty object means forms, the only kind in earlier revisions.
    return isinstance(elicits, Mapping) and ("form" in elicits or not elicits)


def input_required(form: Message, state: str) -> Message:
    """Return the result that asks the client to show a form and retry the call."""
    request = {"method": "elicitation/create", "params": {"mode": "form", **form}}
    return {"resultType": "input_required", "inputRequests": {QUESTION: request}, STATE: state}


def waiting_form(tool: str, command: str) -> Message:
    """Return a form that says how to approve elsewhere, for clients whose response is not accepted as approval."""
    return {
        "message": f"Tallystick: '{tool}' waits for approval. To let it through, run in a terminal:\n{command}\n"
        "Then continue here.",
        "requestedSchema": {"type": "object", "properties": {}},
    }


def answer_in(params: Mapping[str, Any]) -> Message:
    """Return the user's response to the form; empty if there is none."""
    responses = params.get(RESPONSES)
    answer = responses.get(QUESTION) if isinstance(responses, Mapping) else None
    return answer if isinstance(answer, dict) else {}


def _bound(call: Call) -> bytes:
    return sha256(orjson.dumps(call, option=orjson.OPT_SORT_KEYS)).digest()
