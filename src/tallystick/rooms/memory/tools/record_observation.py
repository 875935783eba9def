"""`record_observation`: every input is first an observation."""

from typing import Any

from tallystick.gate.execute.call import current_call
from tallystick.gate.tool import Tool
from tallystick.rooms.memory.ids import observation_id
from tallystick.rooms.memory.propose.speakers import Speaker, speaker_in
from tallystick.rooms.memory.times import seconds
from tallystick.rooms.memory.tools.payloads import EPISODE, ID, IDS, OBSERVED, SOURCE, TEXT, card
from tallystick.rooms.memory.weigh.proposal_rule import Snapshot, check

_CARD = card(
    "record_observation",
    "Record what was said, read or measured, word for word, and who said it. It makes nothing true by itself; "
    "propositions rest on it.",
    {
        "text": {**TEXT, "description": "The words as they were; quotes must occur in them."},
        "source": SOURCE,
        "observed_at": OBSERVED,
        "derived_from": {**IDS, "minItems": 0, "description": "Observations this is a summary or reading of."},
        "episode_id": EPISODE,
        "duplicate_of": {**ID, "description": "Set when the same observation was recorded before."},
    },
    ("text", "source", "observed_at"),
    {"observation_id": {"type": "string"}, "duplicate": {"type": "boolean"}},
    provenance="source",
)


def record_observation(snapshot: Snapshot) -> Tool:
    """The tool over one workspace's memory."""

    def handler(**args: Any) -> dict[str, Any]:
        source = args["source"]
        name = observation_id(
            args["text"],
            source["id"],
            source["class"],
            source.get("group", source["id"]),
            seconds(args["observed_at"]) or 0,
            args.get("derived_from", ()),
            _speaker().mark,
        )
        return {"observation_id": name, "duplicate": "duplicate_of" in args}

    return Tool(card=_CARD, handler=handler, rule=check, snapshot=snapshot)


def _speaker() -> Speaker:
    call = current_call()
    return speaker_in(None if call is None else call.session)
