"""Answer held calls on behalf of a person. An answer is only recorded; it does not run the call."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import orjson

from tallystick.app.wiring import Parts, tell_answered
from tallystick.gate.admit.proposal import Rejection
from tallystick.gate.codes import DENIED, HELD
from tallystick.gate.decide.approvals import LIVE, MISMATCH, OUTDATED, Grant, Hold, State, Unmoved, resume_refusal
from tallystick.gate.decide.call_context import CallContext
from tallystick.gate.execute.outcome import Held, Outcome
from tallystick.gate.record import entries
from tallystick.gate.record.masks import LITERAL, MARK, MASKED, is_mask, masked_fields, members_of, value_at
from tallystick.gate.record.secrets import redacted_keys, token_spans
from tallystick.gate.session import Caller, Session
from tallystick.turns.turn import Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Revealed:
    """The unmasked value of one masked argument, for the person who requested it."""

    approval_id: str
    field: str
    """A JSON pointer into the arguments."""
    value: Any


class Approvals:
    """List, read, approve, reject and edit held calls, and reveal their masked arguments.

    Every answer is recorded in the ledger before it takes effect. If the process dies in between, the person must
    answer again; no call runs on an unrecorded answer.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def list(self, *, state: str | None = None, limit: int = 50, offset: int = 0) -> tuple[Hold, ...]:
        """List approval requests, newest first."""
        chosen = None if state is None else State(state)
        return self._parts.book().list(self._parts.now_ms(), state=chosen, limit=limit, offset=offset)

    def count(self, *, state: str | None = None) -> int:
        """Count approval requests."""
        return self._parts.book().count(self._parts.now_ms(), state=None if state is None else State(state))

    def get(self, approval_id: str) -> Hold | None:
        """Return one request in its current state; None if it does not exist."""
        return self._parts.book().get(approval_id, self._parts.now_ms())

    def approve(self, approval_id: str, *, person: str, channel: str) -> Hold | Unmoved:
        """Approve exactly this call.

        Args:
            approval_id: The request.
            person: The approver.
            channel: How the approver is authenticated: `terminal` or `token`.
        """
        waiting, now = self._waiting(approval_id), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        said = entries.answered(waiting, answer="granted", person=person, channel=channel, at=now)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().grant(approval_id, person=person, channel=channel, now=now)

    def reject(self, approval_id: str, *, person: str, channel: str, reason: str) -> Hold | Unmoved:
        """Reject a call with a reason, even if the stored request no longer matches its signed record."""
        waiting, now = self._waiting(approval_id, proved=False), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        said = entries.answered(waiting, answer="refused", person=person, channel=channel, at=now, reason=reason)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().refuse(approval_id, person=person, channel=channel, now=now, reason=reason)

    def edit(self, approval_id: str, args: Mapping[str, Any], *, person: str, channel: str) -> Hold | Unmoved:
        """Approve the call with other arguments; resuming it validates and decides them from the start.

        Secrets whose mask (digest) is left unchanged keep their value.
        """
        waiting, now = self._waiting(approval_id), self._parts.now_ms()
        if isinstance(waiting, Unmoved):
            return waiting
        # If the tool is not registered in this process, only the masks stored with the request say what is secret.
        was_shown = orjson.loads(waiting.shown)
        hidden = redacted_keys(was_shown) | self._parts.pipeline.secret_names()
        wanted: dict[str, Any] = put_back(args, shown=was_shown, exact=waiting.arguments())
        shown, _ = self._parts.redactor.redact(wanted, hidden)
        edited = waiting.with_arguments(wanted, shown)
        if isinstance(edited, Unmoved):
            return edited
        said = entries.answered(edited, answer="edited", person=person, channel=channel, at=now)
        self._parts.ledger.record_sync(said)
        tell_answered(self._parts.notifications, approval_id)
        return self._parts.book().edit(edited, person=person, channel=channel, now=now)

    def masked(self, hold: Hold) -> tuple[str, ...]:
        """Return the JSON pointers of the masked arguments of a request."""
        return tuple(masked_fields(orjson.loads(hold.shown)))

    def reveal(self, approval_id: str, field: str, *, person: str, channel: str) -> Revealed | Unmoved:
        """Return a masked argument of a request that can still run, after recording the access in the ledger.

        Args:
            approval_id: The request.
            field: One of the pointers that `masked` returns.
            person: Who requests the value.
            channel: How that person is authenticated: `terminal` or `token`.
        """
        hold = self._waiting(approval_id, states=LIVE)
        if isinstance(hold, Unmoved):
            return hold
        if field not in self.masked(hold):
            return Unmoved(why="not_masked", hold=hold)
        self._parts.ledger.record_sync(entries.revealed(hold, field, person=person, channel=channel))
        return Revealed(approval_id=approval_id, field=field, value=value_at(hold.arguments(), field))

    def _waiting(
        self, approval_id: str, *, states: frozenset[State] = frozenset({State.HELD}), proved: bool = True
    ) -> Hold | Unmoved:
        hold = self.get(approval_id)
        if hold is None:
            return Unmoved(why="not_found")
        state = hold.at(self._parts.now_ms())
        if state not in states:
            return Unmoved(why="expired" if state is State.EXPIRED else "not_waiting", hold=hold)
        # The person must see and approve exactly what would run.
        return Unmoved(why="record_mismatch", hold=hold) if proved and not self._parts.proved(hold) else hold


def put_back(edited: Any, *, shown: Any, exact: Any) -> Any:
    """Restore in edited arguments every secret whose mask (digest) was left unchanged.

    Args:
        edited: The arguments as edited by a person.
        shown: The masked arguments that the person saw.
        exact: The unmasked arguments of the held call.
    """
    if isinstance(edited, list):
        return [
            put_back(value, shown=_place(shown, place), exact=_place(exact, place))
            for place, value in enumerate(edited)
        ]
    if not isinstance(edited, Mapping):
        return edited
    # Restore only an unchanged mask at its original position, so that copying a digest cannot move a secret.
    if is_mask(shown) and edited == shown:
        return exact
    if edited.keys() == {MASKED} and is_mask(shown) and MASKED in shown:
        return _text(edited, shown, exact)
    members = members_of(edited) if isinstance(shown, Mapping) and shown.keys() == {LITERAL} else edited
    return {
        key: put_back(value, shown=_member(shown, key), exact=_member(exact, key)) for key, value in members.items()
    }


def _text(edited: Mapping[str, Any], shown: Mapping[str, Any], exact: str) -> Any:
    """Restore the tokens in a partly masked text; return `edited` unchanged if it has a digest not in `shown`."""
    digests = [part[MARK] for part in shown[MASKED] if isinstance(part, Mapping)]
    tokens = dict(zip(digests, (exact[start:end] for start, end in token_spans(exact)), strict=False))
    parts = edited[MASKED] if isinstance(edited[MASKED], list) else [None]
    texts = [part if isinstance(part, str) else tokens.get(_digest(part)) for part in parts]
    return edited if None in texts else "".join(text for text in texts if text is not None)


def _digest(part: Any) -> str:
    return str(part[MARK]) if is_mask(part) and MASKED not in part else ""


def _member(value: Any, key: str) -> Any:
    return members_of(value).get(key) if isinstance(value, Mapping) and not is_mask(value) else None


def _place(value: Any, place: int) -> Any:
    return value[place] if isinstance(value, list) and place < len(value) else None


UNKNOWN_SESSION = "approvals"
"""The session that records attempts to resume an unknown approval."""


async def resume(parts: Parts, turns: Mapping[str, Turn], approval_id: str, caller: Caller | None) -> Outcome:
    """Consume the grant and run the call; if the turn that held it is still open, it gets a new nonce."""
    hold = await asyncio.to_thread(parts.book().get, approval_id, parts.now_ms())
    if hold is None:
        nothing = CallContext(session=Session(session_id=UNKNOWN_SESSION).within(caller=caller))
        return await parts.pipeline.refuse(Rejection(fault=DENIED, reason="approval_unknown"), approval_id, nothing)
    standing = CallContext(session=hold.session.within(caller=caller))
    found = await asyncio.to_thread(_take, parts, hold)
    if isinstance(found, Rejection):
        outcome = await parts.pipeline.refuse(found, approval_id, standing)
        waits = Held(approval_id=hold.approval_id, expires_at=hold.expires_at) if found.fault is HELD else None
        return replace(outcome, held=waits)

    async def run(standing: CallContext) -> Outcome:
        return await parts.pipeline.resume(hold.tool, hold.arguments(), standing, found, dry_run=hold.dry_run)

    turn = turns.get(hold.session.turn_id or "")
    return await run(standing) if turn is None or not turn.waiting else await turn.resumed(run, caller=caller)


def _take(parts: Parts, hold: Hold) -> Grant | Rejection:
    entry = parts.pipeline.catalogue.get(hold.tool)
    now = parts.now_ms()
    ended = resume_refusal(
        hold, now, policy_digest=parts.policy.digest, tool_version="" if entry is None else entry.card.version
    )
    # Verify the stored row against the ledger before trusting it: tampering could also make it look outdated.
    if ended in {None, OUTDATED} and not parts.proved(hold):
        ended = MISMATCH
    if ended is not None:
        return Rejection(fault=ended.fault or DENIED, reason=ended.reason, proposed_tool=hold.tool)
    grant = parts.book().take(hold.live_digest or "", now)
    # A grant is used once; a concurrent resume may have consumed it.
    return grant or Rejection(fault=DENIED, reason="approval_used", proposed_tool=hold.tool)
