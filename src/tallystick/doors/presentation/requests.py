"""A held call as a person is shown it, at every door: nothing in it is hidden by how it is written."""

from typing import Any

import orjson

from tallystick.doors.presentation.visible import hidden_in, visible_json
from tallystick.gate.decide.approvals import Hold
from tallystick.gate.record.masks import masked_fields


def shown_request(hold: Hold) -> dict[str, Any]:
    """What lists show of a request, and what a person needs to judge it.

    `args_text` are the arguments in letters that can be seen, `hidden_characters` says which could not, and `masked`
    names the arguments of which a person may reveal the rest.
    """
    args = shown_arguments(hold)
    return {
        **hold.as_dict(), "args_text": visible_json(args, indent=2),
        "hidden_characters": hidden_in({"tool": hold.tool, "args": args}), "masked": list(masked_fields(args)),
    }  # fmt: skip


def shown_arguments(hold: Hold) -> dict[str, Any]:
    """The arguments as people may see them."""
    args: dict[str, Any] = orjson.loads(hold.shown)
    return args
