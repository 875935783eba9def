"""Held calls among the notifications: told when one waits, settled when a person has answered."""

import logging

from tallystick.errors import TallyError
from tallystick.gate.decide.approvals import Hold
from tallystick.storage.notifications import Notifications, place_of

SOURCE = "approvals"
_log = logging.getLogger(__name__)


def tell_held(notifications: Notifications, hold: Hold) -> None:
    """A call waits for a person. The call is held whether or not this can be written."""
    who = hold.session.agent_id or hold.session.caller.subject
    text = f"{who} wants to call {hold.tool}: approve or reject it."
    try:
        notifications.add(level="warn", source=SOURCE, text=text, link=place_of("approval", hold.approval_id))
    except TallyError as error:
        _log.warning("a held call was not notified: %s", error)


def tell_answered(notifications: Notifications, approval_id: str) -> None:
    """A person has answered: nobody need be told any more."""
    try:
        notifications.settle(place_of("approval", approval_id))
    except TallyError as error:
        _log.warning("a notification was not settled: %s", error)
