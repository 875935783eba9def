"""Notifications about held calls: added when a call is held, settled when a person has answered."""

import logging

from tallystick.errors import TallyError
from tallystick.gate.decide.approvals import Hold
from tallystick.storage.notifications import Notifications, place_of

SOURCE = "approvals"
_log = logging.getLogger(__name__)


def tell_held(notifications: Notifications, hold: Hold) -> None:
    """Notify that a call waits for approval; a failed write is logged and the call stays held."""
    who = hold.session.agent_id or hold.session.caller.subject
    text = f"{who} wants to call {hold.tool}: approve or reject it."
    try:
        notifications.add(level="warn", source=SOURCE, text=text, link=place_of("approval", hold.approval_id))
    except TallyError as error:
        _log.warning("a held call was not notified: %s", error)


def tell_answered(notifications: Notifications, approval_id: str) -> None:
    """Settle the notification of an answered request; a failed write is only logged."""
    try:
        notifications.settle(place_of("approval", approval_id))
    except TallyError as error:
        _log.warning("a notification was not settled: %s", error)
