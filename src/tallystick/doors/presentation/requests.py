"""Present a held call to a person, at every door, with invisible characters made visible."""

from typing import Any

import orjson

from tallystick.doors.presentation.visible import hidden_in, visible_json
from tallystick.gate.decide.approvals import Hold
from tallystick.gate.record.masks import masked_fields


def shown_request(hold: Hold) -> dict[str, Any]:
    """Return the list fields of a request, plus what a person needs to judge it.

    `args_text` has the arguments with invisible characters escaped, `hidden_characters` lists those characters, and
    `masked` names the masked arguments, which a person may reveal.
    """
    args = shown_arguments(hold)
    return {
        **hold.as_dict(),
        "args_text": visible_json(args, indent=2),
        "hidden_characters": hidden_in({"tool": hold.tool, "args": args}),
        "masked": list(masked_fields(args)),
    }


def shown_arguments(hold: Hold) -> dict[str, Any]:
    """Return the arguments with secrets masked."""
    args: dict[str, Any] = orjson.loads(hold.shown)
    return args
